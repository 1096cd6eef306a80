"""A jacketed flow reactor with thermal inertia: the set-point is the action, the true temperature lags behind it.

The paper plans with linear dynamics and leaves general ones open. Here the state is what the reaction feels, residence time
and temperature; the actions are the set-point of the jacket and the change of residence time. Over one step of length dt the
energy balance of the reactor,

    dT/dt = (T_feed - T) / tau + U (T_jacket - T),

has the exact solution T_{h+1} = T_ss + (T_h - T_ss) exp(-(1/tau + U) dt) with T_ss = (T_feed / tau + U T_jacket) / (1/tau + U):
nonlinear in tau. The black box is the yield of B in A -> B -> C, less a price for reactor volume:

    y = k1 / (k2 - k1) (exp(-k1 tau) - exp(-k2 tau)) - PRICE tau,    k_i = k_i(80 C) exp(-E_i/R (1/T - 1/353.15 K)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import NonlinearDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

DESCRIPTION = "Jacketed flow reactor with thermal inertia: set-point in, true temperature lags behind (our own)"

# Ours to define, of the size usual for organic reactions in the liquid phase (activation energies of 50 to 100 kJ/mol).
COORDINATES = (Coordinate("residence_time", 2.0, 20.0, "min"), Coordinate("temperature", 40.0, 120.0, "degC"))
STEP = 2.0  # minutes between two measurements
FEED_TEMPERATURE = 25.0  # degrees C
HEAT_TRANSFER = 0.3  # 1/min, heat transfer of the jacket over heat capacity of the reactor
RATE_1, RATE_2 = 0.15, 0.03  # 1/min at 80 degrees C
ENERGY_1, ENERGY_2 = 60.0, 85.0  # kJ/mol
GAS_CONSTANT = 8.314e-3  # kJ/(mol K)
PRICE = 0.012  # of reactor volume, per minute of residence time
MAXIMUM = 0.550547177
"""Largest true value; the tests find it again by an optimisation of their own."""


def jacketed_reactor(model: ConcreteModel, step: int) -> dict[str, Any]:
    """The next state in engineering units, as Pyomo expressions of this one and the actions."""
    import pyomo.environ as pyo

    time, temperature = model.physical[step, "residence_time"], model.physical[step, "temperature"]
    jacket, change = model.action[step, "jacket_set_point"], model.action[step, "residence_time_change"]
    rate = 1.0 / time + HEAT_TRANSFER
    steady = (FEED_TEMPERATURE / time + HEAT_TRANSFER * jacket) / rate
    return {
        "residence_time": time + change,
        "temperature": steady + (temperature - steady) * pyo.exp(-rate * STEP),
    }


def profit(points: Array) -> Array:
    """The black box at n x 2 points (minutes, degrees C)."""
    time, kelvin = points[:, 0], points[:, 1] + 273.15
    warmer = 1.0 / kelvin - 1.0 / 353.15
    first, second = (k * np.exp(-e / GAS_CONSTANT * warmer) for k, e in ((RATE_1, ENERGY_1), (RATE_2, ENERGY_2)))
    gap = (second - first) * time
    # (exp(-k1 tau) - exp(-k2 tau)) / (k2 - k1), smooth where the two rates are equal.
    share = np.where(np.abs(gap) < 1e-8, 1.0, -np.expm1(-gap) / np.where(np.abs(gap) < 1e-8, 1.0, gap))
    return first * time * np.exp(-first * time) * share - PRICE * time


def build(feedback: str | None = None, seed: int = 0) -> ContinuousProblem:
    """The problem; `seed` is not needed here."""
    kind = feedback or "immediate"
    actions = BoxActions({"jacket_set_point": (20.0, 160.0), "residence_time_change": (-1.5, 1.5)})
    return ContinuousProblem(
        name="thermal_reactor",
        coordinates=COORDINATES,
        dynamics=NonlinearDynamics(COORDINATES, jacketed_reactor, actions),
        start={"residence_time": 4.0, "temperature": 40.0},
        horizon=30,
        episodes=1,
        kernel=SquaredExponential(variance=0.05, lengthscale=0.25),
        noise=1e-4,
        truth=profit,
        maximum=MAXIMUM,
        settings={"feedback": {"kind": kind, "delay": 5} if kind == "delayed" else {"kind": kind}},
        output_title="profit",
        description=DESCRIPTION,
    )
