"""Bounds by prices: never below what a plan of its own learns, equal for the move of the best plan, and the moves stay."""

import numpy as np
import pytest
from coupled_plants import OwnRows, problem_with, random_budgets, random_plant
from hypothesis import given, settings
from hypothesis import strategies as st
from small_plans import START, problem_of, small_plan

from tcbo_pyomo.errors import InfeasiblePlan
from tcbo_pyomo.planning.finite.eager_move import EagerPlans
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.plant.situation import Situation


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.booleans(), st.booleans(), st.integers(1, 2))
def test_no_plan_learns_more_than_its_bound(seed, own_variable, later, successors):
    rng, process, horizon = random_plant(seed, 8, 5, successors)
    table = rng.normal(size=(horizon, process.number_of_pairs)).round(3)
    rules = [OwnRows(table, -1.0, 2.0, own_variable), *random_budgets(rng, process, 1, whole=False)]
    problem = problem_with(process, rules, horizon)
    oracle = LinearProgramming(problem.sets, problem.rules, base=lambda: problem.polytope)
    gradient, situation = -rng.random(process.number_of_pairs), Situation((0,))
    try:
        best = oracle.extreme_point(gradient, situation, rng)
        if later and process.deterministic:
            first = int(best.at_step(0)[0][0])
            situation = Situation((0, int(process.successor[first])), (first,))
            best = oracle.extreme_point(gradient, situation, rng)
    except InfeasiblePlan:
        return
    bounds = oracle.most_learned(gradient, situation)
    learned = -float(best.probability @ gradient[best.pair])
    begun, _ = best.at_step(situation.step)
    offset = process.pair_offsets[situation.state]
    # Strong duality: at its own prices the best plan meets its bound.
    assert bounds[begun - offset] == pytest.approx(np.full(len(begun), learned), abs=1e-6)
    for pair in process.pairs_of(situation.state):
        plan = oracle.beginning_with(gradient, situation, pair)
        if plan is not None:
            assert -float(plan.probability @ gradient[plan.pair]) <= bounds[pair - offset] + 1e-7


@pytest.mark.parametrize("seed", range(8))
def test_the_eager_plan_is_the_same_with_fewer_programmes(seed, monkeypatch):
    case = small_plan(seed, 25, 8, budget=2.0, successors=1)
    problem = problem_of(case, (case.budget,), 8)
    tangent, found, solved, plain = case.utility().linearise(None), [], [], LinearProgramming._solved
    for bounded in (False, True):
        calls = []
        monkeypatch.setattr(LinearProgramming, "_solved", lambda *a, calls=calls: calls.append(1) or plain(*a))
        if not bounded:
            monkeypatch.setattr(LinearProgramming, "most_learned", lambda *_: None)
        oracle = LinearProgramming(problem.sets, problem.rules)
        plan = EagerPlans(problem, oracle).extreme_point(tangent, START, np.random.default_rng(0))
        monkeypatch.undo()
        found.append((plan.step.tolist(), plan.pair.tolist()))
        solved.append(len(calls))
    assert found[0] == found[1]
    assert solved[1] <= min(solved[0], 3)
