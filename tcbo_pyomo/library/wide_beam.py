"""A beamline larger than the laser: 20 x 20 settings, and measurements that are the noisier the further it moves.

Two magnets are set on a fine grid; every setting can be reached from every other. After a move a measurement has the
standard deviation of `free_electron_laser`,

    sd(x, x') = 0.01 (1 + 20 |x - x'|),   |x - x'| in cells of the laser's grid (a ninth of the range),

so one of the smaller cells of this grid, a nineteenth, costs less than half as much. The black box of a run is three fixed
peaks plus a smooth random field that depends on the seed, a sum of random waves (Rahimi and Recht 2007) with the
covariance FIELD_SD^2 exp(-|x - x'|^2 / (2 FIELD_LENGTHSCALE^2)):

    f(x) = sum_i h_i exp(-|x - c_i|^2 / (2 w_i^2)) + FIELD_SD sqrt(2 / WAVES) sum_m cos(v_m . x + p_m),
    v_m normal with standard deviation 1 / FIELD_LENGTHSCALE,   p_m uniform in [0, 2 pi].

Which peak is the highest, and where its top lies, differs from seed to seed; the largest value is unique. All constants but
those of the noise are ours to define.
"""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.library._bumps import sum_of_bumps
from tcbo_pyomo.library.free_electron_laser import every_move
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

DESCRIPTION = "A beamline of 400 settings whose measurements are noisier after longer moves (our own)"

SETTINGS = 20
COORDINATES = (Coordinate("magnet_1", -0.5, 0.5), Coordinate("magnet_2", -0.5, 0.5))
PEAKS = (((-0.25, 0.30), 0.15, 0.80), ((0.05, -0.15), 0.18, 0.85), ((0.35, 0.25), 0.15, 0.90))
"""Centre, width and height of each: before the random field is added, the one farthest from the start is the highest."""
FIELD_SD, FIELD_LENGTHSCALE, WAVES = 0.08, 0.2, 200
# A stream of its own, as the laser's: with the bare seed the field would repeat the random numbers of the campaign.
FIELD_STREAM = 4
HORIZON, EPISODES = 60, 1
# The spread of the truth, and the width of its peaks.
KERNEL_VARIANCE, KERNEL_LENGTHSCALE = 0.15, 0.2


def build(feedback: str | None = None, seed: int = 0) -> Problem:
    """The problem; `feedback` is the preferred kind (immediate when not given), `seed` draws the random field."""
    process = _process()
    return Problem(
        name="wide_beam",
        process=process,
        start={"magnet_1": -0.5, "magnet_2": -0.5},
        horizon=HORIZON,
        episodes=EPISODES,
        kernel=SquaredExponential(KERNEL_VARIANCE, KERNEL_LENGTHSCALE),
        truth=sum_of_bumps(process.states, PEAKS) + random_field(process.states, seed),
        confidence_width=2.0,
        # As linear programmes the plans would have ten million variables.
        settings={
            "feedback": {"kind": feedback or "immediate"},
            "planner": {"linear": {"solver": "dynamic_programming"}},
        },
        output_title="intensity",
        description=DESCRIPTION,
    )


def random_field(points: Array, seed: int) -> Array:
    """One smooth random function at n x 2 settings: a sum of random waves."""
    generator = np.random.default_rng(np.random.SeedSequence([seed, FIELD_STREAM]))
    waves = generator.normal(0.0, 1.0 / FIELD_LENGTHSCALE, (points.shape[1], WAVES))
    phases = generator.uniform(0.0, 2.0 * np.pi, WAVES)
    return FIELD_SD * (2.0 / WAVES) ** 0.5 * np.cos(points @ waves + phases).sum(axis=1)


@cache
def _process() -> Process:
    """All moves between all settings, built once: a process is frozen and may be shared."""
    axis = np.linspace(-0.5, 0.5, SETTINGS)
    return every_move(COORDINATES, np.array(list(itertools.product(axis, axis))))
