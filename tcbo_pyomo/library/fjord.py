"""A fjord of three basins behind two headlands: a boat takes samples that a laboratory answers 15 moves later.

The boat starts in the port of the first basin and has to be back there after 60 moves of at most 0.08 (widths of the map).
The headlands are walls from one shore almost to the other; every way from basin to basin leads round their heads:

    first basin | second basin | third basin,   open at the top of the first wall and at the foot of the second.

Each basin has a spot of pollution, the further inland the stronger,

    f(x) = sum_i h_i exp(-|x - c_i|^2 / (2 w_i^2)).

There and back to the strongest takes about two thirds of the moves. All constants are ours to define.
"""

from __future__ import annotations

from functools import partial

from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.library._bumps import sum_of_bumps
from tcbo_pyomo.models.constraints.end_at import EndAt
from tcbo_pyomo.models.constraints.forbidden_region import ForbiddenRegion
from tcbo_pyomo.models.regions.regions import Wall
from tcbo_pyomo.plant.actions import NormActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

DESCRIPTION = "Samples from a fjord of three basins, answered 15 moves later; back in port after 60 moves (our own)"

COORDINATES = (Coordinate("inland", 0.0, 1.0), Coordinate("along", 0.0, 1.0))
HEADLANDS = (((0.35, 0.0), (0.35, 0.6)), ((0.68, 0.45), (0.68, 1.0)))
PORT = {"inland": 0.1, "along": 0.1}
SPOTS = (((0.14, 0.75), 0.13, 0.60), ((0.52, 0.20), 0.12, 0.80), ((0.86, 0.72), 0.13, 1.00))
"""Place, width and strength of each."""
LONGEST_MOVE = 0.08
HORIZON, DELAY = 60, 15
MAXIMUM = 1.000001336
"""Largest true value; the tests find it again by an optimisation of their own."""


def build(feedback: str | None = None, seed: int = 0) -> ContinuousProblem:
    """The problem; `feedback` is the preferred kind (delayed when not given), `seed` is not needed here."""
    kind = feedback or "delayed"
    return ContinuousProblem(
        name="fjord",
        coordinates=COORDINATES,
        dynamics=LinearDynamics.free_moves(2, NormActions(LONGEST_MOVE)),
        start=PORT,
        horizon=HORIZON,
        episodes=1,
        kernel=SquaredExponential(variance=0.1, lengthscale=0.2),
        noise=1e-3,
        constraints=(*(ForbiddenRegion(Wall(("inland", "along"), *ends)) for ends in HEADLANDS), EndAt(PORT)),
        truth=partial(sum_of_bumps, bumps=SPOTS),
        maximum=MAXIMUM,
        settings={"feedback": {"kind": kind, "delay": DELAY} if kind == "delayed" else {"kind": kind}},
        output_title="pollution",
        description=DESCRIPTION,
    )
