"""River pollution: a boat that the current may carry further than it was steered (the task of the paper's Figure 1).

This is the shipped example of a truly random transition operator: most pairs (x, a) have two successors. A boat looks
for the strongest pollution in a river of 15 x 5 cells. In each move the helmsman holds the position, drifts one cell
downstream, or crosses one cell to the left or right; on top of that the current carries the boat one more cell
downstream with a probability p that is known and grows from the banks to midstream:

    P(x + steered + downstream | x, a) = p(across),   P(x + steered | x, a) = 1 - p(across).

There is no way back upstream. A boom above the weir stops every boat in the last row of cells, where it is lifted out:
each episode has to end there, whatever the current does. What a move teaches is the expectation over where the boat may
end up, and a plan is a policy: it says what to do wherever the current has carried the boat.

All constants are ours; the paper shows the task in a figure only.
"""

from __future__ import annotations

import itertools

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.constraints.end_at import EndAt
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

DESCRIPTION = "Pollution of a river, found by a boat that a known random current carries downstream (Figure 1)"

DOWNSTREAM = tuple(50.0 * i for i in range(15))
ACROSS = tuple(10.0 * i for i in range(5))
COORDINATES = (Coordinate("downstream", 0.0, 700.0, "m"), Coordinate("across", 0.0, 40.0, "m"))
STEERING = {"hold": (0, 0), "drift": (1, 0), "cross left": (0, 1), "cross right": (0, -1)}
"""Cells downstream and across; the left bank is the one on the left when looking downstream."""
CARRIED = (0.2, 0.4, 0.6, 0.4, 0.2)
"""Probability that the current carries the boat one more cell, by the cell across the river."""
OUTFALLS = ((250.0, 40.0, 0.9), (500.0, 10.0, 1.0))
"""Places (m downstream, m across) and strengths (mg/L) of the polluted spots: the weaker one is met first."""
SPREAD = (100.0, 12.0)
"""Length scales of a spot along and across the river, in m."""
HORIZON, EPISODES = 20, 6
NOISE_VARIANCE = 0.04
KERNEL_VARIANCE = 0.25
"""A prior standard deviation of 0.5 mg/L: half a spot."""
COMPONENTS = 3
"""Visitations that a plan mixes: more than one, so that the policy itself is random as well."""


def build(feedback: str | None = None, seed: int = 0) -> Problem:
    """The problem; `feedback` is the preferred kind (immediate when not given), `seed` is not needed here."""
    process = river_process()
    widths = (coordinate.width for coordinate in COORDINATES)
    return Problem(
        name="river",
        process=process,
        start={"downstream": 0.0, "across": 20.0},
        horizon=HORIZON,
        episodes=EPISODES,
        kernel=SquaredExponential(KERNEL_VARIANCE, tuple(s / w for s, w in zip(SPREAD, widths, strict=True))),
        constraints=(EndAt({"downstream": DOWNSTREAM[-1]}),),
        truth=pollution(process.states),
        settings={"feedback": {"kind": feedback or "immediate"}, "planner": {"components": COMPONENTS}},
        output_title="pollution",
        output_unit="mg/L",
        description=DESCRIPTION,
    )


def river_process() -> Process:
    """States by cell, four ways to steer, and the current as the transition probabilities."""
    cells = list(itertools.product(range(len(DOWNSTREAM)), range(len(ACROSS))))
    probabilities: dict[tuple[str, str], dict[str, float]] = {}
    for (row, column), (action, (ahead, aside)) in itertools.product(cells, STEERING.items()):
        if not 0 <= column + aside < len(ACROSS):
            continue
        outcomes: dict[str, float] = {}
        for carried, probability in ((0, 1.0 - CARRIED[column]), (1, CARRIED[column])):
            label = _label(min(row + ahead + carried, len(DOWNSTREAM) - 1), column + aside)
            outcomes[label] = outcomes.get(label, 0.0) + probability
        probabilities[_label(row, column), action] = outcomes
    states = {_label(row, column): (DOWNSTREAM[row], ACROSS[column]) for row, column in cells}
    return Process.from_probabilities(COORDINATES, states, probabilities, NOISE_VARIANCE)


def pollution(places: Array) -> Array:
    """The black box in mg/L at n x 2 places in m: one smooth spot for each outfall."""
    spots = [
        strength * np.exp(-0.5 * (((places - np.array([x, y])) / np.array(SPREAD)) ** 2).sum(axis=1))
        for x, y, strength in OUTFALLS
    ]
    return np.sum(spots, axis=0)


def _label(row: int, column: int) -> str:
    return f"downstream={DOWNSTREAM[row]:g}, across={ACROSS[column]:g}"
