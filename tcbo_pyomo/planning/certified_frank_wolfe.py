"""Frank-Wolfe that knows when it is done (section 4): the utility minimised over D to a certified relative gap.

The utility is a maximum over pairs of candidates, hence not smooth: a step along the gradient of one pair makes another
pair the worst, and plain Frank-Wolfe zigzags without knowing how far it is. Here each round

1. finds the best mixture of all visitations known so far (`corrective_step`), adding every pair that turns out to be
   worse as one more function of the maximum, until none is: its utility is the upper bound;
2. weighs the active pairs so that the bound over the known visitations is largest (`minimax_weights`) and asks the
   linear oracle for the visitation those weights want. By convexity, for any weights lambda,

       min over d' in D of  sum_i lambda_i [U_i(d) + <grad U_i(d), d' - d>]   <=   min over D of U,

   so the same answer is a lower bound of the optimum, and one more visitation.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.coordinates import Array
from tcbo_pyomo.planning.active_pairs import ActivePairs, Tangents
from tcbo_pyomo.planning.certificate import Certificate
from tcbo_pyomo.planning.corrective_step import best_weights
from tcbo_pyomo.planning.minimax_weights import minimax_weights
from tcbo_pyomo.planning.utility import Linearisation, Utility
from tcbo_pyomo.planning.visitation import Visitation

logger = logging.getLogger(__name__)

MAXIMUM_CALLS = 200
"""Linear subproblems after which a plan is used with the gap it has."""
PAIRS_PER_ROUND = 50
"""Pairs added before the next visitation is asked for."""
MASTER_SHARE = 0.02
"""The best mixture is found to this share of the gap still open: early mixtures need not be exact."""
SAME = 1e-9
"""Two visitations are the same when they teach the same about every state, up to this share."""
FINEST = 1e-10
"""Below this relative tolerance rounding decides, and the search gives up."""


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
        The direction (one value per state-action pair) whose linear optimum gave the best lower bound.
    offset
        lower = offset + min over D of <gradient, d>: the bound as a function of D, for other limits than the present.
    """

    components: list[tuple[float, Visitation]]
    certificate: Certificate
    tangent: Linearisation
    gradient: Array
    offset: float


def certified_frank_wolfe(
    utility: Utility,
    extreme_point: Callable[[Array], Visitation],
    gap: float,
    maximum_calls: int = MAXIMUM_CALLS,
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
    """
    tangent = utility.linearise(None)
    search = _Search(utility, extreme_point, tangent)
    share = MASTER_SHARE
    while True:
        tangents = search.correct(share * max(gap, search.certificate.gap))
        if search.certificate.gap <= gap:
            break
        if search.calls >= maximum_calls or share < FINEST:
            logger.warning("after %d subproblems the certified gap is %.2g", search.calls, search.certificate.gap)
            break
        if not search.bound(tangents):
            share *= 0.1  # Nothing new: what is known has to be mixed more exactly.
    return CertifiedMixture(search.components(), search.certificate, tangent, search.gradient, search.offset)


class _Search:
    """What is known so far: visitations, active pairs, the best mixture and the best bound."""

    def __init__(self, utility: Utility, extreme_point: Callable[[Array], Visitation], tangent: Linearisation) -> None:
        self.utility, self.extreme_point = utility, extreme_point
        self.active = ActivePairs(utility)
        self.visitations: list[Visitation] = []
        self.information = np.empty((utility.process.number_of_states, 0))
        self.weights = np.empty(0)
        # A visit never makes us know less, and a variance is never negative: the first bounds.
        self.upper, self.lower, self.calls = tangent.value, 0.0, 0
        self.gradient, self.offset = tangent.gradient, tangent.value
        self.ask(tangent.gradient, tangent.value)
        self.weights = self.best_weights = np.ones(1)

    @property
    def certificate(self) -> Certificate:
        """The bounds so far."""
        return Certificate(self.upper, min(self.lower, self.upper), self.calls)

    def ask(self, gradient: Array, offset: float) -> bool:
        """One linear subproblem: a visitation (whether it is new), and the bound offset + <gradient, visitation>."""
        visitation = self.extreme_point(gradient)
        self.calls += 1
        counts = visitation.expected_counts(len(gradient))
        bound = offset + float(gradient @ counts)
        if bound > self.lower:
            self.lower, self.gradient, self.offset = bound, gradient, offset
        learned = self.utility.process.information_rate.T @ counts
        if (np.abs(self.information - learned[:, None]) <= SAME * np.abs(learned).max()).all(axis=0).any():
            return False
        self.visitations.append(visitation)
        self.information = np.column_stack([self.information, learned])
        self.weights = np.append(self.weights, 0.0)
        return True

    def correct(self, tolerance: float) -> Tangents:
        """The best mixture of the known visitations; the tangents of the active pairs there."""
        self.active.keep_near_the_worst(self.information @ self.weights)
        for _ in range(PAIRS_PER_ROUND):
            if self.active.pairs:
                self.weights = best_weights(self.active, self.information, self.weights, tolerance)
            here = self.information @ self.weights
            value, new = self.active.add_worst(self.utility.posterior(here))
            if value < self.upper:
                self.upper, self.best_weights = value, self.weights
            tangents = self.active.tangents(here)
            known = tangents.values[:-1].max(initial=0.0)
            if not new or value <= known * (1.0 + tolerance):
                break
        return tangents

    def bound(self, tangents: Tangents) -> bool:
        """Ask for the visitation that the best weights of the active pairs want; whether it is new."""
        weights = minimax_weights(tangents.at(self.information))
        slope = weights @ tangents.slopes
        offset = float(weights @ tangents.values - slope @ tangents.information)
        return self.ask(self.utility.process.information_rate @ slope, offset)

    def components(self) -> list[tuple[float, Visitation]]:
        """The best mixture."""
        shares = zip(self.best_weights.tolist(), self.visitations, strict=False)
        return [(weight, visitation) for weight, visitation in shares if weight > 0.0]
