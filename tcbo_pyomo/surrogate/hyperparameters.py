"""Hyper-parameters by maximum marginal likelihood (last line of the appendix on the Knorr kernel).

log p(y) = -1/2 (y - m)^T K^-1 (y - m) - 1/2 log |K| - n/2 log 2 pi,   K = k(X, X) + diag(sigma^2).

Fixed hyper-parameters are the rule in this package; a fit is made only when a user asks for it. The noise
variances are known and are never fitted.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

FEWEST_MEASUREMENTS = 3
LARGEST_FACTOR = 100.0
REFUSED = 1e100
"""What the search sees in place of an infinite loss: line searches need finite numbers to step back from."""


def log_marginal_likelihood(kernel: Kernel, points: ArrayLike, values: ArrayLike, noise_variances: ArrayLike) -> float:
    """Log density of the measured values under the prior; minus infinity where their covariance is singular.

    Parameters
    ----------
    kernel
        Covariance and prior mean.
    points, values, noise_variances
        n x d scaled points, n values, and n noise variances or one number for all.
    """
    inputs, outputs, noise = _checked(points, values, noise_variances)
    try:
        factor = np.linalg.cholesky(kernel(inputs, inputs) + np.diag(noise))
    except np.linalg.LinAlgError:
        return -math.inf
    whitened = solve_triangular(factor, outputs - kernel.mean(inputs), lower=True)
    log_determinant = 2.0 * float(np.log(np.diag(factor)).sum())
    return -0.5 * (float(whitened @ whitened) + log_determinant + len(outputs) * math.log(2.0 * math.pi))


def fit_hyperparameters(kernel: Kernel, points: ArrayLike, values: ArrayLike, noise_variances: ArrayLike) -> Kernel:
    """The kernel with the most likely `parameters` within a factor 100 of the present ones.

    L-BFGS-B on the logarithms, from the present values: the same data give the same answer, and never a less
    likely one. Fewer than three measurements say nothing about a lengthscale: the kernel stays as it is.
    """
    points, values, noise_variances = _checked(points, values, noise_variances)
    names = list(kernel.parameters)
    if len(values) < FEWEST_MEASUREMENTS or not names:
        return kernel
    start = np.log(list(kernel.parameters.values()))

    def kernel_at(logarithms: Array) -> Kernel:
        return kernel.with_parameters(dict(zip(names, np.exp(logarithms).tolist(), strict=True)))

    def loss(logarithms: Array) -> float:
        return min(-log_marginal_likelihood(kernel_at(logarithms), points, values, noise_variances), REFUSED)

    reach = math.log(LARGEST_FACTOR)
    bounds = list(zip(start - reach, start + reach, strict=True))
    from scipy.optimize import minimize  # Loaded only where it is needed: most campaigns fit nothing.

    found = minimize(loss, start, method="L-BFGS-B", jac="3-point", bounds=bounds)
    return kernel_at(found.x) if loss(found.x) < loss(start) else kernel


def _checked(
    points: ArrayLike, values: ArrayLike, noise_variances: ArrayLike
) -> tuple[Array, Array, Array]:
    """Measurements as arrays (n x d, n, n), refused where they are not finite or do not belong together."""
    inputs, outputs = np.asarray(points, dtype=float), np.asarray(values, dtype=float)
    if inputs.ndim != 2 or outputs.shape != (len(inputs),):
        raise BadInput(f"points {inputs.shape} and values {outputs.shape} must be n x d and n for the same n")
    noise = np.asarray(noise_variances, dtype=float)
    if noise.shape not in ((), outputs.shape):
        raise BadInput(f"noise variances {noise.shape} must be one number or {len(outputs)}, one per measurement")
    noise = np.broadcast_to(noise, outputs.shape)
    for row in np.flatnonzero(~(np.isfinite(inputs).all(axis=1) & np.isfinite(outputs))):
        raise BadInput(f"measurement {row}: point {inputs[row]} and value {outputs[row]} must be finite numbers")
    for row in np.flatnonzero(~(np.isfinite(noise) & (noise > 0))):
        raise BadInput(f"measurement {row}: noise variance {noise[row]} must be a positive finite number")
    return inputs, outputs, noise
