"""The nonlinear solvers behind one face: the same optimum, and failures that stay failures."""

from __future__ import annotations

import importlib.util
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from continuous_plants import PLANE, pair_objective

from tcbo_pyomo.errors import BadInput, SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import scaled
from tcbo_pyomo.models.constraints import Box, Circle, ForbiddenRegion, TransitionConstraint
from tcbo_pyomo.planning.continuous.compiled_trajectory import CompiledTrajectory
from tcbo_pyomo.planning.continuous.shortest_path import straight_path
from tcbo_pyomo.plant.actions import NormActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.solvers.nonlinear import any_pyomo_solver as pyomo_nonlinear
from tcbo_pyomo.solvers.nonlinear.ipopt_options import DEFAULTS
from tcbo_pyomo.solvers.nonlinear.solver import NonlinearSolution, NonlinearSolver
from tcbo_pyomo.solvers.nonlinear.solver_by_name import nonlinear_solver

START = {"x": 1.0, "y": 1.0}
OBSTACLES = [
    ForbiddenRegion(Circle({"x": 4, "y": 3.8}, 0.8)),
    ForbiddenRegion(Box({"x": (3, 4.5), "y": (0, 0.8)})),
]
needs_pounce = pytest.mark.skipif(
    importlib.util.find_spec("pyomo_pounce") is None,
    reason="pounce is not installed: pip install pyomo-pounce",
)
needs_cyipopt = pytest.mark.skipif(
    importlib.util.find_spec("cyipopt") is None, reason="cyipopt is not installed: pip install cyipopt"
)
SAME = {name: DEFAULTS[name] for name in ("tol", "mu_init", "bound_push", "bound_frac")}


class Plant:
    """A compiled trajectory in the plane, and a straight path in it."""

    def __init__(self, constraints: list[TransitionConstraint], steps: int = 10) -> None:
        self.dynamics = LinearDynamics.free_moves(2, NormActions(0.1))
        self.compiled = CompiledTrajectory(PLANE, self.dynamics, START, steps, constraints)
        self.start, self.steps = scaled(PLANE, [1.0, 1.0]), steps
        self.bounds = self.compiled.bounds(self.start[None], np.zeros((0, 2)))

    def solver(self, interface: str, solver: str = "ipopt", **settings: Any) -> NonlinearSolver:
        return nonlinear_solver(interface, solver, self.compiled.programme, self.compiled.terms, **settings)

    def straight(self, target: Array) -> Array:
        return self.compiled.vector(*straight_path(self.dynamics, self.start, target, self.steps))


@pytest.fixture(scope="module")
def plain() -> Plant:
    return Plant([])


@pytest.fixture(scope="module")
def obstacles() -> Plant:
    return Plant(OBSTACLES)


@pytest.mark.parametrize("which", ["plain", "obstacles"])
@pytest.mark.parametrize(
    ("interface", "solver"),
    [
        pytest.param("cyipopt", "ipopt", marks=needs_cyipopt),
        pytest.param("pyomo", "pounce", marks=needs_pounce),
    ],
)
def test_every_interface_reaches_the_optimum_of_the_compiled_route(
    which: str, interface: str, solver: str, request: pytest.FixtureRequest
) -> None:
    plant: Plant = request.getfixturevalue(which)
    compiled = plant.solver("casadi")
    other = plant.solver(interface, solver, options=SAME if interface == "pyomo" else None)
    for seed in range(10):
        objective, pair = pair_objective(np.random.default_rng(seed))
        x0 = plant.straight(pair[0])
        ours, theirs = (s.solve(objective, x0, plant.bounds) for s in (compiled, other))
        assert ours.status == theirs.status == "optimal", seed
        assert ours.feasible and theirs.feasible
        assert theirs.objective == pytest.approx(ours.objective, rel=1e-6), seed
        assert ours.solver == "ipopt (casadi)" and theirs.solver == f"{solver} ({interface})"


