"""Monitoring Lake Ypacarai: a boat among walls that must be back at the port (section 5.2, appendix "Ypacarai Lake").

The boat looks for the strongest contamination among 100 places of the lake. In one move it goes to a place nearby, or
stays; it may not cross two walls (islands, protected areas), and each episode starts and ends at the port. With
u = 10 (x + 0.5) the contamination is that of Folch et al. (2022),

    f(x) = 10 sum_i 1 / (|u - c_i|^2 + 10),   c_1 = (2, 6.7),   c_2 = (9, 2).

The two peaks differ by less than one per cent, so the rival has to be looked at, too.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import numpy as np
import scipy.sparse as sparse

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.constraints.end_at import EndAt
from tcbo_pyomo.models.constraints.forbidden_region import ForbiddenRegion
from tcbo_pyomo.models.regions.regions import Wall
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

DESCRIPTION = "Contamination of a lake, found by a boat among walls that must be back at the port (section 5.2)"

# The map is scaled to [-0.5, 0.5] along both axes: outline and sources as in github.com/cog-imperial/SnAKe (BSD-3).
COORDINATES = (Coordinate("x0", -0.5, 0.5), Coordinate("x1", -0.5, 0.5))
SOURCES = ((2.0, 6.7), (9.0, 2.0))
# The 100 places are k-means centres of that outline, the walls are ours: the authors' own are not published.
PLACES = "ypacarai_states.csv"
WALLS = (((-0.16, 0.02), (0.10, 0.16)), ((0.18, -0.30), (0.32, -0.20)))
LONGEST_MOVE = 0.1
PORT = 78
# Horizon, episodes, noise and kernel: the paper's benchmark table; noise by the kind of feedback.
HORIZON, EPISODES = 50, 5
NOISE_VARIANCE = {"episodic": 0.001, "immediate": 0.01, "delayed": 0.001}
KERNEL_VARIANCE, KERNEL_LENGTHSCALE = 1.0, 0.2


def build(feedback: str | None = None, seed: int = 0) -> Problem:
    """The problem; `feedback` is the preferred kind (episodic when not given), `seed` is not needed here."""
    kind = feedback or "episodic"
    places = _places()
    port = {c.name: float(v) for c, v in zip(COORDINATES, places[PORT], strict=True)}
    return Problem(
        name="lake_ypacarai",
        process=lake_process(places, NOISE_VARIANCE[kind]),
        start=port,
        horizon=HORIZON,
        episodes=EPISODES,
        kernel=SquaredExponential(KERNEL_VARIANCE, KERNEL_LENGTHSCALE),
        constraints=(*(ForbiddenRegion(Wall(("x0", "x1"), *ends)) for ends in WALLS), EndAt(port)),
        truth=contamination(places),
        confidence_width=2.0**0.5,
        settings={"feedback": {"kind": kind}},
        output_title="contamination",
        description=DESCRIPTION,
    )


def lake_process(places: Array, noise_variance: float) -> Process:
    """Moves between places (n x 2) closer than `LONGEST_MOVE`, staying included; the walls are not in it."""
    distance = np.linalg.norm(places[:, None, :] - places[None, :, :], axis=2)
    left, right = np.nonzero(distance < LONGEST_MOVE)
    number = len(left)
    moves = sparse.csr_matrix((np.ones(number), right, np.arange(number + 1)), shape=(number, len(places)))
    return Process.from_arrays(COORDINATES, places, left, right, moves, noise_variance)


def contamination(places: Array) -> Array:
    """The black box f at n x 2 places."""
    u = 10.0 * (places + 0.5)
    return 10.0 * sum(1.0 / (((u - np.array(source)) ** 2).sum(axis=1) + 10.0) for source in SOURCES)


@cache
def _places() -> Array:
    """The 100 places, in the order of their numbers; read once, then shared and read-only."""
    with resources.files("tcbo_pyomo.library.data").joinpath(PLACES).open(encoding="utf-8") as file:
        places = np.loadtxt(file, delimiter=",", skiprows=1, usecols=(1, 2))
    places.flags.writeable = False
    return places
