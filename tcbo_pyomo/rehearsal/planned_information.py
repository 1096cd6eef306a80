"""`mdp_bo` with one component for many simulated campaigns: the utility at the history, its plan, and the first move.

What a visit of state x is worth to a plan is W(x) / sigma^2 for variances of differences, with W(x) the squared covariance of x
with the pair being separated; for the expected regret it is W(x) / (Var f(x) + sigma^2), W(x) summed over all rivals of the
recommendation, a crowd of alike ones as one (`planning/finite/utility.py`, `planning/finite/expected_regret.py`). What the
next measurement brings at once is W(x) / (Var f(x) + sigma^2) for both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.planning.finite.dynamic_programming import TIE
from tcbo_pyomo.planning.finite.eager_move import WIDTH
from tcbo_pyomo.planning.finite.expected_regret import standing_for_all
from tcbo_pyomo.planning.finite.farthest_pair import TIE as TIE_OF_PAIRS
from tcbo_pyomo.planning.finite.go_and_stay import PLAUSIBLE
from tcbo_pyomo.planning.ties import one_of_the_largest
from tcbo_pyomo.rehearsal.plant_tables import one_of_the_best
from tcbo_pyomo.rehearsal.simulated_method import Scene
from tcbo_pyomo.surrogate.rivals import Rivals


@dataclass(frozen=True)
class PlannedInformation:
    """The first move of the plan that teaches most.

    Attributes
    ----------
    objective
        "differences", "g_allocation" or "regret".
    eager
        Whether the first move is the eager one, not that of the plan itself.
    departure
        Whether a move, made or planned, informs about where it leaves.
    width
        Standard deviations of the credible band.
    """

    objective: str
    eager: bool
    departure: bool
    width: float
    wants_covariance = True

    def choose(self, scene: Scene) -> Integers:
        """For each draw the row of its pair."""
        variance, tables = scene.design.variance, scene.tables
        worth = self._regret_worth(scene) if self.objective == "regret" else self._variance_worth(scene)
        costs = tables.costs(worth, variance if self.objective == "regret" else None, self.departure)
        to_go = scene.to_go(costs)
        if not self.eager:
            return one_of_the_best(-to_go, scene.usable, TIE, scene.generator)
        gains = tables.next_gains(scene.pairs, worth, variance)
        good = self._good_enough(scene, to_go)
        everywhere = tables.everywhere_next[scene.states]
        if everywhere.any() and self.objective == "regret":
            good = np.where(everywhere, self._plausible(scene), good)
            if scene.step < tables.problem.horizon - 1:
                gains = np.where(everywhere, tables.gains_per_move(scene.pairs, gains, variance), gains)
        elif everywhere.any():
            good = np.where(everywhere, self._highest(scene), good)
        return one_of_the_best(gains, good, TIE, scene.generator)

    def _good_enough(self, scene: Scene, to_go: Array) -> Mask:
        """The moves among which the eager one is chosen (A x D), as in `planning/finite/eager_move.py`."""
        usable = scene.usable
        learned = -np.where(usable, to_go, np.inf).min(axis=0)
        left = scene.tables.problem.horizon - scene.step
        # At the price of a budget a whole plan may cost more than it teaches; the share of one move is a loss then, too.
        good: Mask = usable & (-to_go >= learned - np.abs(learned) * (1.0 / left + TIE))
        return good

    def _highest(self, scene: Scene) -> Mask:
        """Where every place is one move away: the moves to the largest upper confidence bound (A x D)."""
        reached = np.where(scene.usable, self._bounds(scene, WIDTH), -np.inf)
        best = reached.max(axis=0)
        good: Mask = scene.usable & (reached >= best - TIE * np.abs(best))
        return good

    def _plausible(self, scene: Scene) -> Mask:
        """Where every place is one move away: the moves to what may be better than the recommendation (A x D)."""
        mean, draws = scene.beliefs.mean, np.arange(len(scene.states))
        best = scene.goal.score(mean[draws, scene.beliefs.recommended(scene.goal, scene.tables.space)])
        good: Mask = scene.usable & (self._bounds(scene, PLAUSIBLE) >= best)
        return np.where(good.any(axis=0), good, scene.usable)

    def _bounds(self, scene: Scene, width: float) -> Array:
        """The upper confidence bound of where each pair leads (A x D)."""
        bound = scene.goal.optimistic(scene.beliefs.mean, np.sqrt(scene.design.variance), width)
        return scene.tables.expected(scene.pairs, bound)

    def _variance_worth(self, scene: Scene) -> Array:
        """The squared covariance of every state with the candidates that are known least (D x n)."""
        beliefs, design = scene.beliefs, scene.design
        lowest, highest = scene.goal.band(beliefs.mean, self.width * np.sqrt(beliefs.told_variance))
        best = np.where(scene.tables.space, lowest, -np.inf).max(axis=1)
        candidates = (highest >= best[:, None]) & scene.tables.space
        worth = np.empty_like(beliefs.mean)
        for draw, chosen in enumerate(candidates[:, design.rows]):
            covariance, variance = design.covariance[draw], design.variance[draw]
            places = np.flatnonzero(chosen)
            if len(places) < 2 or self.objective != "differences":
                places = places if len(places) else np.arange(len(design.rows))
                known_least = one_of_the_largest(variance[design.rows[places]], TIE_OF_PAIRS, scene.generator)
                worth[draw] = covariance[places[known_least]] ** 2
                continue
            first, second = _farthest(covariance, variance, design.rows, places, scene.generator)
            worth[draw] = (covariance[first] - covariance[second]) ** 2
        return worth

    def _regret_worth(self, scene: Scene) -> Array:
        """What one more measurement at each state is worth (D x n), times Var f + sigma^2 there."""
        beliefs, design = scene.beliefs, scene.design
        draws = np.arange(len(beliefs.mean))
        recommended = beliefs.recommended(scene.goal, scene.tables.space)
        shared = design.covariance_with(recommended)
        own = shared[draws, recommended][:, None]
        rows = design.rows
        mean, best = beliefs.mean[:, rows], beliefs.mean[draws, recommended][:, None]
        deviation = np.sqrt(np.maximum(design.variance[:, rows] + own - 2.0 * shared[:, rows], 0.0))
        rivals = Rivals(best, own, mean, design.variance[:, rows], shared[:, rows], deviation)
        regret, slope = scene.goal.missed(rivals)
        counted = scene.tables.space[rows] & (rows != recommended[:, None])
        shares = scene.tables.problem.place_shares[rows]
        regret = np.where(counted, shares * regret, 0.0)
        worth = np.empty_like(beliefs.mean)
        for draw, missed in enumerate(regret):
            chosen, share = standing_for_all(missed)
            weight = share * (shares * slope[draw])[chosen] / (2.0 * deviation[draw, chosen])
            gap = design.covariance[draw][chosen] - shared[draw]
            np.multiply(gap, gap, out=gap)
            worth[draw] = weight @ gap
        return worth


def _farthest(
    covariance: Array, variance: Array, rows: Integers, places: Integers, generator: np.random.Generator
) -> tuple[int, int]:
    """The two of some places whose difference has the largest variance, as positions among the rows; ties at random."""
    known = variance[rows[places]]
    if len(places) == len(rows) == covariance.shape[1]:
        distance = -2.0 * covariance
    else:
        distance = -2.0 * covariance[places[:, None], rows[places]]
    distance += known
    distance += known[:, None]
    best = distance.max()
    left, right = np.nonzero(distance >= best - TIE_OF_PAIRS * abs(best))
    ordered = np.flatnonzero(left < right)
    if not len(ordered):  # All places are equal: any two are as good.
        return int(places[0]), int(places[1])
    one = ordered[0] if len(ordered) == 1 else ordered[generator.integers(len(ordered))]
    return int(places[left[one]]), int(places[right[one]])
