"""Two stirred tanks in series of which only the first is heated: the best pair of temperatures can be passed, not held.

The first tank is heated or cooled and the second follows it. With u = 0 both come to rest at 60 C, and in the scaled
temperatures x = (T - 60 C) / 80 C

    dx_1/dt = (AUTHORITY u / 2 - x_1) / TIME_1,   dx_2/dt = (x_1 - x_2) / TIME_2,   -1 <= u <= 1, constant over each step,

which has the exact solution x_{h+1} = A x_h + B u_h (matrix exponential). One action moves two temperatures: every steady
state has them equal. A -> B -> C runs in both tanks, the product B is wanted and falls out where the second is too cold,

    y = k_1 t_1 / (1 + k_1 t_1)  /  (1 + k_2(T_1) t_1)  /  (1 + k_2(T_2) t_2)  /  (1 + exp(-(T_2 - COLD) / SPREAD)),
    k_1 = k_1(T_1),   t_i = TIME_i,   k_i(T) = k_i(60 C) exp(-E_i/R (1/T - 1/333.15 K)),

so the first tank should be hot and the second just warm enough: a state that the plant is in only while it heats up. The
paper plans with linear dynamics of this kind (section 4.2). All constants are ours to define.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

DESCRIPTION = "Two tanks in series, the first heated: the best temperatures can be passed, not held (our own)"

COORDINATES = (Coordinate("first_tank", 20.0, 100.0, "degC"), Coordinate("second_tank", 20.0, 100.0, "degC"))
TIME_1, TIME_2 = 3.0, 6.0
"""Residence times of the tanks, minutes."""
STEP = 1.5
"""Minutes between two measurements."""
AUTHORITY = 1.6
"""Steady temperatures under full heating and cooling, in half widths of the coordinates: more than the limits allow."""
RATE_1, RATE_2 = 0.4, 0.008  # 1/min at 60 degrees C
ENERGY_1, ENERGY_2 = 55.0, 95.0  # kJ/mol
GAS_CONSTANT = 8.314e-3  # kJ/(mol K)
COLD, SPREAD = 45.0, 4.0
"""Temperature below which the product falls out, and over how many degrees."""
MAXIMUM = 0.629380508
"""Largest true value; the tests find it again by an optimisation of their own."""


def build(feedback: str | None = None, seed: int = 0) -> ContinuousProblem:
    """The problem; `seed` is not needed here."""
    kind = feedback or "immediate"
    state_matrix, input_matrix = step_matrices()
    return ContinuousProblem(
        name="tank_cascade",
        coordinates=COORDINATES,
        dynamics=LinearDynamics(state_matrix, input_matrix, BoxActions({"heating": 1.0})),
        start={"first_tank": 30.0, "second_tank": 30.0},
        horizon=40,
        episodes=1,
        kernel=SquaredExponential(variance=0.05, lengthscale=0.25),
        noise=1e-4,
        truth=product,
        maximum=MAXIMUM,
        settings={"feedback": {"kind": kind, "delay": 5} if kind == "delayed" else {"kind": kind}},
        output_title="yield",
        description=DESCRIPTION,
    )


def step_matrices() -> tuple[Array, Array]:
    """A and B of one step, from the exponential of the system with its input."""
    rates = np.array([[-1.0 / TIME_1, 0.0, 0.5 * AUTHORITY / TIME_1], [1.0 / TIME_2, -1.0 / TIME_2, 0.0], [0.0] * 3])
    step = expm(rates * STEP)
    return step[:2, :2], step[:2, 2:]


def product(points: Array) -> Array:
    """The black box at n x 2 points (degrees C)."""
    first, second = points.T
    made = _rate(RATE_1, ENERGY_1, first) * TIME_1
    kept = 1.0 / ((1.0 + _rate(RATE_2, ENERGY_2, first) * TIME_1) * (1.0 + _rate(RATE_2, ENERGY_2, second) * TIME_2))
    return made / (1.0 + made) * kept / (1.0 + np.exp(-(second - COLD) / SPREAD))


def _rate(at_60: float, energy: float, celsius: Array) -> Array:
    return at_60 * np.exp(-energy / GAS_CONSTANT * (1.0 / (celsius + 273.15) - 1.0 / 333.15))
