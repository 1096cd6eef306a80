"""The compiled trajectory re-plan against the explicit Pyomo objective, and candidates against re-plans."""

from __future__ import annotations

import time

import numpy as np
from timing import Comparison, compare

from tcbo_pyomo.candidates.thompson_sampling import ThompsonSampling
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.planning.continuous.compiled_trajectory import CompiledTrajectory
from tcbo_pyomo.planning.continuous.information_objective import InformationObjective
from tcbo_pyomo.planning.continuous.shortest_path import straight_path
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.solvers.nonlinear.solver_by_name import nonlinear_solver
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

SIZES = {
    "64 centres, d = 2, H = 50": (64, 2, 50, "at most 0.1"),
    "512 centres, d = 4, H = 100": (512, 4, 100, "at most 0.01"),
}


class Replan:
    """One trajectory problem with its compiled model, solved for a new objective in each round."""

    def __init__(self, centers: int, dimension: int, steps: int) -> None:
        self.rng = np.random.default_rng(0)
        self.kernel = SquaredExponential(1.0, 0.3)
        self.number, self.dimension, self.steps = centers, dimension, steps
        self.coordinates = tuple(Coordinate(f"x{i}", 0.0, 1.0) for i in range(dimension))
        self.dynamics = LinearDynamics.free_moves(dimension, BoxActions(2.0 / steps))
        self.start = np.full(dimension, -0.5)
        self.compiled = CompiledTrajectory(self.coordinates, self.dynamics, self.start, steps, ())
        self.solver = nonlinear_solver("casadi", "ipopt", self.compiled.programme, self.compiled.terms)

    def objective(self, number: int) -> tuple[InformationObjective, np.ndarray]:
        """The objective of a round and the target of its warm start."""
        rng = np.random.default_rng(number)
        centers = rng.random((self.number, self.dimension)) - 0.5
        weights = rng.normal(size=self.number) * 0.05
        weights[0] = 1.0
        return InformationObjective(self.kernel, centers, weights, 1e-3), centers[0]

    def compiled_route(self, number: int) -> None:
        """Re-solve on the compiled model."""
        self._solve(self.compiled, self.solver, number)

    def explicit_route(self, number: int) -> None:
        """Build the Pyomo model with the explicit objective and hand it to a SolverFactory solver."""
        compiled = CompiledTrajectory(self.coordinates, self.dynamics, self.start, self.steps, ())
        self._solve(compiled, nonlinear_solver("pyomo", "pounce", compiled.programme, compiled.terms), number)

    def _solve(self, compiled: CompiledTrajectory, solver, number: int) -> None:
        objective, target = self.objective(number)
        bounds = compiled.bounds(self.start[None, :], np.empty((0, self.dimension)))
        solver.solve(objective, compiled.vector(*straight_path(self.dynamics, self.start, target, self.steps)), bounds)


def comparisons(repeats: int, quick: bool = False) -> list[Comparison]:
    """All rows of this file; only the first size when it must be quick."""
    rows = []
    for label, (centers, dimension, steps, promise) in list(SIZES.items())[: 1 if quick else None]:
        replan = Replan(centers, dimension, steps)
        # The explicit route takes up to half a minute per plan.
        rounds = max(1, repeats // (5 if dimension == 2 else 20))
        rows.append(
            compare(
                f"NLP re-plan, {label}",
                replan.compiled_route,
                "explicit Pyomo objective, pounce",
                replan.explicit_route,
                rounds,
                promise,
            )
        )
    rows.append(_candidates_against_replans(repeats))
    return rows


def _candidates_against_replans(repeats: int) -> Comparison:
    """K = 100 Thompson maximisers in 4-D with 100 measurements, against ten compiled re-plans of 512 centres."""
    rng = np.random.default_rng(1)
    surrogate = ContinuousBelief(SquaredExponential(0.6, 0.2), 4)
    for point in rng.random((100, 4)) - 0.5:
        surrogate.observe(point, float(np.sin(5 * point).sum()), 1e-3)
    rule, replan = ThompsonSampling(100), Replan(512, 4, 100)

    def candidates(number: int) -> None:
        rule(surrogate, None, np.random.default_rng(number))

    def ten_replans(number: int) -> float:
        began = time.perf_counter()
        for extra in range(10):
            replan.compiled_route(10 * number + extra)
        return time.perf_counter() - began

    return compare(
        "100 Thompson candidates, 4-D",
        candidates,
        "ten compiled re-plans",
        ten_replans,
        max(2, repeats // 5),
        "at most 1",
    )
