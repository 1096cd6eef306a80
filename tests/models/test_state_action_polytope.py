"""The Pyomo polytope: readable, as small as it can be, and right on hand-solved and enumerated cases."""

import itertools
import logging

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyomo.common.log import LoggingIntercept
from random_processes import processes

from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.constraints import EndAt, MaximumStep, Points, ResourceBudget, VisitBudget
from tcbo_pyomo.models.frank_wolfe_subproblem import as_frank_wolfe_subproblem, read_visitation, set_gradient
from tcbo_pyomo.models.state_action_polytope import build_state_action_polytope
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.plant.process import Process

GAMBLE = Process.from_probabilities(
    [Coordinate("x", 0.0, 2.0)],
    {"a": [0.0], "b": [1.0], "c": [2.0]},
    {
        ("a", "stay"): {"a": 1.0},
        ("a", "try"): {"b": 0.5, "c": 0.5},
        ("b", "stay"): {"b": 1.0},
        ("c", "stay"): {"c": 1.0},
        ("c", "back"): {"a": 1.0},
    },
    noise_variance=1.0,
)
GRADIENT = np.array([-1.0, 0.0, -6.0, 0.0, -1.0])
"""Of a stay, a try, b stay, c stay, c back. After one move the best last move is worth -1 in a, -6 in b and
-1 in c. So staying first is worth -1 - 1 = -2, trying first 0 + (-6 - 1) / 2 = -3.5."""

LINE = grid_process({"x": range(6)}, {"x": [-1, 0, 1, 2]}, 1.0)


def solved(model, gradient):
    """Optimal value and the non-zero visits by label."""
    set_gradient(model, np.asarray(gradient, dtype=float))
    pyo.SolverFactory("appsi_highs").solve(model)
    visits = {index: round(var.value, 9) for index, var in model.visitation.items() if var.value > 1e-9}
    return pyo.value(model.expected_gain), visits


def pair_called(process, state, action):
    (pair,) = [p for p in range(process.number_of_pairs) if process.pair_name(p) == f"'{state}' -> '{action}'"]
    return pair


def test_components_have_the_documented_names_and_labels():
    model = build_state_action_polytope(GAMBLE, "a", 2)
    assert list(model.STEPS) == [0, 1] and list(model.STATES) == ["a", "b", "c"]
    assert list(model.MOVES) == [
        (0, "a", "stay"),
        (0, "a", "try"),
        (1, "a", "stay"),
        (1, "a", "try"),
        (1, "b", "stay"),
        (1, "c", "stay"),
        (1, "c", "back"),
    ]
    assert model.coordinate["c", "x"] == 2.0 and model.process is GAMBLE
    assert model.visitation[0, "a", "try"].name == "visitation[0,a,try]"
    assert model.flow[1, "b"].name == "flow[1,b]"
    assert [GAMBLE.pair_name(p) for p in model.move_pair[:2]] == ["'a' -> 'stay'", "'a' -> 'try'"]
    assert model.move_step.tolist() == [0, 0, 1, 1, 1, 1, 1]


def test_visitation_is_not_negative_and_has_no_upper_bound():
    model = build_state_action_polytope(LINE, "x=0", 4, [EndAt({"x": 3})])
    assert all(variable.bounds == (0, None) and not variable.fixed for variable in model.visitation.values())


def test_flow_and_arrival_are_the_formulas_of_the_paper():
    model = build_state_action_polytope(GAMBLE, "a", 2)
    for number, variable in enumerate(model.visitation.values()):
        variable.value = 2.0**number
    stay, throw, later_stay, later_throw, b_stay, c_stay, c_back = (2.0**number for number in range(7))
    assert pyo.value(model.flow[0, "a"].body) == stay + throw and pyo.value(model.flow[0, "a"].upper) == 1.0
    assert pyo.value(model.flow[1, "a"].body) == later_stay + later_throw - stay
    assert pyo.value(model.flow[1, "c"].body) == c_stay + c_back - throw / 2
    assert all(row.equality and pyo.value(row.upper) == (1.0 if h == 0 else 0.0) for (h, _), row in model.flow.items())
    assert pyo.value(model.arrival[0, "b"]) == throw / 2
    assert pyo.value(model.arrival[1, "c"]) == later_throw / 2 + c_stay
    assert pyo.value(model.arrival[1, "b"]) == later_throw / 2 + b_stay


