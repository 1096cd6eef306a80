"""What-if: limits by name, and both plans against plans made on the changed problem itself."""

import numpy as np
import pytest

from tcbo_pyomo import Campaign, Problem, grid_process, load_problem
from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.explain.explanation import certifying_planner, explain, standpoint
from tcbo_pyomo.explain.limits_by_name import changed_limit, limit_names, named_limits
from tcbo_pyomo.explain.variance_scale import finite_scale, on_problem
from tcbo_pyomo.explain.what_if import PlanOutcome, WhatIf, what_if
from tcbo_pyomo.explain.what_if_text import verdict, what_if_text
from tcbo_pyomo.models.constraints import (
    Circle,
    EndAt,
    ForbiddenRegion,
    MaximumStep,
    NonDecreasing,
    ResourceBudget,
    VisitBudget,
)
from tcbo_pyomo.plant.actions import NormActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.settings import settings_from
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
    assert answer.changes == (("maximum_step.temperature", "4", "8 K"),)


def test_limits_with_units_are_understood():
    problem = reactor(MaximumStep({"temperature": 4, "time": 5}))
    for name, value in (("maximum_step.time", "300 s"), ("maximum_step.time", "5min"), ("maximum_step.time", 5)):
        changed, _, _ = changed_limit(problem, name, value)
        assert (changed.sets.allowed_pairs == problem.sets.allowed_pairs).all()


def test_explain_and_what_if_say_the_same_about_a_budget():
    # Every place can be visited, and the hotter it is the more a visit takes: the budget binds.
    fuel = ResourceBudget("fuel", lambda left, right: (right["temperature"] - 60) / 4, 5.0)
    campaign = Campaign(reactor(fuel), seed=1)
    assert campaign.problem.search_space.all()
    (limit,) = explain(campaign, gap=1e-5).limits
    (looser,) = limit.looser
    answer = what_if(campaign, {"fuel_budget": 5.0 + looser.amount}, gap=1e-5)
    assert looser.text == f"{5.0 + looser.amount:g} instead of 5"
    change = answer.changed.utility_after - answer.present.utility_after
    assert looser.change == pytest.approx(change, abs=3e-5 * answer.present.utility_after)
    assert looser.price == pytest.approx(change / looser.amount, rel=1e-3) and change < 0.0


def one_cell(*constraints, noise=0.01, steps=(-1, 0, 1)):
    """A grid whose moves go one cell at a time."""
    axes = {"time": [0, 5, 10], "temperature": [60, 70, 80, 90, 100]}
    plant = grid_process(axes, {"time": [0, 1], "temperature": list(steps)}, noise, units={"temperature": "K"})
    start = {"time": 0, "temperature": 60}
    return Problem("cells", plant, start, 3, 2, SquaredExponential(1.0, 0.3), constraints, output_unit="g/L")


@pytest.mark.parametrize(("share", "word"), [(-7e-7, "no difference"), (-1e-3, "better"), (1e-3, "worse")])
def test_what_the_solver_of_trajectories_leaves_is_no_difference(share, word):
    """7.618 instead of 7.618 is not better; a thousandth of the variance now is."""
    present, changed = (PlanOutcome(7.618 + change, None, ()) for change in (0.0, 12.5 * share))
    answer = WhatIf((("horizon", "10", "14"),), 12.5, present, changed)
    assert verdict(answer) == word
    assert what_if_text(answer).startswith(
        f"{word} beyond the accuracy of the solver: " if share == -7e-7 else f"{word}: "
    )


def test_steps_that_the_moves_lack_are_built_and_answered_as_by_a_plant_that_has_them():
    hot = VisitBudget(lambda v: v["temperature"] >= 90, 1, name="hot")
    rules = MaximumStep({"temperature": 10}), hot
    campaign = Campaign(one_cell(*rules), seed=1)
    campaign.tell(campaign.ask().number, 0.1)
    answer = what_if(campaign, {"maximum_step.temperature": 25}, gap=1e-5)
    assert "needs moves that the plant does not have: moves of up to 2 cells were added" in answer.note
    larger = one_cell(MaximumStep({"temperature": 25}), hot, steps=(-2, -1, 0, 1, 2))
    situation, generator, utility = standpoint(campaign)
    scale = on_problem(finite_scale(utility, utility.linearise(None), campaign.settings.planner, generator), larger)
    names = [campaign.problem.process.pair_name(pair) for pair in situation.decisions]
    decisions = [p for n in names for p in range(larger.process.number_of_pairs) if larger.process.pair_name(p) == n]
    there = Situation(situation.path, tuple(decisions))
    direct = certifying_planner(larger, campaign.settings.planner).certified(scale, there, generator, 1e-5)
    assert answer.changed.utility_after == pytest.approx(direct.certificate.upper, rel=2e-5)
    assert verdict(answer) == "better"
    text = what_if_text(answer)
    assert text.startswith("better: with maximum_step.temperature = 25 instead of 10 the best policy leaves ")
    assert "(g/L)² less variance" in text and "g/L less in sd" in text


