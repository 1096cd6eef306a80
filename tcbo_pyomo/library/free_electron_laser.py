"""Tuning a free-electron laser whose measurements are the noisier the further it moves (section 5.3).

Two quadrupole magnets are set on a 10 x 10 grid. Every setting can be reached from every other, but after a long move
the beam has not settled: a measurement after a move has the standard deviation

    sd(x, x') = 0.01 (1 + 20 |x - x'|),   |x - x'| in grid cells,

which enters the planner and the regression. The black box of a run is a fixed surface plus a smooth random field that
depends on the seed: independent normal values v on the grid, smoothed by Gaussian-process regression,

    field = K (K + 1e-6 I)^-1 v,   K_ij = exp(-|x_i - x_j|^2 / (2 0.3^2)).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources

import numpy as np
import scipy.sparse as sparse
from scipy import linalg

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

DESCRIPTION = "A free-electron laser whose measurements are noisier after longer moves (section 5.3)"

# Gaussian-process mean fitted to the two public quadrupole line scans of github.com/Mojusko/stpy, on the paper's grid.
SURFACE = "free_electron_laser_grid.csv"
CELLS = 9
COORDINATES = (Coordinate("quadrupole_1", -0.5, 0.5), Coordinate("quadrupole_2", -0.5, 0.5))
# Horizon, episodes and kernel: section 5.3 and appendix "Free-electron Laser".
HORIZON, EPISODES = 100, 1
KERNEL_VARIANCE, KERNEL_LENGTHSCALE = 1.0, 0.4
# The paper gives s = 0.01 and w = 20 with formulas that disagree; this project takes sd = s (1 + w distance in cells).
NOISE_SD, NOISE_GROWTH = 0.01, 20.0
# The random field of each run: as in the simulator of Mutny et al. (2020).
FIELD_SD, FIELD_LENGTHSCALE, FIELD_NOISE_VARIANCE = 0.066, 0.3, 1e-6
# A stream of its own: with the bare seed the field would repeat the random numbers of the campaign.
FIELD_STREAM = 3


def build(feedback: str | None = None, seed: int = 0) -> Problem:
    """The problem; `feedback` is the preferred kind (immediate when not given), `seed` draws the random field."""
    settings, surface = _surface()
    return Problem(
        name="free_electron_laser",
        process=_process(),
        start={"quadrupole_1": -0.5, "quadrupole_2": -0.5},
        horizon=HORIZON,
        episodes=EPISODES,
        kernel=SquaredExponential(KERNEL_VARIANCE, KERNEL_LENGTHSCALE),
        truth=surface + random_field(settings, seed),
        confidence_width=2.0,
        # The linear programme has a million variables: it works and takes seconds, backward induction milliseconds.
        settings={
            "feedback": {"kind": feedback or "immediate"},
            "planner": {"linear": {"solver": "dynamic_programming"}},
        },
        output_title="intensity",
        description=DESCRIPTION,
    )


def noise_variance(left: Array, right: Array) -> Array:
    """Variance of the measurement after each move, from n x 2 settings left and arrived at."""
    distance = CELLS * np.linalg.norm(right - left, axis=1)
    return (NOISE_SD * (1.0 + NOISE_GROWTH * distance)) ** 2


def random_field(points: Array, seed: int) -> Array:
    """One smooth random function at n x 2 points: normal values, smoothed by Gaussian-process regression."""
    values = np.random.default_rng(np.random.SeedSequence([seed, FIELD_STREAM])).normal(0.0, FIELD_SD, len(points))
    kernel = SquaredExponential(1.0, FIELD_LENGTHSCALE)(points, points)
    noisy = kernel + FIELD_NOISE_VARIANCE * np.eye(len(points))
    return kernel @ linalg.cho_solve(linalg.cho_factor(noisy, lower=True), values)


@cache
def _process() -> Process:
    """All moves between all settings, built once: a process is frozen and may be shared."""
    settings, _ = _surface()
    return every_move(COORDINATES, settings)


def every_move(coordinates: Sequence[Coordinate], settings: Array) -> Process:
    """The moves from each of n x 2 settings to each."""
    number = len(settings)
    left, right = np.divmod(np.arange(number**2), number)
    moves = sparse.csr_matrix((np.ones(number**2), right, np.arange(number**2 + 1)), shape=(number**2, number))
    labels = [", ".join(f"{value:.3g}" for value in setting) for setting in settings]
    return Process.from_arrays(coordinates, settings, left, right, moves, noise_variance, labels)


@cache
def _surface() -> tuple[Array, Array]:
    """The 100 settings of the grid (exact ninths, where the file has six digits) and the intensity at each."""
    with resources.files("tcbo_pyomo.library.data").joinpath(SURFACE).open(encoding="utf-8") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
    settings = np.rint((table[:, :2] + 0.5) * CELLS) / CELLS - 0.5
    settings.flags.writeable = table.flags.writeable = False
    return settings, table[:, 2]