@given(processes(), st.integers(1, 4), st.integers(0, 2**31))
def test_every_policy_rolled_out_satisfies_the_flow(process, steps, seed):
    """The visits of a random policy, by following its distribution over states in plain arrays."""
    rng = np.random.default_rng(seed)
    model = build_state_action_polytope(process, 0, steps)
    here = np.eye(process.number_of_states)[0]
    for step in range(steps):
        after = np.zeros_like(here)
        for state in range(process.number_of_states):
            pairs = process.pairs_of(state)
            for pair, share in zip(pairs, rng.dirichlet(np.ones(len(pairs))), strict=True):
                label, action = process.labels[state], process.actions[process.pair_action[pair]]
                if here[state] > 0:
                    model.visitation[step, label, action].value = here[state] * share
                    after += here[state] * share * process.transitions.toarray()[pair]
                else:
                    assert (step, label, action) not in model.MOVES
        here = after
        arrived = {process.labels[s]: p for s, p in enumerate(here) if p > 0}
        assert {s: pyo.value(model.arrival[h, s]) for h, s in model.arrival if h == step} == pytest.approx(arrived)
    assert all(abs(pyo.value(row.body) - pyo.value(row.upper)) < 1e-12 for row in model.flow.values())


@given(st.integers(1, 5), st.integers(0, 5), st.integers(0, 5), st.sampled_from([1, 2]))
def test_moves_are_those_of_allowed_paths_and_nothing_else(steps, start, end, largest):
    """All sequences of changes from start to end, on the line 0..5, one by one."""
    allowed = set()
    for changes in itertools.product([-1, 0, 1, 2], repeat=steps):
        places = [start, *(start + np.cumsum(changes)).tolist()]
        if all(0 <= x <= 5 for x in places) and places[-1] == end and max(map(abs, changes)) <= largest:
            names = ["stay" if change == 0 else f"x{change:+d}" for change in changes]
            allowed |= {(h, f"x={x}", name) for h, (x, name) in enumerate(zip(places[:-1], names, strict=True))}
    rules = [EndAt({"x": end}), MaximumStep({"x": largest})]
    if not allowed:
        with pytest.raises(InfeasiblePlan, match=f"'x={start}'"):
            build_state_action_polytope(LINE, {"x": start}, steps, rules)
        return
    model = build_state_action_polytope(LINE, {"x": start}, steps, rules)
    assert set(model.MOVES) == allowed and len(model.visitation) == len(allowed)
    assert set(model.flow) == {(step, state) for step, state, _ in allowed}


def test_the_linear_programme_solves_a_gamble_worked_out_by_hand():
    model = as_frank_wolfe_subproblem(build_state_action_polytope(GAMBLE, "a", 2))
    value, visits = solved(model, GRADIENT)
    assert value == pytest.approx(-3.5)
    assert visits == {(0, "a", "try"): 1.0, (1, "b", "stay"): 0.5, (1, "c", "back"): 0.5}
    visitation = read_visitation(model)
    assert visitation.step.tolist() == [0, 1, 1]
    assert [GAMBLE.pair_name(pair) for pair in visitation.pair] == [
        "'a' -> 'try'",
        "'b' -> 'stay'",
        "'c' -> 'back'",
    ]
    assert visitation.probability == pytest.approx(np.array([1.0, 0.5, 0.5]))
    assert visitation.expected_counts(5) @ GRADIENT == pytest.approx(-3.5)


def test_a_new_objective_replaces_the_old_one_without_a_warning():
    model = as_frank_wolfe_subproblem(build_state_action_polytope(GAMBLE, "a", 2))
    with LoggingIntercept(level=logging.WARNING) as log:
        assert solved(model, GRADIENT)[0] == pytest.approx(-3.5)
        assert solved(model, [-1.0, 5.0, 0.0, 0.0, 0.0])[0] == pytest.approx(-2.0)
    assert len(list(model.component_objects(pyo.Objective))) == 1 and log.getvalue() == ""


@pytest.mark.parametrize("gradient", [[1.0] * 4, [1.0] * 6, [1.0, 2.0, np.nan, 0.0, 0.0], [np.inf] * 5])
def test_a_gradient_that_does_not_fit_is_refused(gradient):
    model = as_frank_wolfe_subproblem(build_state_action_polytope(GAMBLE, "a", 2))
    with pytest.raises(BadInput, match="5 finite values"):
        set_gradient(model, np.array(gradient))


