"""Plans of continuous plants: known paths, never worse than a warm start, always feasible."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from continuous_plants import PLANE, REACTOR, pair_objective, reactor_dynamics
from scipy.ndimage import maximum_filter

from tcbo_pyomo.errors import BadInput, InfeasiblePlan, SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import physical, scaled
from tcbo_pyomo.models.constraints import (
    Box,
    Circle,
    EndAt,
    ForbiddenRegion,
    FromFunction,
    MaximumStep,
    NonDecreasing,
    Polygon,
    ResourceBudget,
    TransitionConstraint,
    Wall,
)
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.planning.continuous.information_objective import InformationObjective
from tcbo_pyomo.planning.continuous.shortest_path import straight_path
from tcbo_pyomo.planning.continuous.trajectory_oracle import TrajectoryOracle
from tcbo_pyomo.planning.continuous.trajectory_plan import TrajectoryPlan
from tcbo_pyomo.plant.actions import ActionLimits, BoxActions, NormActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.settings import NonlinearSolverSettings, settings_from
from tcbo_pyomo.solvers.nonlinear.step_simulator import simulator_of
from tcbo_pyomo.surrogate.kernel_sums import sections
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

START = {"x": 1.0, "y": 1.0}
HERE = scaled(PLANE, [1.0, 1.0])
NONE = np.zeros((0, 2))


def oracle(
    constraints: list[TransitionConstraint] = (),
    steps: int = 12,
    limits: ActionLimits | None = None,
    **settings: Any,
) -> TrajectoryOracle:
    dynamics = LinearDynamics.free_moves(2, limits or NormActions(0.1))
    return oracle_on(PLANE, dynamics, START, steps, constraints, **settings)


def oracle_on(axes: Any, dynamics: Any, start: dict, steps: int, rules: Any, **settings: Any) -> TrajectoryOracle:
    given = "plant", tuple(axes), dynamics, start, steps, 1, SquaredExponential(1.0, 0.3), 0.1, rules
    problem = ContinuousProblem(*given, output="measured")
    return TrajectoryOracle(problem, NonlinearSolverSettings.model_construct(**settings))


def fuel(left: dict, right: dict) -> object:
    return ((right["x"] - left["x"]) ** 2 + (right["y"] - left["y"]) ** 2) ** 0.5


def assert_allowed(planner: TrajectoryOracle, states: Array, actions: Array, complete: bool = True) -> None:
    """Bounds, moves and constraints by plain arithmetic."""
    assert np.abs(states).max() <= 0.5 + 1e-6
    for state, action, after in zip(states[:-1], actions, states[1:], strict=True):
        np.testing.assert_allclose(simulator_of(planner.problem.dynamics).next_state(state, action), after, atol=1e-6)
        np.testing.assert_allclose(planner.problem.dynamics.actions.clip(action), action, atol=1e-6)
    path = physical(planner.problem.coordinates, states)
    for constraint in planner.problem.rules:
        assert constraint.violations(EpisodePath(planner.problem.coordinates, path, complete)) == []


@pytest.mark.parametrize("limits", [NormActions(0.1), BoxActions(0.07)], ids=["norm", "box"])
def test_one_mode_and_free_moves_give_the_straight_clipped_path(limits: ActionLimits) -> None:
    mode = np.array([[0.3, 0.1]])
    objective = InformationObjective(SquaredExponential(1.0, 0.3), mode, np.ones(1), 0.1)
    planner = oracle(limits=limits)
    plan = planner.best_path(objective, HERE[None], NONE, mode)
    states, _ = straight_path(planner.problem.dynamics, HERE, mode[0], 12)
    assert plan.value == pytest.approx(objective.value(states[1:]), rel=1e-6)
    np.testing.assert_allclose(plan.states, states, atol=2e-3)
    np.testing.assert_allclose(states[-1], mode[0])
    assert_allowed(planner, plan.states, plan.actions)


@pytest.mark.parametrize("seed", range(8))
def test_the_plan_is_as_good_as_the_best_path_on_a_fine_grid(seed: int) -> None:
    """Backward induction over 81 x 81 states, each move up to 0.1 per coordinate."""
    planner = oracle(limits=BoxActions(0.1))
    objective, pair = pair_objective(np.random.default_rng(seed))
    axis = np.linspace(-0.5, 0.5, 81)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    jet = sections(objective.kernel, objective.centers).jet(grid, objective.weights)
    gain = (jet.value**2 / objective.noise_variance).reshape(81, 81)
    to_go = np.zeros_like(gain)
    for _ in range(12):
        to_go = maximum_filter(gain + to_go, size=17, mode="constant", cval=-np.inf)
    here = tuple(np.rint((HERE + 0.5) * 80).astype(int))
    plan = planner.best_path(objective, HERE[None], NONE, pair)
    assert -plan.value >= 0.99 * to_go[here]


def test_the_straight_path_is_the_shortest() -> None:
    """Minimising the distance over the compiled constraints finds the same path."""
    from tcbo_pyomo.planning.continuous.distance_objectives import DistanceObjective
    from tcbo_pyomo.planning.continuous.shortest_path import coasting_path

    planner = oracle()
    target = np.array([0.2, 0.3])
    states, actions = straight_path(planner.problem.dynamics, HERE, target, 12)
    bounds = planner.compiled.bounds(HERE[None], NONE)
    x0 = planner.compiled.vector(*coasting_path(planner.problem.dynamics, HERE, 12))
    solution = planner.solver.solve(DistanceObjective.to(target), x0, bounds)
    np.testing.assert_allclose(planner.compiled.read(solution.values)[0], states, atol=1e-5)
    assert np.linalg.norm(actions, axis=1).max() <= 0.1 + 1e-12


REGIONS = {
    "circle": [ForbiddenRegion(Circle({"x": 4, "y": 2.2}, 1.0))],
    "box": [ForbiddenRegion(Box({"x": (3, 5), "y": (1, 3)}))],
    "polygon": [ForbiddenRegion(Polygon(("x", "y"), [(3, 1), (5, 1), (5, 3), (4, 2), (3, 3)]))],
    "wall": [ForbiddenRegion(Wall(("x", "y"), (3, 0), (3, 3)))],
    "rules": [MaximumStep({"x": 0.6}), NonDecreasing("x"), EndAt({"y": 2.5})],
    "budget": [ResourceBudget("fuel", fuel, 3.0)],
}


@pytest.mark.parametrize("name", REGIONS)
def test_a_whole_episode_obeys_every_constraint(name: str) -> None:
    """Receding horizon with a new objective at each step, from one compiled model."""
    planner = oracle(REGIONS[name])
    generator = np.random.default_rng(7)
    path, actions, plan = HERE[None], NONE, None
    for step in range(12):
        objective, pair = pair_objective(generator)
        plan = planner.best_path(objective, path, actions, pair, plan)
        np.testing.assert_array_equal(plan.states[: step + 1], path)
        assert_allowed(planner, plan.states, plan.actions)
        assert plan.value <= plan.record.warm_start_value
        assert plan.value == pytest.approx(objective.value(plan.states[step + 1 :]))
        path, actions = plan.states[: step + 2], plan.actions[: step + 1]
    assert_allowed(planner, path, actions)


def test_a_budget_counts_what_is_already_spent() -> None:
    planner = oracle([ResourceBudget("fuel", fuel, 3.0)], limits=NormActions(0.15))
    moves = np.array([[0.13, 0.0], [0.13, 0.0]])
    path = HERE + np.vstack([[0.0, 0.0], np.cumsum(moves, axis=0)])
    objective, pair = pair_objective(np.random.default_rng(0))
    plan = planner.best_path(objective, path, moves, pair)
    used = planner.problem.rules[0].spent(PLANE, physical(PLANE, plan.states))
    assert 2.6 <= used <= 3.0 + 1e-6


def test_a_plant_that_went_its_own_way_is_planned_from_where_it_is() -> None:
    planner = oracle(REGIONS["circle"])
    path = HERE + np.array([[0.0, 0.0], [0.3, 0.0], [0.3, -0.1]])
    objective, pair = pair_objective(np.random.default_rng(1))
    plan = planner.best_path(objective, path, np.zeros((2, 2)), pair)
    np.testing.assert_array_equal(plan.states[:3], path)
    assert_allowed(planner, plan.states[2:], plan.actions[2:])


def test_the_rest_of_the_last_plan_is_a_warm_start() -> None:
    planner = oracle(REGIONS["circle"])
    objective, pair = pair_objective(np.random.default_rng(2))
    first = planner.best_path(objective, HERE[None], NONE, pair)
    rest = objective.value(first.states[2:])
    second = planner.best_path(objective, first.states[:2], first.actions[:1], pair, first)
    assert second.value <= rest + 1e-9 * abs(rest)


def test_nonlinear_dynamics_are_planned_and_obeyed() -> None:
    dynamics = reactor_dynamics()
    planner = oracle_on(
        REACTOR, dynamics, {"temperature": 40, "residence": 4}, 8, [MaximumStep({"temperature": 15})]
    )
    path, actions, plan = scaled(REACTOR, [[40.0, 4.0]]), NONE, None
    generator = np.random.default_rng(3)
    for _ in range(8):
        objective, pair = pair_objective(generator)
        plan = planner.best_path(objective, path, actions, pair, plan)
        assert plan.record.used == "solver"
        assert_allowed(planner, plan.states, plan.actions)
        actions = plan.actions[: len(actions) + 1]
        path = np.vstack([path, simulator_of(dynamics).next_state(path[-1], actions[-1])])


def test_a_users_nonlinear_constraint_is_obeyed() -> None:
    def curve(model: pyo.ConcreteModel) -> None:
        """Stay above a parabola."""
        model.curve = pyo.Constraint(
            model.POINTS, rule=lambda m, h: m.physical[h, "y"] >= 0.5 + 0.1 * (m.physical[h, "x"] - 3) ** 2
        )

    planner = oracle([FromFunction(curve)])
    objective, _ = pair_objective(np.random.default_rng(4))
    plan = planner.best_path(objective, HERE[None], NONE, np.array([[0.3, -0.4], [0.1, -0.4]]))
    x, y = physical(PLANE, plan.states).T
    assert (y >= 0.5 + 0.1 * (x - 3) ** 2 - 1e-5).all()


def test_linear_dynamics_with_inertia() -> None:
    """Position and velocity: the velocity is pushed, the position follows."""
    dynamics = LinearDynamics([[1.0, 0.2], [0.0, 0.9]], [[0.0], [1.0]], BoxActions({"push": 0.2}))
    planner = oracle_on(PLANE, dynamics, START, 15, [EndAt({"x": 6.0})])
    objective, pair = pair_objective(np.random.default_rng(5))
    plan = planner.best_path(objective, HERE[None], np.zeros((0, 1)), pair)
    assert_allowed(planner, plan.states, plan.actions)


class Broken:
    """A solver that fails in a given way, some or all of the time."""

    def __init__(self, solver: Any, failure: str, share: float = 1.0) -> None:
        self.name, self._solver, self._failure, self._share = solver.name, solver, failure, share
        self._generator = np.random.default_rng(0)

    def solve(self, *arguments: Any) -> Any:
        solution = self._solver.solve(*arguments)
        if self._generator.random() >= self._share:
            return solution
        if self._failure == "exception":
            raise RuntimeError("segmentation fault")
        if self._failure == "hung":
            raise SolverFailed("solver timed out")
        values = solution.values.copy()
        if self._failure == "out of bounds":
            values[8] = 3.0
        elif self._failure == "not a number":
            values[8] = np.nan
        elif self._failure == "broken move":
            values[8:12] = 0.4
        elif self._failure == "wrong status":
            return replace(solution, values=arguments[1], objective=0.0, status="locally infeasible")
        return replace(solution, values=values, objective=-1e9, status="optimal", feasible=True)


FAILURES = ["exception", "hung", "out of bounds", "not a number", "broken move", "wrong status"]


@pytest.mark.parametrize("failure", FAILURES)
def test_when_the_solver_fails_the_warm_start_is_used_and_the_record_says_so(failure: str) -> None:
    planner = oracle(REGIONS["circle"])
    planner.solver = Broken(planner.solver, failure)
    objective, pair = pair_objective(np.random.default_rng(6))
    plan = planner.best_path(objective, HERE[None], NONE, pair)
    assert_allowed(planner, plan.states, plan.actions)
    assert plan.record.used == "warm start" or failure == "wrong status"
    assert plan.value == plan.record.warm_start_value
    if failure != "wrong status":
        assert "no solve gave a feasible path" in plan.record.reason


@pytest.mark.parametrize("failure", FAILURES)
def test_an_episode_survives_random_failures(failure: str) -> None:
    planner = oracle(REGIONS["box"])
    planner.solver = Broken(planner.solver, failure, share=0.5)
    generator = np.random.default_rng(8)
    path, actions, plan = HERE[None], NONE, None
    for step in range(12):
        objective, pair = pair_objective(generator)
        plan = planner.best_path(objective, path, actions, pair, plan)
        path, actions = plan.states[: step + 2], plan.actions[: step + 1]
    assert_allowed(planner, path, actions)


def test_the_record_is_plain_data() -> None:
    import json

    objective, pair = pair_objective(np.random.default_rng(9))
    plan: TrajectoryPlan = oracle().best_path(objective, HERE[None], NONE, pair)
    record = asdict(plan.record)
    assert json.loads(json.dumps(record)) == json.loads(json.dumps(record))
    assert record["solver"] == "ipopt (casadi)" and record["used"] == "solver"
    assert all(solve["seconds"] >= 0 and solve["status"] == "optimal" for solve in record["solves"])


def test_an_end_out_of_reach_is_proven_and_named() -> None:
    objective, pair = pair_objective(np.random.default_rng(0))
    planner = oracle([EndAt({"x": 9.0})], steps=5)
    with pytest.raises(InfeasiblePlan, match=r"end_at: x=9.0 cannot be reached from x=1, y=1 in the 5 moves left.* x=6"):
        planner.best_path(objective, HERE[None], NONE, pair)


def test_a_start_in_a_forbidden_region_is_named() -> None:
    objective, pair = pair_objective(np.random.default_rng(0))
    planner = oracle([ForbiddenRegion(Circle({"x": 1, "y": 1}, 0.5))])
    with pytest.raises(InfeasiblePlan, match=r"start x=1, y=1: ForbiddenRegion: .* enters Circle"):
        planner.best_path(objective, HERE[None], NONE, pair)


def test_limits_in_conflict_are_named() -> None:
    """Both coordinates must grow, and yet x must end where it started."""

    def grow(model: pyo.ConcreteModel) -> None:
        model.grow = pyo.Constraint(model.STEPS, rule=lambda m, h: m.state[h + 1, "x"] - m.state[h, "x"] >= 0.2)

    objective, pair = pair_objective(np.random.default_rng(0))
    with pytest.raises(InfeasiblePlan, match="no path from x=1, y=1 meets the limits"):
        oracle([FromFunction(grow)]).best_path(objective, HERE[None], NONE, pair)


def test_what_is_not_proven_is_not_called_infeasible() -> None:
    """A closed ring of walls: no path out, but no convex proof of it."""

    def ring(model: pyo.ConcreteModel) -> None:
        model.ring = pyo.Constraint(expr=model.state[4, "x"] ** 2 + model.state[4, "y"] ** 2 >= 3.0)

    objective, pair = pair_objective(np.random.default_rng(0))
    with pytest.raises(SolverFailed, match=r"no feasible path from x=1, y=1 was found.*not proven"):
        oracle([FromFunction(ring)], steps=4).best_path(objective, HERE[None], NONE, pair)


def test_bad_input() -> None:
    objective, pair = pair_objective(np.random.default_rng(0))
    planner = oracle(steps=3)
    with pytest.raises(BadInput, match="there must be one state more than actions"):
        planner.best_path(objective, HERE[None], np.zeros((1, 2)), pair)
    with pytest.raises(BadInput, match="fewer than 3 moves made"):
        planner.best_path(objective, np.tile(HERE, (4, 1)), np.zeros((3, 2)), pair)
    with pytest.raises(BadInput, match="path_so_far must be rows of 2 finite"):
        planner.best_path(objective, np.array([[np.nan, 0.0]]), NONE, pair)
    with pytest.raises(BadInput, match="targets must be rows of 2 finite"):
        planner.best_path(objective, HERE[None], NONE, np.zeros(3))
    assert planner.best_path(objective, HERE[None], NONE, np.zeros((0, 2))).record.used == "solver"
    with pytest.raises(BadInput, match="solves"):
        settings_from({"planner": {"nonlinear": {"solves": 0}}})
    with pytest.raises(BadInput, match="unknown 'casadii'"):
        oracle(interface="casadii")
