"""Is enough known? The probability that the recommendation is within a tolerance of the best point that an episode can reach.

With the recommendation z* and the results D it is

    P( max over reachable z of f(z) - f(z*) <= tolerance | D ),

or the same of the scores of another goal than the largest output (`surrogate/goal.py`):
the share of functions drawn from the posterior that it holds for. They are drawn jointly at z* and at those places that may
beat it: exactly on a finite process, and on a continuous plant where functions drawn from the posterior have their maxima.
Where the model is learned, each function is drawn from the posterior of other hyper-parameters, as uncertain as they are.
The random numbers have a stream of their own that follows from the seed and the number of results: the campaign's moves do not
depend on it, and it is the same after loading.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.blas_threads import one_blas_thread
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.knowledge.certainty import Certainty
from tcbo_pyomo.surrogate.hyperparameter_draws import drawn_models
from tcbo_pyomo.surrogate.joint_moments import Moments
from tcbo_pyomo.surrogate.linearisation import has_mechanism, relinearised

if TYPE_CHECKING:
    from tcbo_pyomo.knowledge.knowledge import Knowledge

DRAWS = 4096
"""Functions drawn: at 0.9 the share has a standard error of 0.005."""
MODELS = 32
"""Sets of hyper-parameters among which they are divided where the model is learned."""
STREAM = 5
"""Of the random numbers that follow from the campaign's seed."""


@timed("certainty")
def certainty_of(knowledge: Knowledge[Any]) -> Certainty | None:
    """How sure it is, where the settings have a stop; None without one, and before the first result."""
    stop = knowledge.settings.stop
    if not stop.active or not knowledge.history.told:
        return None
    with one_blas_thread():
        tolerance = _tolerance(knowledge)
        missed = drawn_regrets(knowledge, tolerance)
    probability = float(np.mean(missed <= tolerance))
    alone = stop.identified and knowledge.problem.keeps_candidates and len(knowledge.candidates) == 1
    return Certainty(probability, tolerance, stop.probability, alone or probability >= stop.probability)


def drawn_regrets(knowledge: Knowledge[Any], tolerance: float) -> Array:
    """What the recommendation misses on each of many drawn functions, in the unit of the output.

    Places that are hardly ever better by more than the tolerance are left out.
    """
    generator = np.random.default_rng(np.random.SeedSequence([knowledge.seed, STREAM, len(knowledge.history.told)]))
    moments = list(_moments(knowledge, tolerance, generator))
    missed = []
    for number, given in enumerate(moments):
        count = DRAWS // len(moments) + (number < DRAWS % len(moments))
        values = given.drawn(generator.standard_normal((count, len(given.mean))))
        scores = knowledge.problem.goal.score(knowledge.scale.output(values))
        missed.append(scores.max(axis=1) - scores[:, 0])
    return np.concatenate(missed)


def _moments(knowledge: Knowledge[Any], tolerance: float, generator: np.random.Generator) -> Iterator[Moments]:
    """The posterior at the recommendation and its rivals: of the model, or of several that it may be."""
    rivals = knowledge.rivals(_modelled_tolerance(knowledge, tolerance), generator)
    if knowledge.learner is None or knowledge.learned is None:
        yield knowledge.moments_at(rivals)
        return
    places, (points, values, noise) = knowledge.inputs_of(rivals), knowledge.results()
    for kernel, noise_factor in drawn_models(knowledge.learner.kernel, knowledge.learned, MODELS, generator):
        data = points, values, noise * noise_factor
        yield Moments.given(relinearised(kernel, *data) if has_mechanism(kernel) else kernel, *data, places)


def _modelled_tolerance(knowledge: Knowledge[Any], tolerance: float) -> float:
    """The tolerance on the scale that is modelled, at the recommendation."""
    mean = knowledge.belief.predict(knowledge.seen([knowledge.recommendation]))[0]
    value, sign = float(knowledge.scale.output(mean[0])), knowledge.goal.sign
    return sign * float(knowledge.scale.modelled(value + sign * tolerance) - mean[0])


def _tolerance(knowledge: Knowledge[Any]) -> float:
    stop = knowledge.settings.stop
    if stop.regret is not None:
        return stop.regret
    deviation = float(knowledge.predict([knowledge.recommendation])[1][0])
    learned = knowledge.noise_factor / knowledge.scale.noise_factor
    return min(deviation, float(np.sqrt(learned * knowledge.problem.typical_noise)))
