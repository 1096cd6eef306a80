"""Who simulates: the dynamics themselves, or their equations, compiled once for each object."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from continuous_plants import reactor_dynamics

from tcbo_pyomo.errors import BadInput, SolverFailed
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.solvers.nonlinear.step_simulator import StepSimulator, next_states, simulator_of


def test_linear_dynamics_are_exact_arithmetic():
    dynamics = LinearDynamics(np.diag([0.5, 1.0]), np.array([[1.0], [2.0]]), BoxActions(0.1))
    assert simulator_of(dynamics) is dynamics
    assert simulator_of(dynamics).next_state(np.array([0.2, 0.3]), np.array([0.05])).tolist() == [
        0.15000000000000002,
        0.4,
    ]


def test_equations_are_compiled_once_for_each_object_and_freed_with_it():
    dynamics = reactor_dynamics()
    simulator = simulator_of(dynamics)
    assert isinstance(simulator, StepSimulator) and simulator_of(dynamics) is simulator
    assert simulator_of(reactor_dynamics()) is not simulator
    gone = weakref.ref(dynamics)
    del dynamics
    gc.collect()
    assert gone() is None


def test_dynamics_that_cannot_be_simulated_are_refused():
    class Silent:
        actions = BoxActions(0.1).named(2)

    with pytest.raises(BadInput, match=r"Silent cannot be simulated; give it a method next_state"):
        simulator_of(Silent())


def test_many_steps_at_once_are_the_single_ones():
    generator = np.random.default_rng(0)
    states = generator.uniform(-0.5, 0.5, (40, 2))
    linear = LinearDynamics(np.array([[0.9, 0.1], [0.0, 0.8]]), np.array([[0.2], [0.1]]), BoxActions(1.0))
    heated = reactor_dynamics()
    actions = {linear: generator.uniform(-1, 1, (40, 1)), heated: generator.uniform([20, -0.5], [120, 0.5], (40, 2))}
    for dynamics, given in actions.items():
        single = [simulator_of(dynamics).next_state(*pair) for pair in zip(states, given, strict=True)]
        np.testing.assert_allclose(next_states(dynamics, states, given), single, rtol=0, atol=1e-12)
    states[3] = np.nan
    after = next_states(heated, states, actions[heated])
    assert np.isnan(after[3]).all() and np.isfinite(np.delete(after, 3, axis=0)).all()


class Doubling:
    """Dynamics of a user's own that make one step at a time, and none from 0."""

    def next_state(self, state, action):
        if not state.any():
            raise SolverFailed("no step")
        return 2.0 * state


def test_dynamics_that_make_single_steps_only():
    after = next_states(Doubling(), np.array([[0.1, 0.2], [0.0, 0.0]]), np.zeros((2, 1)))
    np.testing.assert_array_equal(after, [[0.2, 0.4], [np.nan, np.nan]])
