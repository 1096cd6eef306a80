"""Random Fourier features converge to the kernel like one over the root of their number."""

from __future__ import annotations

import numpy as np
import pytest

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.surrogate.features import RandomFourierFeatures
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves
from tcbo_pyomo.surrogate.kernels.reaction_kinetics import ReactionKinetics
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.single_feature import SingleFeature
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.sum import Sum

SEEDS = range(40)


def approximate(kernel, points, number, seed):
    phi = RandomFourierFeatures(kernel, points.shape[1], number, np.random.default_rng(seed))(points)
    return phi @ phi.T


def test_error_falls_like_the_root_of_the_number(kernel, points):
    exact = kernel(points, points)
    errors = {}
    for number in (65, 1025):
        squares = [(approximate(kernel, points, number, seed) - exact) ** 2 for seed in SEEDS]
        errors[number] = np.sqrt(np.mean(squares))
    if isinstance(kernel, SingleFeature):
        assert errors[65] < 1e-15
    else:
        assert 3.0 < errors[65] / errors[1025] < 5.3
        # The mean of F independent cosines has a standard deviation of at most 1 / sqrt(F).
        assert errors[1025] < kernel.diagonal(points).max() / np.sqrt(512)


def test_the_mean_over_seeds_is_the_kernel(kernel, points):
    average = np.mean([approximate(kernel, points, 257, seed) for seed in SEEDS], axis=0)
    np.testing.assert_allclose(average, kernel(points, points), atol=0.06 * kernel.diagonal(points).max())


def test_prior_variance_is_exact_and_known_features_are_exact(points):
    kernel = Sum((ReactionKinetics(), Scaled(3.0, SquaredExponential(0.2, 0.1)), MaternFiveHalves(0.1, 0.3)))
    features = RandomFourierFeatures(kernel, 2, 33, np.random.default_rng(0))
    phi = features(points)
    assert phi.shape == (9, 33) and features.number == 33
    np.testing.assert_allclose((phi**2).sum(axis=1), kernel.diagonal(points), rtol=1e-13)
    np.testing.assert_allclose(phi[:, 0], np.sqrt(0.0225) * ReactionKinetics().feature(points), rtol=1e-14)


def test_frequencies_are_shared_out_by_variance_and_none_is_left_out():
    parts = [SquaredExponential(variance, 0.1) for variance in (2.0, 2.0, 1e-3, 1e-3, 1e-3)]
    features = RandomFourierFeatures(Sum(tuple(parts)), 2, 10, np.random.default_rng(0))
    assert features.number == 10
    np.testing.assert_allclose(features.amplitudes**2, [part.variance for part in parts])
    features = RandomFourierFeatures(Sum(tuple(parts)), 2, 100, np.random.default_rng(0))
    assert np.sum(features.amplitudes > 0.1) == 47 and features.number == 100


def test_the_same_seed_gives_the_same_features(kernel, points):
    first, second, other = (RandomFourierFeatures(kernel, 2, 21, np.random.default_rng(s)) for s in (1, 1, 2))
    np.testing.assert_array_equal(first(points), second(points))
    assert isinstance(kernel, SingleFeature) or np.any(first(points) != other(points))


def test_too_few_features_and_kernels_without_a_spectrum_are_refused(points):
    class Constant(Kernel):
        __call__ = diagonal = gradient = hessian = lambda self, *points: np.ones(1)

    both = Sum((SquaredExponential(), MaternFiveHalves()))
    with pytest.raises(BadInput, match=r"random Fourier features: 1 pair\(s\) for 2 stationary kernel\(s\)"):
        RandomFourierFeatures(both, 2, 3, np.random.default_rng(0))
    with pytest.raises(BadInput, match="Constant' has no random Fourier features; use features 'exact' or 'nystroem'"):
        RandomFourierFeatures(Constant(), 2, 8, np.random.default_rng(0))
