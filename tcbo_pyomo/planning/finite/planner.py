"""The planner of finite processes: Frank-Wolfe on the state-action polytope, by the linear oracle the settings name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.blas_threads import one_blas_thread
from tcbo_pyomo.foundation.deadline import Deadline
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.models.constraints.budget import only_budget
from tcbo_pyomo.models.visitation import Visitation, mix
from tcbo_pyomo.planning.finite.certified_frank_wolfe import Certificate, CertifiedMixture, certified_frank_wolfe
from tcbo_pyomo.planning.finite.chosen_solver import chosen_solver
from tcbo_pyomo.planning.finite.coupled_oracle import CoupledOracle
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.eager_move import EagerPlans, gains_of
from tcbo_pyomo.planning.finite.plan_check import check_visitation
from tcbo_pyomo.planning.finite.policy import Policy
from tcbo_pyomo.planning.finite.priced_budget import PricedBudget
from tcbo_pyomo.planning.finite.utility import Linearisation, Utility
from tcbo_pyomo.planning.frank_wolfe import frank_wolfe
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.settings import PlannerSettings


@dataclass(frozen=True)
class Plan:
    """A policy for the rest of an episode and what led to it.

    Attributes
    ----------
    policy
        The mixture, by marginalisation.
    components
        The weighted visitations it mixes.
    tangent
        The utility at the history: its value, the pair being separated, the gradient.
    certificate
        How far the plan is from the best possible, when the settings ask for a gap.
    """

    policy: Policy
    components: list[tuple[float, Visitation]]
    tangent: Linearisation
    certificate: Certificate | None = None


class FinitePlanner:
    """Plans the rest of an episode on a finite process."""

    def __init__(self, problem: Problem, settings: PlannerSettings) -> None:
        self.problem, self.settings = problem, settings
        linear = settings.linear
        self.chosen = chosen_solver(problem, linear)
        coupling = [rule for rule in problem.rules if rule.couples_steps]
        budget = only_budget(coupling)
        self.oracle: DynamicProgramming | CoupledOracle
        if self.chosen.name == DynamicProgramming.name:
            self.oracle = DynamicProgramming(problem.sets) if budget is None else PricedBudget(problem.sets, budget)
        else:
            # Here, since dynamic programming should not wait for Pyomo.
            from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming

            options, limit, base = dict(linear.options), linear.time_limit, lambda: problem.polytope
            self.oracle = LinearProgramming(problem.sets, problem.rules, self.chosen.name, options, limit, base)
        self._draws_paths = bool(coupling) and problem.process.deterministic
        self._eager = settings.finite_first_move == "eager"
        one_component = settings.gap is None and settings.components == 1
        self._eager_plans = EagerPlans(problem, self.oracle) if self._eager and one_component else None

    @timed("plan")
    def plan(self, utility: Utility, situation: Situation, generator: np.random.Generator) -> Plan:
        """Minimise the utility over the policies of the rest of the episode."""
        settings = self.settings
        if settings.gap is not None:
            found = self.certified(utility, situation, generator, settings.gap)
            policy = Policy(self.problem.process, mix(found.components))
            return Plan(policy, found.components, found.tangent, found.certificate)
        tangents: list[Linearisation] = []

        def extreme_point(tangent: Linearisation) -> Visitation:
            tangents.append(tangent)
            if self._eager_plans is not None:
                return self._checked(self._eager_plans.extreme_point(tangent, situation, generator), situation)
            return self._extreme_point(tangent.gradient, situation, generator)

        components = frank_wolfe(utility, extreme_point, mix, settings.components, settings.step_rule)
        return Plan(Policy(self.problem.process, mix(components)), components, tangents[0])

    def plan_reward(self, reward: Linearisation, situation: Situation, generator: np.random.Generator) -> Plan:
        """The plan for a reward that is linear in the visitation: one subproblem, and nothing to mix."""
        visitation = self._extreme_point(reward.gradient, situation, generator)
        return Plan(Policy(self.problem.process, visitation), [(1.0, visitation)], reward)

    @timed("certified Frank-Wolfe")
    def certified(
        self,
        utility: Utility,
        situation: Situation,
        generator: np.random.Generator,
        gap: float,
        deadline: Deadline | None = None,
    ) -> CertifiedMixture:
        """The plan whose utility is proven to be within a relative gap of the optimum, as far as the time allows."""
        with one_blas_thread():
            return certified_frank_wolfe(
                utility,
                lambda gradient: self._extreme_point(gradient, situation, generator),
                gap,
                deadline=deadline,
            )

    def _extreme_point(self, gradient: Array, situation: Situation, generator: np.random.Generator) -> Visitation:
        return self._checked(self.oracle.extreme_point(gradient, situation, generator), situation)

    def _checked(self, visitation: Visitation, situation: Situation) -> Visitation:
        # Backward induction follows allowed pairs only, by our own arithmetic already.
        if not isinstance(self.oracle, DynamicProgramming):
            check_visitation(visitation, self.problem.sets, situation, self.oracle.name)
        return visitation

    def choose(self, plan: Plan, situation: Situation, generator: np.random.Generator) -> int:
        """The next move of the policy: drawn, the likeliest, or the eager one, as the settings say.

        Where a budget couples the steps of a deterministic process, a split policy is a random choice between paths; a
        move is only drawn when an allowed path goes on from it.
        """
        components = plan.components
        if not self._draws_paths or all(visitation.is_path for _, visitation in components):
            if len(components) == 1 or self.settings.first_move == "drawn":
                return plan.policy.sample(situation.step, situation.state, generator)
            return int(self._preferred(plan, situation, generator)[0])
        assert not isinstance(self.oracle, DynamicProgramming)
        for pair in self._preferred(plan, situation, generator):
            if self.oracle.can_be_completed(situation, int(pair)):
                return int(pair)
        for pair in self.problem.process.pairs_of(situation.state):
            usable = self.problem.sets.safe[situation.step + 1, self.problem.process.successor[pair]]
            if usable and self.problem.sets.allowed_pairs[pair] and self.oracle.can_be_completed(situation, pair):
                return pair
        state, found = self.problem.process.labels[situation.state], "was found" if self.oracle.given_up else "exists"
        rules = ", ".join(rule.name for rule in self.problem.rules if rule.couples_steps)
        raise InfeasiblePlan(
            f"no single path from state '{state}' (step {situation.step}) {found} that keeps all of {rules}; only a randomised "
            "mix of paths does so on average; raise a limit"
        )

    def _preferred(self, plan: Plan, situation: Situation, generator: np.random.Generator) -> Integers:
        """The moves that the policy may make now, in the order in which they are tried."""
        pairs, probabilities = plan.policy.action_probabilities(situation.step, situation.state)
        if len(pairs) == 1:
            return pairs
        if self.settings.first_move == "likeliest":
            return pairs[np.argsort(-probabilities, kind="stable")]
        if self._eager and plan.tangent.posterior is not None:
            process = self.problem.process
            gain = gains_of(process, plan.tangent, situation.state)[pairs - process.pair_offsets[situation.state]]
            return pairs[np.argsort(-gain, kind="stable")]
        return generator.choice(pairs, size=len(pairs), replace=False, p=probabilities)

    @property
    def planned_with(self) -> str:
        """The linear oracle and why it is used, in words."""
        return self.chosen.text

    def record(self, plan: Plan) -> dict[str, Any]:
        """What is worth keeping of a plan, as plain data."""
        ends = [state for state in (plan.tangent.first, plan.tangent.second) if state is not None]
        record = {
            "solver": self.oracle.name,
            "components": len(plan.components),
            "utility": plan.tangent.value,
            "separates": [self.problem.describe_inputs(state) for state in ends],
        }
        return record if plan.certificate is None else {**record, "certificate": plan.certificate.to_dict()}

    def state(self) -> None:
        """Nothing to save: a plan follows from the history."""

    def load(self, state: None) -> None:
        """Nothing to load."""

    def places_ahead(self, plan: Plan | None, state: int, step: int) -> list[int]:
        """States that the plan expects after this one: the likeliest action in each, and its likeliest outcome."""
        if plan is None:
            return []
        process, ahead = self.problem.process, []
        for at in range(step, self.problem.horizon):
            try:
                pairs, probabilities = plan.policy.action_probabilities(at, state)
            except BadInput:
                # The plant is where the plan did not expect it.
                break
            pair = int(pairs[int(np.argmax(probabilities))])
            chances = process.transitions.data[process.transitions.indptr[pair] : process.transitions.indptr[pair + 1]]
            state = int(process.successors_of(pair)[int(np.argmax(chances))])
            ahead.append(state)
        return ahead
