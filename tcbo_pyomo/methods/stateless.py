"""State-less Bayesian optimisation (section 5, free-electron laser): blind to the fact that noise depends on the move.

The same planner and regression as `mdp_bo`, but both take every measurement to be as noisy as the worst move makes it; with
`planner.first_move: drawn` it is the paper's. The plant keeps its true noise: a short move measures better than this rival
gives it credit for.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.methods.mdp_bo import MdpBo
from tcbo_pyomo.problem.finite import Problem


class Stateless(MdpBo[Problem]):
    """The planner of `mdp_bo` on the problem it believes in."""

    plant = "finite"

    @classmethod
    def believed(cls, problem: Problem) -> Problem:
        """The problem with the noise of the worst allowed move everywhere."""
        process = problem.process
        noise = process.noise_variance[problem.sets.allowed_pairs[process.transition_pair]]
        if noise.min() == noise.max():
            raise BadInput(
                f"method 'stateless' ignores that noise depends on the move, and in problem '{problem.name}' it does not "
                f"(variance {noise.max():g} everywhere); use mdp_bo, which is identical then"
            )
        worst = np.full(len(process.noise_variance), noise.max())
        return problem.changed(process=replace(process, noise_variance=worst))
