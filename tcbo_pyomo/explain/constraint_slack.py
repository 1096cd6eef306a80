"""How much of each declared limit the executed moves have used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.checks.audit import AuditFinding
from tcbo_pyomo.checks.executed_path import ExecutedEpisode, episodes_of_campaign
from tcbo_pyomo.foundation.wording import counted, spaced, with_unit
from tcbo_pyomo.models.constraints.budget import Budget
from tcbo_pyomo.models.constraints.end_at import EndAt
from tcbo_pyomo.models.constraints.maximum_step import MaximumStep
from tcbo_pyomo.models.declared_limits import declared_limit, step_limits


@dataclass(frozen=True)
class Slack:
    """One line of the table.

    Attributes
    ----------
    constraint, limit, used
        The rule, what it allows, and the most that was used, in words.
    share
        Used as a share of the limit; None where the rule has no such measure.
    broken
        How many moves broke it.
    """

    constraint: str
    limit: str
    used: str
    share: float | None
    broken: int


def constraint_slack(campaign: Campaign, findings: Sequence[AuditFinding]) -> list[Slack]:
    """One line per limit; rules of the plant itself only where they were broken."""
    problem, episodes = campaign.problem, episodes_of_campaign(campaign)
    broken = [finding.constraint for finding in findings]
    rows: list[Slack] = []
    for rule in problem.rules:
        count = broken.count(rule.name)
        if isinstance(rule, MaximumStep):
            rows += _steps(rule, problem, episodes, count)
        elif isinstance(rule, Budget):
            rows.append(_budget(rule, problem, episodes, campaign.history.episode, count))
        else:
            used = _end(campaign) if isinstance(rule, EndAt) else ("broken" if count else "kept by every move")
            rows.append(Slack(rule.name, spaced(declared_limit(rule, problem.coordinates)), used, None, count))
    for name in ("start", "horizon", "plant"):
        if name in broken:
            rows.append(Slack(name, "", "see the table of violations", None, broken.count(name)))
    return rows


def _steps(rule: MaximumStep, problem: Any, episodes: Sequence[ExecutedEpisode], broken: int) -> list[Slack]:
    """The largest rise and fall of each coordinate."""
    names = [c.name for c in problem.coordinates]
    rows = []
    for coordinate, down, up in step_limits(rule, problem.coordinates):
        axis = names.index(coordinate.name)
        changes = np.concatenate([[0.0], *(np.diff(episode.points[:, axis]) for episode in episodes)])
        rise, fall = float(changes.max()), max(0.0, float(-changes.min()))
        limit = f"{spaced(coordinate.name)}: {-down:g} to {up:+g} {coordinate.unit}".rstrip() + " per move"
        used = f"{with_unit(rise, coordinate.unit)} up, {with_unit(fall, coordinate.unit)} down"
        rows.append(Slack(rule.name, limit, f"at most {used}", max(_share(rise, up), _share(fall, down)), broken))
    return rows


def _budget(rule: Any, problem: Any, episodes: Sequence[ExecutedEpisode], now: int, broken: int) -> Slack:
    spent = {episode.number: rule.spent(problem.coordinates, episode.points) for episode in episodes}
    most = max(spent.values(), default=0.0)
    used = f"{most:.4g} in the dearest episode, {spent.get(now, 0.0):.4g} in this one"
    return Slack(rule.name, f"at most {rule.limit:.4g} per episode", used, _share(most, rule.limit), broken)


def _end(campaign: Campaign) -> str:
    """Whether the end can still be reached."""
    problem, situation = campaign.problem, campaign.history.situation()
    left = counted(problem.horizon - situation.step, "move")
    if campaign.finished:
        return "every episode has ended"
    if not problem.finite:
        return f"{left} left in this episode; every plan ends there"
    reachable = bool(problem.sets.safe[situation.step, situation.state])
    return (
        f"{left} left in this episode: {'it can be reached' if reachable else 'it can no longer be reached for sure'}"
    )


def _share(used: float, limit: float) -> float:
    if limit > 0:
        return used / limit
    return 0.0 if used <= 0 else float("inf")
