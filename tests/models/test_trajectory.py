"""The trajectory model and the dynamics behind it."""

from __future__ import annotations

import math

import numpy as np
import pyomo.dae as dae
import pyomo.environ as pyo
import pytest
from continuous_plants import PLANE, REACTOR, reactor_dynamics

from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.foundation.coordinates import scaled
from tcbo_pyomo.models.trajectory import build_trajectory
from tcbo_pyomo.planning.continuous.compiled_trajectory import CompiledTrajectory
from tcbo_pyomo.plant.actions import BoxActions, NormActions
from tcbo_pyomo.plant.dynamics import LinearDynamics, NonlinearDynamics
from tcbo_pyomo.solvers.nonlinear.step_simulator import simulator_of

START = {"x": 1.0, "y": 1.0}
MATRICES = np.array([[0.9, 0.1], [0.0, 0.8]]), np.array([[0.1], [0.5]])


def test_components_are_named_and_there_is_no_objective() -> None:
    model = build_trajectory(PLANE, LinearDynamics.free_moves(2, NormActions(0.1)), START, 3)
    assert set(model.state) == {(h, name) for h in range(4) for name in ("x", "y")}
    assert set(model.action) == {(h, f"action_{i}") for h in range(3) for i in range(2)}
    assert set(model.dynamics) == {(h, name) for h in range(3) for name in ("x", "y")}
    assert list(model.component_objects(pyo.Objective)) == []


def test_the_start_is_bounded_and_not_fixed() -> None:
    model = build_trajectory(PLANE, LinearDynamics.free_moves(2, BoxActions(0.1)), START, 2)
    assert not model.state[0, "x"].fixed
    assert model.state[0, "x"].bounds == pytest.approx((-0.4, -0.4))
    assert pyo.value(model.physical[0, "x"]) == pytest.approx(1.0)


def test_rows_hold_on_a_simulated_path_and_on_no_other() -> None:
    dynamics = LinearDynamics(*MATRICES, BoxActions({"valve": 0.4}))
    compiled = CompiledTrajectory(PLANE, dynamics, START, 5, ())
    actions = np.linspace(-0.3, 0.3, 5)[:, None]
    states = [scaled(PLANE, [1.0, 1.0])]
    for action in actions:
        states.append(simulator_of(dynamics).next_state(states[-1], action))
    path = np.array(states)
    bounds = compiled.bounds(path[:1], actions[:0])
    assert compiled.programme.violation(compiled.vector(path, actions), bounds)[0] < 1e-12
    path[3, 1] += 0.01
    assert compiled.programme.violation(compiled.vector(path, actions), bounds)[0] == pytest.approx(0.01, rel=0.3)
    assert compiled.programme.violation(compiled.vector(path, actions), bounds)[1].startswith("dynamics[")


def test_a_longer_action_than_the_norm_allows_breaks_its_row() -> None:
    compiled = CompiledTrajectory(PLANE, LinearDynamics.free_moves(2, NormActions(0.1)), START, 1, ())
    for length, broken in ((0.0999, False), (0.101, True)):
        move = length * np.array([[0.6, 0.8]])
        path = np.vstack([[-0.4, -0.3], [-0.4, -0.3] + move[0]])
        bounds = compiled.bounds(path[:1], move[:0])
        assert (compiled.programme.violation(compiled.vector(path, move), bounds)[0] > 1e-6) is broken


def test_nonlinear_dynamics_simulate_their_own_formula() -> None:
    dynamics = reactor_dynamics()
    state = scaled(REACTOR, [40.0, 6.4])
    after = simulator_of(dynamics).next_state(state, np.array([100.0, 0.2]))
    expected = [40.0 + 60.0 * (1.0 - math.exp(-2.0 / 6.4)), 6.6]
    np.testing.assert_allclose(after, scaled(REACTOR, expected), atol=1e-12)


