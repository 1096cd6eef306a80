"""Whether a path goes on from a move: equal to trying every path, by whichever proof answers."""

import numpy as np
import pytest
from coupled_plants import OwnRows, paths_of, problem_with, random_budgets, random_plant, spent
from hypothesis import given, settings
from hypothesis import strategies as st

from tcbo_pyomo.planning.finite.completion import Completion
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem import path_labels


def coupled_plant(seed, own_variable=False):
    """A plant with a budget and rows of a user's own, and those of its paths that keep both."""
    rng, process, horizon = random_plant(seed, 7, 4)
    table = rng.integers(-1, 3, (horizon, process.number_of_pairs)).astype(float)
    lower, upper = sorted(rng.uniform(-1.0, 4.0, 2).round(2))
    (budget,) = random_budgets(rng, process, 1, whole=False)
    allowed = [
        pairs
        for pairs, states in paths_of(process, horizon)
        if lower - 1e-9 <= table[np.arange(horizon), pairs].sum() <= upper + 1e-9
        and spent(budget, states) <= budget.limit + 1e-9
    ]
    return problem_with(process, [OwnRows(table, lower, upper, own_variable), budget], horizon), allowed


def questions(problem, allowed):
    """Every begun path of an allowed one with every next move, and whether an allowed path goes on from it."""
    begun = {tuple(pairs[:step]) for pairs in allowed for step in range(problem.horizon)}
    for made in sorted(begun):
        path = [0, *problem.process.successor[list(made)].tolist()] if made else [0]
        for pair in problem.process.pairs_of(path[-1]):
            expected = any(tuple(pairs[: len(made) + 1]) == (*made, pair) for pairs in allowed)
            yield Situation(tuple(path), made), pair, expected


def oracle_of(problem):
    return LinearProgramming(problem.sets, problem.rules, base=lambda: problem.polytope)


def affordable(oracle, situation, pair):
    """A move that breaks the budget for sure is not asked about."""
    tails = (tail.affordable(situation) for tail in oracle._tails)
    return all(fits[pair - oracle.sets.process.pair_offsets[situation.state]] for fits in tails)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.booleans())
def test_it_equals_trying_every_path(seed, own_variable):
    problem, allowed = coupled_plant(seed, own_variable)
    oracle = oracle_of(problem)
    for situation, pair, expected in list(questions(problem, allowed))[:40]:
        if affordable(oracle, situation, pair):
            assert oracle.can_be_completed(situation, pair) == expected
    assert not oracle.given_up


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31))
def test_without_labels_dives_and_whole_numbers_give_the_same_answers(seed):
    problem, allowed = coupled_plant(seed)
    oracle = oracle_of(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Completion, "_by_labels", lambda self, situation, pair: None)
        for situation, pair, expected in list(questions(problem, allowed))[:12]:
            if affordable(oracle, situation, pair):
                assert oracle.can_be_completed(situation, pair) == expected


def test_few_labels_are_a_proof_only_of_what_goes():
    """With one label in a place, yes is still right, and no is said only where no path goes on."""
    known = unknown = 0
    for seed in range(40):
        problem, allowed = coupled_plant(seed)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(path_labels, "MOST", 1)
            oracle = oracle_of(problem)
            for situation, pair, expected in list(questions(problem, allowed))[:20]:
                answer = oracle._completion(situation)._by_labels(situation, pair)
                assert answer is None or answer == expected
                known, unknown = known + (answer is not None), unknown + (answer is None)
    assert known > unknown > 0


def test_a_path_that_was_planned_is_a_proof(monkeypatch):
    """Nothing is solved for the move that the last plan goes on with, variables of the user's own or not."""
    for seed in range(60):
        problem, allowed = coupled_plant(seed, own_variable=True)
        oracle = oracle_of(problem)
        if allowed:
            gradient = -np.random.default_rng(0).random(problem.process.number_of_pairs)
            plan = oracle.extreme_point(gradient, Situation((0,)), np.random.default_rng(0))
            if plan.is_path:
                break
    assert plan.pair.tolist() in allowed
    monkeypatch.setattr(Completion, "_by_diving", None)
    monkeypatch.setattr(Completion, "_by_whole_numbers", None)
    for step in range(problem.horizon):
        made = tuple(plan.pair[:step].tolist())
        path = (0, *problem.process.successor[list(made)].tolist()) if made else (0,)
        assert oracle.can_be_completed(Situation(path, made), int(plan.pair[step]))


def test_a_search_that_is_given_up_says_no_and_is_remembered(monkeypatch):
    from tcbo_pyomo.planning.finite import completion

    monkeypatch.setattr(Completion, "_by_labels", lambda self, situation, pair: None)
    monkeypatch.setattr(Completion, "_by_diving", lambda self, situation, bounds: None)
    problem, allowed = next(plant for plant in map(coupled_plant, range(99)) if plant[1])

    class GivesUp(completion.Highs):
        def solve(self, *arguments):
            raise completion.SolverFailed("highs found no optimum: Solution limit reached")

    monkeypatch.setattr(completion, "Highs", GivesUp)
    oracle = oracle_of(problem)
    assert not oracle.given_up
    assert not oracle.can_be_completed(Situation((0,)), allowed[0][0])
    assert oracle.given_up
