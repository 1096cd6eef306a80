"""A tank that is dosed and heated, as a user of 0.1.0 wrote it; its name, rules and numbers stay as they are."""

import numpy as np

from tcbo_pyomo import Problem, grid_process
from tcbo_pyomo.models.constraints import EndAt, MaximumStep, NonDecreasing, ResourceBudget
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

DESCRIPTION = "A tank that is dosed and heated"


def build(feedback=None, seed=0):
    """The problem."""
    axes = {"dose": [0.0, 1.0, 2.0, 3.0], "temperature": [20.0, 30.0, 40.0, 50.0]}
    moves = {"dose": [0, 1], "temperature": [-2, -1, 0, 1, 2]}
    process = grid_process(axes, moves, 1e-3, {"dose": "g", "temperature": "degC"})
    heat = ResourceBudget(
        "heat", cost=lambda left, right: abs(right["temperature"] - left["temperature"]), limit=60.0
    )
    return Problem(
        name="dosed_tank",
        process=process,
        start={"dose": 0.0, "temperature": 20.0},
        horizon=4,
        episodes=3,
        kernel=SquaredExponential(1.0, 0.4),
        constraints=[NonDecreasing("dose"), MaximumStep({"temperature": 10.0}), EndAt({"temperature": 20.0}), heat],
        truth=np.sin(process.states[:, 0]) + 0.02 * process.states[:, 1],
        settings={"feedback": {"kind": feedback or "immediate"}},
        output="yield_",
        output_unit="g/l",
    )
