"""A drone over a landfill whose battery lasts to one of two methane leaks and back to its base, not to both in one flight.

The continuous counterpart of `fuel_lake`: each flight starts and ends at the base, a move is at most 0.1 (widths of the map)
along each axis, and the battery allows a length of BATTERY per flight,

    sum_h |x_{h+1} - x_h| <= BATTERY.

There and back are 1.57 to the stronger leak and 1.50 to the other, both in one flight 2.27. The gas on the way to either
is a weaker cloud. Measurements are read out after each flight:

    f(x) = sum_i h_i exp(-|x - c_i|^2 / (2 w_i^2)).

All constants are ours to define.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.library._bumps import sum_of_bumps
from tcbo_pyomo.models.constraints.end_at import EndAt
from tcbo_pyomo.models.constraints.resource_budget import ResourceBudget
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

DESCRIPTION = (
    "A drone over a landfill whose battery lasts to one of two leaks and back to its base, not to both (our own)"
)

COORDINATES = (Coordinate("east", 0.0, 1.0), Coordinate("north", 0.0, 1.0))
BASE = {"east": 0.5, "north": 0.05}
LEAKS = (((0.50, 0.40), 0.12, 0.55), ((0.12, 0.70), 0.13, 0.90), ((0.85, 0.75), 0.13, 1.00))
"""Place, width and strength: the cloud on the way, then the two leaks."""
LONGEST_MOVE = 0.1
BATTERY = 1.9
HORIZON, EPISODES = 25, 4
MAXIMUM = 1.000111376
"""Largest true value; the tests find it again by an optimisation of their own."""


def build(feedback: str | None = None, seed: int = 0) -> ContinuousProblem:
    """The problem; `feedback` is the preferred kind (episodic when not given), `seed` is not needed here."""
    kind = feedback or "episodic"
    return ContinuousProblem(
        name="drone",
        coordinates=COORDINATES,
        dynamics=LinearDynamics.free_moves(2, BoxActions(LONGEST_MOVE)),
        start=BASE,
        horizon=HORIZON,
        episodes=EPISODES,
        kernel=SquaredExponential(variance=0.1, lengthscale=0.2),
        noise=1e-3,
        constraints=(ResourceBudget("battery", flown, BATTERY), EndAt(BASE)),
        truth=partial(sum_of_bumps, bumps=LEAKS),
        maximum=MAXIMUM,
        settings={"feedback": {"kind": kind, "delay": 5} if kind == "delayed" else {"kind": kind}},
        output_title="methane",
        description=DESCRIPTION,
    )


def flown(left: Mapping[str, Any], right: Mapping[str, Any]) -> Any:
    """Straight distance of a move, in widths of the map."""
    return ((right["east"] - left["east"]) ** 2 + (right["north"] - left["north"]) ** 2) ** 0.5
