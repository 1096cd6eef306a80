"""A user's rule with nothing but `add_to_polytope` is planned with, audited, explained, priced and shown in the report."""

import pyomo.environ as pyo

from tcbo_pyomo import Campaign, load_problem, settings_from
from tcbo_pyomo.checks.audit import audit_campaign, audit_path, unaudited
from tcbo_pyomo.explain.explanation import explain
from tcbo_pyomo.models.constraints import TransitionConstraint
from tcbo_pyomo.report.page import render_report


class RatioChanges(TransitionConstraint):
    """The README's own example."""

    def __init__(self, limit):
        self.limit = limit

    def add_to_polytope(self, model):
        changes = [model.visitation[move] for move in model.MOVES if "ratio" in move[2]]
        model.ratio_changes = pyo.Constraint(expr=sum(changes) <= self.limit)


def test_from_the_plan_to_the_report():
    problem = load_problem("knorr_pyrazole")
    problem = problem.changed(constraints=[*problem.constraints, RatioChanges(1)])
    assert unaudited(problem) == []
    campaign = Campaign(problem, settings_from(dict(problem.settings)), seed=1)
    for _ in range(3):
        campaign.tell(campaign.ask().number, 0.1)
    assert audit_campaign(campaign) == []
    row = next(limit for limit in explain(campaign, gap=0.2).limits if limit.name == "ratio_changes")
    assert row.limit == "RatioChanges: at most 1" and row.shadow_price is not None and row.slack is not None
    assert "ratio changes: at most 1" in render_report(campaign)
    at = [{"residence_time": 0, "ratio": ratio} for ratio in (0.0, 0.1, 0.0)]
    (found,) = [finding for finding in audit_path(problem, at) if finding.constraint == "RatioChanges"]
    assert (found.step, found.limit) == (2, "at most 1 per episode")
    assert found.value == "ratio_changes is 2, allowed is at most 1"
