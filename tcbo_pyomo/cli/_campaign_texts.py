"""What the campaign commands print: moves, status and recommendation as text, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from tcbo_pyomo.explain.as_text import point_text

if TYPE_CHECKING:
    from tcbo_pyomo.knowledge.history import Move
    from tcbo_pyomo.problem.protocol import ProblemProtocol
    from tcbo_pyomo.records import DurableCampaign
    from tcbo_pyomo.records.status import Best, Status


def moves_as_text(campaign: DurableCampaign, moves: Sequence[Move]) -> str:
    """One line per move, in units, and what to do next."""
    problem, lines = campaign.problem, []
    for move in moves:
        where = f"move {move.number} (episode {move.episode}, step {move.step})"
        if move.expected is None:
            lines.append(f"{where}: {problem.instruction(move.decision)}; its outcome is random, tell it with --at")
        else:
            lines.append(f"{where}: {point_text(problem.describe(move.expected), problem.coordinates)}")
    tell = f"tcbo tell {campaign.path} VALUE" + (" --move N" if len(moves) > 1 else "")
    return "\n".join([*lines, f"next: {tell}"]) + "\n"


def moves_as_csv(campaign: DurableCampaign, moves: Sequence[Move]) -> str:
    """A table with an empty column for the results."""
    from tcbo_pyomo.records.status import move_columns

    titles, output = move_columns(campaign.problem)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["move", "episode", "step", *titles, output])
    for move in moves:
        known = [""] * len(titles)
        if move.expected is not None:
            known = [repr(value) for value in campaign.problem.describe(move.expected).values()]
        writer.writerow([move.number, move.episode, move.step, *known, ""])
    return text.getvalue()


def moves_as_json(campaign: DurableCampaign, moves: Sequence[Move]) -> str:
    """The moves with names and units."""
    problem = campaign.problem
    found = [
        {
            "move": move.number,
            "episode": move.episode,
            "step": move.step,
            "set_points": None if move.expected is None else problem.describe(move.expected),
            "action": None if move.decision is None else problem.action_name(move.decision),
        }
        for move in moves
    ]
    units = {coordinate.name: coordinate.unit for coordinate in problem.coordinates}
    measure = {"name": problem.output, "unit": problem.output_unit}
    return json.dumps({"moves": found, "units": units, "measure": measure}, indent=1) + "\n"


def status_as_text(status: Status) -> str:
    """Some lines."""
    made = f"{status.moves_made} of {status.moves_in_all} moves made, {status.measurements} measurements"
    lines = [
        f"{status.problem}, method {status.method}, seed {status.seed}"
        + ("" if status.planned_with is None else f"; planned with {status.planned_with}"),
        f"episode {status.episode} of {status.episodes}; {made}" + ("; finished" if status.finished else ""),
        f"asked for: {'nothing' if status.open_move is None else f'move {status.open_move}'}",
        f"results to come: {', '.join(map(str, status.pending)) or 'none'}",
    ]
    for number, texts in status.violations.items():
        lines += [f"move {number} broke a declared limit: {text}" for text in texts]
    lines += [*status.belief_lines, *(f"warning: {text}" for text in status.warnings)]
    return "\n".join(lines) + "\n"


def best_as_text(problem: ProblemProtocol, best: Best) -> str:
    """One line."""
    unit = f" {problem.output_unit}" if problem.output_unit else ""
    value = f"{problem.output} = {best.mean:.4g} ± {best.standard_deviation:.2g}{unit}"
    return (
        f"recommendation: {point_text(best.at, problem.coordinates)}; {value} from {best.measurements} measurements\n"
    )


def to_json(found: Status | Best) -> str:
    """All fields."""
    return json.dumps(asdict(found), indent=1) + "\n"
