"""One path out of a split plan: what a plan comes to when its moves are really made.

Under rules that add up over an episode the linear subproblem may answer with a chance between paths. At the first split the
likeliest move is made and the rest planned again, until one path is left.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.planning.finite.coupled_oracle import CoupledOracle
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.plant.situation import Situation


def single_path(
    oracle: CoupledOracle, process: Process, gradient: Array, situation: Situation, visits: Visitation
) -> Visitation | None:
    """A path of a deterministic process that begins as `visits` does; None where none was found."""
    made: list[int] = []
    while not visits.is_path:
        order = np.argsort(visits.step, kind="stable")
        steps, number = np.unique(visits.step, return_counts=True)
        split = int(steps[number > 1][0])
        for pair in visits.pair[order][visits.step[order] < split].tolist():
            made.append(pair)
            situation = Situation((*situation.path, int(process.successor[pair])), (*situation.decisions, pair))
        pairs, shares = visits.at_step(split)
        tried = (oracle.beginning_with(gradient, situation, int(pair)) for pair in pairs[np.argsort(-shares)])
        rest = next((found for found in tried if found is not None), None)
        if rest is None:
            return None
        visits = rest
    path = np.array([*made, *visits.pair[np.argsort(visits.step)].tolist()], dtype=np.int64)
    first = situation.step - len(made)
    return Visitation(np.arange(first, first + len(path)), path, np.ones(len(path)))
