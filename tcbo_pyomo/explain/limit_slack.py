"""How much of each declared limit the executed moves have used, for the table of the report."""

from __future__ import annotations

from dataclasses import dataclass

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.checks.audit import Audit
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
    verdict
        How many moves broke it, "no", or "not checked".
    """

    constraint: str
    limit: str
    used: str
    share: float | None
    verdict: str


def limit_slack(campaign: Campaign, audit: Audit) -> list[Slack]:
    """One line per limit; rules of the plant itself only where they were broken."""
    problem, situation = campaign.problem, campaign.history.situation()
    paths = [episode.path for episode in episodes_of_campaign(campaign)]
    now = None
    if not campaign.all_moves_made:
        now = executed_path(problem, problem.points(situation.path), False, situation.decisions)
    rows = [
        Slack(rule.name, line.limit, line.used, line.share, _verdict(rule.name, audit))
        for rule in problem.rules
        for line in rule.usage(paths, now)
    ]
    for name in ("start", "horizon", "plant"):
        if any(finding.constraint == name for finding in audit.findings):
            rows.append(Slack(name, "", "see the table of violations", None, _verdict(name, audit)))
    return rows


def _verdict(name: str, audit: Audit) -> str:
    """How often a rule was broken; "no" only where all of it was judged."""
    broken = sum(finding.constraint == name for finding in audit.findings)
    if broken:
        return str(broken)
    silent = any(text == name or text.startswith(f"{name}: ") for text in audit.unjudged)
    return "not checked" if silent else "no"
