"""The one place that chooses by the kind of plant: planner, moves, knowledge and method for a problem.

Everything else asks a problem what it wants to know (`problem/protocol.py`) or is written for one kind. What one kind
needs is imported only for it: a finite campaign never waits for CasADi, nor a continuous one for a linear solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.knowledge.knowledge import Knowledge
from tcbo_pyomo.methods.protocol import Method, load_method
from tcbo_pyomo.planning.protocol import OneMove, Planner
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.problem.with_belief import with_belief
from tcbo_pyomo.problem.with_settings import AnyProblem
from tcbo_pyomo.settings import PlannerSettings, Settings

if TYPE_CHECKING:
    from tcbo_pyomo.planning.continuous.planner import ContinuousPlanner
    from tcbo_pyomo.planning.finite.planner import FinitePlanner

WRONG_PLANT = {
    "finite": "chooses among the states of a finite process, and problem '{}' is continuous",
    "continuous": "searches a box of set-points, and problem '{}' has a finite process",
}
"""Why a method of one kind of plant cannot serve a problem of the other."""


@dataclass(frozen=True)
class PlantTools:
    """What a method may be made of; each is built when it is asked for."""

    problem: ProblemProtocol
    settings: Settings

    def planner(self) -> Planner[Any, Any]:
        """Plans the rest of the episode."""
        return planner_for(self.problem, self.settings.planner)

    def under(self, settings: Settings) -> PlantTools:
        """The same for a method with other settings."""
        return PlantTools(self.problem, settings)

    def one_move(self) -> OneMove[Any]:
        """What can be done in one move."""
        if isinstance(self.problem, Problem):
            from tcbo_pyomo.planning.finite.feasible_moves import FeasibleMoves

            return FeasibleMoves(self.problem)
        from tcbo_pyomo.planning.continuous.steering import Steering

        return Steering(_continuous(self.problem), self.settings.planner)


def method_for(problem: ProblemProtocol, settings: Settings) -> tuple[Method[Any, Any], ProblemProtocol]:
    """The method that the settings name, and the problem as it models it."""
    import scipy.spatial.distance  # noqa: F401  Whatever plans computes many distances (see `foundation/distances.py`).

    method = load_method(settings.method)
    kind = "finite" if isinstance(problem, Problem) else "continuous"
    if method.plant not in (kind, "any"):
        why = WRONG_PLANT[method.plant].format(problem.name)
        raise BadInput(f"method '{settings.method}' {why}; use {method.instead}")
    believed = believed_problem(problem, settings)
    return method(believed, settings, PlantTools(believed, settings)), believed


def believed_problem(problem: AnyProblem, settings: Settings) -> AnyProblem:
    """The problem as the method and the settings model it; the same object where they take it as it is."""
    believed: AnyProblem = load_method(settings.method).believed(problem)
    return with_belief(believed, settings.surrogate)


def knowledge_for(problem: ProblemProtocol, settings: Settings, seed: int, history: History) -> Knowledge[Any]:
    """What a campaign knows from its history."""
    if isinstance(problem, Problem):
        from tcbo_pyomo.knowledge.finite import FiniteKnowledge

        return FiniteKnowledge(problem, settings, seed, history)
    from tcbo_pyomo.knowledge.continuous import ContinuousKnowledge

    return ContinuousKnowledge(_continuous(problem), settings, seed, history)


@overload
def planner_for(problem: Problem, settings: PlannerSettings) -> FinitePlanner: ...
@overload
def planner_for(problem: ContinuousProblem, settings: PlannerSettings) -> ContinuousPlanner: ...
@overload
def planner_for(problem: ProblemProtocol, settings: PlannerSettings) -> Planner[Any, Any]: ...


def planner_for(problem: ProblemProtocol, settings: PlannerSettings) -> Planner[Any, Any]:
    """The planner of the rest of an episode."""
    if isinstance(problem, Problem):
        from tcbo_pyomo.planning.finite.planner import FinitePlanner

        return FinitePlanner(problem, settings)
    from tcbo_pyomo.planning.continuous.planner import ContinuousPlanner

    return ContinuousPlanner(_continuous(problem), settings)


def judged_problem(problem: ProblemProtocol, given: ProblemProtocol) -> ProblemProtocol:
    """The problem that a simulation is judged by: regret refers to the best value that an episode can reach.

    The maximum that a problem was given with holds for its own start, rules and goal; where settings have changed them (start
    and rules on a plant that cannot reach everything), it is sought anew.
    """
    if problem.goal != given.goal and isinstance(problem, ContinuousProblem):
        known = isinstance(given, ContinuousProblem) and given.maximum is not None
        return _with_best_value(problem) if known and problem.simulated else problem
    changed = problem.start_state != given.start_state or len(problem.rules) != len(given.rules)
    return with_reachable_maximum(problem) if changed else problem


def with_reachable_maximum(problem: AnyProblem) -> AnyProblem:
    """A simulated problem whose maximum is the best value that an episode can reach.

    The same problem where no maximum is given, where the whole box can be reached, and on a finite process, which knows it.
    """
    if not isinstance(problem, ContinuousProblem) or problem.reaches_everything:
        return problem
    if problem.maximum is None or not problem.simulated:
        return problem
    return _with_best_value(problem)


def _with_best_value(problem: ContinuousProblem) -> Any:
    from tcbo_pyomo.planning.continuous.true_maximum import best_true_value

    return problem.changed(maximum=best_true_value(problem))


def _continuous(problem: ProblemProtocol) -> ContinuousProblem:
    if not isinstance(problem, ContinuousProblem):
        raise BadInput(f"problem {problem!r} must be a Problem or a ContinuousProblem")
    return problem
