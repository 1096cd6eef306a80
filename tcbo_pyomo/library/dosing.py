"""Two reagents dosed in portions: what has been added cannot be taken out again, so an overshoot lasts until the next batch.

In each move of a batch one portion of base, of coupling agent, of both or of neither is added, and the yield is measured;
both amounts (equivalents) may only grow. Three ways of working give yield,

    y(a, b) = sum_i h_i exp(-((a - a_i) / s_i)^2 / 2 - ((b - b_i) / t_i)^2 / 2),

one soon after the start, which is the lure, and two far along one axis each: a batch that has gone to one of these has passed
what the other needs. From the lure both are still open. All constants are ours to define.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.constraints.non_decreasing import NonDecreasing
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

DESCRIPTION = (
    "Two reagents dosed in portions that cannot be taken out again: three ways of working, one per batch (our own)"
)

PORTIONS = 16
BASE_PORTION, AGENT_PORTION = 0.1, 0.2
"""Equivalents."""
WAYS = ((0.40, 0.90, 0.45, 0.18, 0.40), (0.35, 2.40, 0.75, 0.20, 0.45), (1.23, 0.75, 0.90, 0.20, 0.35))
"""Base and agent (equivalents), largest yield, and widths along both, of each way of working."""
# Five moves more than the far end of an axis takes.
HORIZON, EPISODES = 20, 6
KERNEL_VARIANCE, KERNEL_LENGTHSCALE = 0.1, 0.2
NOISE_VARIANCE = 2e-4


def build(feedback: str | None = None, seed: int = 0) -> Problem:
    """The problem; `feedback` is the preferred kind (episodic when not given), `seed` is not needed here."""
    process = grid_process(
        axes={
            "base": [round(BASE_PORTION * i, 1) for i in range(PORTIONS)],
            "agent": [round(AGENT_PORTION * i, 1) for i in range(PORTIONS)],
        },
        moves={"base": (0, 1), "agent": (0, 1)},
        noise_variance=NOISE_VARIANCE,
        units={"base": "equiv", "agent": "equiv"},
    )
    return Problem(
        name="dosing",
        process=process,
        start={"base": 0.0, "agent": 0.0},
        horizon=HORIZON,
        episodes=EPISODES,
        kernel=SquaredExponential(KERNEL_VARIANCE, KERNEL_LENGTHSCALE),
        constraints=(NonDecreasing("base"), NonDecreasing("agent")),
        truth=batch_yield(process.states),
        settings={"feedback": {"kind": feedback or "episodic"}},
        output_title="yield",
        description=DESCRIPTION,
    )


def batch_yield(points: Array) -> Array:
    """The black box at n x 2 points (equivalents of base, of agent)."""
    base, agent = points.T
    return np.sum(
        [height * np.exp(-0.5 * (((base - a) / s) ** 2 + ((agent - b) / t) ** 2)) for a, b, height, s, t in WAYS],
        axis=0,
    )
