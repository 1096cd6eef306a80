"""Knorr pyrazole synthesis in a transient flow reactor (section 5.1 and appendix "Benchmark Details").

A diketone and a hydrazine react to a pyrazole. The engineer slows the flow down step by step, so the
residence time may only grow within an episode, and changes the ratio of the two feeds a little at a time. The
black box is the product concentration y1(tau) of the seven-species kinetics of Schrecker et al. (2023),

    R1 = k1f y2 y3 - k1r y4 y7,   R2 = k2f y4 - k2r y5,   R3 = k3f y4 y2 - k3r y6 y7,
    R4 = k4 y5 y3,  R5 = k5 y5,  R6 = k6 y5 y1,  R7 = k7 y6 y3,  R8 = k8 y6,  R9 = k9 y6 y1,

y1 product, y2 diketone, y3 hydrazine, y4 to y6 intermediates, y7 water, y(0) = (0, 1 - B, B, 0, 0, 0, 0). The
hydrazine units y1 + y3 + y4 + y5 + y6 and the water balance y7 - 2 y1 - y4 - y5 - 2 y6 are conserved;
diketone units are not, because in the equations of the authors' experiments R7 gives none back.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.constraints.maximum_step import MaximumStep
from tcbo_pyomo.models.constraints.non_decreasing import NonDecreasing
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.surrogate.kernels.reaction_kinetics import ReactionKinetics
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.sum import Sum

DESCRIPTION = "Knorr pyrazole synthesis in a flow reactor whose residence time may only grow (section 5.1)"

# Rate constants (concentrations relative to the total feed, times in minutes): Schrecker et al. 2023, in the
# version of the authors' experiments (github.com/Mojusko/experiment-design-mdp, MIT).
K1F, K1R = 2.23589, 0.0
K2F, K2R = 1753.989, 0.25614
K3F, K3R = 13760.73, 0.0
K4, K5, K6 = 0.63061, 0.0, 0.0399
K7, K8, K9 = 11.87965, 0.0, 3.69715

# Grid, moves, budget, noise: the paper's benchmark tables; 11 x 11 points as in the authors' experiments.
RESIDENCE_TIMES = tuple(4.0 * i for i in range(11))
RATIOS = tuple(i / 10 for i in range(11))
HORIZON, EPISODES = 10, 10
NOISE_VARIANCE = 1e-4
RBF_VARIANCE, RBF_LENGTHSCALE = 0.001, 0.1


def build(feedback: str | None = None, seed: int = 0) -> Problem:
    """The problem; `feedback` is the preferred kind (episodic when not given), `seed` is not needed here."""
    process = grid_process(
        axes={"residence_time": RESIDENCE_TIMES, "ratio": RATIOS},
        moves={"residence_time": (0, 1), "ratio": (-1, 0, 1)},
        noise_variance=NOISE_VARIANCE,
        units={"residence_time": "min"},
    )
    return Problem(
        name="knorr_pyrazole",
        process=process,
        start={"residence_time": 0.0, "ratio": 0.0},
        horizon=HORIZON,
        episodes=EPISODES,
        kernel=Sum((ReactionKinetics(), SquaredExponential(RBF_VARIANCE, RBF_LENGTHSCALE))),
        constraints=(NonDecreasing("residence_time"), MaximumStep({"residence_time": 4.0, "ratio": 0.1})),
        truth=_truth(),
        confidence_width=2.0**0.5,
        settings={"feedback": {"kind": feedback or "episodic"}},
        output_title="product",
        description=DESCRIPTION,
    )


@cache
def _truth() -> Array:
    """The product of every state, in the order of the states; integrated once, then shared and read-only."""
    table = np.column_stack([product(RESIDENCE_TIMES, ratio) for ratio in RATIOS])
    table.flags.writeable = False
    return table.ravel()


def product(residence_times: ArrayLike, ratio: float) -> Array:
    """Product concentration y1 at increasing residence times (minutes) for one ratio B of the feeds."""
    return concentrations(residence_times, ratio)[:, 0]


def concentrations(residence_times: ArrayLike, ratio: float) -> Array:
    """Seven concentrations, one row per residence time (increasing, minutes), by one stiff integration."""
    times = np.asarray(residence_times, dtype=float)
    start = np.array([0.0, 1.0 - ratio, ratio, 0.0, 0.0, 0.0, 0.0])
    solution = solve_ivp(rates_of_change, (0.0, times[-1]), start, method="LSODA", t_eval=times, rtol=1e-11, atol=1e-14)
    if not solution.success:
        raise SolverFailed(f"knorr_pyrazole: the kinetics at ratio {ratio:g} failed: {solution.message}")
    return solution.y.T


def rates_of_change(_time: float, y: Array) -> Array:
    """dy/dt of the seven concentrations."""
    y1, y2, y3, y4, y5, y6, y7 = y.tolist()  # Plain numbers: the same arithmetic, several times as fast.
    r1 = K1F * y2 * y3 - K1R * y4 * y7
    r2 = K2F * y4 - K2R * y5
    r3 = K3F * y4 * y2 - K3R * y6 * y7
    r4, r5, r6 = K4 * y5 * y3, K5 * y5, K6 * y5 * y1
    r7, r8, r9 = K7 * y6 * y3, K8 * y6, K9 * y6 * y1
    return np.array(
        [
            r4 + r5 + r6 + r7 + r8 + r9,
            -r1 - r3 + 2.0 * r8 + r9,
            -r1,
            r1 - r2 - r3,
            r2 - r4 - r5 - r6,
            r3 - r7 - r8 - r9,
            r1 + r3 + r4 + r5 + r6,
        ]
    )
