"""Declared limits that executed moves broke: always what the audit finds of the facts that stand.

Whatever changes where the plant was has its episodes judged again, as a whole; what differs from what was recorded so far
goes into the row of that change.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.checks.audit import AuditFinding, audit_episodes
from tcbo_pyomo.checks.executed_path import episode_of_moves
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.records.definition import Definitions
from tcbo_pyomo.records.rebuild import Story

logger = logging.getLogger(__name__)

Violations = dict[int, list[str]]
"""What moves broke, in words, by their numbers."""


def audit_moves(campaign: Campaign, definitions: Definitions, number: int) -> list[AuditFinding]:
    """What the audit finds in an episode, each move judged by the limits that held when it was asked for."""
    moves, found = campaign.history.episode_moves(number), []
    now = definitions.now
    for row in sorted({definitions.under(move.number).row for move in moves}):
        definition = definitions.all[row]
        problem = campaign.problem if definition.declared is None else definition.problem
        executed = episode_of_moves(campaign, number, moves)
        same = definition.row == now.row or alike(definition.declared, now.declared)
        path = replace(executed.path, judge=problem.judge, decisions=executed.path.decisions if same else ())
        findings = audit_episodes(problem, [replace(executed, path=path)])
        found += [finding for finding in findings if definitions.under(finding.row).row == row]
    return sorted(found, key=lambda finding: finding.step)


def alike(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> bool:
    """Whether what a plant was asked to do means the same under two definitions."""
    return old is not None and new is not None and old["plant"].get("process") == new["plant"].get("process")


def standing_violations(campaign: Campaign, definitions: Definitions, episodes: Iterable[int]) -> Violations:
    """What the audit finds in some episodes."""
    found: Violations = {}
    for number in sorted(set(episodes)):
        moves = campaign.history.episode_moves(number)
        if not moves:
            continue
        try:
            for finding in audit_moves(campaign, definitions, number):
                text = f"{finding.constraint}: {finding.value}; declared: {finding.limit}"
                found.setdefault(finding.row, []).append(text)
        except BadInput as error:
            # What happened is recorded all the same: what cannot be judged is said, too.
            found.setdefault(moves[-1].number, []).append(f"not checked: {error}")
    return found


def changed_violations(campaign: Campaign, story: Story, episodes: Iterable[int]) -> Violations:
    """Per move of these episodes what it breaks now, where that is not what is recorded."""
    judged, moves, recorded = set(episodes), campaign.history.moves, story.violations
    found = standing_violations(campaign, story.definitions, judged)
    known = {number: texts for number, texts in recorded.items() if texts and number <= len(moves)}
    concerned = {number for number in known if moves[number - 1].episode in judged} | set(found)
    changed = {number: found.get(number, []) for number in sorted(concerned)}
    changed = {number: texts for number, texts in changed.items() if texts != known.get(number, [])}
    for number, texts in changed.items():
        for text in texts:
            if text not in known.get(number, []):
                logger.warning("move %d broke a declared limit: %s", number, text)
    return changed
