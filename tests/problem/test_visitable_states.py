"""What an episode can visit under rules that add up over its moves: equal to brute force on small random plants."""

import numpy as np
import pyomo.environ as pyo
import pytest
from coupled_plants import OwnRows, paths_of, problem_with, random_budgets, random_plant, spent
from hypothesis import given, settings
from hypothesis import strategies as st
from random_processes import random_process

from tcbo_pyomo import Campaign, Problem, grid_process, settings_from
from tcbo_pyomo.models.constraints import EndAt, ResourceBudget, VisitBudget
from tcbo_pyomo.models.constraints.from_function import FromFunction
from tcbo_pyomo.problem import path_labels, visits_by_programme
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def visited_by_brute_force(process, horizon, keeps):
    met = np.zeros(process.number_of_states, dtype=bool)
    for pairs, states in paths_of(process, horizon):
        if keeps(pairs, states):
            met[states] = True
    return met


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 3), st.booleans())
def test_under_random_budgets_it_equals_brute_force(seed, number, whole):
    rng, process, horizon = random_plant(seed, 8, 5)
    budgets = list(random_budgets(rng, process, number, whole))
    found = problem_with(process, budgets, horizon).visitable

    def keeps(pairs, states):
        return all(spent(budget, states) <= budget.limit + 1e-9 for budget in budgets)

    expected = visited_by_brute_force(process, horizon, keeps)
    if not expected.any():
        assert not found.exact  # No episode at all: the planner says what is in conflict.
        return
    assert found.exact
    np.testing.assert_array_equal(found.states, expected)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.booleans(), st.booleans())
def test_under_rows_of_the_users_own_it_equals_brute_force(seed, own_variable, whole):
    """Rows from below and above by step and pair, with a variable of the user's own or without, and a budget."""
    rng, process, horizon = random_plant(seed, 7, 4)
    size = horizon, process.number_of_pairs
    table = rng.integers(-1, 3, size).astype(float) if whole else rng.normal(size=size).round(3)
    table[:, rng.random(process.number_of_pairs) < 0.3] = 0.0
    if rng.random() < 0.3:
        table[np.arange(horizon) != rng.integers(horizon)] = 0.0  # About a single step.
    lower, upper = sorted(rng.uniform(-1.0, 3.0, 2).round(2))
    (budget,) = random_budgets(rng, process, 1, whole)

    def keeps(pairs, states):
        total = table[np.arange(horizon), pairs].sum()
        return lower - 1e-9 <= total <= upper + 1e-9 and spent(budget, states) <= budget.limit + 1e-9

    expected = visited_by_brute_force(process, horizon, keeps)
    if not expected.any():
        return
    found = problem_with(process, [OwnRows(table, lower, upper, own_variable), budget], horizon).visitable
    assert found.exact
    np.testing.assert_array_equal(found.states, expected)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31))
def test_with_almost_no_labels_the_programme_decides_the_rest(seed):
    rng, process, horizon = random_plant(seed, 8, 5)
    budgets = list(random_budgets(rng, process, 3, whole=False))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(path_labels, "MOST", 1)
        found = problem_with(process, budgets, horizon).visitable

    def keeps(pairs, states):
        return all(spent(budget, states) <= budget.limit + 1e-9 for budget in budgets)

    expected = visited_by_brute_force(process, horizon, keeps)
    if expected.any():
        assert found.exact
        np.testing.assert_array_equal(found.states, expected)


def test_where_whole_numbers_are_too_large_a_question_it_is_a_bound(monkeypatch):
    monkeypatch.setattr(path_labels, "MOST", 1)
    monkeypatch.setattr(visits_by_programme, "LARGEST", 0)
    bounds = 0
    for seed in range(12):
        process = random_process(seed, 7, 4, 1)
        budgets = list(random_budgets(np.random.default_rng(seed), process, 3, whole=False))

        def keeps(pairs, states, budgets=budgets, process=process):
            return all(spent(budget, states) <= budget.limit + 1e-9 for budget in budgets)

        found, expected = problem_with(process, budgets, 5).visitable, visited_by_brute_force(process, 5, keeps)
        assert (found.states | ~expected).all()
        if found.exact:
            np.testing.assert_array_equal(found.states, expected)
        bounds += not found.exact
    assert bounds > 0


def reached_by_careful_moves(process, budget, horizon):
    """Where chance moves the plant: by trying everything, a move only where the rest fits whatever chance does."""
    cost = budget.transition_cost(process)

    def tail(state, step):
        if step == horizon:
            return 0.0
        return min(worst(pair, step) for pair in process.pairs_of(state))

    def worst(pair, step):
        entries = range(process.transitions.indptr[pair], process.transitions.indptr[pair + 1])
        return max(cost[e] + tail(int(process.transitions.indices[e]), step + 1) for e in entries)

    met = set()

    def go(state, step, used):
        met.add(state)
        for pair in process.pairs_of(state) if step < horizon else ():
            if used + worst(pair, step) <= budget.limit + 1e-9:
                for entry in range(process.transitions.indptr[pair], process.transitions.indptr[pair + 1]):
                    go(int(process.transitions.indices[entry]), step + 1, used + cost[entry])

    if tail(0, 0) <= budget.limit + 1e-9:
        go(0, 0, 0.0)
    return np.isin(np.arange(process.number_of_states), list(met))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.booleans())
