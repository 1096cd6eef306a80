"""The linear programme against backward induction, quantecon, brute force, and a plain SolverFactory call."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quantecon.markov import DiscreteDP, backward_induction
from random_processes import processes, random_process

from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.models.constraints import EndAt, FromFunction, Points, ResourceBudget, VisitBudget
from tcbo_pyomo.models.frank_wolfe_subproblem import as_frank_wolfe_subproblem, read_visitation, set_gradient
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.state_action_polytope import build_state_action_polytope
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.planning.finite.plan_check import check_visitation
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.plant.situation import Situation

RNG = np.random.default_rng(0)


def value_of(visitation, gradient):
    return float(visitation.expected_counts(len(gradient)) @ gradient)


@given(processes(max_states=10), st.integers(1, 5), st.integers(0, 10**6))
@settings(max_examples=40)
def test_optimum_equals_backward_induction_and_quantecon(process, horizon, seed):
    gradient = -np.random.default_rng(seed).random(process.number_of_pairs)
    sets = EpisodeSets(process, (), horizon)
    visitation = LinearProgramming(sets, ()).extreme_point(gradient, Situation((0,)), RNG)
    ddp = DiscreteDP(-gradient, process.transitions, 0.99, process.pair_state, process.pair_action)
    ddp.beta = 1.0
    quantecon = -backward_induction(ddp, horizon)[0][0, 0]
    assert value_of(visitation, gradient) == pytest.approx(quantecon, rel=1e-9)
    assert value_of(visitation, gradient) == pytest.approx(DynamicProgramming(sets).values(gradient)[0, 0], rel=1e-9)


@given(processes(max_states=10), st.integers(1, 5), st.integers(0, 10**6))
@settings(max_examples=30)
def test_visitation_satisfies_every_flow_row(process, horizon, seed):
    """The rows of the definition of D, written out here once more."""
    gradient = -np.random.default_rng(seed).random(process.number_of_pairs)
    visitation = LinearProgramming(EpisodeSets(process, (), horizon), ()).extreme_point(gradient, Situation((0,)), RNG)
    d = np.zeros((horizon, process.number_of_pairs))
    d[visitation.step, visitation.pair] = visitation.probability
    leaving = np.stack([np.bincount(process.pair_state, row, minlength=process.number_of_states) for row in d])
    np.testing.assert_allclose(leaving[0], np.eye(process.number_of_states)[0], atol=1e-9)
    for step in range(1, horizon):
        np.testing.assert_allclose(leaving[step], process.transitions.T @ d[step - 1], atol=1e-9)


@given(processes(max_states=7), st.integers(2, 6), st.integers(0, 10**6))
@settings(max_examples=30)
def test_replans_on_the_compiled_polytope_equal_backward_induction_at_every_step(process, horizon, seed):
    rng = np.random.default_rng(seed)
    sets = EpisodeSets(process, (), horizon)
    linear, exact = LinearProgramming(sets, ()), DynamicProgramming(sets)
    situation = Situation((0,))
    for step in range(horizon):
        gradient = -rng.random(process.number_of_pairs)
        visitation = linear.extreme_point(gradient, situation, rng)
        check_visitation(visitation, sets, situation, "test")
        assert value_of(visitation, gradient) == pytest.approx(
            exact.values(gradient, step)[0, situation.state], rel=1e-9, abs=1e-12
        )
        pair = int(rng.choice(sets.usable_pairs(step, np.arange(process.number_of_states) == situation.state)))
        situation = Situation((*situation.path, process.draw_successor(pair, rng)), (*situation.decisions, pair))
    assert len(linear._compiled) == 1


def line(length):
    return grid_process({"x": list(range(length))}, {"x": [-1, 0, 1]}, 1.0)


def brute_force(process, horizon, gradient, allowed):
    """The best of all paths from state 0 that are allowed, by enumeration."""
    best = np.inf
    for choice in itertools.product(range(3), repeat=horizon):
        state, pairs, path = 0, [], [0]
        for move in choice:
            options = process.pairs_of(state)
            if move >= len(options):
                break
            pairs.append(options[move])
            state = int(process.successor[pairs[-1]])
            path.append(state)
        else:
            if allowed(path):
                best = min(best, float(gradient[pairs].sum()))
    return best


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_visit_budget_equals_enumeration_of_paths(limit):
    process, horizon = line(5), 5
    gradient = -(process.states[process.successor, 0] ** 2)
    rule = VisitBudget(Points([{"x": 2}]), limit)
    oracle = LinearProgramming(EpisodeSets(process, (rule,), horizon), (rule,))
    visitation = oracle.extreme_point(gradient, Situation((0,)), RNG)
    expected = brute_force(process, horizon, gradient, lambda path: path[1:].count(2) <= limit)
    # With whole-number limits the lottery gains nothing over the best path here.
    assert value_of(visitation, gradient) == pytest.approx(expected, rel=1e-9)


def test_resource_budget_counts_what_is_already_spent():
    process, horizon = line(6), 6
    gradient = -process.states[process.successor, 0]
    fuel = ResourceBudget("fuel", lambda left, right: abs(right["x"] - left["x"]), limit=3)
    oracle = LinearProgramming(EpisodeSets(process, (fuel,), horizon), (fuel,))
    up = [next(p for p in process.pairs_of(x) if process.successor[p] == x + 1) for x in range(5)]
    fresh = oracle.extreme_point(gradient, Situation((0,)), RNG)
    assert value_of(fresh, gradient) == pytest.approx(-(1 + 2 + 3 + 3 + 3 + 3))
    later = oracle.extreme_point(gradient, Situation((0, 1, 2), (up[0], up[1])), RNG)
    assert value_of(later, gradient) == pytest.approx(-(3 + 3 + 3 + 3))


def test_a_users_function_and_extra_variable_are_part_of_the_programme():
    process, horizon = line(6), 5
    gradient = -process.states[process.successor, 0]

    def at_most_one_stay_after_it_all(model):
        model.stays = pyo.Var(bounds=(0, 1))
        stays = [model.visitation[m] for m in model.MOVES if m[2] == "stay"]
        model.counted = pyo.Constraint(expr=sum(stays) == model.stays)
        down = [model.visitation[m] for m in model.MOVES if m[2] == "x-1"]
        model.at_least_two_down = pyo.Constraint(expr=sum(down) >= 2)

    rule = FromFunction(at_most_one_stay_after_it_all)
    oracle = LinearProgramming(EpisodeSets(process, (rule,), horizon), (rule,))
    value = value_of(oracle.extreme_point(gradient, Situation((0,)), RNG), gradient)

    def allowed(path):
        moves = np.diff(path)
        return (moves == 0).sum() <= 1 and (moves == -1).sum() >= 2

    assert value == pytest.approx(brute_force(process, horizon, gradient, allowed), rel=1e-9)


@pytest.mark.parametrize("solver", ["appsi_highs", "highs"])
def test_any_pyomo_solver_gives_the_same_optimum(solver):
    process, horizon = random_process(4, 8, 4, 3), 4
    gradient = -np.random.default_rng(1).random(process.number_of_pairs)
    sets = EpisodeSets(process, (), horizon)
    visitation = LinearProgramming(sets, (), solver).extreme_point(gradient, Situation((0,)), RNG)
    assert value_of(visitation, gradient) == pytest.approx(DynamicProgramming(sets).values(gradient)[0, 0], rel=1e-9)


def test_the_pyomo_model_alone_gives_the_same_optimum():
    """What a user does with the model and SolverFactory, without our planner."""
    process, horizon = random_process(5, 8, 4, 3), 4
    gradient = -np.random.default_rng(1).random(process.number_of_pairs)
    model = as_frank_wolfe_subproblem(build_state_action_polytope(process, 0, horizon))
    set_gradient(model, gradient)
    pyo.SolverFactory("appsi_highs").solve(model)
    exact = DynamicProgramming(EpisodeSets(process, (), horizon)).values(gradient)[0, 0]
    assert pyo.value(model.expected_gain) == pytest.approx(exact, rel=1e-8)
    assert value_of(read_visitation(model), gradient) == pytest.approx(exact, rel=1e-8)


def test_an_infeasible_plan_names_the_constraints_in_conflict():
    process, horizon = line(6), 6

    def must_reach_the_far_end(model):
        model.far_end = pyo.Constraint(expr=sum(model.arrival[s, x] for s, x in model.arrival if x == "x=5") >= 1)

    fuel = ResourceBudget("fuel", lambda left, right: abs(right["x"] - left["x"]), limit=2)
    rules = (fuel, FromFunction(must_reach_the_far_end))
    oracle = LinearProgramming(EpisodeSets(process, rules, horizon), rules)
    with pytest.raises(InfeasiblePlan) as caught:
        oracle.extreme_point(-np.ones(process.number_of_pairs), Situation((0,)), RNG)
    assert "far_end" in str(caught.value) and "fuel_budget" in str(caught.value)


def test_an_end_out_of_reach_names_the_rule_and_the_step():
    process = line(6)
    with pytest.raises(InfeasiblePlan, match=r"EndAt.*step 3"):
        EpisodeSets(process, (EndAt({"x": 5}),), 4).require_safe(0, 0)


def test_a_budget_that_cannot_be_kept_says_how_much_is_needed():
    process = line(6)
    rules = (EndAt({"x": 5}), ResourceBudget("fuel", lambda left, right: abs(right["x"] - left["x"]), limit=4))
    oracle = LinearProgramming(EpisodeSets(process, rules, 6), rules)
    with pytest.raises(InfeasiblePlan, match=r"fuel.*needs at least 5"):
        oracle.extreme_point(-np.ones(process.number_of_pairs), Situation((0,)), RNG)


def test_a_misspelt_solver_or_option_is_refused_by_name():
    process = line(4)
    sets = EpisodeSets(process, (), 3)
    with pytest.raises(BadInput, match="hihgs"):
        LinearProgramming(sets, (), "hihgs").extreme_point(-np.ones(process.number_of_pairs), Situation((0,)), RNG)
    with pytest.raises(BadInput, match="presolv"):
        LinearProgramming(sets, (), "highs", {"presolv": "on"}).extreme_point(
            -np.ones(process.number_of_pairs), Situation((0,)), RNG
        )