@needs_pounce
def test_the_pyomo_route_leaves_the_model_as_it_was(plain: Plant) -> None:
    before = set(plain.compiled.model.component_map())
    objective, pair = pair_objective(np.random.default_rng(0))
    path = np.tile(plain.start, (4, 1))
    bounds = plain.compiled.bounds(path, np.zeros((3, 2)))
    solution = plain.solver("pyomo", "pounce").solve(objective, plain.straight(pair[0]), bounds)
    assert solution.feasible
    assert set(plain.compiled.model.component_map()) == before
    assert plain.compiled.model.state[1, "x"].bounds == (-0.5, 0.5)
    assert plain.compiled.model.dynamics[0, "x"].active


def test_a_small_objective_is_scaled(plain: Plant) -> None:
    """At 1e-12 an unscaled IPOPT would call any point optimal."""
    objective, pair = pair_objective(np.random.default_rng(1))
    solver = plain.solver("casadi")
    best = solver.solve(objective, plain.straight(pair[0]), plain.bounds).objective
    objective.noise_variance *= 1e14
    small = solver.solve(objective, plain.straight(pair[0]), plain.bounds).objective
    assert small * 1e14 == pytest.approx(best, rel=1e-6)


def test_limits_are_kept_and_named(plain: Plant) -> None:
    objective, pair = pair_objective(np.random.default_rng(2))
    few = plain.solver("casadi", max_iterations=2).solve(objective, plain.straight(pair[0]), plain.bounds)
    assert (few.status, few.iterations) == ("iteration limit", 2)
    slow = Interfering(objective, lambda: time.sleep(0.05))
    late = plain.solver("casadi", time_limit=0.2).solve(slow, plain.straight(pair[0]), plain.bounds)
    # Four of the slow ones fill the time, and an iteration that has begun has a few more.
    assert late.status == "time limit" and slow.interferences < 12


class Interfering:
    """An objective that does something else at each evaluation after the first few."""

    def __init__(self, objective: Any, action: Callable[[], Any]) -> None:
        self._objective, self._action, self._calls, self.interferences = objective, action, 0, 0

    def value(self, points: Array) -> float:
        self._calls += 1
        if self._calls > 3:
            self.interferences += 1
            self._action()
        return self._objective.value(points)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objective, name)


INTERFACES = ["casadi", pytest.param("cyipopt", marks=needs_cyipopt)]


@pytest.mark.parametrize("interface", INTERFACES)
def test_an_exception_in_the_objective_is_raised_as_itself(plain: Plant, interface: str) -> None:
    def fail() -> None:
        raise LookupError("no such centre")

    objective, pair = pair_objective(np.random.default_rng(3))
    solver = plain.solver(interface)
    with pytest.raises(LookupError, match="no such centre"):
        solver.solve(Interfering(objective, fail), plain.straight(pair[0]), plain.bounds)
    assert solver.solve(objective, plain.straight(pair[0]), plain.bounds).status == "optimal"


