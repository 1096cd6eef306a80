"""Certificates, prices and move costs where visit limits and budgets couple the steps of an episode; HiGHS throughout."""

from dataclasses import replace

import numpy as np
import pytest
from convex_optimum import convex_optimum
from small_plans import START, compare_flow_duals, distance, problem_of, small_plan

from tcbo_pyomo.explain.shadow_prices import look_ahead
from tcbo_pyomo.models.constraints import ResourceBudget, VisitBudget
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.visitation import mix
from tcbo_pyomo.models.worst_case_budget import WorstCaseTail
from tcbo_pyomo.planning.finite.certified_frank_wolfe import certified_frank_wolfe
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.plant.situation import Situation

HORIZON = 6


def right_half(values):
    return values["x"] > 0.5


def with_visit_limit(seed, limit, successors=2):
    """A random plan that may expect so many visits of the right half."""
    case, rule = small_plan(seed, 20, HORIZON, successors=successors), VisitBudget(right_half, limit)
    return replace(case, sets=EpisodeSets(case.process, (rule,), HORIZON), budget=rule)


def optimum(case, gradient, *rules, situation=START):
    """The linear programme under some rules, and its smallest value."""
    linear = LinearProgramming(EpisodeSets(case.process, rules, HORIZON), rules)
    visits = linear.extreme_point(gradient, situation, np.random.default_rng(0))
    return linear, visits, float(gradient @ visits.expected_counts(len(gradient)))


@pytest.mark.parametrize("seed", [4, 10, 16])
def test_interval_contains_the_convex_optimum_under_a_visit_limit(seed):
    case = with_visit_limit(seed, 1.6)
    free = certified_frank_wolfe(replace(case, budget=None).utility(), _free_oracle(case), 0.01).certificate
    found = certified_frank_wolfe(case.utility(), case.extreme_point(), 0.01)
    proof, plan = found.certificate, mix(found.components)
    assert proof.gap <= 0.01 and proof.oracle_calls <= 40
    assert case.tail.pair_cost @ plan.expected_counts(case.process.number_of_pairs) <= 1.6 * (1 + 1e-6)
    limits = {"pair_cost": case.tail.pair_cost, "limit": 1.6, "barred": case.barred}
    truth = convex_optimum(case.process, 0, HORIZON, case.features, case.candidates, **limits)
    assert proof.lower <= truth * (1 + 1e-5) and truth <= proof.upper * (1 + 1e-5)
    assert proof.upper > free.upper  # The limit binds.


def _free_oracle(case):
    linear, rng = LinearProgramming(EpisodeSets(case.process, (), HORIZON), ()), np.random.default_rng(1)
    return lambda gradient: linear.extreme_point(gradient, START, rng)


@pytest.mark.parametrize("seed", [4, 10, 16])
def test_price_of_a_visit_limit_is_the_finite_difference_and_values_are_the_flow_duals(seed):
    limit, width = 1.6, 1e-4
    case = with_visit_limit(seed, limit)
    gradient = certified_frank_wolfe(case.utility(), case.extreme_point(), 0.01).gradient
    ahead = look_ahead(problem_of(case, (case.budget,), HORIZON), gradient, START)
    (row,) = ahead.rows
    values = [optimum(case, gradient, VisitBudget(right_half, limit + change))[2] for change in (-width, width)]
    assert row.name == "visits_budget" and row.shadow_price < 0.0
    assert row.shadow_price == pytest.approx(np.diff(values)[0] / (2 * width), rel=1e-5, abs=1e-9)
    linear, visits, _ = optimum(case, gradient, case.budget)
    compare_flow_duals(linear, ahead.values, visits)


@pytest.mark.parametrize("seed", [4, 7, 10, 16])
def test_two_side_constraints_at_once(seed):
    """Strong duality: the value of the start and both priced limits add up to the optimum; each price is a slope."""
    case, width = small_plan(seed, 20, HORIZON), 1e-4
    gradient = case.utility().linearise(None).gradient
    limits = {"distance": 1.5, "visits": 1.3}

    def rules(**changed):
        chosen = {**limits, **changed}
        return ResourceBudget("distance", distance, chosen["distance"]), VisitBudget(right_half, chosen["visits"])

    ahead = look_ahead(problem_of(case, rules(), HORIZON), gradient, START)
    linear, visits, best = optimum(case, gradient, *rules())
    compare_flow_duals(linear, ahead.values, visits)
    prices = {row.name.removesuffix("_budget"): row.shadow_price for row in ahead.rows}
    priced = sum(prices[name] * limit for name, limit in limits.items())
    assert ahead.values[0, 0] + priced == pytest.approx(best, rel=1e-6)
    for name, limit in limits.items():
        left, right = (optimum(case, gradient, *rules(**{name: limit + c}))[2] for c in (-width, width))
        # At a kink the price lies between the slopes on the two sides.
        assert (best - left) / width - 1e-6 <= prices[name] <= (right - best) / width + 1e-6


@pytest.mark.parametrize("limit", [1.2, 50.0])
@pytest.mark.parametrize("seed", [2, 7, 17])
def test_move_costs_never_exceed_what_forcing_the_move_costs(seed, limit):
    """Of unused moves under a budget, by linear programmes that start after the move; equal where it does not bind."""
    case = small_plan(seed, 20, HORIZON, budget=limit, successors=1)
    gradient = case.utility().linearise(None).gradient
    ahead = look_ahead(problem_of(case, (case.budget,), HORIZON), gradient, START)
    best, process = optimum(case, gradient, case.budget)[2], case.process
    compared = 0
    for pair, cost, usable in zip(process.pairs_of(0), ahead.move_costs(), ahead.usable_now(), strict=True):
        if not usable:
            continue
        after = Situation((0, int(process.successor[pair])), (pair,))
        forced = gradient[pair] + optimum(case, gradient, case.budget, situation=after)[2]
        assert cost <= forced - best + 1e-8
        if limit == 50.0:
            assert cost == pytest.approx(forced - best, abs=1e-8)
        compared += 1
    assert compared >= 2


def test_cost_of_a_forbidden_move_is_what_allowing_it_once_would_change():
    rule = ResourceBudget("distance", distance, 0.1 * HORIZON + 0.3)
    case = small_plan(2, 20, HORIZON, successors=1)
    gradient = case.utility().linearise(None).gradient
    ahead = look_ahead(problem_of(case, (rule,), HORIZON), gradient, START)
    tail = WorstCaseTail(rule, EpisodeSets(case.process, (rule,), HORIZON))
    np.testing.assert_array_equal(ahead.usable_now(), tail.affordable(START))
    price = -ahead.rows[0].shadow_price
    costs = ahead.move_costs()[~ahead.usable_now()]
    assert len(costs)
    for pair, cost in zip(np.array(case.process.pairs_of(0))[~ahead.usable_now()], costs, strict=True):
        priced = gradient[pair] + price * tail.pair_cost[pair] + ahead.values[1, case.process.successor[pair]]
        assert cost == pytest.approx(priced - ahead.values[0, 0], abs=1e-9)
