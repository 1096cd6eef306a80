"""Duals: values of states, costs of moves, shadow prices; against backward induction, finite differences and brute force."""

import json

import numpy as np
import pyomo.environ as pyo
import pytest
from small_plans import START, binding_limit, compare_flow_duals, problem_of, small_plan

from tcbo_pyomo import Campaign, Problem, grid_process, load_problem, run_campaign, settings_from
from tcbo_pyomo.explain.as_text import explanation_text
from tcbo_pyomo.explain.explanation import explain
from tcbo_pyomo.explain.shadow_prices import look_ahead
from tcbo_pyomo.models.constraints import EndAt, MaximumStep, NonDecreasing, Points, ResourceBudget, VisitBudget
from tcbo_pyomo.planning.finite.certified_frank_wolfe import certified_frank_wolfe
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def reactor(constraints=(), horizon=8, **settings):
    plant = grid_process(
        {"time": [0, 5, 10, 15, 20], "temperature": [60, 70, 80, 90]},
        {"time": [0, 1, 2], "temperature": [-2, -1, 0, 1, 2]},
        0.01,
        units={"time": "min", "temperature": "K"},
    )
    start = {"time": 0, "temperature": 60}
    kernel = SquaredExponential(1.0, 0.3)
    return Problem("reactor", plant, start, horizon, 2, kernel, constraints, settings=settings)


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_values_equal_backward_induction_and_the_flow_duals(seed):
    case = small_plan(seed, 20, 6)
    gradient = case.utility().linearise(None).gradient
    ahead = look_ahead(problem_of(case, horizon=6), gradient, START)
    exact = DynamicProgramming(case.sets).values(gradient)
    np.testing.assert_allclose(ahead.values, exact, atol=1e-12)
    linear = LinearProgramming(case.sets, ())
    met = linear.extreme_point(gradient, START, np.random.default_rng(0))
    compare_flow_duals(linear, exact, met)


@pytest.mark.parametrize("seed", [3, 17, 19])
def test_with_a_budget_values_equal_the_flow_duals_and_complementary_slackness_holds(seed):
    case = small_plan(seed, 20, 6, budget=binding_limit(seed, 20, 6))
    gradient = case.utility().linearise(None).gradient
    ahead = look_ahead(problem_of(case, (case.budget,), 6), gradient, START)
    linear = LinearProgramming(case.sets, (case.budget,))
    met = linear.extreme_point(gradient, START, np.random.default_rng(0))
    compare_flow_duals(linear, ahead.values, met)
    (row,) = ahead.rows
    assert row.name == "distance_budget" and row.shadow_price <= 0.0
    # Strong duality: the value of the start and the priced budget add up to the optimum.
    limit = case.budget.limit * (1 + 1e-9)
    assert ahead.values[0, 0] + row.shadow_price * limit == pytest.approx(linear.last_solution.objective, rel=1e-7)
    costs = ahead.move_costs()[ahead.usable_now()]
    assert costs.min() == pytest.approx(0.0, abs=1e-9) and (costs >= -1e-9).all()


def test_shadow_price_of_a_linear_budget_is_the_finite_difference_of_the_optimum():
    limit = binding_limit(17, 20, 6, 0.3)
    case = small_plan(17, 20, 6, budget=limit)
    gradient = certified_frank_wolfe(case.utility(), case.extreme_point(), 0.01).gradient
    price = look_ahead(problem_of(case, (case.budget,), 6), gradient, START).rows[0].shadow_price
    optimum = {}
    for change in (-1e-4, 1e-4):
        rule = ResourceBudget("distance", case.budget.cost, limit + change)
        linear = LinearProgramming(case.sets, (rule,))
        linear.extreme_point(gradient, START, np.random.default_rng(0))
        optimum[change] = linear.last_solution.objective
    assert price < 0.0
    assert price == pytest.approx((optimum[1e-4] - optimum[-1e-4]) / 2e-4, rel=1e-6)


@pytest.mark.parametrize("seed", [3, 17, 19])
def test_shadow_price_of_a_budget_is_the_change_of_the_whole_planning_problem(seed):
    """Not only of the tangent: the smallest utility itself, by two certified plans under slightly other limits."""
    middle, width, values = binding_limit(seed, 20, 6, 0.3, features=4), 0.01, []
    for limit in (middle - width, middle, middle + width):
        case = small_plan(seed, 20, 6, budget=limit, features=4)
        found = certified_frank_wolfe(case.utility(), case.extreme_point(), 1e-6)
        values.append(found.certificate.upper)
        if limit == middle:
            price = look_ahead(problem_of(case, (case.budget,), 6), found.gradient, START).rows[0].shadow_price
    # The optimum is convex in the limit: the price lies between the slopes on the two sides.
    slopes = np.diff(values) / width
    slack = 2e-6 * values[1] / width
    assert slopes[0] - slack <= price <= slopes[1] + slack
    assert slopes[1] - slopes[0] < 0.2 * abs(price)


def test_move_costs_are_those_of_forcing_the_move_in_the_linear_programme():
    case = small_plan(2, 20, 6)
    gradient = case.utility().linearise(None).gradient
    problem = problem_of(case, horizon=6)
    values = DynamicProgramming(case.sets).values(gradient)
    ahead = look_ahead(problem, gradient, START)
    for pair, cost in zip(case.process.pairs_of(0), ahead.move_costs(), strict=True):
        forced = gradient[pair] + case.process.transitions[[pair]] @ values[1]
        assert cost == pytest.approx(float(forced[0]) - values[0, 0], abs=1e-12)


