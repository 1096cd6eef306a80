"""The moves that may be made now, on the scale of the explanation: what each leaves, and how that adds up.

For a plan of one component each move is planned with as the planner would: the best rest of the episode, linearised at what
is known. What such a path really leaves is then computed exactly, in two parts: what the move's own measurement teaches, and
what the rest of the path adds. For mixed plans there is a bound: no policy that begins with a move leaves less than the lower
bound plus the reduced cost of the move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.explain.move_facts import MoveOption, Point
from tcbo_pyomo.explain.shadow_prices import LookAhead, look_ahead
from tcbo_pyomo.explain.single_path import single_path
from tcbo_pyomo.foundation.arrays import Integers
from tcbo_pyomo.models.visitation import Visitation, mix
from tcbo_pyomo.planning.finite.certified_frank_wolfe import CertifiedMixture
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.planner import FinitePlanner, Plan
from tcbo_pyomo.planning.finite.utility import Utility
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.finite import Problem

SHOWN = 12
"""Moves that are planned with and listed; a plant may have hundreds."""


@dataclass(frozen=True, eq=False)
class MoveTable:
    """The moves that may be made now.

    Attributes
    ----------
    options
        The moves, the one that leaves least first.
    more
        How many further ones were not planned with.
    best_path
        The best single path found: what it leaves, and where it goes first.
    made
        The plan, or the path that it comes to.
    """

    options: tuple[MoveOption, ...]
    more: int
    best_path: tuple[float, Point] | None
    made: Visitation


class MoveComparison:
    """Compares the moves of the present state.

    Parameters
    ----------
    campaign, situation
        Where the plant is.
    planner
        Solves linear subproblems from here.
    plan, best
        The plan of the settings, and the best policy known.
    ahead
        Values and prices at the best policy.
    scale
        The utility whose variance all numbers are.
    """

    def __init__(
        self,
        campaign: Campaign,
        situation: Situation,
        planner: FinitePlanner,
        plan: Plan,
        best: CertifiedMixture,
        ahead: LookAhead,
        scale: Utility,
    ) -> None:
        self.campaign, self.situation, self.planner = campaign, situation, planner
        self.plan, self.best, self.ahead, self.scale = plan, best, ahead, scale
        self.problem: Problem = ahead.problem
        pairs, shares = plan.policy.action_probabilities(situation.step, situation.state)
        self._planned_again = dict(zip(pairs.tolist(), shares.tolist(), strict=True))
        move = campaign.history.open_move
        self._asked = None if move is None else move.decision
        # Of equally good moves another may come first when a plan is made again: the one asked for was planned.
        known = self._asked is None or self._asked in self._planned_again
        self._planned = self._planned_again if known else {self._asked: 1.0}
        self._now = scale.value(None)

    def exact(self) -> MoveTable:
        """Each move with the best plan that begins with it."""
        allowed = np.array(self.problem.process.pairs_of(self.situation.state))[self.ahead.usable_now()]
        pairs, options, paths = self._most_promising(allowed), [], []
        for pair in pairs.tolist():
            visits = self._beginning_with(pair)
            if visits is None:
                continue
            first = visits.step == self.situation.step
            begun = self.scale.value(Visitation(visits.step[first], visits.pair[first], visits.probability[first]))
            leaves = self.scale.value(visits)
            options.append(self._option(pair, leaves, self._now - begun, begun - leaves))
            paths.append(visits)
        made = self._planned_path(options, paths)
        options.sort(key=lambda option: option.leaves)
        known = [*paths, *(visits for _, visits in (*self.plan.components, *self.best.components))]
        return MoveTable(tuple(options), len(allowed) - len(pairs), self._best_path(known), made)

    def bounded(self) -> MoveTable:
        """Each move with what no policy that begins with it can beat."""
        columns = self.problem.process.pairs_of(self.situation.state), self.ahead.move_costs(), self.ahead.usable_now()
        lower = self.best.certificate.lower
        options = [
            self._option(pair, max(0.0, lower + max(0.0, float(cost))), at_least=True)
            for pair, cost, allowed in zip(*columns, strict=True)
            if allowed and np.isfinite(cost)
        ]
        options.sort(key=lambda option: (option.leaves, -option.probability))
        shown = [o for i, o in enumerate(options) if i < SHOWN or o.probability > 0.0 or o.asked]
        known = [visits for _, visits in (*self.plan.components, *self.best.components)]
        return MoveTable(tuple(shown), len(options) - len(shown), self._best_path(known), mix(self.plan.components))

    def _planned_path(self, options: list[MoveOption], paths: list[Visitation]) -> Visitation:
        """The plan that begins with the move asked for, else with the likeliest planned one."""
        best = max(range(len(options)), key=lambda i: (options[i].asked, options[i].probability), default=None)
        return mix(self.plan.components) if best is None else paths[best]

    def _most_promising(self, allowed: Integers) -> Integers:
        """The moves to plan with: planned and asked for in any case, then by the linearised utility."""
        if len(allowed) <= SHOWN:
            return allowed
        tangent = look_ahead(self.problem, self.plan.tangent.gradient, self.situation)
        cost = tangent.move_costs()[self.ahead.usable_now()]
        known = np.isin(allowed, [*self._planned, -1 if self._asked is None else self._asked])
        return allowed[np.lexsort((cost, ~known))[: max(SHOWN, int(known.sum()))]]

    def _beginning_with(self, pair: int) -> Visitation | None:
        """The plan that begins with a move; None where no allowed path does."""
        gradient, oracle = self.plan.tangent.gradient, self.planner.oracle
        if self._planned_again.get(pair, 0.0) == 1.0:
            visits: Visitation | None = mix(self.plan.components)
        elif isinstance(oracle, DynamicProgramming):
            visits = oracle.extreme_point(gradient, self.situation, np.random.default_rng(0), pair)
        else:
            visits = oracle.beginning_with(gradient, self.situation, pair)
        if visits is None or not self.problem.deterministic or isinstance(oracle, DynamicProgramming):
            return visits
        path = single_path(oracle, self.problem.process, gradient, self.situation, visits)
        return path if path is not None or not oracle.can_be_completed(self.situation, pair) else visits

    def _option(
        self, pair: int, leaves: float, at_once: float | None = None, rest: float | None = None, at_least: bool = False
    ) -> MoveOption:
        process = self.problem.process
        row = process.transitions[[pair]]
        outcomes = row.indices[np.argsort(-row.data, kind="stable")]
        return MoveOption(
            process.actions[process.pair_action[pair]],
            tuple(process.describe(int(state)) for state in outcomes),
            float(self._planned.get(pair, 0.0)),
            leaves,
            at_once,
            rest,
            at_least,
            self._asked == pair,
        )

    def _best_path(self, known: list[Visitation]) -> tuple[float, Point] | None:
        """The single path that leaves least, of those found; None where chance moves the plant, or none is a path."""
        if not self.problem.deterministic:
            return None
        paths = [visits for visits in known if visits.is_path]
        if not paths:
            return None
        leaves = [self.scale.value(visits) for visits in paths]
        best = paths[int(np.argmin(leaves))]
        first = int(best.pair[int(best.step.argmin())])
        return min(leaves), self.problem.describe(int(self.problem.process.successor[first]))
