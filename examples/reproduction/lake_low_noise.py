"""Lake Ypacarai with immediate feedback and a noise variance of 0.001, as a problem file of one's own."""

from __future__ import annotations

from dataclasses import replace

from tcbo_pyomo import Problem, load_problem


def build(feedback: str | None = None, seed: int = 0) -> Problem:
    """The shipped lake as it is with episodic feedback, but told every result at once."""
    lake = load_problem("lake_ypacarai", "episodic", seed)
    return replace(lake, name="lake_low_noise", settings={"feedback": {"kind": feedback or "immediate"}})
