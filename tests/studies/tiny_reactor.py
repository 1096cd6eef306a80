"""A reactor of 16 states and 2 x 3 moves, as a problem file of the user's: a study of it takes no time.

Environment variables make it misbehave, so that studies can be tested: TINY_FAILS and TINY_KILLS name a seed whose run
raises or whose process dies, TINY_SECONDS makes every run take longer.
"""

from __future__ import annotations

import os
import signal
import time

import numpy as np

from tcbo_pyomo import Problem, grid_process
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def build(feedback: str | None = None, seed: int = 0) -> Problem:
    """The problem; its truth is a ridge."""
    time.sleep(float(os.environ.get("TINY_SECONDS", "0")))
    if str(seed) == os.environ.get("TINY_FAILS"):
        raise ValueError("the pump of seed 3 is broken")
    if str(seed) == os.environ.get("TINY_KILLS"):
        os.kill(os.getpid(), signal.SIGKILL)
    axes = {"time": [0.0, 1.0, 2.0, 3.0], "ratio": [0.0, 1.0, 2.0, 3.0]}
    process = grid_process(axes, {"time": [0, 1], "ratio": [-1, 0, 1]}, 1e-3, {"time": "min"})
    states = process.states
    truth = np.sin(states[:, 0]) + 0.3 * states[:, 1] * (3.0 - states[:, 1])
    return Problem(
        name="tiny_reactor",
        process=process,
        start={"time": 0.0, "ratio": 0.0},
        horizon=3,
        episodes=2,
        kernel=SquaredExponential(1.0, 0.4),
        truth=truth,
        settings={
            "feedback": {"kind": feedback or "immediate"},
            "planner": {"linear": {"solver": "dynamic_programming"}},
        },
    )
