"""Rollout (ours): which method suits the rest of this campaign? Simulate it with each, and let the best one act.

Functions are drawn from the posterior; on each the rest of the campaign is simulated with every member, with the same noise
and luck for all (`rehearsal/`). The member with the smallest mean regret at the end makes the moves until the next choice,
as if it were the method of the campaign. A finite plant is simulated many draws at once; on a continuous one the methods
themselves are simulated, which takes minutes per choice. Random numbers come from a stream of their own that follows from the
seed and the number of moves made, so that a resumed campaign makes the same choices.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.knowledge.knowledge import Knowledge
from tcbo_pyomo.methods.protocol import Method, Tools, load_method
from tcbo_pyomo.plant.situation import Decision, Situation
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.rehearsal.choice import RECORD, Choice, choose
from tcbo_pyomo.rehearsal.compared_methods import Simulator
from tcbo_pyomo.rehearsal.continuous_campaigns import ContinuousSimulator
from tcbo_pyomo.rehearsal.members import Member, continuous_members, members_of
from tcbo_pyomo.settings import Settings

STREAM = 4
"""Of the random numbers that follow from the campaign's seed."""


class Rollout(Method[ProblemProtocol, Knowledge[Any]]):
    """Chooses among methods by simulated campaigns."""

    plant = "any"

    def __init__(self, problem: ProblemProtocol, settings: Settings, tools: Tools) -> None:
        self.problem, self.settings, self._tools = problem, settings, tools
        found, self._simulator = _members_and_simulator(problem, settings, tools)
        self.members = {member.name: member for member in found}
        self._methods: dict[str, Method[Any, Any]] = {}
        self._choice: Choice | None = None
        for member in self.members.values():
            load_method(member.settings.method)

    def next_decision(
        self, situation: Situation, knowledge: Knowledge[Any], generator: np.random.Generator
    ) -> Decision:
        """Choose the method anew where it is time, and make its move."""
        self._choice = self._choice_now(knowledge)
        member = self.members[self._choice.chosen]
        return self._method.next_decision(situation, knowledge.under(member.settings), generator)

    def acting(self, knowledge: Knowledge[Any]) -> tuple[Settings, str]:
        """The settings of the member that makes the next move, and why it does."""
        choice = self._choice_now(knowledge)
        return self.members[choice.chosen].settings, choice.in_words(self.problem.output_unit)

    def _choice_now(self, knowledge: Knowledge[Any]) -> Choice:
        if self._choice is not None and not self._due(self._choice, knowledge.history):
            return self._choice
        return self._chosen(knowledge)

    def _due(self, choice: Choice, history: History) -> bool:
        """Whether it is time to choose again."""
        made, every = history.moves_made, self.settings.rollout.every
        if choice.chosen not in self.members or made < choice.moves_made:
            return True  # Corrections have taken moves back, or the settings were amended.
        if every is None and self.settings.feedback.kind == "episodic":
            return history.situation().step == 0 and made > choice.moves_made
        budget = history.moves_of(self.problem.episodes)
        interval = max(1, round((self._simulator.every if every is None else every) * budget))
        return made // interval != choice.moves_made // interval

    @timed("rollout")
    def _chosen(self, knowledge: Knowledge[Any]) -> Choice:
        rollout, made = self.settings.rollout, knowledge.history.moves_made
        seed = np.random.SeedSequence([knowledge.seed, STREAM, made])
        draws = rollout.draws or self._simulator.usual_draws
        final = self._simulator.final_regrets(list(self.members.values()), knowledge, draws, seed)
        return choose(final, made, rollout.margin)

    @property
    def _method(self) -> Method[Any, Any]:
        """The method that acts, made when it is first chosen."""
        assert self._choice is not None
        return self._made(self.members[self._choice.chosen])

    def _made(self, member: Member) -> Method[Any, Any]:
        if member.name not in self._methods:
            made = load_method(member.settings.method)
            self._methods[member.name] = made(self.problem, member.settings, self._tools.under(member.settings))
        return self._methods[member.name]

    @property
    def planner(self) -> Any:
        """The planner of the method that acts; None where it has none."""
        return None if self._choice is None else getattr(self._method, "planner", None)

    @property
    def last_plan(self) -> Any:
        """The last plan of the method that acts."""
        return None if self._choice is None else getattr(self._method, "last_plan", None)

    def planned_with(self) -> str | None:
        """The solver of the method that acts and why it is used, in words."""
        return None if self._choice is None else self._method.planned_with()

    def plan_record(self) -> dict[str, Any] | None:
        """How the last move was found, and why this method made it."""
        if self._choice is None:
            return None
        return {**(self._method.plan_record() or {}), RECORD: self._choice.to_dict()}

    def state(self) -> Any:
        """The choice, and what the methods have to save."""
        if self._choice is None:
            return None
        states = {name: method.state() for name, method in self._methods.items()}
        return {"choice": self._choice.to_dict(), "methods": {n: s for n, s in states.items() if s is not None}}

    def load(self, state: Any) -> None:
        """Take over what `state` returned."""
        self._choice = None if state is None else Choice.from_dict(state["choice"])
        for name, saved in ({} if state is None else state["methods"]).items():
            if name in self.members:
                self._made(self.members[name]).load(saved)


@singledispatch
def _members_and_simulator(problem: ProblemProtocol, settings: Settings, tools: Tools) -> tuple[list[Member], Any]:
    """What is chosen among, and what simulates it."""
    raise BadInput(f"method 'rollout': problem {problem!r} must be a Problem or a ContinuousProblem")


@_members_and_simulator.register
def _(problem: Problem, settings: Settings, tools: Tools) -> tuple[list[Member], Any]:
    if problem.passed:
        raise BadInput(
            f"method 'rollout' simulates one measurement per move, and moves of problem '{problem.name}' are measured on "
            "their way, too; use mdp_bo"
        )
    return members_of(settings), Simulator(problem)


@_members_and_simulator.register
def _(problem: ContinuousProblem, settings: Settings, tools: Tools) -> tuple[list[Member], Any]:
    def lean_method(member: Member) -> Method[Any, Any]:
        lean = member.lean().settings
        return load_method(lean.method)(problem, lean, tools.under(lean))

    return continuous_members(settings, problem.moves_freely), ContinuousSimulator(lean_method)
