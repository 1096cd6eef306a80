"""Frank-Wolfe that knows when it is done (section 4): the utility minimised over D to a certified relative gap.

The utility is a maximum over pairs of candidates, hence not smooth: a step along the gradient of one pair makes another
pair the worst, and plain Frank-Wolfe zigzags without knowing how far it is. Here each round

1. finds the best mixture of all visitations known so far (`corrective_step`), adding every pair that turns out to be
   worse as one more function of the maximum, until none is: its utility is the upper bound;
2. asks the linear oracle for the visitation that the pairs want, weighted as that mixture balances them. By convexity,
   for any weights lambda,

       min over d' in D of  sum_i lambda_i [U_i(d) + <grad U_i(d), d' - d>]   <=   min over D of U,

   so the same answer is a lower bound of the optimum, and one more visitation.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.deadline import Deadline
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.planning.finite.active_pairs import ActivePairs
from tcbo_pyomo.planning.finite.corrective_step import CorrectiveStep, Mixture
from tcbo_pyomo.planning.finite.utility import Linearisation, Posterior, Utility

logger = logging.getLogger(__name__)

MAXIMUM_CALLS = 200
"""Linear subproblems after which a plan is used with the gap it has."""
STEPS_PER_ROUND = 60
"""Steps towards the best mixture before the next visitation is asked for."""
MASTER_SHARE = 0.5
"""The best mixture is found to this share of the gap still open: early mixtures need not be exact."""
FIRST_SHARE = 0.5
"""A new visitation starts with this share of what it would have in an even mixture."""
NEGLIGIBLE = 1e-3
"""Smaller shares are left out of the plan where the proof allows it."""
SAME = 1e-9
"""Two visitations are the same when they teach the same about every state, up to this share."""
FINEST = 1e-10
"""Below this relative tolerance rounding decides, and the search gives up."""
SMOOTHEST = 1e-15
"""The least smoothing of the maximum over pairs: with less, its level could not be distinguished from the largest of them."""


@dataclass(frozen=True)
class Certificate:
    """How far a plan is from the best possible one, with a proof: upper >= smallest utility of any policy >= lower.

    Attributes
    ----------
    upper
        The utility of the plan itself.
    lower
        No policy of the rest of the episode has a smaller utility than this. It is as exact as the linear oracle: to
        rounding with dynamic programming, to the solver's tolerance (1e-7 of the costs) with a linear programme.
    oracle_calls
        How many linear subproblems were solved.
    """

    upper: float
    lower: float
    oracle_calls: int

    @property
    def gap(self) -> float:
        """(upper - lower) / upper: at most this share of the plan's utility can be gained; 0 where it is 0."""
        return (self.upper - self.lower) / self.upper if self.upper > 0.0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for records."""
        return {"upper": self.upper, "lower": self.lower, "gap": self.gap, "oracle_calls": self.oracle_calls}


@dataclass(frozen=True)
class CertifiedMixture:
    """The plan and the proof.

    Attributes
    ----------
    components
        Weighted visitations; their mixture has the utility `certificate.upper`.
    certificate
        Bounds on the optimum.
    tangent
        The utility at the history alone.
    gradient
        The direction (one value per pair, or two: see `step_gradient`) whose linear optimum gave the best lower bound.
    offset
        lower = offset + min over D of <gradient, d>: the bound as a function of D, for other limits than the present.
    stopped
        Why the gap that was wanted is not reached, in words; empty where it is.
    """

    components: list[tuple[float, Visitation]]
    certificate: Certificate
    tangent: Linearisation
    gradient: Array
    offset: float
    stopped: str = ""


def certified_frank_wolfe(
    utility: Utility,
    extreme_point: Callable[[Array], Visitation],
    gap: float,
    maximum_calls: int = MAXIMUM_CALLS,
    deadline: Deadline | None = None,
) -> CertifiedMixture:
    """Minimise the utility until (upper - lower) / upper <= gap.

    Parameters
    ----------
    utility
        The function to minimise.
    extreme_point
        The linear oracle: an optimal visitation for a gradient (one value per state-action pair).
    gap
        The relative gap wanted, between 0 and 1.
    maximum_calls
        Linear subproblems allowed; when they are used up the plan comes with the gap it has, and a warning is logged.
    deadline
        The same where the time is over; none in a campaign, whose moves must not depend on the speed of the machine.
    """
    tangent = utility.linearise(None)
    search = _Search(utility, extreme_point, tangent)
    share, stopped = MASTER_SHARE, ""
    while search.certificate.gap > gap:
        stopped = _why_stop(search.calls, maximum_calls, share, deadline)
        if stopped:
            logger.warning("after %d subproblems the certified gap is %.2g", search.calls, search.certificate.gap)
            break
        mixture = search.correct(share * search.certificate.gap)
        if search.certificate.gap > gap and not search.bound(mixture) and mixture.centred:
            share *= 0.1  # Nothing new: what is known has to be mixed more exactly.
    search.simplify(gap)
    return CertifiedMixture(search.components(), search.certificate, tangent, search.gradient, search.offset, stopped)


def _why_stop(calls: int, maximum_calls: int, share: float, deadline: Deadline | None) -> str:
    """Why a search ends with the gap it has; empty where it goes on."""
    if deadline is not None and deadline.passed:
        return f"the time limit of {deadline.seconds:g} s was reached"
    if calls >= maximum_calls:
        return f"{maximum_calls} linear subproblems were solved, the maximum"
    return "rounding errors prevent more" if share < FINEST else ""


class _Search:
    """What is known so far: visitations, active pairs, the best mixture and the best bound."""

    def __init__(self, utility: Utility, extreme_point: Callable[[Array], Visitation], tangent: Linearisation) -> None:
        self.utility, self.extreme_point = utility, extreme_point
        self.active = ActivePairs(utility)
        self.visitations: list[Visitation] = []
        self.information = np.empty((utility.process.number_of_states, 0))
        # A visit never makes us know less, and a variance is never negative: the first bounds.
        self.upper, self.lower, self.calls = tangent.value, 0.0, 0
        self.gradient, self.offset = tangent.gradient, tangent.value
        self.weights = self.best_weights = np.ones(1)
        self.ask(tangent.gradient, tangent.value)
        self.look(self.utility.posterior(self.information @ self.weights), self.weights)

    @property
    def certificate(self) -> Certificate:
        """The bounds so far."""
        return Certificate(self.upper, min(self.lower, self.upper), self.calls)

    def ask(self, gradient: Array, offset: float) -> bool:
        """One linear subproblem: a visitation (whether it is new), and the bound offset + <gradient, visitation>."""
        visitation = self.extreme_point(gradient)
        self.calls += 1
        visits = self.utility.information.visits(visitation)
        bound = offset + float(np.vdot(gradient, visits))
        if bound > self.lower:
            self.lower, self.gradient, self.offset = bound, gradient, offset
        learned = self.utility.information.about_states(visits)
        if (np.abs(self.information - learned[:, None]) <= SAME * np.abs(learned).max()).all(axis=0).any():
            return False
        self.visitations.append(visitation)
        self.information = np.column_stack([self.information, learned])
        return True

    def look(self, posterior: Posterior, weights: Array) -> bool:
        """The utility of a mixture: one more upper bound, and one more active pair; whether the pair is new."""
        value, new = self.active.add_worst(posterior)
        if value < self.upper:
            self.upper, self.best_weights = value, weights
        return new

    def correct(self, tolerance: float) -> Mixture:
        """The best mixture of the known visitations, to a relative tolerance."""
        functions = len(self.active.pairs) + len(self.visitations)
        step = CorrectiveStep(self.active, self.information, self.upper, max(tolerance / functions, SMOOTHEST))
        mixture = step.at(self.weights)
        for _ in range(STEPS_PER_ROUND):
            mixture = step.improve(mixture)
            if self.look(mixture.tangents.posterior, mixture.weights):
                mixture = step.at(mixture.weights, mixture.tangents.posterior)
            elif mixture.centred:
                break
        self.weights = mixture.weights
        self.active.keep_near_the_worst(mixture.tangents.values)
        return mixture

    def bound(self, mixture: Mixture) -> bool:
        """Ask for the visitation that the weighted pairs want; whether it is new."""
        tangents, weights = mixture.tangents, mixture.pair_weights(self.information)
        slope = weights @ tangents.slopes
        offset = float(weights @ tangents.values - slope @ tangents.information)
        new = self.ask(self.utility.information.gradient(slope), offset)
        if new:
            first = FIRST_SHARE / len(self.visitations)
            self.weights = np.append(self.weights * (1.0 - first), first)
        return new

    def simplify(self, gap: float) -> None:
        """Leave out negligible shares if the gap stays proven."""
        weights = np.where(self.best_weights >= NEGLIGIBLE, self.best_weights, 0.0)
        weights /= weights.sum()
        value = self.utility.worst(self.utility.posterior(self.information[:, : len(weights)] @ weights))[2]
        if Certificate(value, min(self.lower, value), self.calls).gap <= max(gap, self.certificate.gap):
            self.upper, self.best_weights = value, weights

    def components(self) -> list[tuple[float, Visitation]]:
        """The best mixture."""
        shares = zip(self.best_weights.tolist(), self.visitations, strict=False)
        return [(weight, visitation) for weight, visitation in shares if weight > 0.0]