@pytest.mark.parametrize("interface", INTERFACES)
def test_ctrl_c_stops_a_solve_within_a_few_evaluations(plain: Plant, interface: str) -> None:
    objective, pair = pair_objective(np.random.default_rng(4))
    solver = plain.solver(interface)
    third = 3

    def press() -> None:
        if slow.interferences == third:
            thread = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT))
            thread.start()
            thread.join(60)

    slow = Interfering(objective, press)
    with pytest.raises(KeyboardInterrupt):
        for _ in range(100):
            solver.solve(slow, plain.straight(pair[0]), plain.bounds)
    assert third <= slow.interferences < third + 12
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_no_memory_growth_over_thousands_of_solves() -> None:
    plant = Plant([], steps=3)
    solver = plant.solver("casadi", max_iterations=3)
    objective, pair = pair_objective(np.random.default_rng(5))
    x0 = plant.straight(pair[0])
    most = []
    for _ in range(5):
        for _ in range(500):
            solver.solve(objective, x0, plant.bounds)
        most.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    # What leaks grows every time; an allocator asks for another large piece now and then.
    grown = int(np.diff(most).min())
    assert grown < 1024, f"{grown} kB"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"interface": "casdi"}, "unknown 'casdi'; did you mean 'casadi'"),
        ({"interface": "casadi", "solver": "knitro"}, "interface 'casadi' has ipopt only"),
        (
            {"interface": "casadi", "options": {"linear_solver": "ma97"}},
            "'linear_solver': unknown 'ma97'.*mumps, spral",
        ),
        ({"interface": "casadi", "options": {"linear_solver": "mups"}}, "did you mean 'mumps'"),
        ({"interface": "casadi", "options": {"tolerance": 1e-8}}, "IPOPT refuses one of tolerance=1e-08"),
        ({"interface": "casadi", "options": {"tol": [1]}}, "'tol': .* must be a number or a text"),
        ({"interface": "casadi", "options": {"max_iter": 3}}, "use the setting max_iterations"),
        ({"interface": "casadi", "time_limit": -1.0}, "time_limit -1.0 must be a positive"),
        ({"interface": "casadi", "max_iterations": 0}, "max_iterations 0 must be"),
        ({"interface": "pyomo", "solver": "no_such_solver"}, "'no_such_solver' is not installed"),
    ],
)
def test_bad_settings(plain: Plant, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        plain.solver(**arguments)


def test_missing_packages_say_what_to_install(plain: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cyipopt", None)
    with pytest.raises(BadInput, match=r"pip install 'tcbo_pyomo\[cyipopt\]'"):
        plain.solver("cyipopt")
    monkeypatch.setattr(pyomo_nonlinear.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BadInput, match=r"pip install 'tcbo_pyomo\[pounce\]'"):
        plain.solver("pyomo", "pounce")


class LyingSolver:
    """A Pyomo solver that answers a probe, and then whatever it is told to."""

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self._answer, self._probed = answer, False

    def solve(self, model: Any, **arguments: Any) -> Any:
        from pyomo.opt import SolverResults, SolverStatus, TerminationCondition

        results = SolverResults()
        results.solver.status = SolverStatus.ok
        results.solver.termination_condition = TerminationCondition.optimal
        if self._probed:
            self._answer(model)
        self._probed = True
        return results


def lied(plant: Plant, answer: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> NonlinearSolution:
    monkeypatch.setattr(pyomo_nonlinear.pyo, "SolverFactory", lambda name: LyingSolver(answer))
    monkeypatch.setattr(type(plant.compiled.model.solutions), "load_from", lambda *_, **__: None)
    objective, pair = pair_objective(np.random.default_rng(6))
    return plant.solver("pyomo", "liar").solve(objective, plant.straight(pair[0]), plant.bounds)


def test_values_called_optimal_are_checked(plain: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    def outside(model: Any) -> None:
        model.state[3, "x"].set_value(7.0, skip_validation=True)

    def broken_row(model: Any) -> None:
        model.state[3, "x"].set_value(0.2)

    def not_a_number(model: Any) -> None:
        model.state[3, "x"].set_value(float("nan"), skip_validation=True)

    for answer, worst in ((outside, "dynamics"), (broken_row, "dynamics"), (not_a_number, "state[3,x]")):
        with monkeypatch.context() as patch:
            solution = lied(plain, answer, patch)
        assert solution.status == "optimal" and not solution.feasible
        assert solution.worst.startswith(worst)


def test_a_failing_or_hung_solver_is_a_solver_failure(plain: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess

    def crash(model: Any) -> None:
        raise RuntimeError("segmentation fault")

    def hang(model: Any) -> None:
        raise subprocess.TimeoutExpired("ipopt", 60)

    for answer, message in ((crash, "segmentation fault"), (hang, "TimeoutExpired")):
        with monkeypatch.context() as patch, pytest.raises(SolverFailed, match=message):
            lied(plain, answer, patch)