def test_a_step_between_two_cells_changes_nothing_and_a_smaller_one_is_worse():
    campaign = Campaign(one_cell(MaximumStep({"temperature": 10})), seed=1)
    same = what_if(campaign, {"maximum_step.temperature": 15})
    assert verdict(same) == "no difference" and same.note == "" and what_if_text(same).startswith("no difference: ")
    worse = what_if(campaign, {"maximum_step.temperature": 5})
    assert verdict(worse) == "worse" and "more variance" in what_if_text(worse)


def test_moves_that_cannot_be_built_are_said_plainly():
    def noise(left, right):
        return 0.01 + abs(right[:, 1] - left[:, 1]) / 1000

    campaign = Campaign(one_cell(MaximumStep({"temperature": 10}), noise=noise), seed=1)
    answer = what_if(campaign, {"maximum_step.temperature": 20})
    assert "cannot be added because its noise differs from move to move" in answer.note
    assert answer.changed.utility_after == answer.present.utility_after


def test_a_longer_episode_is_never_worse_and_one_that_is_over_is_refused():
    campaign = Campaign(reactor(), seed=1)
    for _ in range(3):
        campaign.arrive(campaign.ask().number)
    answer = what_if(campaign, {"horizon": "8"})
    assert answer.changed.utility_after <= answer.present.utility_after
    with pytest.raises(BadInput, match="3 moves of this episode are already made"):
        what_if(campaign, {"horizon": 3})


def test_random_transitions():
    campaign = Campaign(load_problem("river"), seed=1)
    answer = what_if(campaign, {"horizon": 18}, gap=0.2)
    assert answer.changed.lower_bound >= 0 and np.isclose(sum(p for p, _ in answer.changed.first_moves), 1.0)


def test_continuous_plant():
    campaign = Campaign(load_problem("branin2d"), seed=1)
    answer = what_if(campaign, {"horizon": campaign.problem.horizon + 2})
    # Equally uncertain pairs differ by rounding.
    assert answer.present.lower_bound is None and answer.changed.utility_after <= answer.utility_now * (1 + 1e-8)


def thermal(limit=15):
    problem = load_problem("thermal_reactor").changed(horizon=6)
    settings = settings_from({"candidates": {"rule": "upper_confidence"}, "planner": {"first_move": "eager"}})
    return Campaign(problem.changed(constraints=(MaximumStep({"temperature": limit}),)), settings, seed=1)


@pytest.mark.parametrize("value", ["8K", "8 degC", "8 delta_degC", "14.4 delta_degF", 8])
def test_a_step_of_a_continuous_plant_in_degrees(value):
    """8 K is a step of 8 degrees Celsius, although no temperature of 8 degrees."""
    changed, old, new = changed_limit(thermal().problem, "maximum_step.temperature", value)
    assert old == 15 and new == pytest.approx(8.0)
    assert changed.rules[0].limits == {"temperature": pytest.approx(8.0)}


def test_limits_of_a_continuous_plant_change_its_plan():
    campaign = thermal()
    before = campaign.state()
    slower = what_if(campaign, {"maximum_step.temperature": "2K"})
    cooler = what_if(
        campaign, {"action_limit.jacket_set_point.upper": 60, "action_limit.residence_time_change.upper": 0.1}
    )
    assert campaign.state() == before
    start = campaign.problem.describe(campaign.problem.start_state)
    for answer, coordinate, limit in ((slower, "temperature", 2.0), (cooler, "residence_time", 0.1)):
        (_, present), (_, changed) = answer.present.first_moves[0], answer.changed.first_moves[0]
        assert present[coordinate] - start[coordinate] > limit + 1e-3
        assert changed[coordinate] - start[coordinate] <= limit + 1e-6
        assert answer.changed.lower_bound is None


def test_limits_of_actions_have_names():
    assert limit_names(thermal().problem) == [
        "horizon",
        "maximum_step.temperature",
        "action_limit.jacket_set_point.lower",
        "action_limit.jacket_set_point.upper",
        "action_limit.residence_time_change.lower",
        "action_limit.residence_time_change.upper",
    ]
    plant = load_problem("branin2d")
    ball = plant.changed(dynamics=LinearDynamics.free_moves(2, NormActions(0.1)))
    changed, old, new = changed_limit(ball, "action_limit.maximum", "0.2")
    assert (old, new, changed.dynamics.actions.maximum) == (0.1, 0.2, 0.2)
    for name, value, message in (
        ("action_limit.maximum", "2 K", "plain number"),
        ("action_limit.maximum", -1, "positive"),
    ):
        with pytest.raises(BadInput, match=message):
            changed_limit(ball, name, value)


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


def test_a_step_in_degrees_of_something_else_is_refused():
    with pytest.raises(BadInput, match="does not convert to a step in degC"):
        changed_limit(thermal().problem, "maximum_step.temperature", "8 min")


def test_a_limit_that_leaves_no_plan_is_proven_infeasible():
    with pytest.raises(InfeasiblePlan):
        what_if(Campaign(reactor(MaximumStep({"time": 5}), EndAt({"time": 20})), seed=1), {"maximum_step.time": 0})
