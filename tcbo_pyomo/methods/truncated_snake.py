"""Truncated SnAKe (Folch et al. 2022, 2023; section 5, "Baselines"): a tour of Thompson samples with clipped moves.

1. H + 1 maximisers of posterior samples stand for all the visits of an episode.
2. Each point visited so far deletes one of them (`without_visited`).
3. The rest is ordered by a short round trip from the present point; the next move goes to its first stop, clipped.

All of it is done again before every move.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.candidates.thompson_sampling import ThompsonSampling
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.knowledge.continuous import ContinuousKnowledge
from tcbo_pyomo.methods._one_move_at_a_time import OneMoveAtATime
from tcbo_pyomo.methods._tour import tour_from
from tcbo_pyomo.methods.protocol import Tools
from tcbo_pyomo.planning.continuous.steering import Steering
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.settings import Settings
from tcbo_pyomo.surrogate.kernels.kernel import Kernel


class TruncatedSnake(OneMoveAtATime[ContinuousProblem, ContinuousKnowledge]):
    """Spreads the visits of an episode over Thompson samples along a short tour."""

    plant = "continuous"
    instead = "greedy_ucb or mdp_expected_improvement"

    def __init__(self, problem: ContinuousProblem, settings: Settings, tools: Tools) -> None:
        if not problem.moves_freely:
            raise BadInput(
                f"method 'truncated_snake' moves straight from point to point, but in problem '{problem.name}' "
                "the action is not the move itself; use mdp_bo or local_ucb"
            )
        smallest_lengthscale(problem.kernel)
        self.problem = problem
        self.moves = self.steering = Steering(problem, settings.planner)
        self.sampling = ThompsonSampling(problem.horizon + 1)

    def next_decision(
        self, situation: Situation, knowledge: ContinuousKnowledge, generator: np.random.Generator
    ) -> tuple[float, ...]:
        """The action to take next."""
        batch = self.sampling(knowledge.belief, self.problem.allowed, generator, goal=knowledge.goal)
        visited = np.array(situation.path)
        batch = without_visited(batch, visited, smallest_lengthscale(knowledge.kernel), generator)
        first = tour_from(visited[-1], batch, generator)[0]
        return self.steering.towards(batch[first], situation)


def without_visited(batch: Array, visited: Array, near: float, generator: np.random.Generator) -> Array:
    """Point deletion: one point of the batch goes for each point visited, in order.

    It is the nearest of those left if it is closer than `near` (the visit stood for it), else one at random.
    """
    for point in visited:
        distance = np.linalg.norm(batch - point, axis=1)
        nearest = int(distance.argmin())
        gone = nearest if distance[nearest] < near else int(generator.integers(len(batch)))
        batch = np.delete(batch, gone, axis=0)
    return batch


def smallest_lengthscale(kernel: Kernel) -> float:
    """The smallest lengthscale of a kernel and its parts, in scaled coordinates."""
    found = [value for name, value in kernel.parameters.items() if "lengthscale" in name]
    if not found:
        raise BadInput(
            f"method 'truncated_snake' measures distances in lengthscales, but kernel '{kernel.registry_name()}' has "
            "none; use a stationary kernel"
        )
    return min(found)
