"""Backward induction for many rewards at once, against the one for a single reward."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_processes import random_process

from tcbo_pyomo.models.constraints import EndAt
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.rehearsal.batched_induction import BatchedInduction, Costs


@pytest.mark.parametrize("by_state", [True, False])
@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans(), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_every_draw_has_the_values_of_its_own_reward(by_state, seed, successors, end, step):
    rng, horizon, draws = np.random.default_rng(seed), 4, 3
    process = random_process(seed, 6, 4, successors)
    rules = (EndAt({"x": float(process.states[2, 0])}),) if end else ()
    sets = EpisodeSets(process, rules, horizon)
    induction = BatchedInduction(sets)
    if by_state:
        reward = -rng.random((process.number_of_states, draws))
        costs, pairs = Costs(reward), process.transitions @ reward
        gradients = [np.stack([pairs[:, d], pairs[:, d]]) for d in range(draws)]
    else:
        usual, last = -rng.random((2, process.number_of_pairs, draws))
        costs = Costs(None, usual, last)
        gradients = [np.stack([usual[:, d], last[:, d]]) for d in range(draws)]
    after = induction.values_after(costs, step)
    assert np.isinf(after[-1]).all()
    of_pairs = induction.of_pairs(after, costs, step)
    for d, gradient in enumerate(gradients):
        values = DynamicProgramming(sets).values(gradient, step)
        assert np.allclose(after[:-1, d], values[1])
        expected = gradient[int(step == horizon - 1)] + process.expected(values[1])
        assert np.allclose(of_pairs[:, d], expected)
        usable = induction.usable(step)[:-1]
        assert np.array_equal(usable, np.isfinite(np.where(sets.allowed_pairs, expected, np.inf)))
