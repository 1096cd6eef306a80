"""Audit: every executed move that breaks a declared constraint, by arithmetic of its own (`tcbo audit`).

No plan is asked: the points where the plant was are held against the rules of the problem, by their own arithmetic or by
their own Pyomo rows, and against what the plant's model can do. What could not be judged is named.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.checks.executed_path import (
    ExecutedEpisode,
    episode_of_states,
    episodes_of_table,
    moves_by_limits,
)
from tcbo_pyomo.errors import BadInput, TcboError
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint, Violation
from tcbo_pyomo.models.episode_path import SAME_PLACE, point_text
from tcbo_pyomo.problem.protocol import ProblemProtocol

DYNAMICS = "dynamics"
"""What is not checked where the data or the code do not say what the plant does."""


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


def audit_campaign(campaign: Campaign, episodes: Iterable[int] | None = None) -> list[AuditFinding]:
    """What is wrong with the moves of a campaign (of some episodes), results told or not.

    Each move is judged by the limits that held when it was asked for.
    """
    found = [
        finding
        for those in moves_by_limits(campaign, episodes)
        for finding in audit_episodes(those.problem, those.episodes)
        if finding.row in those.moves
    ]
    return sorted(found, key=_order)


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
    """Names of what cannot be judged: rules or rows that say nothing about paths, dynamics that cannot be simulated."""
    # A rule says what a path did wrong itself, by what it removes, or by its rows.
    plain = [rule for rule in problem.rules if type(rule).violations is TransitionConstraint.violations]
    silent = [name for rule in plain for name in problem.judge.unjudged(rule)]
    return silent if problem.judge.judges_moves else [*silent, DYNAMICS]


@dataclass(frozen=True)
class Audit:
    """What was found, and how far one could look.

    Attributes
    ----------
    findings
        Moves that break a declared constraint.
    misses
        Moves that ended elsewhere than the model says: no violations, for the plant may go where its dynamics allow.
    unjudged
        What was not held against the moves: rules, rows, or the dynamics.
    moves
        How many moves were looked at.
    """

    findings: tuple[AuditFinding, ...]
    misses: tuple[AuditFinding, ...]
    unjudged: tuple[str, ...]
    moves: int

    @property
    def all_clear(self) -> bool:
        """Whether moves were made, everything was judged, and nothing is broken."""
        return self.moves > 0 and not self.findings and not self.unjudged


def full_campaign_audit(campaign: Campaign) -> Audit:
    """Everything an audit says about a campaign; each move by the limits that held when it was asked for."""
    parts = [(those, full_audit(those.problem, those.episodes)) for those in moves_by_limits(campaign)]
    if not parts:
        return full_audit(campaign.problem, [])
    findings, misses = (
        sorted((one for those, part in parts for one in getattr(part, name) if one.row in those.moves), key=_order)
        for name in ("findings", "misses")
    )
    unjudged = dict.fromkeys(text for _, part in parts for text in part.unjudged)
    return Audit(tuple(findings), tuple(misses), tuple(unjudged), sum(len(those.moves) for those, _ in parts))


def _order(finding: AuditFinding) -> tuple[int, int]:
    return finding.episode, finding.step


def full_audit(problem: ProblemProtocol, episodes: Sequence[ExecutedEpisode]) -> Audit:
    """Everything an audit says about executed episodes."""
    misses = [
        AuditFinding(episode.rows[step], episode.number, step + 1, "model", "where the model predicts", text)
        for episode in episodes
        for step, text in problem.judge.misses(episode.path)
        if step < len(episode.rows)
    ]
    unjudged = [*unaudited(problem), *_undecided(problem, episodes)]
    moves = sum(len(episode.rows) for episode in episodes)
    return Audit(tuple(audit_episodes(problem, episodes)), tuple(misses), tuple(unjudged), moves)


def _undecided(problem: ProblemProtocol, episodes: Sequence[ExecutedEpisode]) -> list[str]:
    """Rows that stay open although the episode has ended: an action that they speak of is not known."""
    found = []
    for rule in problem.rules:
        if type(rule).violations is not TransitionConstraint.violations:
            continue
        for episode in (episode for episode in episodes if episode.path.complete):
            names = [row.name for row in rule.rows(episode.path) if row.is_open and row.broken_at is None]
            if names:
                found.append(f"{rule.name}: {names[0]} in episode {episode.number}")
    return found


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
