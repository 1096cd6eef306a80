"""The lake with a fuel budget: enough for one of its two peaks and the way home, not for both in one episode.

Places, moves, walls, port, contamination and belief are those of `lake_ypacarai`. A move uses fuel in proportion to its
length, staying uses none:

    sum_h |x_{h+1} - x_h| <= FUEL   over each episode, with x_H the port again.

By the shortest ways round the walls, in widths of the map, the higher peak and back are 0.94, the other and back 1.17, and
both in one trip 1.98. The two differ by less than one per cent: which one to look at is to be decided in the port. 13 of the
100 places are too far for the way back: no candidate is sought there. The budget couples all moves of an episode, so plans are
linear programmes (HiGHS), or with `dynamic_programming` backward induction at the price of the fuel. Fuel, horizon and episodes
are ours to define.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcbo_pyomo.library import lake_ypacarai
from tcbo_pyomo.models.constraints.resource_budget import ResourceBudget
from tcbo_pyomo.problem.finite import Problem

DESCRIPTION = "The lake with fuel for one of its two peaks and the way back to the port, not for both (our own)"

FUEL = 1.5
"""How far an episode may travel, in widths of the map."""
HORIZON, EPISODES = 30, 5
"""Moves enough for every place and back, and for both peaks: it is the fuel that forbids them."""


def build(feedback: str | None = None, seed: int = 0) -> Problem:
    """The problem; `feedback` is the preferred kind (episodic when not given), `seed` is not needed here."""
    lake = lake_ypacarai.build(feedback, seed)
    return lake.changed(
        name="fuel_lake",
        horizon=HORIZON,
        episodes=EPISODES,
        constraints=(*lake.constraints, ResourceBudget("fuel", travelled, FUEL)),
        description=DESCRIPTION,
    )


def travelled(left: Mapping[str, Any], right: Mapping[str, Any]) -> Any:
    """Straight distance of a move, in widths of the map."""
    return ((right["x0"] - left["x0"]) ** 2 + (right["x1"] - left["x1"]) ** 2) ** 0.5
