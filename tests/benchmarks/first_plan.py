"""The first plan of a campaign: Pyomo build, compile and solve, against plain Pyomo's single build and solve."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
from linear_replan import SIZES, gradients
from timing import Comparison, compare

from tcbo_pyomo.models.frank_wolfe_subproblem import as_frank_wolfe_subproblem, read_visitation, set_gradient
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.state_action_polytope import build_state_action_polytope
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.plant.situation import Situation


def comparisons(repeats: int, quick: bool = False) -> list[Comparison]:
    """All rows of this file; only the first size when it must be quick."""
    rows = []
    few = max(3, repeats // 4)
    for label, (build, horizon) in list(SIZES.items())[: 1 if quick else None]:
        process = build()
        costs = gradients(process, few + 1)
        start, generator = Situation((0,)), np.random.default_rng(0)

        def ours(number: int, process=process, horizon=horizon, costs=costs, start=start, generator=generator) -> None:
            oracle = LinearProgramming(EpisodeSets(process, (), horizon), ())
            oracle.extreme_point(costs[number], start, generator)

        def plain_pyomo(number: int, process=process, horizon=horizon, costs=costs) -> None:
            model = as_frank_wolfe_subproblem(build_state_action_polytope(process, 0, horizon))
            set_gradient(model, costs[number])
            pyo.SolverFactory("highs").solve(model)
            read_visitation(model)

        rows.append(
            compare(f"first LP plan, {label}", ours, "plain Pyomo: build, SolverFactory", plain_pyomo, few, "at most 3")
        )
    return rows
