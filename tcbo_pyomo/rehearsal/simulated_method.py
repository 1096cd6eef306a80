"""What a simulated method is: the choice of one of the package's methods, made for many simulated campaigns at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.rehearsal.batched_beliefs import BatchedBeliefs
from tcbo_pyomo.rehearsal.batched_induction import Costs
from tcbo_pyomo.rehearsal.plant_tables import PlantTables
from tcbo_pyomo.rehearsal.simulated_budgets import SimulatedBudgets
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal


@dataclass(frozen=True)
class Scene:
    """Where D simulated campaigns stand before a move.

    Attributes
    ----------
    tables
        The plant.
    beliefs
        What each campaign believes.
    design
        Variances and covariances that plans work on; those of `beliefs`, unless moves count at the state they leave.
    states
        Where each plant is (D).
    step
        The step of the next move, the same in all of them.
    pairs, usable
        The pairs of each plant's state (A x D, filled up with P), and which may be used now.
    incumbent
        The best score of a result of each campaign (D).
    generator
        Breaks ties.
    budgets
        What an episode may use up; None where nothing is limited.
    goal
        Which values are better, as modelled.
    """

    tables: PlantTables
    beliefs: BatchedBeliefs
    design: BatchedBeliefs
    states: Integers
    step: int
    pairs: Integers
    usable: Mask
    incumbent: Array
    generator: np.random.Generator
    budgets: SimulatedBudgets | None = None
    goal: Goal = MAXIMISE

    def to_go(self, costs: Costs) -> Array:
        """What each pair of each plant's state costs with the best rest of the episode (A x D), at the prices of budgets."""
        induction, each = self.tables.induction, np.arange(len(self.states))
        if self.budgets is not None:
            costs = self.budgets.priced(costs, induction, self.states, self.step)
        of_pairs = induction.of_pairs(induction.values_after(costs, self.step), costs, self.step)
        return of_pairs[np.minimum(self.pairs, len(of_pairs) - 1), each]


class SimulatedMethod(Protocol):
    """Chooses the next moves."""

    @property
    def wants_covariance(self) -> bool:
        """Whether the covariance of all states has to be kept up to date for it."""

    @property
    def departure(self) -> bool:
        """Whether moves count at the state they leave, made and planned."""

    def choose(self, scene: Scene) -> Integers:
        """For each draw the row of `scene.pairs` to use next (D)."""
