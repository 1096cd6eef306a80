"""Duals: values of states, costs of moves, shadow prices; against backward induction, finite differences and brute force."""

import json

import numpy as np
import pyomo.environ as pyo
import pytest
from learning_plants import FAST, finite, told
from small_plans import START, binding_limit, compare_flow_duals, problem_of, small_plan

from tcbo_pyomo import Campaign, PlainPrior, Problem, grid_process, load_problem, run_campaign, settings_from
from tcbo_pyomo.campaign.simulated_plant import SimulatedPlant
from tcbo_pyomo.explain.as_text import explanation_text
from tcbo_pyomo.explain.explanation import certifying_planner, explain, standpoint
from tcbo_pyomo.explain.looser_rows import LooserRows
from tcbo_pyomo.explain.shadow_prices import look_ahead
from tcbo_pyomo.explain.variance_scale import finite_scale, on_problem
from tcbo_pyomo.models.constraints import (
    EndAt,
    FromFunction,
    MaximumStep,
    NonDecreasing,
    Points,
    ResourceBudget,
    VisitBudget,
)
from tcbo_pyomo.models.episode_path import EpisodePath
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
    assert found.lower_bound <= found.best_known <= found.best_path <= found.utility_after <= found.utility_now
    (asked,) = [option for option in found.moves if option.asked]
    process = campaign.problem.process
    assert asked.action == process.actions[process.pair_action[move.decision]]
    # What is made, the plan and the alternatives are on one scale and add up.
    assert asked.leaves == found.utility_after
    for option in found.moves:
        assert found.utility_now - option.at_once - option.rest == pytest.approx(option.leaves, rel=1e-9)
        assert found.lower_bound <= option.leaves and option.at_once >= -1e-12 and option.rest >= -1e-12
    assert min(option.leaves for option in found.moves) >= found.best_path
    names = {limit.name: limit for limit in found.limits}
    assert {"heat_budget", "visits_budget", "NonDecreasing", "MaximumStep"} == set(names)
    assert names["heat_budget"].slack >= -1e-6 and names["MaximumStep"].slack >= 0.0
    for limit in found.limits:
        for looser in limit.looser:
            # Never worse, and never more than there is to gain.
            assert 0.0 <= looser.leaves <= found.best_known and -found.best_known <= looser.change <= 0.0
    json.dumps(found.to_dict(), allow_nan=False)
    text = explanation_text(found, campaign.problem.coordinates)
    assert "asked for" in text and "heat_budget" in text and "lower bound for every path and policy" in text
    assert "forbidden" not in text


def test_only_moves_that_may_be_made_are_listed():
    """Two budgets and a direction: what is listed is what a whole path goes on from, by brute force over paths."""
    heat = ResourceBudget("heat", lambda left, right: abs(right["temperature"] - left["temperature"]) / 10, 2.0)
    late = ResourceBudget("late", lambda left, right: right["time"] / 5, 7.0)
    problem = reactor([NonDecreasing("time"), heat, late, EndAt({"temperature": 70})], 3)
    campaign = Campaign(problem, seed=1)
    campaign.arrive(campaign.ask().number)
    process, (start, *_) = problem.process, campaign.history.situation().path

    def paths(state, steps):
        if steps == 0:
            return [[]]
        return [[p, *rest] for p in process.pairs_of(state) for rest in paths(int(process.successor[p]), steps - 1)]

    situation = campaign.history.situation()
    allowed = set()
    for pairs in paths(situation.state, problem.horizon - situation.step):
        states = [*situation.path, *(int(process.successor[pair]) for pair in pairs)]
        path = EpisodePath(problem.coordinates, problem.points(states), True)
        if not any(rule.violations(path) for rule in problem.rules):
            allowed.add(process.actions[process.pair_action[pairs[0]]])
    found = explain(campaign, gap=0.05)
    assert start == problem.start_state and found.more_moves == 0
    assert {option.action for option in found.moves} == allowed


def side_rules(limits=(5.0, 0.5)):
    """Side constraints that are there while another limit is priced."""
    most_late, most_hot = limits

    def hot(model):
        model.hot = pyo.Constraint(
            expr=sum(model.visitation[m] for m in model.MOVES if model.coordinate[m[1], "temperature"] >= 80)
            <= most_hot
        )

    late = ResourceBudget("late", lambda left, right: right["time"] / 5, most_late)
    return [late, hot, MaximumStep({"temperature": 10}), EndAt({"temperature": 70})]


def smallest(problem, campaign, gap=1e-5):
    """What the best policy leaves, planned on the problem itself, for the pair that the campaign's plan separates."""
    situation, generator, utility = standpoint(campaign)
    scale = finite_scale(utility, utility.linearise(None), campaign.settings.planner, generator)
    return certifying_planner(problem, campaign.settings.planner).certified(scale, situation, generator, gap)


