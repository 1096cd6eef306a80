"""What the campaign commands print: moves, status and recommendation as text, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tcbo_pyomo.explain.as_text import point_text
from tcbo_pyomo.foundation.wording import counted
from tcbo_pyomo.rehearsal.choice import acting_in_words

if TYPE_CHECKING:
    from tcbo_pyomo.knowledge.history import Move
    from tcbo_pyomo.problem.protocol import ProblemProtocol
    from tcbo_pyomo.records import DurableCampaign
    from tcbo_pyomo.records.status import Best, Status

MAXIMISE = "maximise"
"""The goal of which nothing is said: the default."""
MOST_MOVES = 20
"""A longer route is printed up to this many moves."""


def moves_as_text(campaign: DurableCampaign, moves: Sequence[Move]) -> str:
    """One line per move, in units, and what to do next; none where enough is known."""
    problem, lines = campaign.problem, list[str]()
    for move in moves:
        where = f"move {move.number} (episode {move.episode}, step {move.step})"
        if move.expected is None:
            lines.append(f"{where}: {problem.instruction(move.decision)}; its outcome is random; report where it led with --at")
        else:
            place = point_text(problem.describe(move.expected), problem.coordinates)
            does = "" if move.decision is None else _inputs_in_words(problem, move.decision)
            lines.append(f"{where}: {does}{place}")
    if why := acting_in_words((campaign.plans.get(move.number) for move in moves), problem.output_unit):
        lines.append(f"chosen by {why}")
    if (certainty := campaign.certainty) is not None and certainty.enough_known:
        lines.append(certainty.in_words(problem.output_unit))
    if not moves:
        return (
            "\n".join([*lines, f"no move was planned; to continue: tcbo ask {campaign.path} --anyway"]) + "\n"
        )
    tell = f"tcbo tell {campaign.path} VALUE" + (" --move N" if len(moves) > 1 else "")
    return "\n".join([*lines, f"next: {tell}"]) + "\n"


def _inputs(problem: ProblemProtocol, decision: Any) -> dict[str, float] | None:
    """What to set on a plant whose inputs are numbers; None where the place that a move leads to says it all."""
    limits = problem.action_limits
    if limits is None or limits.names is None or not problem.instruction(decision):
        return None
    return {name: float(value) for name, value in zip(limits.names, decision, strict=True)}


def _inputs_in_words(problem: ProblemProtocol, decision: Any) -> str:
    inputs = _inputs(problem, decision)
    return "" if inputs is None else f"set {', '.join(f'{name} = {value:.6g}' for name, value in inputs.items())} -> "


def moves_as_csv(campaign: DurableCampaign, moves: Sequence[Move]) -> str:
    """A table with an empty column for the results."""
    from tcbo_pyomo.records.status import move_columns

    problem = campaign.problem
    titles, output = move_columns(problem)
    set_points = [_inputs(problem, move.decision) or {} if move.decision is not None else {} for move in moves]
    coordinates = [coordinate.name for coordinate in problem.coordinates]
    names = [name for name in dict.fromkeys(name for given in set_points for name in given) if name not in coordinates]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["move", "episode", "step", *names, *titles, output])
    for move, given in zip(moves, set_points, strict=True):
        known = [""] * len(titles)
        if move.expected is not None:
            known = [repr(value) for value in problem.describe(move.expected).values()]
        to_set = [repr(given[name]) if name in given else "" for name in names]
        writer.writerow([move.number, move.episode, move.step, *to_set, *known, ""])
    return text.getvalue()


def moves_as_json(campaign: DurableCampaign, moves: Sequence[Move]) -> str:
    """The moves with names and units, and how much is known where the campaign has a stop."""
    problem = campaign.problem
    found = [
        {
            "move": move.number,
            "episode": move.episode,
            "step": move.step,
            "set_points": None if move.expected is None else problem.describe(move.expected),
            "action": None if move.decision is None else problem.action_name(move.decision),
            "inputs": None if move.decision is None else _inputs(problem, move.decision),
        }
        for move in moves
    ]
    units = {coordinate.name: coordinate.unit for coordinate in problem.coordinates}
    measure = {"name": problem.output, "unit": problem.output_unit}
    data: dict[str, Any] = {"moves": found, "units": units, "measure": measure}
    if (certainty := campaign.certainty) is not None:
        data["stop"] = {**certainty.to_dict(), "in_words": certainty.in_words(problem.output_unit)}
    return json.dumps(data, indent=1) + "\n"


def status_as_text(status: Status) -> str:
    """Some lines."""
    made = f"{status.moves_made} of {status.moves_in_all} moves made, {counted(status.measurements, 'measurement')}"
    asked = status.schedule or (() if status.open_move is None else (status.open_move,))
    lines = [
        f"{status.problem}, method {status.method}, seed {status.seed}"
        + ("" if status.planned_with is None else f"; planned with {status.planned_with}"),
        f"episode {status.episode} of {status.episodes}; {made}" + ("; finished" if status.finished else ""),
        *([] if status.goal == MAXIMISE else [f"goal: {status.goal_in_words}"]),
        f"asked for: {_moves(asked) or 'nothing'}",
        f"results outstanding: {', '.join(map(str, status.pending)) or 'none'}",
    ]
    if status.past_results:
        past = counted(status.past_results, "past result")
        lines.append(f"{past} from {', '.join(status.past_sources)} (list them: tcbo data)")
    lines += [f"amended {text}" for text in status.amendments]
    for number, texts in status.violations.items():
        lines += [f"move {number} broke a declared limit: {text}" for text in texts]
    for number, texts in status.surprises.items():
        lines += [f"move {number} has an unlikely result: {text}" for text in texts]
    lines += [f"unlikely past result: {text}" for text in status.past_surprises]
    if status.fall_backs:
        lines.append(f"warning: {status.fall_backs_in_words}")
    if status.stop_in_words:
        lines.append(status.stop_in_words)
    if status.acting:
        lines.append(f"last move chosen by {status.acting}")
    lines += [*status.belief_lines, *(f"warning: {text}" for text in status.warnings)]
    return "\n".join(lines) + "\n"


def _moves(numbers: Sequence[int]) -> str:
    return "" if not numbers else f"move{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"


def best_as_text(problem: ProblemProtocol, best: Best) -> str:
    """One line, and the moves that lead there where they are kept."""
    if best.at is None:
        return "no recommendation yet: there are no results\n"
    past = f" and {counted(best.past_results, 'past result')}" if best.past_results else ""
    unit = f" {problem.output_unit}" if problem.output_unit else ""
    value = f"{problem.output} = {best.mean:.4g} ± {best.standard_deviation:.2g}{unit}"
    place = place_text(problem, best.at, best.black_box_inputs)
    goal = "" if best.goal == MAXIMISE else f" (goal: {problem.goal.adjective(problem.output_unit)})"
    lines = [f"recommendation: {place}; {value}{goal} from {counted(best.measurements, 'measurement')}{past}"]
    if best.stop_in_words:
        lines.append(best.stop_in_words)
    if best.mechanism is not None:
        lines.append(best.mechanism.in_words(problem.output_unit))
    if best.how_to_get_there is not None:
        lines += route_as_lines(problem, best.how_to_get_there)
    return "\n".join(lines) + "\n"


def place_text(problem: ProblemProtocol, at: dict[str, float], inputs: dict[str, float] | None) -> str:
    """A place; where the black box does not see all of it, first what it sees, then the state that has these inputs."""
    if inputs is None:
        return point_text(at, problem.coordinates)
    rest = {name: value for name, value in at.items() if name not in inputs}
    state = f" (in the state {point_text(rest, problem.coordinates)})" if rest else ""
    return f"{point_text(inputs, problem.coordinates)}{state}"


def route_as_lines(problem: ProblemProtocol, moves: Sequence[dict[str, Any]]) -> list[str]:
    """How to get to a place: one line per move; of many the first ones, and the last."""
    if not moves:
        return ["how to get there: every episode starts there"]
    lines = []
    for move in moves:
        does = problem.instruction(tuple(move["actions"].values())) if move["actions"] else ""
        where = point_text(move["at"], problem.coordinates)
        lines.append(f"  {move['step']}: {f'{does} -> ' if does else ''}{where}")
    if len(lines) > MOST_MOVES:
        lines[MOST_MOVES - 1 : -1] = [f"  ... {len(lines) - MOST_MOVES} more moves (--json prints all)"]
    return [f"how to get there, {counted(len(moves), 'move')} from the start:", *lines]


def to_json(found: Status | Best) -> str:
    """All fields; of the stop only where the campaign has one."""
    data = asdict(found)
    if found.stop is None:
        data = {name: value for name, value in data.items() if name not in ("stop", "stop_in_words")}
    return json.dumps(data, indent=1) + "\n"
