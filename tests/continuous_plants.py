"""Small continuous plants that several tests share."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.planning.continuous.information_objective import InformationObjective
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import NonlinearDynamics
from tcbo_pyomo.surrogate.kernels.constant import Constant
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves
from tcbo_pyomo.surrogate.kernels.matern_three_halves import MaternThreeHalves
from tcbo_pyomo.surrogate.kernels.reaction_kinetics import ReactionKinetics
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.sum import Sum

PLANE = (Coordinate("x", 0.0, 10.0), Coordinate("y", 0.0, 5.0))
REACTOR = (Coordinate("temperature", 20.0, 120.0), Coordinate("residence", 1.0, 10.0))

KERNELS: dict[str, Kernel] = {
    "squared_exponential": SquaredExponential(1.3, 0.2),
    "squared_exponential per dimension": SquaredExponential(0.7, (0.15, 0.4)),
    "matern_three_halves": MaternThreeHalves(0.9, (0.3, 0.2)),
    "matern_five_halves": MaternFiveHalves(1.1, 0.25),
    "reaction_kinetics": ReactionKinetics(reactants=(0.1, 0.2), water=(0.0, 3.0), k3=900.0),
    "reaction_kinetics, equal eigenvalues": ReactionKinetics(k1=4.0, k2=1.0, k3=0.4, residence_time_upper=10.0),
    "sum": Sum((ReactionKinetics(), SquaredExponential(0.001, 0.1))),
    "unknown level": Sum((SquaredExponential(0.7, (0.15, 0.4)), Constant(1.5, 0.3))),
    "scaled": Scaled(2.5, Sum((ReactionKinetics(), Scaled(0.5, MaternFiveHalves(0.3, 0.3))))),
}


def pair_objective(
    generator: np.random.Generator, lengthscale: float = 0.3, measured: int = 4
) -> tuple[InformationObjective, Array]:
    """The linearised utility of a random pair after random measurements in the plane, and the pair."""
    kernel, noise = SquaredExponential(1.0, lengthscale), 0.01
    points = generator.uniform(-0.5, 0.5, (measured, 2))
    pair = generator.uniform(-0.45, 0.45, (2, 2))
    difference = kernel(points, pair) @ np.array([1.0, -1.0])
    weights = -np.linalg.solve(kernel(points, points) + noise * np.eye(measured), difference)
    objective = InformationObjective(kernel, np.vstack([pair, points]), np.r_[1.0, -1.0, weights], noise)
    return objective, pair


def lagging_reactor(model: pyo.ConcreteModel, step: int) -> dict[str, object]:
    """The true temperature follows its set-point, the slower the longer the residence time."""
    temperature, residence = model.physical[step, "temperature"], model.physical[step, "residence"]
    share = 1.0 - pyo.exp(-2.0 / residence)
    return {
        "temperature": temperature + share * (model.action[step, "set_point"] - temperature),
        "residence": residence + model.action[step, "change"],
    }


def reactor_dynamics() -> NonlinearDynamics:
    return NonlinearDynamics(REACTOR, lagging_reactor, BoxActions({"set_point": (20, 120), "change": 0.5}))