def test_an_ode_discretised_with_pyomo_dae_is_a_step() -> None:
    def ode(model: pyo.ConcreteModel, step: int) -> dict[str, object]:
        block = pyo.Block()
        model.add_component(f"cooling_{step}", block)
        block.time = dae.ContinuousSet(bounds=(0, 1))
        block.temperature = pyo.Var(block.time, initialize=60.0)
        block.slope = dae.DerivativeVar(block.temperature, wrt=block.time)
        block.start = pyo.Constraint(expr=block.temperature[0] == model.physical[step, "temperature"])

        @block.Constraint(block.time)
        def balance(block: pyo.Block, time: float) -> object:
            towards = model.action[step, "set_point"] - block.temperature[time]
            return block.slope[time] == 2.0 * towards / model.physical[step, "residence"]

        pyo.TransformationFactory("dae.collocation").apply_to(block, nfe=3, ncp=3)
        residence = model.physical[step, "residence"] + model.action[step, "change"]
        return {"temperature": block.temperature[1], "residence": residence}

    dynamics = NonlinearDynamics(REACTOR, ode, reactor_dynamics().actions)
    state, action = scaled(REACTOR, [40.0, 6.4]), np.array([100.0, 0.2])
    np.testing.assert_allclose(
        simulator_of(dynamics).next_state(state, action),
        simulator_of(reactor_dynamics()).next_state(state, action),
        atol=1e-7,
    )


@pytest.mark.parametrize(
    ("state", "inputs", "message"),
    [
        ([[1.0, 0.0]], np.eye(2), r"state_matrix: shape \(1, 2\) must be square"),
        (np.eye(2), np.eye(3), r"input_matrix: shape \(3, 3\) must have 2 rows"),
        (np.diag([1.2, 0.5]), np.eye(2), "unstable, its eigenvalue 1.2"),
        ([[0.0, 1.1], [-1.1, 0.0]], np.eye(2), "has modulus 1.1"),
        ([[np.nan, 0.0], [0.0, 1.0]], np.eye(2), "must be finite"),
        ("A", np.eye(2), "must be a matrix of numbers"),
        (np.ones(2), np.eye(2), "must be a matrix, rows by columns"),
    ],
)
def test_bad_matrices(state: object, inputs: np.ndarray, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        LinearDynamics(state, inputs, BoxActions(0.1))


def test_a_rotation_is_stable() -> None:
    angle = 0.3
    rotation = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    LinearDynamics(rotation, np.eye(2), BoxActions(0.1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BoxActions({}), "name at least one action"),
        (lambda: BoxActions({"valve": (1, 0)}), "limit of 'valve'"),
        (lambda: BoxActions(-1.0), "must be a positive number"),
        (lambda: NormActions(0.0), "maximum 0.0 must be a positive"),
        (
            lambda: LinearDynamics(np.eye(2), np.eye(2), BoxActions({"a": 1.0})),
            "1 named .a., but the input matrix",
        ),
        (lambda: NonlinearDynamics(REACTOR, lambda m, h: {}, BoxActions(1.0)), "actions need names"),
        (lambda: NonlinearDynamics(REACTOR, 3, BoxActions({"a": 1.0})), "must be a function"),
    ],
)
def test_bad_actions(make: object, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        make()


def test_bad_start_and_steps() -> None:
    dynamics = LinearDynamics.free_moves(2, BoxActions(0.1))
    with pytest.raises(InfeasiblePlan, match=r"start: x is 12, allowed is 0 to 10"):
        build_trajectory(PLANE, dynamics, {"x": 12.0, "y": 1.0}, 3)
    with pytest.raises(BadInput, match="missing coordinate"):
        build_trajectory(PLANE, dynamics, {"x": 1.0}, 3)
    with pytest.raises(BadInput, match="steps 0 must be"):
        build_trajectory(PLANE, dynamics, START, 0)
    with pytest.raises(BadInput, match="3 rows, but there are 2 coordinates"):
        build_trajectory(PLANE, LinearDynamics.free_moves(3, BoxActions(0.1)), START, 3)


def test_errors_in_the_users_dynamics_are_shown_as_such() -> None:
    actions = BoxActions({"a": 1.0})

    def divides(model: pyo.ConcreteModel, step: int) -> dict[str, object]:
        return {"x": 1 / 0}

    with pytest.raises(BadInput, match="dynamics function 'divides' at step 0 failed: ZeroDivisionError"):
        build_trajectory(PLANE, NonlinearDynamics(PLANE, divides, actions), START, 2)
    for answer, message in (({"x": 1.0}, "no next value of y"), ({"z": 1.0}, "unknown coordinate 'z'")):
        with pytest.raises(BadInput, match=message):
            dynamics = NonlinearDynamics(PLANE, lambda m, h, answer=answer: answer, actions)
            build_trajectory(PLANE, dynamics, START, 2)
