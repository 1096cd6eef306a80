"""Branin2D with one input more that changes nothing."""

from __future__ import annotations

from idle_axis import with_idle_axis

from tcbo_pyomo import ContinuousProblem


def build(feedback: str | None = None, seed: int = 0) -> ContinuousProblem:
    """The problem."""
    return with_idle_axis("branin2d", 0.05, feedback, seed)
