"""The eager move where every place is one move away (ours): measure at once, or go there and stay.

A measurement after a long move may be a bad one, and the same place measured again without a move a good one: on a beam that
has to settle one cannot have both. With W(x') the worth of a place to the expected regret (`expected_regret.py`) the next
measurement there brings W / (Var f(x') + s), where s is the noise variance of the move; the two measurements of going there
and staying once bring W / (Var f(x') + 1 / (1 / s + 1 / s0)), where s0 is that of staying, and take two moves. The move is made
for the larger gain per move:

    max(W / (Var f(x') + s),  W / (Var f(x') + 1 / (1 / s + 1 / s0)) / 2).

Staying longer than once was tried and changes nothing: the next move decides that. Only places with mean + 3 sd above the mean
of the recommendation are looked at. A model that is too sure of itself finds all that is near the recommendation decided, and
would spend the moves on far places with low means.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.planning.finite.utility import Linearisation
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.problem.finite import Problem

PLAUSIBLE = 3.0
"""Standard deviations above the mean by which a place may still be better than the recommendation."""


def staying_noise(problem: Problem, noise_variance: Array) -> Array:
    """Noise variance of a measurement made without leaving each state (n); infinite where the plant may not stay.

    Of a deterministic process; `noise_variance` is that after each of its pairs.
    """
    process = problem.process
    found = np.full(process.number_of_states, np.inf)
    stays = np.flatnonzero(problem.sets.allowed_pairs & (process.successor == process.pair_state))
    np.minimum.at(found, process.pair_state[stays], noise_variance[stays])
    return found


@timed("utility")
def gains_per_move(process: Process, tangent: Linearisation, state: int, staying: Array) -> Array:
    """What each pair of a state brings per move: by one measurement, or by two of which the second is made staying there."""
    assert tangent.gains is not None and tangent.posterior is not None
    pairs = slice(int(process.pair_offsets[state]), int(process.pair_offsets[state + 1]))
    arrived = process.successor[pairs]
    variance = tangent.posterior.variance_of(arrived)
    noise = tangent.noise_factor * process.noise_variance[pairs]
    return per_move(tangent.gains[pairs], variance, noise, tangent.noise_factor * staying[arrived])


def per_move(gains: Array, variance: Array, noise: Array, staying: Array) -> Array:
    """The larger of the gain of one measurement and half of that of two, from the variances of f and of both measurements."""
    together = 1.0 / (1.0 / noise + 1.0 / staying)
    return gains * np.maximum(1.0, 0.5 * (variance + noise) / (variance + together))


def plausible(bounds: Array, best: float, usable: Mask) -> Integers:
    """Positions of the usable moves to places that may be better than the best; of all usable ones where none does."""
    (found,) = np.nonzero(usable & (bounds >= best))
    return found if len(found) else np.flatnonzero(usable)
