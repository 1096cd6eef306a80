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
    episodes_of_table,
)
from tcbo_pyomo.errors import BadInput, TcboError
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint, Violation
from tcbo_pyomo.models.episode_path import SAME_PLACE, point_text
from tcbo_pyomo.problem.protocol import ProblemProtocol


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


def audit_path(problem: ProblemProtocol, executed: str | os.PathLike[str] | Sequence[Any]) -> list[AuditFinding]:
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


def unaudited(problem: ProblemProtocol) -> list[str]:
    """Names of what no arithmetic can judge: rules that say nothing about paths, dynamics that cannot be solved back."""
    # A rule says what a path did wrong itself, by what it removes, or by its rows.
    plain = [rule for rule in problem.rules if type(rule).violations is TransitionConstraint.violations]
    silent = [rule.name for rule in plain if not problem.judge.can_judge(rule)]
    return silent if problem.judge.judges_moves else [*silent, "dynamics"]


def audit_episodes(problem: ProblemProtocol, episodes: Sequence[ExecutedEpisode]) -> list[AuditFinding]:
    """What is wrong with executed episodes, in the order of the moves."""
    return [finding for episode in episodes for finding in sorted(_audit(problem, episode), key=lambda f: f.step)]


def _audit(problem: ProblemProtocol, episode: ExecutedEpisode) -> list[AuditFinding]:
    """Start, length, what the plant can do, and each rule."""
    path, rows = episode.path, episode.rows
    if not rows:
        return []

    def finding(step: int, constraint: str, limit: str, value: str) -> AuditFinding:
        return AuditFinding(rows[min(step, len(rows) - 1)], episode.number, step + 1, constraint, limit, value)

    found = []
    start = problem.points([problem.start_state])[0]
    widths = np.array([c.width for c in path.coordinates])
    if (np.abs(path.points[0] - start) > SAME_PLACE * widths).any():
        found.append(finding(0, "start", point_text(start), point_text(path.points[0])))
    if len(rows) > problem.horizon:
        found.append(finding(problem.horizon, "horizon", f"{problem.horizon} moves per episode", f"{len(rows)} moves"))
    found += [finding(step, "plant", limit, value) for step, limit, value in problem.judge.impossible_moves(path)]
    for rule in problem.rules:
        limit = rule.describe(path.coordinates)
        broken = _violations(rule, episode)
        found += [finding(violation.step, violation.constraint, limit, violation.message) for violation in broken]
    return found


def _violations(rule: TransitionConstraint, episode: ExecutedEpisode) -> list[Violation]:
    try:
        return rule.violations(episode.path)
    except TcboError:
        raise
    except Exception as error:
        why = f"`violations` failed in episode {episode.number}: {type(error).__name__}: {error}"
        raise BadInput(f"constraint '{rule.name}': {why}") from error