def test_a_users_own_row_has_a_price_and_a_slack():
    def hot(model):
        model.hot = pyo.Constraint(
            expr=sum(model.visitation[m] for m in model.MOVES if model.coordinate[m[1], "temperature"] >= 80) <= 1.0
        )

    found = explain(Campaign(reactor([NonDecreasing("time"), hot]), seed=1))
    row = next(limit for limit in found.limits if limit.name == "hot")
    assert row.shadow_price < 0.0 and row.slack == pytest.approx(0.0, abs=1e-6)


def test_explanation_of_a_running_campaign_with_budgets_in_the_middle_of_an_episode():
    rules = [
        NonDecreasing("time"),
        MaximumStep({"temperature": 10}),
        ResourceBudget("heat", lambda left, right: abs(right["temperature"] - left["temperature"]) / 10, 3.0),
        VisitBudget(Points([{"time": 20, "temperature": 90}]), 1),
    ]
    campaign = Campaign(reactor(rules), settings_from({"feedback": {"kind": "episodic"}}), seed=1)
    for _ in range(3):
        campaign.arrive(campaign.ask().number)
    move, before = campaign.ask(), campaign.state()
    found = explain(campaign, gap=0.05)
    assert campaign.state() == before
    assert (found.episode, found.step) == (1, 4) and len(found.separates) == 2
    assert found.lower_bound <= found.best_known <= found.utility_now
    assert found.lower_bound <= found.utility_after
    assert [option.action for option in found.moves if option.asked] == [
        campaign.problem.process.actions[campaign.problem.process.pair_action[move.decision]]
    ]
    allowed = [option for option in found.moves if option.status != "forbidden"]
    assert allowed[0].cost == pytest.approx(0.0, abs=1e-9)
    assert sum(option.probability for option in found.moves) == pytest.approx(1.0)
    assert any(option.status == "forbidden" for option in found.moves)
    names = {limit.name: limit for limit in found.limits}
    assert {"heat_budget", "visits_budget", "NonDecreasing", "MaximumStep"} == set(names)
    assert names["heat_budget"].slack >= -1e-6 and names["MaximumStep"].slack >= 0.0
    assert names["MaximumStep"].worth >= 0.0
    json.dumps(found.to_dict(), allow_nan=False)
    text = explanation_text(found, campaign.problem.coordinates)
    assert "asked for" in text and "heat_budget" in text and "no plan can reach less" in text


def test_dropping_an_end_point_is_worth_what_the_plan_without_it_gains():
    end = EndAt({"time": 0, "temperature": 60})
    rules, horizon = [MaximumStep({"temperature": 10})], 4
    plant = reactor([*rules, end], horizon)
    free = reactor(rules, horizon)
    found = explain(Campaign(plant, seed=1), gap=1e-3)
    without = explain(Campaign(free, seed=1), gap=1e-3)
    worth = next(limit.worth for limit in found.limits if limit.name == "EndAt")
    assert worth >= found.best_known - without.best_known - 2e-3 * found.best_known


def test_one_notch_more_of_a_rate_limit_is_priced_between_what_it_brings_and_dropping_it():
    rule = MaximumStep({"temperature": 10, "time": (0, 5)})
    found = explain(Campaign(reactor([rule], 4), seed=1), gap=1e-3)
    (price,) = found.limits
    texts = [text for text, _ in price.looser]
    assert texts == ["temperature 20 K instead of 10", "upwards time 10 min instead of 5"]
    for (_, worth), looser in zip(
        price.looser, ({"temperature": 20, "time": (0, 5)}, {"temperature": 10, "time": (0, 10)}), strict=True
    ):
        gained = found.best_known - explain(Campaign(reactor([MaximumStep(looser)], 4), seed=1), gap=1e-3).best_known
        assert gained - 2e-3 * found.best_known <= worth <= price.worth
    assert max(worth for _, worth in price.looser) > 0.0
    assert "temperature 20 K instead of 10: at most" in explanation_text(found, reactor().coordinates)


def _simulated(**settings):
    problem = reactor([NonDecreasing("time")], 4)
    truth = np.random.default_rng(0).standard_normal(problem.process.number_of_states)
    return problem.changed(truth=truth), settings_from({"episodes": 1, **settings})


def test_one_candidate_left_and_a_finished_campaign():
    result = run_campaign(*_simulated(planner={"gap": 0.05}), seed=1)
    assert result.steps[0].plan["certificate"]["gap"] <= 0.05
    found = explain(result.campaign)
    assert (found.episode, found.step) == (2, 1)
    problem = reactor(settings={"candidates": {"width": 1e-9}})
    campaign = Campaign(problem, settings_from(dict(problem.settings["settings"])), seed=1)
    move = campaign.ask()
    campaign.tell(move.number, 3.0)
    single = explain(campaign)
    assert len(single.separates) == 1
    assert "confirms the one candidate left" in explanation_text(single, problem.coordinates)


def test_continuous_plant_gets_what_makes_sense():
    campaign = Campaign(load_problem("branin2d"), seed=1)
    before = campaign.state()
    found = explain(campaign)
    assert campaign.state() == before
    assert found.lower_bound is None and found.gap is None
    # Equally uncertain pairs differ by rounding.
    assert found.utility_after <= found.utility_now * (1 + 1e-8)
    assert "no certified bound" in explanation_text(found, campaign.problem.coordinates)


def test_situation_after_a_random_arrival_keeps_what_was_spent():
    case = small_plan(5, 20, 6, budget=2.0)
    gradient = case.utility().linearise(None).gradient
    problem = problem_of(case, (case.budget,), 6)
    pair = int(case.process.pairs_of(0)[0])
    situation = Situation((0, int(case.process.successors_of(pair)[0])), (pair,))
    ahead = look_ahead(problem, gradient, situation)
    assert ahead.values.shape == (6, 20) and ahead.rows[0].name == "distance_budget"
