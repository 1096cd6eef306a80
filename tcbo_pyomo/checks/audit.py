"""Audit: every executed move that breaks a declared constraint, by arithmetic of its own (`tcbo audit`).

Neither a plan nor a solver is asked: the points where the plant was are held against the rules of the problem.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.checks.executed_path import (
    ExecutedEpisode,
    episode_of_states,
    episodes_of_campaign,
    points_of,
)
from tcbo_pyomo.checks.executed_table import episodes_of_table
from tcbo_pyomo.checks.possible_moves import impossible_moves, judges_moves, moves_removed_by
from tcbo_pyomo.errors import BadInput, TcboError
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint, Violation
from tcbo_pyomo.models.declared_limits import declared_limit

TOLERANCE = 1e-6
"""Distance from the start that still counts as being there, as a share of each axis."""


@dataclass(frozen=True)
class AuditFinding:
    """One move that breaks a declared constraint.

    Attributes
    ----------
    row
        Number of the move in the campaign, or row of the file as an editor counts it.
    episode, step
        Both from 1.
    constraint
        The rule that is broken: its name, or "start", "horizon", "plant".
    limit, value
        What is allowed, and what was done.
    """

    row: int
    episode: int
    step: int
    constraint: str
    limit: str
    value: str


def audit_campaign(campaign: Campaign) -> list[AuditFinding]:
    """What is wrong with the moves of a campaign, results told or not."""
    return audit_episodes(campaign.problem, episodes_of_campaign(campaign))


def audit_path(problem: Any, executed: str | os.PathLike[str] | Sequence[Any]) -> list[AuditFinding]:
    """What is wrong with executed set-points.

    Parameters
    ----------
    problem
        The plant and its rules.
    executed
        The path of a CSV file (see `episodes_of_table`), or the states of one episode, the start first.
    """
    if isinstance(executed, (str, os.PathLike)):
        return audit_episodes(problem, episodes_of_table(problem, executed))
    return audit_episodes(problem, [episode_of_states(problem, executed)])


def unaudited(problem: Any) -> list[str]:
    """Names of what plain arithmetic cannot judge: rules without `violations`, dynamics that cannot be solved back."""
    silent = [rule.name for rule in problem.rules if not _speaks(rule, problem)]
    return silent if judges_moves(problem) else [*silent, "dynamics"]


def audit_episodes(problem: Any, episodes: Sequence[ExecutedEpisode]) -> list[AuditFinding]:
    """What is wrong with executed episodes, in the order of the moves."""
    return [finding for episode in episodes for finding in sorted(_audit(problem, episode), key=lambda f: f.step)]


def _audit(problem: Any, episode: ExecutedEpisode) -> list[AuditFinding]:
    """Start, length, what the plant can do, and each rule."""
    coordinates, path, rows = problem.coordinates, episode.points, episode.rows
    if not rows:
        return []

    def finding(step: int, constraint: str, limit: str, value: str) -> AuditFinding:
        return AuditFinding(rows[min(step, len(rows) - 1)], episode.number, step + 1, constraint, limit, value)

    found = []
    start = points_of(problem, [problem.start_state])[0]
    widths = np.array([c.width for c in coordinates])
    if (np.abs(path[0] - start) > TOLERANCE * widths).any():
        found.append(finding(0, "start", _point(start), _point(path[0])))
    if len(rows) > problem.horizon:
        found.append(finding(problem.horizon, "horizon", f"{problem.horizon} moves per episode", f"{len(rows)} moves"))
    found += [finding(step, "plant", limit, value) for step, limit, value in impossible_moves(problem, path)]
    for rule in problem.rules:
        limit = declared_limit(rule, coordinates)
        broken = _violations(rule, problem, episode)
        found += [finding(violation.step, violation.constraint, limit, violation.message) for violation in broken]
        if not broken and not _overrides(rule, "violations"):
            found += [finding(step, rule.name, limit, value) for step, value in _forbidden(rule, problem, path)]
    return found


def _violations(rule: TransitionConstraint, problem: Any, episode: ExecutedEpisode) -> list[Violation]:
    try:
        return rule.violations(problem.coordinates, episode.points, episode.complete)
    except TcboError:
        raise
    except Exception as error:
        why = f"`violations` failed in episode {episode.number}: {type(error).__name__}: {error}"
        raise BadInput(f"constraint '{rule.name}': {why}") from error


def _forbidden(rule: TransitionConstraint, problem: Any, path: Array) -> list[tuple[int, str]]:
    """Moves to points that a rule does not allow the plant to be in; for rules that say no more than that."""
    allowed = rule.allowed_points(problem.coordinates, path[1:])
    wrong = [] if allowed is None else np.flatnonzero(~allowed).tolist()
    found = [(step, f"the plant was at {_point(path[step + 1])}") for step in wrong]
    if problem.finite and _overrides(rule, "allowed_transitions"):
        removed = moves_removed_by(rule, problem, path)
        found += [(step, f"the move {_point(path[step])} -> {_point(path[step + 1])}") for step in removed]
    return found


def _speaks(rule: TransitionConstraint, problem: Any) -> bool:
    """Whether a rule says what a path did wrong, itself or by what it removes."""
    names = ("violations", "allowed_points", *(["allowed_transitions"] if problem.finite else []))
    return any(_overrides(rule, name) for name in names)


def _overrides(rule: TransitionConstraint, method: str) -> bool:
    return getattr(type(rule), method) is not getattr(TransitionConstraint, method)


def _point(point: Array) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in point) + ")"
