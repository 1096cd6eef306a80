"""Arrival and departure: where they agree, and that every oracle and gradient is right with departure as well."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_processes import random_process
from small_plans import START, binding_limit, small_plan

from tcbo_pyomo import Campaign, load_problem, settings_from
from tcbo_pyomo.explain.explanation import explain
from tcbo_pyomo.explain.shadow_prices import look_ahead
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.visitation import Visitation, mix
from tcbo_pyomo.planning.finite.certified_frank_wolfe import certified_frank_wolfe
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.expected_regret import ExpectedRegret
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.planning.finite.move_information import MoveInformation
from tcbo_pyomo.planning.finite.planned_posterior import FeaturePosterior
from tcbo_pyomo.planning.finite.utility import Utility
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.plant.situation import Situation

HORIZON = 4


def utility_of(case, kind="differences", convention="departure", horizon=HORIZON):
    information = MoveInformation(case.process, horizon, convention)

    def posterior(planned):
        return FeaturePosterior(case.features, planned)

    mean = np.random.default_rng(3).normal(size=case.process.number_of_states)
    if kind == "regret":
        return ExpectedRegret(case.process, posterior, np.ones(len(mean), dtype=bool), mean, information=information)
    return Utility(case.process, posterior, case.candidates, kind, np.random.default_rng(0), mean, information=information)


def deterministic_plan(seed, budget=None):
    return small_plan(seed, 6, HORIZON, budget=budget, successors=1)


def paths_from(process, start, steps):
    """Every path of so many moves, by enumeration."""
    found = [((), start)]
    for _ in range(steps):
        found = [((*pairs, p), int(process.successor[p])) for pairs, at in found for p in process.pairs_of(at)]
    return [pairs for pairs, _ in found]


def path_visits(pairs, first=0):
    return Visitation(np.arange(first, first + len(pairs)), np.array(pairs), np.ones(len(pairs)))


def cost_of(gradient, pairs):
    """Sum along a path that ends with the episode, written out."""
    return sum(gradient[0, p] for p in pairs[:-1]) + gradient[1, pairs[-1]]


def test_worked_by_hand_on_two_states():
    """a -> b -> b with noise variance 0.5: arrival informs twice about b; departure about a, b and the end b."""
    process = Process.from_moves(
        [Coordinate("x", 0, 1)], {"a": [0], "b": [1]}, [("a", "to b", "b"), ("b", "stay", "b")], noise_variance=0.5
    )
    visits = path_visits((0, 1))
    np.testing.assert_allclose(MoveInformation(process, 2, "arrival").planned(visits), [0.0, 4.0])
    np.testing.assert_allclose(MoveInformation(process, 2, "departure").planned(visits), [2.0, 4.0])


def test_pair_by_pair_the_same_on_a_plant_whose_every_move_stays():
    moves = [(label, "stay", label) for label in "abc"]
    noise = [0.1, 0.4, 2.0]
    process = Process.from_moves([Coordinate("x", 0, 2)], {"a": [0], "b": [1], "c": [2]}, moves, noise)
    slope = np.array([3.0, 5.0, 7.0])
    arrival = MoveInformation(process, 3, "arrival").gradient(slope)
    departure = MoveInformation(process, 3, "departure").gradient(slope)
    np.testing.assert_allclose(departure[0], arrival)
    np.testing.assert_allclose(departure[1], 2 * arrival)  # The last move informs about both its ends.


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_over_an_episode_the_totals_differ_by_the_state_it_starts_in(seed):
    process = random_process(seed, 7, 4, 1)
    rng, pairs, state = np.random.default_rng(seed), [], 2
    for _ in range(5):
        pairs.append(int(rng.choice(process.pairs_of(state))))
        state = int(process.successor[pairs[-1]])
    visits, start = path_visits(pairs), np.zeros(7)
    start[2] = 1.0 / process.noise_variance[0]
    arrival = MoveInformation(process, 5, "arrival").planned(visits)
    np.testing.assert_allclose(MoveInformation(process, 5, "departure").planned(visits), arrival + start)


@given(st.integers(0, 10**4), st.sampled_from(["differences", "g_allocation"]))
@settings(max_examples=20)
def test_the_gradient_equals_finite_differences_at_ordinary_and_last_moves(seed, kind):
    case = small_plan(seed, 7, HORIZON, successors=3)
    utility, rng = utility_of(case, kind), np.random.default_rng(seed)
    number = case.process.number_of_pairs
    steps, pairs = np.repeat([0, HORIZON - 1], number), np.tile(np.arange(number), 2)
    counts = rng.random(2 * number)
    gradient = utility.linearise(Visitation(steps, pairs, counts)).gradient.ravel()
    for place in rng.choice(2 * number, size=4):
        step = np.zeros(2 * number)
        step[place] = 1e-5
        ends = [utility.value(Visitation(steps, pairs, counts + sign * step)) for sign in (1, -1)]
        assert gradient[place] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=5e-5, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_worth_of_a_visit_is_the_regret_that_one_measurement_at_the_state_left_removes(seed):
    """To first order in the variance removed: dU/d sd^2 times Cov^2 / (Var f(x) + sigma^2), x the state left."""
    case = small_plan(seed, 8, HORIZON, features=8, successors=2)
    utility, process = utility_of(case, "regret"), case.process
    tangent, covariance = utility.linearise(), case.features @ case.features.T
    best, slopes = utility.recommended, {}
    for z in utility.rivals:
        deviation = np.sqrt(covariance[z, z] + covariance[best, best] - 2 * covariance[z, best])
        u = (utility.mean[z] - utility.mean[best]) / deviation
        slopes[int(z)] = np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi) / (2 * deviation)
    for pair in range(process.number_of_pairs):
        x = int(process.pair_state[pair])
        removed = {z: (covariance[z, x] - covariance[best, x]) ** 2 / (covariance[x, x] + 0.05) for z in slopes}
        worth = sum(slopes[z] * removed[z] for z in slopes)
        assert -tangent.gradient[0, pair] == pytest.approx(worth, rel=1e-3, abs=1e-5)
        assert tangent.gradient[1, pair] == pytest.approx(tangent.gradient[0, pair] - tangent.gains[pair], rel=1e-9)


@pytest.mark.parametrize(("seed", "kind"), list(product(range(3), ["differences", "regret"])))
def test_backward_induction_is_the_linear_programme_and_every_path(seed, kind):
    case = deterministic_plan(seed)
    gradient, rng = utility_of(case, kind).linearise().gradient, np.random.default_rng(0)
    best = min(cost_of(gradient, path) for path in paths_from(case.process, 0, HORIZON))
    induction, programme = DynamicProgramming(case.sets), LinearProgramming(case.sets, ())
    information = MoveInformation(case.process, HORIZON, "departure")
    for oracle in (induction, programme):
        found = oracle.extreme_point(gradient, START, rng)
        assert np.vdot(gradient, information.visits(found)) == pytest.approx(best, rel=1e-8)
    assert induction.values(gradient)[0, 0] == pytest.approx(best, rel=1e-9)
    first = case.process.pairs_of(0)
    expected = [min(cost_of(gradient, p) for p in paths_from(case.process, 0, HORIZON) if p[0] == f) for f in first]
    np.testing.assert_allclose(induction.move_values(gradient, START), expected, rtol=1e-9)
    # The last move of an episode has row 1 to itself.
    late = Situation((0,) * HORIZON, (first[0],) * (HORIZON - 1))
    np.testing.assert_allclose(induction.move_values(gradient, late), gradient[1, list(first)])


@pytest.mark.parametrize("seed", range(2))
def test_backward_induction_is_the_linear_programme_on_a_random_process(seed):
    case = small_plan(seed, 8, HORIZON, successors=3)
    gradient, rng = utility_of(case).linearise().gradient, np.random.default_rng(0)
    information, induction = MoveInformation(case.process, HORIZON, "departure"), DynamicProgramming(case.sets)
    value = induction.values(gradient)[0, 0]
    for oracle in (induction, LinearProgramming(case.sets, ())):
        found = information.visits(oracle.extreme_point(gradient, START, rng))
        assert np.vdot(gradient, found) == pytest.approx(value, rel=1e-8)


def test_prices_under_a_budget_bound_every_first_move():
    """Weak duality with departure: no plan that begins with a move learns more than its bound."""
    limit = binding_limit(1, 12, HORIZON)
    case = small_plan(1, 12, HORIZON, budget=limit)
    gradient, rng = utility_of(case).linearise().gradient, np.random.default_rng(0)
    oracle, information = case.oracle(), MoveInformation(case.process, HORIZON, "departure")
    best = -np.vdot(gradient, information.visits(oracle.extreme_point(gradient, START, rng)))
    bounds = oracle.most_learned(gradient, START)
    learned = []
    for pair, bound in zip(case.process.pairs_of(0), bounds, strict=True):
        plan = oracle.beginning_with(gradient, START, pair)
        if plan is not None:
            learned.append(-np.vdot(gradient, information.visits(plan)))
            assert learned[-1] <= bound + 1e-7 * abs(bound)
    assert max(learned) == pytest.approx(best, rel=1e-7)


def test_a_certified_plan_reaches_the_least_utility_of_a_convex_solver():
    case = deterministic_plan(4)
    utility = utility_of(case)
    found = certified_frank_wolfe(utility, case.extreme_point(), 1e-4)
    assert found.certificate.gap <= 1e-4
    assert utility.value(mix(found.components)) == pytest.approx(found.certificate.upper, rel=1e-9)
    singles = [utility.value(path_visits(path)) for path in paths_from(case.process, 0, HORIZON)]
    assert found.certificate.lower <= min(singles)
    values = look_ahead_value(case, found.gradient)
    assert found.offset + values == pytest.approx(found.certificate.lower, rel=1e-6)


def look_ahead_value(case, gradient):
    from small_plans import problem_of

    return look_ahead(problem_of(case, horizon=HORIZON), gradient, START).values[0, 0]


def test_arrival_is_one_array_as_ever():
    case = deterministic_plan(0)
    gradient = utility_of(case, convention="arrival").linearise().gradient
    plain = Utility(
        case.process, lambda w: FeaturePosterior(case.features, w), case.candidates, "differences", np.random.default_rng(0)
    )
    tangent = plain.linearise()
    assert np.array_equal(gradient, tangent.gradient)
    assert np.array_equal(gradient, -(case.process.information_rate @ (tangent.covariance * tangent.covariance)))


def test_with_one_noise_variance_every_path_costs_the_same_more():
    """The sums telescope: on a deterministic plant only noise that depends on the move makes departure plan otherwise."""
    case = deterministic_plan(2)
    arrival = utility_of(case, convention="arrival").linearise().gradient
    departure = utility_of(case).linearise().gradient
    more = [cost_of(departure, path) - arrival[list(path)].sum() for path in paths_from(case.process, 0, HORIZON)]
    np.testing.assert_allclose(more, more[0], rtol=1e-9)


@pytest.mark.parametrize("first_move", ["drawn", "eager"])
def test_a_campaign_with_departure_runs_and_can_be_explained(first_move):
    problem = load_problem("knorr_pyrazole")
    chosen = settings_from(
        dict(problem.settings),
        {"preset": "paper", "planner": {"first_move": first_move, "linear": {"solver": "dynamic_programming"}}},
    )
    campaign = Campaign(problem, chosen, 1)
    found = explain(campaign)
    assert found.lower_bound is not None and found.lower_bound <= found.utility_after + 1e-9
    assert campaign.ask() is not None
