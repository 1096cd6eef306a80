"""The entries of one step, and the policy that follows from them."""

import numpy as np
import pytest

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.models.visitation import SHORT, Visitation
from tcbo_pyomo.planning.finite.policy import Policy
from tcbo_pyomo.plant.grid import grid_process

PROCESS = grid_process({"x": [0, 1, 2, 3]}, {"x": [-1, 0, 1]}, 1.0)


@pytest.mark.parametrize("size", [1, 5, SHORT, SHORT + 1, 3 * SHORT])
def test_the_entries_of_a_step_in_whatever_order_they_stand(size):
    rng = np.random.default_rng(size)
    for steps in (np.arange(3, 3 + size), rng.permutation(size), rng.integers(0, max(1, size // 2), size)):
        plan = Visitation(steps, rng.integers(0, 9, size), rng.random(size))
        for step in range(-1, size + 4):
            pair, probability = plan.at_step(step)
            assert pair.tolist() == [p for s, p in zip(steps, plan.pair, strict=True) if s == step]
            assert probability.tolist() == [p for s, p in zip(steps, plan.probability, strict=True) if s == step]


@pytest.mark.parametrize("probability", [1.0, 0.25])
def test_a_policy_of_one_pair_makes_it_for_sure_and_only_where_it_exists(probability):
    pair = 4
    state = int(PROCESS.pair_state[pair])
    policy = Policy(PROCESS, Visitation(np.array([2]), np.array([pair]), np.array([probability])))
    pairs, chances = policy.action_probabilities(2, state)
    assert pairs.tolist() == [pair] and chances.tolist() == [1.0]
    assert policy.sample(2, state, np.random.default_rng(0)) == pair
    for step, elsewhere in ((2, state + 1), (1, state)):
        with pytest.raises(BadInput, match="never meets state"):
            policy.action_probabilities(step, elsewhere)
