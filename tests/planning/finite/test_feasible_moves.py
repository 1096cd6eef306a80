"""Feasible moves: the planner's rules, against a search of all continuations that knows nothing of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_processes import random_process
from rival_plants import feasible_pairs, grid, line, rng

from tcbo_pyomo import Problem
from tcbo_pyomo.errors import InfeasiblePlan
from tcbo_pyomo.models.constraints import Box, EndAt, ResourceBudget, VisitBudget
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.planning.finite.feasible_moves import FeasibleMoves
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def travelled(left, right):
    return abs(right["x"] - left["x"]) + abs(right["y"] - left["y"])


def enumerated(problem, situation):
    """Moves of a deterministic process from which some path to the end of the episode breaks no rule."""
    process = problem.process

    def ends(path):
        if len(path) == problem.horizon + 1:
            points = process.states[list(path)]
            yield not any(rule.violations(EpisodePath(process.coordinates, points, True)) for rule in problem.rules)
            return
        for pair in process.pairs_of(path[-1]):
            yield from ends((*path, int(process.successor[pair])))

    here = process.pairs_of(situation.state)
    return [pair for pair in here if any(ends((*situation.path, int(process.successor[pair]))))]


CONSTRAINTS = {
    "none": (),
    "end": (EndAt({"x": 0, "y": 1}),),
    "fuel": (ResourceBudget("fuel", travelled, 2.0),),
    "fuel and end": (ResourceBudget("fuel", travelled, 3.0), EndAt({"x": 1})),
    "fuel and visits": (ResourceBudget("fuel", travelled, 2.0), VisitBudget(Box({"x": (0, 0.5)}), 1), EndAt({"x": 1})),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_they_are_the_moves_after_which_an_allowed_path_exists(name):
    problem = grid(CONSTRAINTS[name], horizon=3, start=6)
    walk = rng(1)
    for _ in range(4):
        path, decisions = (6,), ()
        for _ in range(3):
            situation = Situation(path, decisions)
            expected = enumerated(problem, situation)
            assert feasible_pairs(problem, situation) == expected
            pair = int(walk.choice(expected))
            path, decisions = (*path, int(problem.process.successor[pair])), (*decisions, pair)


def test_budgets_that_are_affordable_one_by_one_may_still_exclude_each_other():
    """One step of each kind is affordable; the end that needs two of one kind is not."""
    gold = ResourceBudget("gold", lambda left, right: 1.0 * (right["x"] > left["x"]), 1.0)
    time = ResourceBudget("time", lambda left, right: 1.0 * (right["y"] > left["y"]), 1.0)
    problem = grid((gold, time, EndAt({"x": 1, "y": 1})), horizon=2, start=0)
    targets = problem.process.successor[feasible_pairs(problem, Situation((0,)))]
    assert sorted(problem.process.states[targets].tolist()) == [[0, 0], [0, 1], [1, 0], [1, 1]]
    tight = grid((gold, time, EndAt({"x": 2, "y": 1})), horizon=3, start=0)
    with pytest.raises(InfeasiblePlan):
        feasible_pairs(tight, Situation((0,)))


@given(st.integers(0, 10**6), st.floats(0.5, 3.0))
@settings(max_examples=25)
def test_under_chance_the_budget_is_kept_whatever_happens(seed, limit):
    """Worst case by enumeration: after the move some policy keeps the budget for every outcome."""
    process, horizon = random_process(seed, 5, 3, 2), 3
    fuel = ResourceBudget("fuel", travelled, limit)
    try:
        problem = Problem("chance", process, 0, horizon, 1, SquaredExponential(1.0, 0.3), (fuel,), output="f")
        pairs = feasible_pairs(problem, Situation((0,)))
    except InfeasiblePlan:
        pairs = []

    def cost(state, successor):
        return float(np.abs(process.states[successor] - process.states[state]).sum())

    def worst(state, steps):
        return min((after(pair, steps) for pair in process.pairs_of(state)), default=0.0) if steps else 0.0

    def after(pair, steps):
        state = int(process.pair_state[pair])
        return max(cost(state, int(x)) + worst(int(x), steps - 1) for x in process.successors_of(pair))

    slack = 1e-9 * max(1.0, limit)
    assert pairs == [pair for pair in process.pairs_of(0) if after(pair, horizon) <= limit + slack]


def test_several_budgets_under_chance_are_asked_of_the_planners_polytope():
    process = random_process(3, 6, 4, 3)
    rules = (ResourceBudget("fuel", travelled, 2.5), VisitBudget(Box({"x": (0, 0.5)}), 3))
    problem = Problem("chance", process, 0, 3, 1, SquaredExponential(1.0, 0.3), rules, output="f")
    found = feasible_pairs(problem, Situation((0,)))
    alone = [set(feasible_pairs(problem.changed(constraints=(rule,)), Situation((0,)))) for rule in rules]
    assert found and set(found) <= alone[0] & alone[1]


def test_the_best_is_the_best_of_the_feasible_pairs_and_a_lost_plant_is_told():
    problem = line(horizon=2, constraints=(EndAt({"x": 2}),))
    moves = FeasibleMoves(problem)
    score = np.arange(problem.process.number_of_pairs, dtype=float)
    assert moves.best(score, Situation((2,)), rng()) == max(feasible_pairs(problem, Situation((2,))))
    back = [pair for pair in problem.process.pairs_of(3) if problem.process.successor[pair] == 2]
    assert feasible_pairs(problem, Situation((2, 3), (7,))) == back
    with pytest.raises(InfeasiblePlan, match="EndAt"):
        feasible_pairs(problem, Situation((2, 4), (7,)))
