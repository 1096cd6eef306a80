"""What the synthetic continuous benchmarks share (section 5.4): box moves, 100 steps from the corner, the start measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

HORIZON = 100
DELAY = 25
NOISE = {"immediate": 0.001, "delayed": 0.0001}
"""Noise variance, synchronous and asynchronous (appendix, "Benchmark Details")."""


def synthetic_problem(
    name: str,
    description: str,
    function: Callable[[Array], Array],
    dimension: int,
    maximum: float,
    box: float,
    variance: float,
    lengthscale: float,
    feedback: str | None,
    coordinates: Sequence[Coordinate] = (),
) -> ContinuousProblem:
    """A benchmark function of n x d points, moved in with scaled steps of at most `box`.

    Its coordinates are u0, u1, ... in the unit cube where none are given.
    """
    kind = feedback or "immediate"
    space = tuple(coordinates) or tuple(Coordinate(f"u{i}", 0.0, 1.0) for i in range(dimension))
    delayed = kind == "delayed"
    settings = {"feedback": {"kind": kind, "delay": DELAY} if delayed else {"kind": kind}}
    return ContinuousProblem(
        name=name,
        coordinates=space,
        dynamics=LinearDynamics.free_moves(dimension, BoxActions(box)),
        start={coordinate.name: coordinate.lower for coordinate in space},
        horizon=HORIZON,
        episodes=1,
        kernel=SquaredExponential(variance, lengthscale),
        noise=NOISE["delayed" if delayed else "immediate"],
        truth=function,
        maximum=maximum,
        measure_start=True,
        settings=settings,
        description=description,
    )
