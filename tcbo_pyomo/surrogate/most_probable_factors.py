"""Learning what was declared loosely: lengthscales and noise by their largest posterior density.

A pure function of what was declared and of the results in the order told: the same starts every time, never the last answer.
So a campaign that is loaded, corrected or repeated believes the same, bit for bit, and no early mistake lives on. The answer
is never less probable than what was declared, which is one of the starts.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.blas_threads import one_blas_thread
from tcbo_pyomo.surrogate.hyperparameter_density import HyperparameterDensity
from tcbo_pyomo.surrogate.kernel_factors import Factors, Learned, Spreads, with_factors
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

STARTS = (0.0, -2.0, -1.0, 1.0, 2.0)
"""Where searches may begin, in spreads of the lengthscales: as declared, shorter, longer."""
SEARCHES = 2
"""The number of the most probable starts from which a search begins."""
SEARCH = {"maxiter": 40, "ftol": 1e-6, "gtol": 1e-2}
"""A lengthscale to one part in a hundred is all that a belief needs."""
FEWEST_RESULTS = 5
MOST_RESULTS = 150
"""More results are thinned out evenly: a lengthscale needs no more, and the cost grows with the cube of their number."""
STEP = 1e-3
"""Of the finite differences for the curvature at the answer."""


def learn(kernel: Kernel, spreads: Spreads, points: Array, values: Array, noise_variances: Array) -> Learned:
    """The most probable factors on the declared kernel and noise.

    Parameters
    ----------
    kernel, spreads
        What was declared, and how surely.
    points, values, noise_variances
        Results in the order told: n x d scaled points, n values, n noise variances as declared. Those with infinite noise
        teach nothing.
    """
    declared = Learned(kernel, Factors((1.0,) * points.shape[1]), len(values), lambda: spreads)
    if not np.isfinite(noise_variances).all():
        kept = np.flatnonzero(np.isfinite(noise_variances))
        points, values, noise_variances = points[kept], values[kept], noise_variances[kept]
    if len(values) < FEWEST_RESULTS:
        return declared
    if len(values) > MOST_RESULTS:
        kept = np.linspace(0, len(values) - 1, MOST_RESULTS).round().astype(np.int64)
        points, values, noise_variances = points[kept], values[kept], noise_variances[kept]
    density = HyperparameterDensity(kernel, spreads, points, values, noise_variances)
    if len(density.free) == 0:
        return declared
    theta = _most_probable(density, points.shape[1])
    factors = density.factors(theta)
    curvature = partial(_uncertainty, kernel, spreads, (points, values, noise_variances), theta)
    return Learned(with_factors(kernel, factors), factors, declared.results, curvature)


def _most_probable(density: HyperparameterDensity, dimension: int) -> Array:
    """The best end of searches from the most probable starts; what was declared where none is better."""
    from scipy.optimize import minimize  # Loaded only where it is needed: campaigns with a given kernel learn nothing.

    starts = [np.where(density.free < dimension, shift * density.spreads, 0.0) for shift in STARTS]
    known = {start.tobytes(): density(start) for start in starts}

    def loss(theta: Array) -> tuple[float, Array]:
        value, slope = known.get(theta.tobytes()) or density(theta)
        return -value, -slope

    values = [known[start.tobytes()][0] for start in starts]
    best, best_value = starts[0], values[0]
    for position in np.argsort(-np.array(values), kind="stable")[:SEARCHES]:
        search = minimize(loss, starts[position], jac=True, method="L-BFGS-B", bounds=density.bounds, options=SEARCH)
        if -search.fun > best_value:
            best, best_value = search.x, -search.fun
    return best


def _uncertainty(kernel: Kernel, spreads: Spreads, results: tuple[Array, Array, Array], theta: Array) -> Spreads:
    """Spreads after the results: the curvature of log p at the answer, never wider than before."""
    with one_blas_thread():
        return _curvature(HyperparameterDensity(kernel, spreads, *results), theta, results[0].shape[1])


def _curvature(density: HyperparameterDensity, theta: Array, dimension: int) -> Spreads:
    size = len(theta)
    curvature = np.empty((size, size))
    for i in range(size):
        shift = STEP * np.eye(size)[i]
        curvature[i] = (density(theta - shift)[1] - density(theta + shift)[1]) / (2.0 * STEP)
    curvature = 0.5 * (curvature + curvature.T)
    eigenvalues, vectors = np.linalg.eigh(curvature)
    # Where the density is flat or a bound holds the answer back, the prior alone says how uncertain it is.
    least = float((density.spreads**-2.0).min())
    covariance = (vectors / np.maximum(eigenvalues, least)) @ vectors.T
    spread = np.zeros(dimension + 2)
    spread[density.free] = np.minimum(np.sqrt(covariance.diagonal()), density.spreads)
    return Spreads(tuple(spread[:dimension].tolist()), float(spread[-2]), float(spread[-1]))
