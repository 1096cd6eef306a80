"""Which states an episode can visit when rules add something up over its moves: where the maximum is sought.

Without such rules the safe sets tell it, and a single budget is decided by the least that is used on the way to a state. On a
deterministic process a state can be visited when some path through it keeps every row: decided by labels (`path_labels`), and
for what they leave open by the linear model itself, first as a linear programme (no policy visits these states at all), then
with whole numbers (one path that does). Where chance moves the plant and there is more than one budget, only a bound is
known, from each budget alone and from the linear programme.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tcbo_pyomo.foundation.arrays import Mask
from tcbo_pyomo.models.constraints.budget import Budget, budgets_of
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.worst_case_budget import WorstCaseTail

if TYPE_CHECKING:
    from tcbo_pyomo.problem.compiled_polytope import CompiledPolytope


@dataclass(frozen=True, eq=False)
class VisitableStates:
    """Where an episode may come by, the start included.

    Attributes
    ----------
    states
        n values; certainly no other state can be visited.
    exact
        Whether each of them can; otherwise they are a bound: at most these.
    """

    states: Mask
    exact: bool


def visitable_states(sets: EpisodeSets, start: int, polytope: Callable[[], CompiledPolytope]) -> VisitableStates:
    """The states that an episode from `start` can visit under all rules.

    Parameters
    ----------
    sets
        The plant and its rules.
    start
        The state in which episodes start.
    polytope
        Compiles the polytope of the start; only asked where a rule has rows of its own or labels do not decide.
    """
    coupling = [rule for rule in sets.constraints if rule.couples_steps]
    budgets = budgets_of(coupling)
    anywhere = sets.states_met(start)
    if not coupling:
        return VisitableStates(anywhere, True)
    if len(coupling) == len(budgets) == 1:
        found = VisitableStates(WorstCaseTail(budgets[0], sets).states_met(start), True)
    else:
        find = _by_paths if sets.process.deterministic else _by_policies
        found = find(sets, start, budgets, len(budgets) == len(coupling), polytope)
    # Where no episode keeps the rules the planner says which of them are in conflict.
    return found if found.states.any() else VisitableStates(anywhere, False)


def _by_paths(
    sets: EpisodeSets, start: int, budgets: list[Budget], only_budgets: bool, polytope: Callable[[], CompiledPolytope]
) -> VisitableStates:
    from tcbo_pyomo.problem.path_labels import PathLabels  # Loads SciPy, and few plants need it.
    from tcbo_pyomo.problem.path_rows import rows_of_budgets, rows_of_polytope

    if only_budgets:
        rows = rows_of_budgets(sets, start, budgets)
    else:
        rows = rows_of_polytope(polytope(), polytope().programme.row_lower, polytope().programme.row_upper)
    labels = PathLabels(rows)
    met = labels.met()
    if rows.complete and not labels.left_out:
        return VisitableStates(met, True)
    from tcbo_pyomo.problem.visits_by_programme import VisitsByProgramme

    possible = labels.may_be_met() if labels.left_out else met
    known = met if rows.complete else np.zeros_like(met)
    return VisitableStates(*VisitsByProgramme(polytope()).decided(possible, known))


def _by_policies(
    sets: EpisodeSets, start: int, budgets: list[Budget], only_budgets: bool, polytope: Callable[[], CompiledPolytope]
) -> VisitableStates:
    from tcbo_pyomo.problem.visits_by_programme import VisitsByProgramme

    possible = sets.states_met(start)
    for budget in budgets:
        possible &= WorstCaseTail(budget, sets).states_met(start)
    return VisitableStates(VisitsByProgramme(polytope()).possible(possible), False)
