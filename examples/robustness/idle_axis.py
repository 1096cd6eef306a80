"""A benchmark with one input more, which changes nothing; the three `*_idle_axis.py` files build it for their systems."""

from __future__ import annotations

from dataclasses import replace

from tcbo_pyomo import BoxActions, ContinuousProblem, Coordinate, LinearDynamics, SquaredExponential, load_problem

IDLE = Coordinate("idle", 0.0, 1.0)
LONG = 10.0
"""Lengthscale of the idle axis, for those who know that it is idle."""


def with_idle_axis(name: str, box: float, feedback: str | None, seed: int) -> ContinuousProblem:
    """A synthetic benchmark whose moves are at most `box` per coordinate, with an idle coordinate; its kernel knows that."""
    problem = load_problem(name, feedback, seed)
    dimension, kernel = len(problem.coordinates), problem.kernel
    return replace(
        problem,
        name=f"{name}_idle_axis",
        coordinates=(*problem.coordinates, IDLE),
        dynamics=LinearDynamics.free_moves(dimension + 1, BoxActions(box)),
        start={**problem.start, IDLE.name: IDLE.lower},
        kernel=SquaredExponential(kernel.variance, (*(kernel.lengthscale,) * dimension, LONG)),
        truth=lambda points: problem.truth(points[:, :-1]),
    )
