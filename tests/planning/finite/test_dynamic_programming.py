"""Backward induction against quantecon, and its visitation against the definition of a policy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quantecon.markov import DiscreteDP, backward_induction
from random_processes import processes, random_process, roll_out

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.models.constraints import EndAt
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.policy import Policy
from tcbo_pyomo.plant.situation import Situation


def quantecon_values(process, gradient, horizon):
    """Values of the maximisation of -gradient, by quantecon's own backward induction."""
    ddp = DiscreteDP(-gradient, process.transitions, 0.99, process.pair_state, process.pair_action)
    ddp.beta = 1.0
    values, _ = backward_induction(ddp, horizon)
    return -values


@given(processes(max_states=12), st.integers(1, 6), st.integers(0, 10**6))
@settings(max_examples=60)
def test_values_equal_quantecon(process, horizon, seed):
    gradient = -np.random.default_rng(seed).random(process.number_of_pairs)
    ours = DynamicProgramming(EpisodeSets(process, (), horizon)).values(gradient)
    np.testing.assert_allclose(ours, quantecon_values(process, gradient, horizon), rtol=1e-9, atol=1e-12)


@given(processes(), st.integers(1, 5), st.integers(0, 10**6))
@settings(max_examples=60)
def test_visitation_attains_the_value_and_sums_to_one_per_step(process, horizon, seed):
    rng = np.random.default_rng(seed)
    gradient = -rng.random(process.number_of_pairs)
    oracle = DynamicProgramming(EpisodeSets(process, (), horizon))
    visitation = oracle.extreme_point(gradient, Situation((0,)), rng)
    attained = float(visitation.expected_counts(process.number_of_pairs) @ gradient)
    assert attained == pytest.approx(oracle.values(gradient)[0, 0], rel=1e-9)
    for step in range(horizon):
        assert visitation.at_step(step)[1].sum() == pytest.approx(1.0, abs=1e-12)


def test_rolled_out_policy_reproduces_its_visitation():
    from random_processes import random_process

    process, horizon, runs = random_process(3, 6, 3, 3), 4, 20_000
    rng = np.random.default_rng(0)
    oracle = DynamicProgramming(EpisodeSets(process, (), horizon))
    visitation = oracle.extreme_point(-rng.random(process.number_of_pairs), Situation((0,)), rng)
    policy = Policy(process, visitation)
    counts = np.zeros((horizon, process.number_of_pairs))
    for _ in range(runs):
        counts[np.arange(horizon), roll_out(policy, 0, horizon, rng)] += 1
    expected = np.zeros_like(counts)
    expected[visitation.step, visitation.pair] = visitation.probability
    deviation = np.abs(counts / runs - expected)
    assert (deviation <= 4.5 * np.sqrt(expected * (1 - expected) / runs) + 1e-12).all()


def test_ties_are_broken_at_random_and_repeat_with_the_seed():
    from tcbo_pyomo.plant.grid import grid_process

    process = grid_process({"x": [0, 1, 2, 3, 4]}, {"x": [-1, 0, 1]}, 1.0)
    oracle = DynamicProgramming(EpisodeSets(process, (), 1))
    flat = -np.ones(process.number_of_pairs)

    def first_moves(seed):
        rng = np.random.default_rng(seed)
        return [int(oracle.extreme_point(flat, Situation((2,)), rng).pair[0]) for _ in range(50)]

    assert set(first_moves(1)) == set(process.pairs_of(2))
    assert first_moves(1) == first_moves(1)


def test_end_is_met_even_when_the_reward_lies_the_other_way():
    from tcbo_pyomo.plant.grid import grid_process

    process = grid_process({"x": [0, 1, 2, 3, 4, 5]}, {"x": [-1, 0, 1]}, 1.0)
    gradient = -process.states[process.successor, 0]
    oracle = DynamicProgramming(EpisodeSets(process, (EndAt({"x": 0}),), 6))
    path = oracle.extreme_point(gradient, Situation((0,)), np.random.default_rng(0)).pair
    # Three moves up, three down: 1 + 2 + 3 + 2 + 1 + 0 is the most that can be collected.
    assert process.states[process.successor[path], 0].tolist() == [1, 2, 3, 2, 1, 0]


def test_a_gradient_that_is_not_finite_makes_no_plan():
    process = random_process(3, 6, 3, 1)
    oracle = DynamicProgramming(EpisodeSets(process, (), 4))
    gradient = -np.ones(process.number_of_pairs)
    gradient[process.pairs_of(0)[0]] = np.nan
    with pytest.raises(SolverFailed, match="not finite"):
        oracle.extreme_point(gradient, Situation((0,)), np.random.default_rng(0))
