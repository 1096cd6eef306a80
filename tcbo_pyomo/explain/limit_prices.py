"""What each limit costs: the planning problem solved again with the limit a natural unit looser.

A shadow price is a slope and holds at the present limit only. So the limit is loosened by one natural unit (one more visit,
the least that a move uses of a budget, the next larger step of the grid, no end point) and the best policy is sought again;
the price is the change over that whole range. The smallest variance is convex in the limit, so the slope bounds the change:
where even the slope promises next to nothing, nothing is solved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from tcbo_pyomo.explain.looser_rows import LooserRows
from tcbo_pyomo.explain.move_facts import LimitPrice, Looser
from tcbo_pyomo.explain.shadow_prices import LookAhead, RowPrice, unaffordable
from tcbo_pyomo.models.constraints.budget import Budget
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.problem.finite import Problem


@dataclass(frozen=True, eq=False)
class PriceList:
    """Prices of all limits at one policy.

    Attributes
    ----------
    ahead
        Values and shadow prices at the best policy.
    plan
        That policy.
    leaves
        What it leaves.
    negligible
        Changes up to this are not worth a solve: the optimality gap.
    solve
        What the best policy of a changed problem leaves; None where there was no time for it.
    """

    ahead: LookAhead
    plan: Visitation
    leaves: float
    negligible: float
    solve: Callable[[Problem], float | None]

    def limits(self) -> tuple[LimitPrice, ...]:
        """Budgets and rows of the user's own, then the rules about single moves and states."""
        rows = sorted(self.ahead.rows, key=lambda row: row.component)
        found = [self._rows(list(group)) for _, group in groupby(rows, key=lambda row: row.component)]
        priced = {row.rule for row in rows}
        return (*found, *(self._single_moves(rule) for rule in self._problem.rules if rule.name not in priced))

    @property
    def _problem(self) -> Problem:
        return self.ahead.problem

    def _rows(self, rows: Sequence[RowPrice]) -> LimitPrice:
        """One component: a budget, or rows of the user's own that are loosened together."""
        first, amount = rows[0], min(row.unit for row in rows)
        rule = next(rule for rule in self._problem.rules if rule.name == first.rule)
        price = -sum(abs(row.shadow_price) for row in rows)
        slack = min((row.slack for row in rows if row.slack is not None), default=None)
        if isinstance(rule, Budget):
            changed: TransitionConstraint = rule.with_limit("limit", rule.limit + amount)
            text = f"{rule.limit + amount:.4g} instead of {rule.limit:.4g}"
        else:
            changed, text = LooserRows(rule, first.component, amount), _in_words(rows, amount)
        other = self._with(rule, changed)
        opens_moves = len(unaffordable(other, self.ahead.situation)) < len(
            unaffordable(self._problem, self.ahead.situation)
        )
        looser = self._looser(text, amount, math.inf if opens_moves else -price * amount, other)
        return LimitPrice(first.component, first.limits, slack, price, (looser,))

    def _single_moves(self, rule: TransitionConstraint) -> LimitPrice:
        """A rule about single moves or states: the next larger step, or the problem without it."""
        problem = self._problem
        text, slack = rule.describe(problem.coordinates), _plan_slack(rule, problem.process, self.plan)
        looser = tuple(self._steps(rule))
        note = ""
        if not looser and rule.limits_are_steps:
            note = "this plant has no larger steps; `tcbo whatif` can add them on a grid"
        elif not looser:
            worth = self.ahead.worth_with([other for other in problem.rules if other is not rule])
            looser = (self._looser("without it", None, worth, self._with(rule, None)),)
        return LimitPrice(rule.name, text, slack, None, looser, note)

    def _steps(self, rule: TransitionConstraint) -> Iterator[Looser]:
        for text, changed in rule.looser(self._problem.process):
            other = self._with(rule, changed)
            yield self._looser(text, None, self.ahead.worth_with(other.rules), other)

    def _looser(self, text: str, amount: float | None, at_most: float, other: Problem) -> Looser:
        if at_most <= self.negligible:
            return Looser(text, amount, self.leaves - at_most, -at_most, by_bound=True)
        solved = self.solve(other)
        if solved is None:
            return Looser(text, amount, self.leaves, 0.0, unsolved=True)
        # More freedom never leaves more: anything above is the optimality gap.
        leaves = min(solved, self.leaves)
        return Looser(text, amount, leaves, leaves - self.leaves)

    def _with(self, rule: TransitionConstraint, changed: TransitionConstraint | None) -> Problem:
        rules = [changed if other is rule else other for other in self._problem.rules]
        return self._problem.changed(constraints=tuple(other for other in rules if other is not None))


def _in_words(rows: Sequence[RowPrice], amount: float) -> str:
    """`3 instead of 2` for one limit; `0.5 more room` for several."""
    finite = {limit for row in rows for limit in (row.lower, row.upper) if math.isfinite(limit)}
    if len(finite) != 1:
        return f"{amount:.4g} more room"
    (limit,) = finite
    return f"{limit + amount if math.isfinite(rows[0].upper) else limit - amount:.4g} instead of {limit:.4g}"


def _plan_slack(rule: TransitionConstraint, process: Process, plan: Visitation) -> float | None:
    """The smallest room of any move of a plan; None for rules that are kept or broken, with nothing in between."""
    moves = process.transitions[plan.pair]
    left = process.states[np.repeat(process.pair_state[plan.pair], np.diff(moves.indptr))]
    room = rule.room(process.coordinates, left, process.states[moves.indices])
    return None if room is None else max(0.0, room)