def test_a_users_function_adds_any_linear_component():
    def rarely_in_b(model):
        model.rarely_in_b = pyo.Constraint(expr=model.arrival[0, "b"] <= 0.25)

    # Trying with probability 1/2 only: half of -3.5 and half of -2.
    model = as_frank_wolfe_subproblem(build_state_action_polytope(GAMBLE, "a", 2, [rarely_in_b]))
    value, visits = solved(model, GRADIENT)
    assert value == pytest.approx(-2.75)
    assert visits[0, "a", "try"] == pytest.approx(0.5) and visits[0, "a", "stay"] == pytest.approx(0.5)
    assert pyo.value(model.rarely_in_b.body) == pytest.approx(0.25)


def test_budgets_are_named_rows_that_hold_in_expectation():
    budgets = [
        VisitBudget(Points([{"x": 1}]), 0.5, "b"),
        ResourceBudget("trial", lambda left, right: (left["x"] == 0) & (right["x"] > 0), 0.5),
        ResourceBudget("nothing", lambda left, right: 0.0, 1.0),
    ]
    model = as_frank_wolfe_subproblem(build_state_action_polytope(GAMBLE, "a", 2, budgets))
    names = {component.name for component in model.component_objects(pyo.Constraint)}
    assert names == {"flow", "b_budget", "trial_budget"}, "a budget that nothing uses has no row"
    value, visits = solved(model, GRADIENT)
    # With probability p of trying first, b is visited p/2 times after each of two moves: p = 1/2, as above.
    assert value == pytest.approx(-2.75)
    assert pyo.value(model.b_budget.body) == pytest.approx(0.5) and pyo.value(model.trial_budget.body) <= 0.5 + 1e-9
    assert sum(visits.values()) == pytest.approx(2.0)


def test_a_budget_does_not_hide_a_component_of_the_same_name():
    def own(model):
        model.fuel_budget = pyo.Param(initialize=7.0)

    budget = ResourceBudget("fuel", lambda left, right: 1.0, 5.0)
    model = build_state_action_polytope(LINE, "x=0", 2, [own, budget])
    assert pyo.value(model.fuel_budget) == 7.0
    assert isinstance(model.component(model.budget_rows[budget.name]), pyo.Constraint)


def test_the_past_is_in_the_model_with_one_visit_each_and_counts_for_budgets():
    # The plant has gone 0 -> 2, which used 2 of 3 units of fuel; going far pays, one more cell is left.
    fuel = ResourceBudget("fuel", lambda left, right: abs(right["x"] - left["x"]), 3.0)
    past = [pair_called(LINE, "x=0", "x+2")]
    model = as_frank_wolfe_subproblem(build_state_action_polytope(LINE, "x=2", 3, [fuel], past=past))
    assert [index for index in model.MOVES if index[0] == 0] == [(0, "x=0", "x+2")]
    assert model.visitation[0, "x=0", "x+2"].bounds == (1, 1)
    arrived = LINE.states[LINE.successor, 0]
    value, visits = solved(model, -arrived)
    assert value == pytest.approx(-(2 + 3 + 3))
    assert visits == {(0, "x=0", "x+2"): 1.0, (1, "x=2", "x+1"): 1.0, (2, "x=3", "stay"): 1.0}
    assert not [index for index in model.flow if index[0] == 0], "the past is given, not decided"


def test_an_end_is_met_from_the_middle_of_an_episode():
    past = [pair_called(LINE, "x=0", "stay")] * 2
    model = build_state_action_polytope(LINE, "x=1", 4, [EndAt({"x": 5})], past=past)
    assert [index for index in model.MOVES if index[0] >= 2] == [(2, "x=1", "x+2"), (3, "x=3", "x+2")]
    with pytest.raises(InfeasiblePlan, match="no plan of 1 moves from state 'x=1'"):
        build_state_action_polytope(LINE, "x=1", 3, [EndAt({"x": 5})], past=past)


@pytest.mark.parametrize(
    ("start", "steps"), [("x=9", 2), (17, 2), ({"x": 0.5}, 2), ("x=0", 0), ("x=0", 1.5), ("x=0", -1)]
)
def test_an_unknown_start_or_a_senseless_number_of_steps_is_refused(start, steps):
    with pytest.raises(BadInput, match=r"state|steps"):
        build_state_action_polytope(LINE, start, steps)


def test_more_past_than_steps_is_refused():
    with pytest.raises(BadInput, match="2 moves of the past"):
        build_state_action_polytope(LINE, "x=0", 1, past=[0, 0])
