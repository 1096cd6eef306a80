"""Declared limits that executed moves broke: always what the audit finds of the facts that stand.

Whatever changes where the plant was has its episodes judged again, as a whole; what differs from what was recorded so far
goes into the row of that change.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.checks.audit import audit_campaign
from tcbo_pyomo.errors import BadInput

logger = logging.getLogger(__name__)

Violations = dict[int, list[str]]
"""What moves broke, in words, by their numbers."""


def standing_violations(campaign: Campaign, episodes: Iterable[int]) -> Violations:
    """What the audit finds in some episodes."""
    found: Violations = {}
    for number in sorted(set(episodes)):
        moves = campaign.history.episode_moves(number)
        if not moves:
            continue
        try:
            for finding in audit_campaign(campaign, [number]):
                text = f"{finding.constraint}: {finding.value}; declared: {finding.limit}"
                found.setdefault(finding.row, []).append(text)
        except BadInput as error:
            # What happened is recorded all the same: what cannot be judged is said, too.
            found.setdefault(moves[-1].number, []).append(f"not checked: {error}")
    return found


def changed_violations(campaign: Campaign, recorded: Mapping[int, list[str]], episodes: Iterable[int]) -> Violations:
    """Per move of these episodes what it breaks now, where that is not what is recorded."""
    judged, moves = set(episodes), campaign.history.moves
    found = standing_violations(campaign, judged)
    known = {number: texts for number, texts in recorded.items() if texts and number <= len(moves)}
    concerned = {number for number in known if moves[number - 1].episode in judged} | set(found)
    changed = {number: found.get(number, []) for number in sorted(concerned)}
    changed = {number: texts for number, texts in changed.items() if texts != known.get(number, [])}
    for number, texts in changed.items():
        for text in texts:
            if text not in known.get(number, []):
                logger.warning("move %d broke a declared limit: %s", number, text)
    return changed
