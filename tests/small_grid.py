"""A grid of 20 states with a rule and a known truth, and the settings that plan on it fastest."""

import numpy as np

from tcbo_pyomo.models.constraints import NonDecreasing
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.settings import settings_from
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

DP = {"planner": {"linear": {"solver": "dynamic_programming"}}}


def small_problem(**changes):
    process = grid_process(
        {"time": [0, 1, 2, 3, 4], "ratio": [0, 1, 2, 3]}, {"time": [0, 1], "ratio": [-1, 0, 1]}, 0.01
    )
    x, y = process.scaled_states.T
    fields = dict(
        name="small",
        process=process,
        start={"time": 0, "ratio": 0},
        horizon=4,
        episodes=3,
        kernel=SquaredExponential(1.0, 0.3),
        constraints=(NonDecreasing("time"),),
        truth=np.sin(3 * x) + np.cos(2 * y),
    )
    return Problem(**{**fields, **changes})


def all_settings(**more):
    return settings_from(DP, more)
