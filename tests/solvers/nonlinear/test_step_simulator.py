"""Who simulates: the dynamics themselves, or their equations, compiled once for each object."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from continuous_plants import reactor_dynamics

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.solvers.nonlinear.step_simulator import StepSimulator, simulator_of


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
