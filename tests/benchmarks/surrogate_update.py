"""One more measurement: the belief on all states, against bare numpy and against scikit-learn's GP refitted."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from timing import Comparison, compare

from tcbo_pyomo.surrogate.features import exact_factor
from tcbo_pyomo.surrogate.finite_belief import FiniteBelief
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

SIDE, LENGTHSCALE, NOISE = 20, 0.2, 1e-2
MEASURED = 100


def comparisons(repeats: int, quick: bool = False) -> list[Comparison]:
    """All rows of this file."""
    axis = np.linspace(-0.5, 0.5, SIDE)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    factor = exact_factor(SquaredExponential(1.0, LENGTHSCALE), points)
    rng = np.random.default_rng(0)
    states = rng.integers(0, len(points), MEASURED + repeats + 1)
    values = np.sin(5.0 * points[states]).sum(axis=1) + 0.1 * rng.standard_normal(len(states))
    label = f"{len(points)} states"
    return [
        _against_numpy(label, factor, states, values, repeats),
        _against_sklearn(label, points, factor, states, values, max(3, repeats // 4)),
    ]


def _started(factor: np.ndarray, states: np.ndarray, values: np.ndarray) -> FiniteBelief:
    belief = FiniteBelief(np.zeros(len(factor)), factor)
    for state, value in zip(states[:MEASURED], values[:MEASURED], strict=True):
        belief.observe(int(state), float(value), NOISE)
    return belief


def _against_numpy(label, factor, states, values, repeats) -> Comparison:
    belief = _started(factor, states, values)
    # Copied as it lies in memory: the other order of the same numbers takes another time.
    bare = {"mean": belief.mean.copy(), "factor": belief.factor.copy(order="K")}

    def ours(number: int) -> None:
        belief.observe(int(states[MEASURED + number]), float(values[MEASURED + number]), NOISE)
        _ = belief.mean, belief.standard_deviation

    def reference(number: int) -> None:
        state, value = states[MEASURED + number], values[MEASURED + number]
        rows = bare["factor"]
        loading = rows[state].copy()
        covariance, total = rows @ loading, loading @ loading + NOISE
        bare["mean"] += covariance * ((value - bare["mean"][state]) / total)
        rows -= np.outer(covariance / (total + (total * NOISE) ** 0.5), loading)
        np.sqrt(np.einsum("ij,ij->i", rows, rows))

    row = compare(f"belief update, {label}", ours, "bare numpy, same algebra", reference, repeats, "at most 1.3")
    np.testing.assert_allclose(belief.mean, bare["mean"], rtol=1e-9, atol=1e-12)
    return row


def _against_sklearn(label, points, factor, states, values, repeats) -> Comparison:
    belief = _started(factor, states, values)
    found: dict[str, np.ndarray] = {}

    def ours(number: int) -> None:
        belief.observe(int(states[MEASURED + number]), float(values[MEASURED + number]), NOISE)
        found["ours"] = belief.mean + 0.0 * belief.standard_deviation

    def reference(number: int) -> None:
        told = slice(0, MEASURED + number + 1)
        gp = GaussianProcessRegressor(RBF(LENGTHSCALE), alpha=NOISE, optimizer=None)
        gp.fit(points[states[told]], values[told])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found["sklearn"], _ = gp.predict(points, return_std=True)

    row = compare(
        f"belief update, {label}", ours, "scikit-learn GP, refit and predict", reference, repeats, "at most 0.2"
    )
    np.testing.assert_allclose(found["ours"], found["sklearn"], atol=1e-5)
    return row
