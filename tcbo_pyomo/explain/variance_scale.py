"""The one scale of an explanation: the variance of what the plan is made for.

A plan of one component is made for one pair of candidates, those whose difference is known least now; a mixture, or a plan
with a certified gap, for the largest such variance over all pairs. A plan for the expected regret weighs all rivals of the
recommendation; its scale is the difference to the one that is most likely to beat it.

Every number of an explanation (now, after this path, after other moves, under other limits) is a variance of that one
quantity, so that all of them can be compared.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.planning.continuous.utility import TrajectoryUtility
from tcbo_pyomo.planning.finite.expected_regret import ExpectedRegret
from tcbo_pyomo.planning.finite.move_information import MoveInformation
from tcbo_pyomo.planning.finite.utility import Linearisation, Utility
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.settings import PlannerSettings


def one_pair_only(settings: PlannerSettings) -> bool:
    """Whether plans are made for the pair known least now, and for no other."""
    return settings.gap is None and settings.components == 1


def finite_scale(
    utility: Utility | ExpectedRegret, tangent: Linearisation, settings: PlannerSettings, generator: np.random.Generator
) -> Utility:
    """The utility that a plan of a finite process is made for."""
    if isinstance(utility, Utility) and not one_pair_only(settings):
        return utility
    ends = [state for state in (tangent.first, tangent.second) if state is not None]
    objective = "differences" if len(ends) > 1 else "g_allocation"
    made_of = utility.posterior, np.array(ends), objective, generator, utility.mean
    return Utility(utility.process, *made_of, utility.noise_factor, utility.information)


def on_problem(utility: Utility, problem: Problem) -> Utility:
    """The same utility for a plant with the same states and other moves, or another horizon."""
    objective = "differences" if utility.differences else "g_allocation"
    made_of = utility.posterior, utility.candidates, objective, utility.generator, utility.mean
    process = problem.process.with_noise(utility.noise_factor)
    information = MoveInformation(process, problem.horizon, utility.information.convention, problem.passes)
    return Utility(process, *made_of, utility.noise_factor, information)


def continuous_scale(
    utility: TrajectoryUtility, ends: list[np.ndarray], settings: PlannerSettings
) -> TrajectoryUtility:
    """The utility that a plan of a continuous plant is made for."""
    if not one_pair_only(settings):
        return utility
    objective = "differences" if utility.differences else "g_allocation"
    shared = utility.noise_variance, utility.generator, utility.stage, utility.present, utility.measured
    return TrajectoryUtility(utility.surrogate, np.array(ends), objective, *shared)
