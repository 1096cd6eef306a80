"""State-less Bayesian optimisation (section 5, free-electron laser): blind to the fact that noise depends on the move.

The same planner and regression as `mdp_bo`, but both take every measurement to be as noisy as the worst move makes it; with
`planner.first_move: drawn` it is the paper's. The plant keeps its true noise: a short move measures better than this rival
gives it credit for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.methods._requirements import finite
from tcbo_pyomo.methods.mdp_bo import MdpBo
from tcbo_pyomo.problem.finite import Problem


class Stateless(MdpBo):
    """The planner of `mdp_bo` on the problem it believes in."""

    @classmethod
    def believed(cls, problem: Any) -> Problem:
        """The problem with the noise of the worst allowed move everywhere."""
        plant = finite(problem, "stateless", "mdp_bo")
        process = plant.process
        noise = process.noise_variance[plant.sets.allowed_pairs[process.transition_pair]]
        if noise.min() == noise.max():
            raise BadInput(
                f"method 'stateless' ignores that noise depends on the move, and in problem '{plant.name}' it does not "
                f"(variance {noise.max():g} everywhere); use mdp_bo, which is the same there"
            )
        worst = np.full(len(process.noise_variance), noise.max())
        return plant.changed(process=replace(process, noise_variance=worst))
