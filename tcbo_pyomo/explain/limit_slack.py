"""How much of each declared limit the executed moves have used, for the table of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.checks.audit import AuditFinding
from tcbo_pyomo.checks.executed_path import episodes_of_campaign, executed_path


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


def limit_slack(campaign: Campaign, findings: Sequence[AuditFinding]) -> list[Slack]:
    """One line per limit; rules of the plant itself only where they were broken."""
    problem, situation = campaign.problem, campaign.history.situation()
    paths = [episode.path for episode in episodes_of_campaign(campaign)]
    now = None
    if not campaign.finished:
        now = executed_path(problem, problem.points(situation.path), False, situation.decisions)
    broken = [finding.constraint for finding in findings]
    rows = [
        Slack(rule.name, line.limit, line.used, line.share, broken.count(rule.name))
        for rule in problem.rules
        for line in rule.usage(paths, now)
    ]
    for name in ("start", "horizon", "plant"):
        if name in broken:
            rows.append(Slack(name, "", "see the table of violations", None, broken.count(name)))
    return rows
