"""What-if: limits by name, and both plans against plans made on the changed problem itself."""

import numpy as np
import pytest

from tcbo_pyomo import Campaign, Problem, grid_process, load_problem
from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.models.constraints import (
    Circle,
    EndAt,
    ForbiddenRegion,
    MaximumStep,
    NonDecreasing,
    ResourceBudget,
    VisitBudget,
)
from tcbo_pyomo.planning.explanation import explain
from tcbo_pyomo.planning.named_limits import changed_limit, named_limits
from tcbo_pyomo.planning.what_if import what_if
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def heat(left, right):
    return abs(right["temperature"] - left["temperature"])


def reactor(*constraints, horizon=6):
    plant = grid_process(
        {"time": [0, 5, 10, 15, 20], "temperature": [60, 64, 68, 72]},
        {"time": [0, 1, 2], "temperature": [-2, -1, 0, 1, 2]},
        0.01,
        units={"time": "min", "temperature": "K"},
    )
    start = {"time": 0, "temperature": 60}
    return Problem("reactor", plant, start, horizon, 2, SquaredExponential(1.0, 0.3), constraints)


def test_names_follow_the_constraints_own_parameters():
    rules = [
        MaximumStep({"temperature": 4, "time": (0, 5)}),
        EndAt({"time": 20}),
        ResourceBudget("fuel", heat, 30),
        VisitBudget(lambda v: v["time"] > 10, 2),
        NonDecreasing("time"),
        ForbiddenRegion(Circle({"time": 12.0, "temperature": 70.0}, 1.0)),
    ]
    assert set(named_limits(reactor(*rules))) == {
        "maximum_step.temperature",
        "maximum_step.time",
        "end_at.time",
        "fuel_budget",
        "visits_budget",
        "forbidden_region.center.time",
        "forbidden_region.center.temperature",
        "forbidden_region.radius",
    }


def test_a_changed_limit_makes_the_plan_that_the_changed_problem_makes():
    problem, changed = (reactor(MaximumStep({"temperature": limit}), horizon=3) for limit in (4, 8))
    campaign = Campaign(problem, seed=1)
    before = campaign.state()
    answer = what_if(campaign, {"maximum_step.temperature": "8K"}, gap=1e-4)
    assert campaign.state() == before
    direct = explain(Campaign(changed, seed=1), gap=1e-4)
    assert answer.changed.utility_after == pytest.approx(direct.best_known, rel=2e-4)
    assert answer.changed.utility_after < answer.present.utility_after * (1 - 1e-3)
    assert answer.present.lower_bound <= answer.present.utility_after <= answer.utility_now
    assert answer.changes == (("maximum_step.temperature", "4", "8 K"),) and answer.by_shadow_price is None


def test_the_move_limit_of_the_manual_and_units_are_understood():
    problem = reactor(MaximumStep({"temperature": 4, "time": 5}))
    for name, value in (("move_limit.time", "300 s"), ("maximum_step.time", "5min"), ("maximum_step.time", 5)):
        changed, _, _ = changed_limit(problem, name, value)
        assert (changed.sets.allowed_pairs == problem.sets.allowed_pairs).all()


def test_budgets_are_foretold_by_their_shadow_price():
    campaign = Campaign(reactor(ResourceBudget("fuel", heat, 5.0)), seed=1)
    answer = what_if(campaign, {"fuel_budget": 5.1}, gap=1e-5)
    saved = answer.present.utility_after - answer.changed.utility_after
    foretold = answer.present.utility_after - answer.by_shadow_price
    assert saved > 0.0
    # The optimum is convex in the limit, so the first-order gain is never too small.
    assert saved * (1 - 1e-3) <= foretold <= 1.5 * saved


def test_a_longer_episode_is_never_worse_and_one_that_is_over_is_refused():
    campaign = Campaign(reactor(), seed=1)
    for _ in range(3):
        campaign.arrive(campaign.ask().number)
    answer = what_if(campaign, {"horizon": "8"})
    assert answer.changed.utility_after <= answer.present.utility_after
    with pytest.raises(BadInput, match="3 moves of this episode are made already"):
        what_if(campaign, {"horizon": 3})


def test_random_transitions():
    campaign = Campaign(load_problem("river"), seed=1)
    answer = what_if(campaign, {"horizon": 18}, gap=0.2)
    assert answer.changed.lower_bound >= 0 and np.isclose(sum(p for p, _ in answer.changed.first_moves), 1.0)


def test_continuous_plant():
    campaign = Campaign(load_problem("branin2d"), seed=1)
    answer = what_if(campaign, {"horizon": campaign.problem.horizon + 2})
    assert answer.present.lower_bound is None and answer.changed.utility_after <= answer.utility_now


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "nothing to change"),
        ({"maximum_step.temprature": 8}, "did you mean 'maximum_step.temperature'"),
        ({"maximum_step.temperature": "warm"}, "must be a number"),
        ({"maximum_step.temperature": "8 quux"}, "unknown unit 'quux'"),
        ({"maximum_step.temperature": "8 min"}, "does not convert"),
        ({"maximum_step.temperature": -1}, "must not be negative"),
        ({"fuel_budget": -1}, "not negative"),
        ({"fuel_budget": "3 K"}, "plain number"),
        ({"horizon": 1.5}, "whole number"),
        ({"end_at.time": 3}, "no state at"),
    ],
)
def test_bad_changes_are_refused_in_one_line(changes, message):
    rules = MaximumStep({"temperature": 4}), ResourceBudget("fuel", heat, 30), EndAt({"time": 20})
    with pytest.raises(BadInput, match=message) as error:
        what_if(Campaign(reactor(*rules), seed=1), changes)
    assert "\n" not in str(error.value)


def test_a_limit_that_leaves_no_plan_is_proven_infeasible():
    with pytest.raises(InfeasiblePlan):
        what_if(Campaign(reactor(MaximumStep({"time": 5}), EndAt({"time": 20})), seed=1), {"maximum_step.time": 0})
