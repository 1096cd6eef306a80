"""The one scale of an explanation: the variance of what the plan is made for.

A plan of one component is made for one pair of candidates, those whose difference is known least now; a mixture, or a plan
with a certified gap, for the largest such variance over all pairs. Every number of an explanation (now, after this path,
after other moves, under other limits) is a variance of that one quantity, so that all of them can be compared.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.planning.continuous.utility import TrajectoryUtility
from tcbo_pyomo.planning.finite.move_information import MoveInformation
from tcbo_pyomo.planning.finite.utility import Linearisation, Utility
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.settings import PlannerSettings


def one_pair_only(settings: PlannerSettings) -> bool:
    """Whether plans are made for the pair known least now, and for no other."""
    return settings.gap is None and settings.components == 1


def finite_scale(utility: Utility, tangent: Linearisation, settings: PlannerSettings) -> Utility:
    """The utility that a plan of a finite process is made for."""
    if not one_pair_only(settings):
        return utility
    ends = [state for state in (tangent.first, tangent.second) if state is not None]
    objective = "differences" if utility.differences else "g_allocation"
    shared = utility.generator, utility.mean, utility.information
    return Utility(utility.process, utility.posterior, np.array(ends), objective, *shared)


def on_problem(utility: Utility, problem: Problem) -> Utility:
    """The same utility for a plant with the same states and other moves, or another horizon."""
    objective = "differences" if utility.differences else "g_allocation"
    information = MoveInformation(problem.process, problem.horizon, utility.information.convention)
    shared = utility.generator, utility.mean, information
    return Utility(problem.process, utility.posterior, utility.candidates, objective, *shared)


def continuous_scale(
    utility: TrajectoryUtility, ends: list[np.ndarray], settings: PlannerSettings
) -> TrajectoryUtility:
    """The utility that a plan of a continuous plant is made for."""
    if not one_pair_only(settings):
        return utility
    objective = "differences" if utility.differences else "g_allocation"
    shared = utility.noise_variance, utility.generator, utility.stage, utility.present
    return TrajectoryUtility(utility.surrogate, np.array(ends), objective, *shared)
