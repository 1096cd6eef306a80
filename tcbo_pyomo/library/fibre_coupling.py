"""Coupling a laser into a fibre: a mirror on two stepper motors that rings after every move, the more the longer it was.

Tip and tilt are set on a grid of 15 x 15; in one move each motor makes at most two steps. A measurement after a move has the
standard deviation

    sd(x, x') = 0.02 (1 + 3 |x - x'|),   |x - x'| in steps,

so a still mirror measures four times better than one that has made a step. Unlike on the laser and the wide beam of
this package, most settings are many moves away: where to go has to be planned, and how fast. The intensity behind the
fibre is a main lobe and two side lobes, and on top of them the smooth random field of `wide_beam` that depends on the seed.
All constants are ours to define.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.library._bumps import sum_of_bumps
from tcbo_pyomo.library.wide_beam import random_field
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

DESCRIPTION = (
    "A mirror on stepper motors that measures worse the further it has just moved, two steps at most (our own)"
)

SETTINGS = 15
STEP = 1.0 / (SETTINGS - 1)
STILL_SD, RINGING = 0.02, 3.0
"""Standard deviation of a still mirror, and by how many of it one step adds."""
LOBES = (((-0.20, -0.25), 0.13, 0.60), ((0.30, -0.20), 0.13, 0.80), ((0.20, 0.30), 0.14, 0.90))
"""Centre, width and height of each: the further from the start, the higher."""
HORIZON, EPISODES = 80, 1
KERNEL_VARIANCE, KERNEL_LENGTHSCALE = 0.15, 0.2


def build(feedback: str | None = None, seed: int = 0) -> Problem:
    """The problem; `feedback` is the preferred kind (immediate when not given), `seed` draws the random field."""
    process = _process()
    return Problem(
        name="fibre_coupling",
        process=process,
        start={"tip": -0.5, "tilt": -0.5},
        horizon=HORIZON,
        episodes=EPISODES,
        kernel=SquaredExponential(KERNEL_VARIANCE, KERNEL_LENGTHSCALE),
        truth=sum_of_bumps(process.states, LOBES) + random_field(process.states, seed),
        settings={"feedback": {"kind": feedback or "immediate"}},
        output_title="intensity",
        description=DESCRIPTION,
    )


def noise_variance(left: Array, right: Array) -> Array:
    """Variance of the measurement after moves from `left` to `right` (n x 2)."""
    steps = np.linalg.norm(right - left, axis=1) / STEP
    return (STILL_SD * (1.0 + RINGING * steps)) ** 2


@cache
def _process() -> Process:
    """All moves on the grid, built once: a process is frozen and may be shared."""
    axis = np.linspace(-0.5, 0.5, SETTINGS).tolist()
    both = (-2, -1, 0, 1, 2)
    return grid_process({"tip": axis, "tilt": axis}, {"tip": both, "tilt": both}, noise_variance)
