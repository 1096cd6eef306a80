"""The compiled re-plan against HiGHS's own run() on the same matrix, and against plain Pyomo rebuilt for each plan."""

from __future__ import annotations

import time

import highspy
import numpy as np
import pyomo.environ as pyo
from timing import Comparison, compare

from tcbo_pyomo.models.frank_wolfe_subproblem import as_frank_wolfe_subproblem, read_visitation, set_gradient
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.state_action_polytope import build_state_action_polytope
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.solvers.linear.highs import Highs
from tcbo_pyomo.solvers.linear.highs_options import DEFAULTS, set_highs_options

SIZES = {
    "Knorr size": (lambda: grid_process({"x": range(11), "y": range(11)}, {"x": [0, 1], "y": [-1, 0, 1]}, 1.0), 10),
    "lake size": (lambda: grid_process({"x": range(10), "y": range(10)}, {"x": [-1, 0, 1], "y": [-1, 0, 1]}, 1.0), 50),
}


def gradients(process: Process, count: int) -> list[np.ndarray]:
    """Gradients as a campaign meets them: minus the squared covariance with two candidates."""
    rng = np.random.default_rng(0)
    points = process.scaled_states
    found = []
    for _ in range(count):
        first, second = points[rng.choice(len(points), 2, replace=False)]
        covariance = np.exp(-((points - first) ** 2).sum(1) / 0.08) - np.exp(-((points - second) ** 2).sum(1) / 0.08)
        found.append(-(process.information_rate @ covariance**2))
    return found


def comparisons(repeats: int, quick: bool = False) -> list[Comparison]:
    """All rows of this file; only the first size of those against plain Pyomo when it must be quick."""
    rows = []
    for label, (build, horizon) in SIZES.items():
        process = build()
        costs = gradients(process, repeats + 1)
        start, generator = Situation((0,)), np.random.default_rng(0)
        oracle = LinearProgramming(EpisodeSets(process, (), horizon), ())

        def replan(number: int, costs=costs, oracle=oracle, start=start, generator=generator) -> None:
            oracle.extreme_point(costs[number], start, generator)

        def bare_run(number: int, costs=costs, oracle=oracle, start=start) -> float:
            polytope, solver = oracle.compiled(start)
            assert isinstance(solver, Highs)
            highs = highspy.Highs()
            set_highs_options(highs, DEFAULTS)
            lp = highspy.HighsLp()
            programme = polytope.programme
            lp.num_row_, lp.num_col_ = programme.matrix.shape
            lp.col_cost_ = costs[number][polytope.move_pair] / np.abs(costs[number]).max()
            lp.col_lower_, lp.col_upper_ = programme.column_lower, programme.column_upper
            lp.row_lower_, lp.row_upper_ = programme.row_lower, programme.row_upper
            lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
            lp.a_matrix_.start_, lp.a_matrix_.index_ = programme.matrix.indptr, programme.matrix.indices
            lp.a_matrix_.value_ = programme.matrix.data
            highs.passModel(lp)
            began = time.perf_counter()
            highs.run()
            return time.perf_counter() - began

        def plain_pyomo(number: int, costs=costs, process=process, horizon=horizon) -> None:
            model = as_frank_wolfe_subproblem(build_state_action_polytope(process, 0, horizon))
            set_gradient(model, costs[number])
            pyo.SolverFactory("highs").solve(model)
            read_visitation(model)

        rows.append(
            compare(
                f"LP re-plan, {label}",
                replan,
                "bare HiGHS run(), same matrix, same options",
                bare_run,
                repeats,
                "at most 1.3",
            )
        )
        if quick and rows[1:]:
            break
        few = max(3, repeats // 4)
        rows.append(
            compare(
                f"LP re-plan, {label}", replan, "plain Pyomo: rebuild, SolverFactory", plain_pyomo, few, "at most 0.1"
            )
        )
    return rows
