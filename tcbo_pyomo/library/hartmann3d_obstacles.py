"""Hartmann3D among three pillars, with results that come 25 moves late and an end where it started.

Function, moves (at most 0.1 per coordinate), kernel and noise are those of `hartmann3d`. Each pillar runs along one of the
axes: a disc over the other two coordinates that no point and no move of a path may enter.

    over (u1, u2):  between the start and the global maximum,
    over (u0, u2):  a beam across the way up, to be passed where u0 is larger than at either maximum,
    over (u0, u1):  between the global maximum and the second best.

So no straight way leads from the corner u = 0 to the global maximum (0.115, 0.556, 0.853), nor from there to the second best
(0.109, 0.861, 0.564). Both lie outside the pillars, more than 0.04 away from each, and to the maximum and back takes 26 of the
100 moves. The pillars are ours to define.
"""

from __future__ import annotations

from tcbo_pyomo.library import hartmann3d
from tcbo_pyomo.models.constraints.end_at import EndAt
from tcbo_pyomo.models.constraints.forbidden_region import ForbiddenRegion
from tcbo_pyomo.models.regions.regions import Circle
from tcbo_pyomo.problem.continuous import ContinuousProblem

DESCRIPTION = "Hartmann3D with delayed results among three pillars, back at its start after 100 moves (our own)"

PILLARS = (
    Circle({"u1": 0.30, "u2": 0.42}, 0.17),
    Circle({"u0": 0.08, "u2": 0.42}, 0.10),
    Circle({"u0": 0.11, "u1": 0.72}, 0.09),
)


def build(feedback: str | None = None, seed: int = 0) -> ContinuousProblem:
    """The problem; `feedback` is the preferred kind (delayed when not given), `seed` is not needed here."""
    free = hartmann3d.build(feedback or "delayed", seed)
    return free.changed(
        name="hartmann3d_obstacles",
        constraints=(*(ForbiddenRegion(pillar) for pillar in PILLARS), EndAt(free.start)),
        description=DESCRIPTION,
    )
