"""A transient flow reactor with two ridges, of which an episode can enter only one: it has to commit early.

As in a Knorr campaign the flow is slowed down step by step, so the residence time tau may only grow within an episode, and
the ratio r of the two feeds changes by one cell per move. Two reactions make the product, one where the first feed is
lean and one where it is rich. Between them, and from an early residence time on, a solid falls out and would clog the
reactor: a wedge of forbidden conditions that no move may touch. Behind its tip there is no way to the other side.

    y = lean(tau) bump(r - r_lean(tau)) + rich(tau) bump(r - r_rich(tau)) - PRICE tau,   bump(d) = exp(-d^2 / (2 WIDTH^2)),
    lean(tau) = YIELD (1 - exp(-K tau)),                     first order: at once, and soon at its end,
    rich(tau) = SEED / (SEED + (1 - SEED) exp(-RATE tau)),   autocatalytic: nothing for a while, then nearly everything,

and both ridges lead away from the middle, r_lean = 0.5 - start - DRIFT tau, r_rich = 0.5 + start + DRIFT tau. The price of
reactor volume gives both ridges a summit. At the fork the lean side is the better one, and it ends lower: the lure. All
constants are ours to define.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.constraints.forbidden_region import ForbiddenRegion
from tcbo_pyomo.models.constraints.maximum_step import MaximumStep
from tcbo_pyomo.models.constraints.non_decreasing import NonDecreasing
from tcbo_pyomo.models.regions.regions import Polygon
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

DESCRIPTION = "Flow reactor with two ridges of which an episode can enter only one; residence time only grows (our own)"

RESIDENCE_TIMES = tuple(float(minutes) for minutes in range(16))
RATIOS = tuple(round(0.15 + 0.05 * i, 2) for i in range(15))
CLOGGED = ((2.0, 0.5), (15.0, 0.42), (15.0, 0.58))
"""Corners (minutes, ratio) of the conditions at which the solid falls out: a wedge with its tip at the fork."""
YIELD, K = 0.6, 0.5
"""Of the first-order reaction: its largest yield, and its rate in 1/min."""
SEED, RATE = 0.01, 0.65
"""Of the autocatalytic reaction: the product there is at the start, and its rate in 1/min."""
START, DRIFT, WIDTH = 0.12, 0.01, 0.07
"""Distance of the ridges from the middle at the inlet, how fast they part (1/min), and their width."""
PRICE = 0.012
"""Of reactor volume, per minute of residence time."""
# As many moves as cells of residence time: the far end is reached by an episode that never waits.
HORIZON, EPISODES = 15, 6
# The mean square of the truth is 0.07; the maximum and its nearest rival differ by one and a half standard deviations of noise.
KERNEL_VARIANCE, KERNEL_LENGTHSCALE = 0.06, 0.2
NOISE_VARIANCE = 6e-5


def build(feedback: str | None = None, seed: int = 0) -> Problem:
    """The problem; `feedback` is the preferred kind (episodic when not given), `seed` is not needed here."""
    process = grid_process(
        axes={"residence_time": RESIDENCE_TIMES, "ratio": RATIOS},
        moves={"residence_time": (0, 1), "ratio": (-1, 0, 1)},
        noise_variance=NOISE_VARIANCE,
        units={"residence_time": "min"},
    )
    return Problem(
        name="two_ridge_reactor",
        process=process,
        start={"residence_time": 0.0, "ratio": 0.5},
        horizon=HORIZON,
        episodes=EPISODES,
        kernel=SquaredExponential(KERNEL_VARIANCE, KERNEL_LENGTHSCALE),
        constraints=(
            NonDecreasing("residence_time"),
            MaximumStep({"residence_time": 1.0, "ratio": 0.05}),
            ForbiddenRegion(Polygon(("residence_time", "ratio"), CLOGGED)),
        ),
        truth=profit(process.states),
        settings={"feedback": {"kind": feedback or "episodic"}},
        output_title="profit",
        description=DESCRIPTION,
    )


def profit(points: Array) -> Array:
    """The black box at n x 2 points (minutes, ratio)."""
    time, side = points[:, 0], points[:, 1] - 0.5
    away = START + DRIFT * time
    lean = YIELD * -np.expm1(-K * time) * _bump(side + away)
    rich = SEED / (SEED + (1.0 - SEED) * np.exp(-RATE * time)) * _bump(side - away)
    return lean + rich - PRICE * time


def _bump(distance: Array) -> Array:
    return np.exp(-0.5 * (distance / WIDTH) ** 2)
