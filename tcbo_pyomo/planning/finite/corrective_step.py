"""The fully corrective step: the best mixture of all visitations found so far, for all active pairs at once.

The maximum over pairs is smoothed with a controlled error. Over mixture weights alpha > 0 that sum to one, and a level t,

    minimise  t - mu sum_i log(t - U_i(alpha)) - mu sum_k log(alpha_k),

a barrier function whose minimum lies within mu (I + K) of the best mixture of the K visitations for the I pairs. The
multipliers lambda_i = mu / (t - U_i) sum to one and are, to the same accuracy, the weights of the pairs that give the best
lower bound. It is minimised by Newton's method with the exact second derivatives

    d2 U_i / dw(x) dw(y) = 2 Cov[f_i, f(x)] Cov[f(x), f(y)] Cov[f(y), f_i],      f_i = f(z_i) - f(z'_i),

which takes a few steps from the last mixture, whatever the number of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.planning.finite.active_pairs import ActivePairs, Tangents
from tcbo_pyomo.planning.finite.utility import Posterior

INSIDE = 0.9
"""Share of the way to the nearest zero weight that a step may go."""
HALVINGS = 30
"""Times a step is halved before it is given up: then rounding decides."""
SUFFICIENT = 0.1
"""Share of the decrease that a step promises which it has to keep."""
ROUNDING = 1e-14
"""Of the barrier function: differences below this are none."""
CENTRED = 4.0
"""The minimum is near when a Newton step promises less than this times mu."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture of the known visitations.

    Attributes
    ----------
    weights
        Shares of the visitations (K), all positive.
    tangents
        The active pairs there.
    multipliers, foretold
        lambda_i of the active pairs (I): what they are, and what the last Newton step expected them to be.
    barrier
        The value of the barrier function.
    centred
        Whether it is near the minimum.
    """

    weights: Array
    tangents: Tangents
    multipliers: Array
    foretold: Array
    barrier: float
    centred: bool = False

    def pair_weights(self, information: Array) -> Array:
        """Shares of the pairs in the lower bound: of the two multipliers those whose bound over the known is larger."""
        tangents = self.tangents.at(information)
        return max(self.multipliers, self.foretold, key=lambda weights: float((weights @ tangents).min()))


class CorrectiveStep:
    """The barrier function of some pairs and visitations.

    Parameters
    ----------
    active
        The pairs.
    information
        What each visitation teaches about each state (n x K).
    scale
        Utilities are divided by this.
    mu
        Smoothing; the smaller, the nearer to the best mixture.
    """

    def __init__(self, active: ActivePairs, information: Array, scale: float, mu: float) -> None:
        self.active, self.information, self.scale, self.mu = active, information, scale, mu
        self._visited = np.flatnonzero(information.any(axis=1))

    def at(self, weights: Array, posterior: Posterior | None = None) -> Mixture:
        """The mixture of given weights; `posterior` where it is known already."""
        tangents = self.active.tangents(self.information @ weights, posterior)
        values = tangents.values / self.scale
        level = smooth_maximum(values, self.mu)
        room = level - values
        barrier = level - self.mu * float(np.log(room).sum() + np.log(weights).sum())
        multipliers = self.mu / room
        return Mixture(weights, tangents, multipliers, multipliers, barrier)

    def improve(self, here: Mixture) -> Mixture:
        """One Newton step, shortened until it helps; where none does, the same mixture."""
        if len(here.weights) == 1:
            return replace(here, centred=True)
        slopes = here.tangents.slopes @ self.information / self.scale
        # lambda_i changes with U_i at this rate, less what the level t takes back.
        rate = here.multipliers**2 / self.mu
        relative = slopes - rate @ slopes / rate.sum()
        gradient = here.multipliers @ slopes - self.mu / here.weights
        hessian = self._curvature(here) + (relative.T * rate) @ relative + np.diag(self.mu / here.weights**2)
        move = _newton_step(gradient, hessian)
        promised = -float(gradient @ move)
        falling = move < 0.0
        length = min(1.0, INSIDE * float((here.weights[falling] / -move[falling]).min(initial=np.inf)))
        for _ in range(HALVINGS):
            there = self.at(here.weights + length * move)
            if there.barrier <= here.barrier - SUFFICIENT * length * promised:
                foretold = np.maximum(here.multipliers + length * rate * (relative @ move), 0.0)
                # A step that promises less than rounding shows is a minimum, however far it was shortened.
                whole = length == 1.0 or promised <= ROUNDING * abs(here.barrier)
                near = whole and promised < CENTRED * self.mu
                return replace(there, foretold=foretold / foretold.sum(), centred=near)
            length *= 0.5
        return replace(here, centred=True)

    def _curvature(self, here: Mixture) -> Array:
        """Second derivatives of the weighted pairs by the mixture weights (K x K)."""
        states, tangents = self._visited, here.tangents
        covariances = tangents.covariances[:, states]
        among = (covariances.T * here.multipliers) @ covariances * tangents.posterior.covariance_of(states)
        information = self.information[states]
        return 2.0 / self.scale * (information.T @ among @ information)


def smooth_maximum(values: Array, mu: float) -> float:
    """The level t above all values at which sum mu / (t - value) = 1."""
    # One over the sum is concave and almost linear in t: Newton's method climbs to the root in a few steps.
    level = float(values.max()) + mu
    for _ in range(100):
        inverse = 1.0 / (level - values)
        total = float(inverse.sum())
        step = (mu * total - 1.0) * total / float(inverse @ inverse)
        level += step
        if step <= 1e-12 * mu:
            break
    return level


def _newton_step(gradient: Array, hessian: Array) -> Array:
    """The step to the minimum of the quadratic model among steps that sum to zero."""
    size = len(gradient)
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = hessian
    system[size, size] = 0.0
    try:
        move = np.linalg.solve(system, np.append(-gradient, 0.0))[:size]
    except np.linalg.LinAlgError:
        return np.zeros(size)
    return move if np.isfinite(move).all() else np.zeros(size)