@pytest.mark.parametrize(
    ("priced", "limits"), [("late", (5.0, 0.5)), ("hot", (9.0, 1.0)), ("step", (9.0, 1.5)), ("end", (5.0, 0.5))]
)
def test_a_price_is_the_difference_of_plans_solved_again_over_its_range(priced, limits):
    rules, horizon = side_rules(limits), 4
    problem = reactor(rules, horizon)
    campaign = Campaign(problem, settings_from({"utility": {"objective": "differences"}}), seed=3)
    found = {limit.name: limit for limit in explain(campaign, gap=1e-5).limits}

    def hotter(model):
        model.hot = pyo.Constraint(
            expr=sum(model.visitation[m] for m in model.MOVES if model.coordinate[m[1], "temperature"] >= 80)
            <= limits[1] + 1.0
        )

    name, position, other = {
        "late": ("late_budget", 0, ResourceBudget("late", rules[0].cost, limits[0] + 1.0)),
        "hot": ("hot", 1, hotter),
        "step": ("MaximumStep", 2, MaximumStep({"temperature": 20})),
        "end": ("EndAt", 3, None),
    }[priced]
    changed = [*rules[:position], *([] if other is None else [other]), *rules[position + 1 :]]
    before = smallest(problem, campaign).certificate.upper
    after = smallest(reactor(changed, horizon), campaign).certificate.upper
    (looser,) = found[name].looser
    assert before - after > 1e-3 * before, "the case says nothing"
    assert looser.change == pytest.approx(after - before, abs=1e-4 * before)
    if priced in ("late", "hot"):
        assert looser.amount == 1.0 and looser.price == looser.change
        # A slope at the present limit bounds the change: the smallest variance is convex in the limit.
        assert found[name].shadow_price <= looser.price + 1e-4 * before


@pytest.mark.parametrize("name", ["late_budget", "hot"])
def test_a_shadow_price_is_the_slope_at_the_limit_with_side_constraints(name):
    rules, width = side_rules(), 0.02
    campaign = Campaign(reactor(rules, 4), seed=3)
    price = next(limit.shadow_price for limit in explain(campaign, gap=1e-7).limits if limit.name == name)
    values = []
    for change in (-width, 0.0, width):
        changed = [ResourceBudget("late", rules[0].cost, 5.0 + change), *rules[1:]]
        if name == "hot":
            hot = FromFunction(rules[1])
            changed = [rules[0], LooserRows(hot, "hot", change), *rules[2:]]
        values.append(smallest(reactor(changed, 4), campaign, 1e-7).certificate.upper)
    slopes, slack = np.diff(values) / width, 3e-7 * values[1] / width
    assert slopes[0] - slack <= price <= slopes[1] + slack


def test_a_step_that_the_moves_do_not_have_is_named_and_not_priced():
    plant = grid_process({"x": [0, 1, 2, 3]}, {"x": [-1, 0, 1]}, 0.01)
    problem = Problem("line", plant, {"x": 0}, 3, 1, SquaredExponential(1.0, 0.3), [MaximumStep({"x": 1})])
    (limit,) = explain(Campaign(problem, seed=1)).limits
    assert limit.looser == () and "no larger steps" in limit.note


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
    assert "confirms the only candidate left" in explanation_text(single, problem.coordinates)


def test_continuous_plant_gets_what_makes_sense():
    campaign = Campaign(load_problem("branin2d"), seed=1)
    before = campaign.state()
    found = explain(campaign)
    assert campaign.state() == before
    assert found.lower_bound is None and found.gap is None
    # Equally uncertain pairs differ by rounding.
    assert found.best_path == found.utility_after <= found.utility_now * (1 + 1e-8)
    assert "A continuous plant has no bound" in explanation_text(found, campaign.problem.coordinates)


def test_situation_after_a_random_arrival_keeps_what_was_spent():
    case = small_plan(5, 20, 6, budget=2.0)
    gradient = case.utility().linearise(None).gradient
    problem = problem_of(case, (case.budget,), 6)
    pair = int(case.process.pairs_of(0)[0])
    situation = Situation((0, int(case.process.successors_of(pair)[0])), (pair,))
    ahead = look_ahead(problem, gradient, situation)
    assert ahead.values.shape == (6, 20) and ahead.rows[0].name == "distance_budget"


def test_an_explanation_counts_with_the_noise_that_was_learned():
    problem = finite(prior=PlainPrior((0.0, 100.0)))
    campaign = Campaign(problem, settings_from(FAST), seed=1)
    told(campaign, SimulatedPlant(problem, 1), 1)
    for value in (8.0, 31.0, 12.0, 27.0, 19.0, 35.0, 5.0, 24.0, 16.0):
        campaign.tell(1, value, replicate=True)
    # Everything in one unit of the noise: a plant that was declared as noisy as was learned gives the same explanation.
    same = campaign.knowledge.utility(np.random.default_rng(0))
    tangent = same.linearise()
    scaled = finite_scale(same, tangent, campaign.settings.planner, campaign.generator)
    assert scaled.noise_factor == same.noise_factor > 20.0
    other = on_problem(scaled, problem)
    np.testing.assert_allclose(other.process.noise_variance, same.process.noise_variance)
    assert explain(campaign).utility_after > 0.5 * explain(campaign).utility_now


def test_a_table_of_moves_does_not_promise_the_best_rest():
    """Plans weigh all rivals, the numbers are of one pair: another path with the same first move may leave much less."""
    prior = PlainPrior(range=(0, 100), measurement_sd=1.0)
    axes = {"temperature": [40, 50, 60, 70, 80, 90], "ratio": [1, 2, 3, 4]}
    plant = grid_process(axes, {name: [-1, 0, 1] for name in axes}, prior.noise_variance)
    oven = Problem("oven", plant, {"temperature": 40, "ratio": 1}, horizon=5, episodes=2, prior=prior)
    campaign = Campaign(oven, settings_from({}), seed=1)
    found = explain(campaign)
    begun = next(option for option in found.moves if found.best_path_begins in option.leads_to)
    assert found.best_path < 0.5 * begun.leaves
    text = explanation_text(found, oven.coordinates)
    assert "with the rest of the episode as it would be planned" in text and "by the best plan" not in text
    # 24 places in a range of 100: the sum over rivals may be above the range, and is said to be one.
    assert found.regret[0] > 100 and f"adds up to {found.regret[0]:.4g} now" in text
