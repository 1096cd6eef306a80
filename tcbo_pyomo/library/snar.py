"""SnAr (section 5.4): nucleophilic aromatic substitution in a plug-flow reactor, four inputs, asynchronous results.

The kinetics and the two objectives (space-time yield, E-factor) are those of the Summit benchmark, joined to one
value as in the authors' experiments:

    f = (max(STY / 1e4 - E / 10, -5) + 3) / 2
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.library._synthetic import synthetic_problem
from tcbo_pyomo.problem.continuous import ContinuousProblem

DESCRIPTION = "SnAr reaction in a plug-flow reactor, four inputs, results 25 steps late (section 5.4)"

COORDINATES = (
    Coordinate("temperature", 40.0, 120.0, "degC"),
    Coordinate("concentration", 0.1, 0.5, "mol/L"),
    Coordinate("residence_time", 0.5, 2.0, "min"),
    Coordinate("equivalents", 1.0, 5.0),
)
# Rate constants at 90 degrees C, L/(mol min), and activation energies, kJ/mol, of the four steps: Felton et al. 2021
# (Summit, MIT), with its correction of 2022.
RATES = np.array([57.9, 2.70, 0.865, 1.63])
ENERGIES = np.array([33.3, 35.3, 38.9, 44.8])
SPEED = 0.6
GAS_CONSTANT = 8.314e-3
KELVIN, REFERENCE = 273.71, 363.71
MOLAR_MASSES = np.array([159.09, 71.12, 210.21, 210.21, 261.33])  # g/mol
SOLVENT = 0.789
PRODUCT = 2
MAXIMUM = 1.6374
# Box, variance and lengthscale: the paper's benchmark table.
BOX, VARIANCE, LENGTHSCALE, NOISE = 0.1, 0.8, 0.2, 0.001


def rates_of_change(_time: float, c: Array, k: Array) -> Array:
    """dC/dt of reagent, amine, product, isomer and double adduct."""
    first, isomer = k[0] * c[0] * c[1], k[1] * c[0] * c[1]
    product_on, isomer_on = k[2] * c[1] * c[2], k[3] * c[1] * c[3]
    return np.array(
        [
            -first - isomer,
            -first - isomer - product_on - isomer_on,
            first - product_on,
            isomer - isomer_on,
            product_on + isomer_on,
        ]
    )


def outlet(temperature: float, concentration: float, residence_time: float, equivalents: float) -> Array:
    """The five concentrations at the outlet, mol/L."""
    kelvin = temperature + KELVIN
    k = SPEED * RATES * np.exp(-ENERGIES / GAS_CONSTANT * (1.0 / kelvin - 1.0 / REFERENCE))
    feed = np.array([concentration, equivalents * concentration, 0.0, 0.0, 0.0])
    solution = solve_ivp(
        rates_of_change, (0.0, residence_time), feed, method="LSODA", args=(k,), rtol=1e-10, atol=1e-13
    )
    if not solution.success:
        raise SolverFailed(f"snar: the kinetics at {temperature:g} C failed: {solution.message}")
    return solution.y[:, -1]


def objective(points: Array) -> Array:
    """The black box at n x 4 points in engineering units."""
    return np.array([_objective(*point) for point in np.atleast_2d(points)])


def _objective(temperature: float, concentration: float, residence_time: float, equivalents: float) -> float:
    c = outlet(temperature, concentration, residence_time, equivalents)
    product = max(float(c[PRODUCT]), 1e-12)
    space_time_yield = max(60.0 * MOLAR_MASSES[PRODUCT] * product / residence_time, 1e-6)
    waste = float(MOLAR_MASSES @ c - MOLAR_MASSES[PRODUCT] * c[PRODUCT])
    e_factor = min((SOLVENT + 1e-3 * waste) / (1e-3 * MOLAR_MASSES[PRODUCT] * product), 1000.0)
    return (max(space_time_yield / 1e4 - e_factor / 10.0, -5.0) + 3.0) / 2.0


def build(feedback: str | None = None, seed: int = 0) -> ContinuousProblem:
    """The problem; results are 25 steps late unless another feedback is asked for. `seed` is not needed here."""
    numbers = (len(COORDINATES), MAXIMUM, BOX, VARIANCE, LENGTHSCALE)
    problem = synthetic_problem("snar", DESCRIPTION, objective, *numbers, feedback or "delayed", COORDINATES)
    return problem.changed(noise=NOISE, output_title="objective")
