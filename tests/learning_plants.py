"""A small grid and a box with one hill, declared by plain answers, for campaigns that learn."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo import ContinuousProblem, PlainPrior, Problem, grid_process
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics

FAST = {"planner": {"linear": {"solver": "dynamic_programming"}}}
GRID = {"x": [float(i) for i in range(8)], "y": [0.0, 1.0, 2.0, 3.0]}


def hill(points):
    return 20.0 + 60.0 * np.exp(-(((points[:, 0] - 5.0) / 1.5) ** 2) - ((points[:, 1] - 2.0) / 3.0) ** 2)


def finite(**fields):
    process = grid_process(GRID, {"x": [-1, 0, 1], "y": [-1, 0, 1]}, 1.0, units={"x": "min"})
    given = {"prior": PlainPrior((0.0, 100.0), 1.0), "truth": hill(process.states), **fields}
    return Problem("grid", process, {"x": 0.0, "y": 0.0}, 6, 4, settings=FAST, output="rate", **given)


def box(**fields):
    coordinates = (Coordinate("x", 0.0, 7.0, "min"), Coordinate("y", 0.0, 3.0))
    given = {"prior": PlainPrior((0.0, 100.0), 1.0), "truth": hill, "maximum": 80.0, **fields}
    dynamics = LinearDynamics.free_moves(2, BoxActions(0.2))
    return ContinuousProblem("box", coordinates, dynamics, {"x": 0.0, "y": 0.0}, 11, 1, output="rate", **given)


def told(campaign, plant, number):
    for _ in range(number):
        move = campaign.ask()
        campaign.arrive(move.number, plant.make(move))
        campaign.tell(move.number, plant.measure(campaign.history.move(move.number)))
