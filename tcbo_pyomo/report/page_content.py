"""What the report says, section by section, as plain texts; `page.html.jinja` lays them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

from tcbo_pyomo._version import __version__
from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.checks.audit import full_campaign_audit
from tcbo_pyomo.explain.limit_slack import limit_slack
from tcbo_pyomo.foundation.wording import counted, spaced, uncertain, with_unit
from tcbo_pyomo.knowledge.history import History, Move
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.in_words import described, hides_states, inputs_at, output_title, place, place_values
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.records.status import doubts
from tcbo_pyomo.report.known_without_code import known_moments, no_candidates, recorded_criticism, recorded_kernel
from tcbo_pyomo.report.page_criticism import page_criticism
from tcbo_pyomo.report.page_explanation import page_explanation
from tcbo_pyomo.report.page_figures import (
    belief_picture,
    candidates_picture,
    path_picture,
    regret_picture,
    visited_picture,
)
from tcbo_pyomo.report.page_past import page_past
from tcbo_pyomo.report.solver_statistics import solver_statistics
from tcbo_pyomo.report.timeline import Moment
from tcbo_pyomo.surrogate.extremes import MAXIMISE

MOST_ROWS = 30
"""Rows of a table before it stops: the page is read by people."""
LATEST = 12
"""Results in the table of the latest ones."""
MOST_NAMES = 6
"""Places named in one cell."""


def page_content(campaign: Campaign, plans: Sequence[dict[str, Any] | None] = ()) -> dict[str, Any]:
    """Everything the template shows."""
    problem, (moments, no_model) = campaign.problem, known_moments(campaign)
    unlisted = no_candidates(campaign, moments)
    left_out = no_model or (unlisted if problem.keeps_candidates else "")
    audit = full_campaign_audit(campaign)
    return {
        "title": spaced(problem.name),
        "description": problem.description,
        "status": _status(campaign),
        "standing": _standing(campaign),
        "left_out": left_out,
        "recommendation": None if no_model else _recommendation(campaign, moments[-1]),
        "route": None if no_model else _route(campaign),
        "following": _following(campaign),
        "why": page_explanation(campaign),
        "pending": [_move_row(campaign, move) for move in _pending(campaign.history)[-MOST_ROWS:]],
        "paths": visited_picture(campaign) if left_out else path_picture(campaign),
        "charts": _charts(campaign, moments),
        "no_candidates": unlisted,
        "removals": None if unlisted else _removals(campaign, moments),
        "model": recorded_criticism(campaign) if no_model else page_criticism(campaign),
        "results": _results(campaign),
        "surprises": _surprises(campaign),
        "past": page_past(campaign),
        "slack": limit_slack(campaign, audit),
        "violations": [[*map(str, astuple(finding))] for finding in audit.findings[:MOST_ROWS]],
        "violation_count": len(audit.findings),
        "misses": [[*map(str, astuple(miss))] for miss in audit.misses[:MOST_ROWS]],
        "unjudged": audit.unjudged,
        "moves_judged": audit.moves,
        "amendments": campaign.amendments,
        "solver": solver_statistics(list(plans) or [campaign.method.plan_record()]),
        "repeat": _repeat(campaign, recorded_kernel(campaign) if no_model else campaign.knowledge.kernel.to_dict()),
    }


def _status(campaign: Campaign) -> str:
    history, problem = campaign.history, campaign.problem
    if campaign.finished and not history.assumed:
        made = "all moves made" if campaign.all_moves_made else "enough is known"
        return f"{made}, results outstanding" if history.pending else "finished" if campaign.all_moves_made else made
    return "running" if history.moves else f"not started: {counted(problem.episodes, 'episode')} ahead"


def _standing(campaign: Campaign) -> dict[str, Any]:
    history, problem = campaign.history, campaign.problem
    situation = history.situation()
    episode, step, state = history.episode, situation.step, situation.state
    schedule = history.assumed
    if schedule:  # The plant has not made these moves yet, as far as reported.
        episode, step, state = schedule[0].episode, max(0, schedule[0].step - 1), schedule[0].origin
    elif campaign.all_moves_made:
        episode, step, state = problem.episodes, history.length(problem.episodes), history.path(problem.episodes)[-1]
    total = history.moves_of(problem.episodes)
    made = history.moves_made - sum(move.step > 0 for move in schedule)
    return {
        "episode": f"{episode} of {problem.episodes}",
        "step": f"{step} of {history.length(min(episode, problem.episodes))}",
        "position": place(problem, state),
        "moves": f"{made} of {total}",
        "share": made / total,
        "results": counted(len(history.told), "result"),
        "pending": str(len(_pending(history))),
    }


def _pending(history: History) -> list[Move]:
    """Moves that were made and whose results are outstanding."""
    schedule = history.assumed
    return [move for move in history.pending if move not in schedule]


def _waiting(history: History) -> Move | None:
    """The move to make now."""
    return next(iter(history.assumed), history.open_move)


def _recommendation(campaign: Campaign, now: Moment) -> dict[str, Any]:
    problem, certainty = campaign.problem, campaign.certainty
    return {
        "place": place(problem, now.recommendation),
        "output": output_title(problem),
        "value": uncertain(now.mean, now.deviation, problem.output_unit),
        "candidates": None if now.candidates is None else counted(now.candidates, "candidate"),
        "regret": None if now.regret is None else with_unit(now.regret, problem.output_unit),
        "measured": _measured(campaign, now.recommendation),
        "depends_on": [spaced(axis.name) for axis in problem.input_axes] if hides_states(problem) else [],
        "told": now.told,
        "best": problem.goal.noun(problem.output_unit),
        "goal": None if problem.goal == MAXIMISE else problem.goal.adjective(problem.output_unit),
        "certainty": None if certainty is None else certainty.in_words(problem.output_unit),
    }


def _measured(campaign: Campaign, location: Location) -> bool:
    """Whether there is a result from a place, or from another one with the same inputs."""
    problem = campaign.problem
    wanted, told = inputs_at(problem, location), (move for move in campaign.history.made if move.value is not None)
    return any(inputs_at(problem, move.arrived) == wanted for move in told)


def _route(campaign: Campaign) -> dict[str, Any] | None:
    """The moves of an episode that lead to the recommendation, where they are kept."""
    problem, moves = campaign.problem, campaign.route
    if moves is None:
        return None
    does = [spaced(problem.instruction(tuple(move["actions"].values()))) if move["actions"] else "" for move in moves]
    titles = ["step", *(["actions"] if any(does) else []), *(spaced(c.name) for c in problem.coordinates)]
    rows = [
        [str(move["step"]), *([what] if any(does) else []), *(value for _, value in described(problem, move["at"]))]
        for move, what in zip(moves, does, strict=True)
    ]
    return {
        "titles": titles,
        "texts": [1] if any(does) else [],
        "rows": rows[:MOST_ROWS],
        "moves": counted(len(rows), "move"),
        "left_out": max(0, len(rows) - MOST_ROWS),
    }


def _following(campaign: Campaign) -> dict[str, Any]:
    """The move to make now, and what the last plan has in mind after it."""
    problem, move = campaign.problem, _waiting(campaign.history)
    ahead = [[str(step), *(value for _, value in place(problem, where))] for step, where in _look_ahead(campaign)]
    return {
        "number": None if move is None else str(move.number),
        "step": None if move is None else str(move.step),
        "place": None if move is None or move.expected is None else place(problem, move.expected),
        "action": None if move is None or move.decision is None else spaced(problem.instruction(move.decision)),
        "ahead": ahead[:MOST_ROWS],
        "left_out": max(0, len(ahead) - MOST_ROWS),
        "names": [spaced(c.name) for c in problem.coordinates],
    }


def _look_ahead(campaign: Campaign) -> list[tuple[int, Location]]:
    """(step, place) of the moves after the next one, as scheduled or last planned; nothing where no plan is at hand."""
    if len(schedule := campaign.history.assumed) > 1:
        return [(move.step, move.arrived) for move in schedule[1:]]
    move, situation = campaign.history.open_move, campaign.history.situation()
    here, step = (situation.state, situation.step) if move is None else (move.expected, move.step)
    planner = getattr(campaign.method, "planner", None)
    # At the start of an episode the last plan was for the one before.
    if here is None or planner is None or not 0 < step < campaign.history.length(campaign.history.episode):
        return []
    places = planner.places_ahead(getattr(campaign.method, "last_plan", None), here, step)
    return list(enumerate(places, step + 1))


def _move_row(campaign: Campaign, move: Move) -> list[str]:
    where = [value for _, value in place(campaign.problem, move.arrived)]
    return [str(move.number), str(move.episode), str(move.step), *where]


def _charts(campaign: Campaign, moments: Sequence[Moment]) -> list[Any]:
    if len(moments) <= 1:
        return []
    problem, unit = campaign.problem, campaign.problem.output_unit
    best = problem.goal.noun(unit)
    candidates = None if moments[-1].candidates is None else candidates_picture(moments, best)
    regret = regret_picture(moments, problem.goal, unit)
    drawn = [candidates, belief_picture(moments, output_title(problem)), regret]
    return [picture for picture in drawn if picture is not None]


def _removals(campaign: Campaign, moments: Sequence[Moment]) -> dict[str, Any]:
    """Which result removed which candidates."""
    problem = campaign.problem
    changes = [m for m in moments[1:] if m.removed or m.returned]
    shown = sorted(sorted(changes, key=lambda m: -len(m.removed))[:MOST_ROWS], key=lambda m: m.told)
    rows = []
    for moment in shown:
        move = moment.move
        assert move is not None and moment.value is not None
        names = [_names(problem, moment.removed)] if moment.removed else []
        names += [f"({len(moment.returned)} came back)"] if moment.returned else []
        measured = [f"{move.episode}.{move.step}", place_values(problem, move.arrived)]
        value = with_unit(moment.value, problem.output_unit)
        rows.append([*measured, value, str(len(moment.removed)), " ".join(names), str(moment.candidates)])
    return {"rows": rows, "left_out": len(changes) - len(shown), "first": str(moments[0].candidates)}


def _names(problem: ProblemProtocol, states: Sequence[int]) -> str:
    named = "; ".join(place_values(problem, state) for state in states[:MOST_NAMES])
    return named if len(states) <= MOST_NAMES else f"{named}; and {len(states) - MOST_NAMES} more"


def _results(campaign: Campaign) -> dict[str, Any]:
    """The latest measurements."""
    problem = campaign.problem
    told = campaign.history.measurements
    rows = [[*_move_row(campaign, move), with_unit(value, problem.output_unit)] for move, value in told[-LATEST:]]
    titles = ["move", "episode", "step", *(spaced(c.name) for c in problem.coordinates), output_title(problem)]
    return {"titles": titles, "rows": rows[::-1], "left_out": max(0, len(told) - LATEST)}


def _surprises(campaign: Campaign) -> list[list[str]]:
    """Results that the model finds unlikely and nobody confirmed, the latest first."""
    texts = [(move, text) for move in campaign.history.moves for text in doubts(campaign.problem, move)]
    return [[str(move.number), str(move.episode), str(move.step), text] for move, text in texts[: -MOST_ROWS - 1 : -1]]


def _repeat(campaign: Campaign, prior: dict[str, Any]) -> dict[str, str]:
    """What is needed to run the same campaign again."""
    import yaml

    settings = yaml.safe_dump(campaign.settings.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    kernel = yaml.safe_dump(prior, sort_keys=False, allow_unicode=True)
    return {
        "problem": campaign.problem.name,
        "seed": str(campaign.seed),
        "version": __version__,
        "settings": settings,
        "kernel": kernel,
    }
