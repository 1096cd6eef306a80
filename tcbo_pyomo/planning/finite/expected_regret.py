"""Expected regret as the utility (ours, `utility.objective: regret`): what the recommendation may still be missing.

With the recommendation z* (the largest posterior mean) and planned visits d,

    U(d) = sum_z w_z E[(f(z) - f(z*))+ | history and planned visits d] = sum_z w_z sd_z (phi(u_z) + u_z Phi(u_z)),
    sd_z^2 = Var[f(z) - f(z*) | d],   u_z = (mean(z) - mean(z*)) / sd_z.

With all w_z = 1 it bounds the expected regret E[max f - f(z*)] from above, the looser the more alike places it adds up. So a
crowd of m alike places counts as one, w_z = 1 / m (`surrogate/alike_places.py`); on a grid there are no crowds. The paper's
utility is the largest variance among candidates; it spends moves on places that are barely candidates. Here each pair counts
by how likely it decides the maximum: section 3.1 has the squared difference (f(z) - f(z'))^2 in the denominator before a bound
removes it. One measurement at x' reduces sd_z^2 by Cov[f(z) - f(z*), f(x')]^2 / (Var f(x') + sigma^2), and
dU / d sd_z^2 = w_z phi(u_z) / (2 sd_z), so a visit of a pair is worth

    gain(x, a) = sum_x' P(x'|x, a) / (Var f(x') + sigma^2(x, a, x')) sum_z w_z phi(u_z) / (2 sd_z) Cov[f(z) - f(z*), f(x')]^2.

Unlike the tangent, which promises 1 / sigma^2, that is what one measurement really brings. U is not convex in d, so no gap can
be certified for it.

For another goal z* is what that goal recommends, and scores stand for f: for a target, how much closer z is than z*.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.planning.finite.move_information import MoveInformation
from tcbo_pyomo.planning.finite.utility import Linearisation, Posterior
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal
from tcbo_pyomo.surrogate.rivals import Rivals

PLACES = 256
"""How many places z stand for all of them in the sum of a gain; the sum is exact up to so many."""

NEGLIGIBLE = 1e-5
"""A rival with less than this share of the largest regret does not count in a gain."""


class ExpectedRegret:
    """U as a function of planned visits, with what one more visit of each state-action pair is worth.

    Parameters
    ----------
    process
        The plant.
    posterior
        Function from information per state (n; None for no planned visits) to a `Posterior`, as for `Utility`.
    places
        The states among which the maximum is sought (n, True or False).
    mean
        Posterior mean of every state (n).
    noise_factor
        What was learned about the noise: the factor that `process` has on the variances of the plant.
    information
        What planned moves teach about each state; about where they arrive when not given.
    recommended
        z*, the state with the largest mean when not given.
    goal
        Which values are better.
    shares
        w_z of every state (n); all one when not given.
    """

    def __init__(
        self,
        process: Process,
        posterior: Callable[[Array | None], Posterior],
        places: Mask,
        mean: Array,
        noise_factor: float = 1.0,
        information: MoveInformation | None = None,
        recommended: int | None = None,
        goal: Goal = MAXIMISE,
        shares: Array | None = None,
    ) -> None:
        self.goal = goal
        self.process, self.posterior, self.mean, self.noise_factor = process, posterior, mean, noise_factor
        self.information = information or MoveInformation(process)
        largest = int(np.where(places, mean, -np.inf).argmax())
        self.recommended = largest if recommended is None else recommended
        rivals = places.copy()
        rivals[self.recommended] = False
        self.rivals = np.flatnonzero(rivals)
        self.shares = np.ones(len(self.rivals)) if shares is None else shares[self.rivals]

    @timed("utility")
    def value(self, visitation: Visitation | None = None) -> float:
        """U at a visitation; None for the history alone."""
        posterior = self.posterior(self.information.planned(visitation))
        rivals = self._rivals(posterior, posterior.covariance_with(self.recommended, None))
        return float((self.shares * self.goal.missed(rivals)[0]).sum())

    @timed("utility")
    def linearise(self, visitation: Visitation | None = None) -> Linearisation:
        """U at a visitation, and by how much one more visit of each pair lowers it; None for the history alone."""
        posterior = self.posterior(self.information.planned(visitation))
        shared = posterior.covariance_with(self.recommended, None)
        rivals = self._rivals(posterior, shared)
        missed, slope = self.goal.missed(rivals)
        regret = self.shares * missed
        chosen, share = standing_for_all(regret)
        weight = share * (self.shares * slope)[chosen] / (2.0 * rivals.deviation[chosen])
        gap = posterior.covariances_of(self.rivals[chosen])
        np.subtract(gap, shared, out=gap)
        worth = weight @ np.multiply(gap, gap, out=gap)
        gains = self.information.arrival_gains(worth, posterior.variance)
        planned = gains if self.information.convention == "arrival" else self.information.gains(worth, posterior.variance)
        rival = int(self.rivals[missed.argmax()]) if len(missed) else None
        known = None, posterior, self.mean, self.noise_factor, gains, self.goal
        return Linearisation(float(regret.sum()), self.recommended, rival, -planned, *known)

    def _rivals(self, posterior: Posterior, shared: Array) -> Rivals:
        """The recommended state and all others, given the covariances with f(z*)."""
        best, others = self.recommended, self.rivals
        variance = (posterior.variance - 2.0 * shared)[others] + shared[best]
        deviation = np.sqrt(np.maximum(variance, 0.0))
        mean = self.mean[best], self.mean[others]
        return Rivals(mean[0], shared[best], mean[1], posterior.variance[others], shared[others], deviation)


def standing_for_all(regret: Array) -> tuple[Integers, Array]:
    """Positions of the rivals that count, and for how many each does.

    All but the negligible ones, up to `PLACES`; of more a systematic sample in proportion to their regret, which estimates
    the sum without bias and depends on no random number.
    """
    counting = np.flatnonzero(regret > NEGLIGIBLE * regret.max(initial=0.0))
    if len(counting) <= PLACES:
        return counting, np.ones(len(counting))
    running = np.cumsum(regret[counting])
    positions = np.searchsorted(running, running[-1] * (np.arange(PLACES) + 0.5) / PLACES)
    chosen = counting[positions]
    return chosen, running[-1] / (PLACES * regret[chosen])
