"""Which linear oracle plans a finite process, and why: what the settings name, or `auto`.

`auto` takes the Pyomo model on HiGHS: the polytope as users read it, with every rule in it. Where nothing or one budget couples
the steps of an episode and the programme would be large, it takes backward induction: the same optimum, and no model has to be
built.
"""

from __future__ import annotations

from dataclasses import dataclass

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.models.constraints.budget import only_budget
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.settings import LinearSolverSettings

AUTO, PROGRAMME = "auto", "highs"
LARGE = 100_000
"""Variables above which `auto` prefers backward induction: building and solving would take seconds."""


@dataclass(frozen=True)
class ChosenSolver:
    """The name of the linear oracle and the reason for it, in words."""

    name: str
    why: str

    @property
    def text(self) -> str:
        """`highs (auto: 2,200 variables)`."""
        return f"{self.name} ({self.why})"


def chosen_solver(problem: Problem, linear: LinearSolverSettings) -> ChosenSolver:
    """The linear oracle for a problem; one that cannot serve it is refused."""
    coupling = [rule for rule in problem.rules if rule.couples_steps]
    by_induction = not coupling or only_budget(coupling) is not None
    names = _coupling_words([rule.name for rule in coupling])
    if linear.solver == DynamicProgramming.name:
        if not by_induction:
            raise BadInput(
                f"solver 'dynamic_programming' cannot plan, for {names} the steps of an episode; it keeps one budget at most; "
                "set planner.linear.solver to 'auto' or 'highs'"
            )
        if linear.options or linear.time_limit is not None:
            raise BadInput("solver 'dynamic_programming' takes no options and no time_limit; remove them")
    if linear.solver != AUTO:
        return ChosenSolver(linear.solver, "named in the settings")
    if not by_induction:
        return ChosenSolver(PROGRAMME, f"auto: {names} the steps of an episode")
    if linear.options or linear.time_limit is not None:
        return ChosenSolver(PROGRAMME, "auto: the settings give it options or a time limit")
    variables = sum(len(pairs) for pairs in problem.sets.pairs_by_step(problem.start_state))
    size = f"the linear programme has {variables:,} variables"
    if variables > LARGE:
        couples = f"only {names}" if coupling else "nothing couples"
        name = DynamicProgramming.name
        return ChosenSolver(name, f"auto: {couples} the steps and {size.replace('has', 'would have')}")
    return ChosenSolver(PROGRAMME, f"auto: {size}")


def _coupling_words(names: list[str]) -> str:
    """`RatioChanges couples`, `ResourceBudget(fuel), VisitBudget(visits) couple`."""
    return f"{', '.join(names)} {'couples' if len(names) == 1 else 'couple'}"
