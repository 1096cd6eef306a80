"""The chances of many simulated campaigns: which functions they meet, and which noise and luck in each move.

Every method meets the same ones, so that two methods are compared draw by draw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.rehearsal.standpoint import Standpoint


@dataclass(frozen=True)
class Chances:
    """What D simulated campaigns meet.

    Attributes
    ----------
    functions
        D x n values of functions drawn from the belief, as it is modelled.
    noise
        D x K standard normal numbers, one for each result still to come.
    luck
        D x moves uniform numbers, which decide where a random transition leads.
    seed
        For the ties of the methods.
    """

    functions: Array
    noise: Array
    luck: Array
    seed: np.random.SeedSequence

    @property
    def draws(self) -> int:
        """How many campaigns there are, D."""
        return len(self.functions)


def draw_chances(standpoint: Standpoint, draws: int, seed: np.random.SeedSequence) -> Chances:
    """Functions from the belief, noise and luck, each from a stream of its own: more draws do not change the first ones.

    Those of a campaign that minimises are the mirror image of one that maximises.
    """
    functions, noise, luck, ties = (np.random.default_rng(part) for part in seed.spawn(4))
    factor, moves = standpoint.factor, standpoint.moves_left
    normal = standpoint.goal.sign * functions.standard_normal((draws, factor.shape[1]))
    return Chances(
        functions=standpoint.mean + normal @ factor.T,
        noise=standpoint.goal.sign * noise.standard_normal((draws, moves + len(standpoint.pending))),
        luck=luck.random((draws, moves)),
        seed=np.random.SeedSequence(int(ties.integers(2**63))),
    )


def measured(standpoint: Standpoint, values: Array) -> Array:
    """Values of drawn functions in the unit of the output."""
    return standpoint.scale.measured(values, np.zeros_like(values))[0]


def regrets(standpoint: Standpoint, chances: Chances, recommended: Integers, space: Mask) -> Array:
    """How much worse each of D recommendations is than the best that an episode can reach, in the unit of the output."""
    values = standpoint.problem.goal.score(measured(standpoint, chances.functions))
    best = np.where(space, values, -np.inf).max(axis=1)
    return np.asarray(best - values[np.arange(len(values)), recommended])
