"""Random processes and constraints for property tests, written independently of the code under test."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse
from hypothesis import strategies as st

from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.process import Process


def random_process(seed: int, states: int, moves: int, successors: int, move_noise: bool = False) -> Process:
    """A process on random points of the unit square; each state can stay, the other moves go anywhere."""
    rng = np.random.default_rng(seed)
    points = rng.random((states, 2))
    pair_state, pair_action, rows, columns, values = [], [], [], [], []
    for state in range(states):
        for action in range(int(rng.integers(1, moves + 1))):
            row = len(pair_state)
            pair_state.append(state)
            pair_action.append(action)
            if action == 0:
                targets = np.array([state])
            else:
                targets = rng.choice(states, size=min(states, int(rng.integers(1, successors + 1))), replace=False)
            rows += [row] * len(targets)
            columns += targets.tolist()
            values += rng.dirichlet(np.ones(len(targets))).tolist()
    matrix = sparse.csr_matrix((values, (rows, columns)), shape=(len(pair_state), states))
    noise = (lambda left, right: 0.01 + np.abs(right - left).sum(axis=1)) if move_noise else 0.05
    return Process.from_arrays(
        [Coordinate("x", 0.0, 1.0), Coordinate("y", 0.0, 1.0)],
        points,
        pair_state,
        pair_action,
        matrix,
        noise,
        actions=[f"action {a}" for a in range(moves)],
    )


@st.composite
def processes(draw: st.DrawFn, max_states: int = 8, deterministic: bool = False, move_noise: bool = False) -> Process:
    """Small random processes."""
    return random_process(
        draw(st.integers(0, 2**31)),
        draw(st.integers(2, max_states)),
        draw(st.integers(1, 4)),
        1 if deterministic else draw(st.integers(1, 3)),
        move_noise,
    )


def roll_out(policy, start, steps, rng):
    """Simulate a policy on its process; the pairs used, in order."""
    pairs, state = [], start
    for step in range(steps):
        pairs.append(policy.sample(step, state, rng))
        state = policy.process.draw_successor(pairs[-1], rng)
    return pairs
