"""Greedy-UCB on cases worked by hand."""

import numpy as np
import pytest
from rival_plants import grid, known, line, method_of, plane, rng

from tcbo_pyomo import Problem, settings_from
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.models.constraints import EndAt
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def arrival(problem, knowledge, situation=None, seed=0):
    pair = method_of("greedy_ucb", problem, settings_from({})).next_decision(
        situation or Situation((2,)), knowledge, rng(seed)
    )
    return int(problem.process.successor[pair])


def test_the_reachable_state_with_the_largest_bound_wins():
    # From 2 the states 1, 2, 3 are reachable: 0.5, 0.14, 0.4 + 0.1 sqrt(2) = 0.541; state 4 is better and out of reach.
    assert arrival(line(), known([0, 0.5, 0, 0.4, 9], [0, 0, 0.1, 0.1, 0])) == 3
    # 0.4 + 0.07 sqrt(2) = 0.499 is just too little, which a width of 2 would not say.
    assert arrival(line(), known([0, 0.5, 0, 0.4, 9], [0, 0, 0.1, 0.07, 0])) == 1


def test_ties_are_broken_at_random_and_repeatably():
    knowledge = known([0, 1, 0, 1, 0], np.zeros(5))
    chosen = [arrival(line(), knowledge, seed=seed) for seed in range(200)]
    assert set(chosen) == {1, 3} and 60 < chosen.count(1) < 140
    assert chosen == [arrival(line(), knowledge, seed=seed) for seed in range(200)]


def test_the_end_of_the_episode_is_kept_within_reach():
    problem = line(horizon=2, constraints=(EndAt({"x": 2}),))
    knowledge = known([0, 0, 0.5, 0.9, 9], np.zeros(5))
    assert arrival(problem, knowledge) == 3
    # One move is left: the plant must return, although 4 is far better.
    assert arrival(problem, knowledge, Situation((2, 3), (7,))) == 2


def test_chance_is_averaged_over():
    points = {"here": [0.0], "sure": [1.0], "bad": [2.0], "good": [3.0]}
    moves = {("here", "sure"): {"sure": 1.0}, ("here", "gamble"): {"bad": 0.4, "good": 0.6}}
    moves |= {(name, "stay"): {name: 1.0} for name in ("sure", "bad", "good")}
    from tcbo_pyomo.foundation.coordinates import Coordinate

    process = Process.from_probabilities([Coordinate("x", 0.0, 3.0)], points, moves, 0.01)
    problem = Problem("gamble", process, "here", 1, 1, SquaredExponential(1.0, 0.2))
    method = method_of("greedy_ucb", problem, settings_from({}))
    # The gamble is worth 0.6 * 1 = 0.6.
    for sure, action in ((0.59, "gamble"), (0.61, "sure")):
        pair = method.next_decision(Situation((0,)), known([0, sure, 0, 1], np.zeros(4)), rng())
        assert process.actions[process.pair_action[pair]] == action


def test_a_continuous_plant_is_refused():
    with pytest.raises(BadInput, match=r"greedy_ucb.*finite process.*'plane' is continuous; use local_ucb"):
        method_of("greedy_ucb", plane(), settings_from({}))


def test_pending_visits_count_as_made():
    """With episodic feedback a state visited already is less attractive than its untouched neighbours."""
    from tcbo_pyomo import Campaign

    problem = grid(start=12, horizon=6, kernel=SquaredExponential(1.0, 0.01))
    campaign = Campaign(problem, settings_from({"method": "greedy_ucb", "feedback": {"kind": "episodic"}}), 1)
    visited = []
    for _ in range(6):
        move = campaign.ask()
        campaign.arrive(move.number)
        visited.append(move.arrived)
    assert len(set(visited)) == 6
