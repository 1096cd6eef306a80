"""The random walk is uniform over what is feasible, and feasible."""

import numpy as np
from rival_plants import feasible_pairs, grid, known, line, method_of, plane, rng
from scipy.stats import kstest

from tcbo_pyomo import settings_from
from tcbo_pyomo.models.constraints import EndAt, ResourceBudget, VisitBudget
from tcbo_pyomo.models.regions.regions import Box
from tcbo_pyomo.plant.actions import BoxActions, NormActions
from tcbo_pyomo.plant.situation import Situation

NOTHING = known([], [])


def test_every_feasible_move_is_equally_likely():
    problem = grid((EndAt({"x": 0}),), horizon=2, start=6)
    method, generator = method_of("random_walk", problem, settings_from({})), rng()
    feasible = feasible_pairs(problem, Situation((6,)))
    drawn = [method.next_decision(Situation((6,)), NOTHING, generator) for _ in range(1200)]
    counts = np.array([drawn.count(pair) for pair in feasible])
    assert counts.sum() == 1200 and len(feasible) == 6
    assert (np.abs(counts - 200) < 5 * 200**0.5).all()


def test_a_move_that_cannot_be_completed_is_drawn_again():
    fuel = ResourceBudget("fuel", lambda left, right: abs(right["x"] - left["x"]), 2.0)
    problem = line(constraints=(fuel, VisitBudget(Box({"x": (2.5, 4)}), 0)))
    method, generator = method_of("random_walk", problem, settings_from({})), rng()
    drawn = {int(method.next_decision(Situation((2,)), NOTHING, generator)) for _ in range(40)}
    assert drawn == set(feasible_pairs(problem, Situation((2,)))) and len(drawn) == 2


def moves_of(problem, count=400, seed=0):
    method, generator = method_of("random_walk", problem, problem_settings(problem)), rng(seed)
    situation = Situation((problem.start_state,))
    return np.array([method.next_decision(situation, NOTHING, generator) for _ in range(count)])


def problem_settings(problem):
    return settings_from(dict(problem.settings))


def test_on_a_plane_the_action_is_uniform_within_its_limits_and_the_box():
    # The start is 0.1 from the left and 0.2 from the bottom; a move of 0.15 to the left would leave the box.
    moves = moves_of(plane(BoxActions(0.15)))
    assert kstest((moves[:, 0] + 0.1) / 0.25, "uniform").pvalue > 0.01
    assert kstest((moves[:, 1] + 0.15) / 0.3, "uniform").pvalue > 0.01


def test_in_a_ball_the_action_is_uniform():
    moves = moves_of(plane(NormActions(0.09)))
    radius = np.linalg.norm(moves, axis=1)
    assert kstest((radius / 0.09) ** 2, "uniform").pvalue > 0.01


def test_the_end_stays_within_reach_on_a_plane():
    problem = plane(BoxActions(0.1), (EndAt({"x": 3.0}),), horizon=2, start={"x": 1.5, "y": 1.0})
    # 3.0 is 0.15 away in two moves of 0.1: the first must gain at least 0.05.
    moves = moves_of(problem, 12)
    assert (moves[:, 0] >= 0.05 - 1e-6).all() and (moves <= 0.1 + 1e-9).all()
    assert np.ptp(moves[:, 1]) > 0.05