def test_where_chance_moves_the_plant_one_budget_equals_brute_force(seed, whole):
    rng, process, horizon = random_plant(seed, 6, 3, successors=3)
    (budget,) = random_budgets(rng, process, 1, whole)
    found, expected = (
        problem_with(process, [budget], horizon).visitable,
        reached_by_careful_moves(process, budget, horizon),
    )
    if process.deterministic or not expected.any():
        return
    assert found.exact
    np.testing.assert_array_equal(found.states, expected)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31))
def test_where_chance_moves_the_plant_two_budgets_give_a_bound(seed):
    rng, process, horizon = random_plant(seed, 6, 3, successors=3)
    budgets = list(random_budgets(rng, process, 2, whole=False))
    problem = problem_with(process, budgets, horizon)
    found = problem.visitable
    if process.deterministic or (found.states == problem.sets.states_met(0)).all():
        return  # Nothing is left out, as where no policy keeps both.
    assert not found.exact
    one, other = (reached_by_careful_moves(process, budget, horizon) for budget in budgets)
    assert not (found.states & ~(one & other)).any()


def one_temperature_change(model):
    """The rule of a user who may heat or cool once in an episode."""
    at, process = model.coordinate, model.process
    left, arrived = process.pair_state[model.move_pair], process.successor[model.move_pair]
    moves = zip(left, arrived, model.visitation.values(), strict=True)
    name = process.labels
    changes = [v for one, other, v in moves if at[name[one], "temperature"] != at[name[other], "temperature"]]
    model.temperature_changes = pyo.Constraint(expr=sum(changes) <= 1)


def heated_reactor(rules, horizon=10):
    axes = {
        "temperature": [50.0, 60.0, 70.0, 80.0, 90.0, 100.0],
        "flow": [1.0, 1.2, 1.4, 1.6, 1.8, 2.0],
        "ratio": [0.0, 0.2, 0.4, 0.6, 0.8, 1.0],
    }
    process = grid_process(axes, {name: (-1, 0, 1) for name in axes}, 0.01, {"temperature": "degC"})
    truth = process.scaled_states.sum(axis=1)
    start = {"temperature": 60.0, "flow": 1.0, "ratio": 0.0}
    return Problem("reactor", process, start, horizon, 2, SquaredExponential(1.0, 0.4), rules, truth=truth)


@pytest.mark.parametrize(
    "rule",
    [
        FromFunction(one_temperature_change),
        ResourceBudget("changes", lambda left, right: 0.1 * abs(right["temperature"] - left["temperature"]), 1.0),
    ],
    ids=["Pyomo rows", "budget"],
)
def test_after_one_temperature_change_only_its_neighbours_are_searched(rule):
    """216 states, one change from 60 degrees: 50 to 70 can be reached, and nothing hotter is sought or counted as best."""
    reactor = heated_reactor([rule])
    temperature = reactor.process.states[:, 0]
    assert reactor.visitable.exact
    np.testing.assert_array_equal(reactor.search_space, temperature <= 70.0)
    assert reactor.describe(reactor.best_state) == {"temperature": 70.0, "flow": 2.0, "ratio": 1.0}
    assert reactor.identified(reactor.best_state) and reactor.regret(reactor.best_state) == 0.0


def test_a_campaign_seeks_and_recommends_only_what_an_episode_can_visit():
    """Its prior thinks most of hot places; every candidate and every recommendation is one that one change leads to."""
    reactor = heated_reactor([FromFunction(one_temperature_change)], horizon=4)
    hot = reactor.process.states[:, 0] > 70.0
    campaign = Campaign(reactor, settings_from({"planner": {"linear": {"solver": "highs"}}}), seed=1)
    for _ in range(2 * reactor.horizon):
        assert not hot[campaign.candidates].any() and not hot[campaign.recommendation]
        move = campaign.ask()
        campaign.tell(move.number, float(reactor.truth[move.expected]))
    assert campaign.finished and not hot[campaign.recommendation]


def test_an_end_and_two_budgets_together():
    """Hand-solved: 0..6 on a line, back to 0 after 8 moves, at most 4 moves up or down and at most one visit of 2."""
    process = grid_process({"x": [float(i) for i in range(7)]}, {"x": (-1, 0, 1)}, 0.01)
    travel = ResourceBudget("travel", lambda left, right: abs(right["x"] - left["x"]), 4)
    once = VisitBudget(lambda values: values["x"] == 2.0, 1)
    far = problem_with(process, [EndAt({"x": 0}), travel], 8)
    assert np.flatnonzero(far.search_space).tolist() == [0, 1, 2]
    both = problem_with(process, [EndAt({"x": 0}), ResourceBudget("travel", travel.cost, 6), once], 8)
    # Beyond 2 the way back leads through it a second time.
    assert np.flatnonzero(both.search_space).tolist() == [0, 1, 2]
