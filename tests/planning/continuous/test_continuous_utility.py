"""The utility of trajectories: candidates on top of each other, and against the variance of a plain Gaussian process."""

import numpy as np
import pytest

from tcbo_pyomo.planning.continuous.utility import TrajectoryUtility
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def surrogate_after(points, noise=1e-3):
    surrogate = ContinuousBelief(SquaredExponential(1.0, 0.3), 2)
    for number, point in enumerate(points):
        surrogate.observe(point, float(number % 3), noise)
    return surrogate


@pytest.mark.parametrize("spread", [0.0, 1e-12, 1e-9, 1e-6])
def test_candidates_on_one_spot_still_make_a_pair(spread):
    """Their differences are rounding, which need not be symmetric; any of 200 draws used to find no pair at all."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        surrogate = surrogate_after(rng.random((12, 2)) - 0.5)
        candidates = rng.random(2) - 0.5 + spread * rng.standard_normal((25, 2))
        found = TrajectoryUtility(surrogate, candidates, "differences", 1e-3, rng).linearise(None)
        assert found.second is not None and found.value >= 0.0


def test_the_pair_is_the_one_a_plain_gaussian_process_knows_least_about():
    rng = np.random.default_rng(4)
    measured, candidates = rng.random((15, 2)) - 0.5, rng.random((9, 2)) - 0.5

    def kernel(left, right):
        return np.exp(-0.5 * ((left[:, None] - right[None]) ** 2).sum(axis=2) / 0.3**2)

    cross = kernel(candidates, measured)
    known = np.linalg.solve(kernel(measured, measured) + 1e-3 * np.eye(15), cross.T)
    covariance = kernel(candidates, candidates) - cross @ known
    variances = np.add.outer(covariance.diagonal(), covariance.diagonal()) - 2.0 * covariance
    found = TrajectoryUtility(surrogate_after(measured), candidates, "differences", 1e-3, rng).linearise(None)
    assert found.value == pytest.approx(variances.max(), rel=1e-8)
    first, second = np.unravel_index(variances.argmax(), variances.shape)
    pair = {tuple(candidates[first]), tuple(candidates[second])}
    assert {tuple(found.first), tuple(found.second)} == pair
