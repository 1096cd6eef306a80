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


def test_with_departure_every_plan_measures_the_present_state_and_the_gradient_is_that_of_finite_differences():
    rng = np.random.default_rng(7)
    surrogate, candidates = surrogate_after(rng.random((5, 2)) - 0.5, 0.05), rng.random((6, 2)) - 0.5
    here, one, other = rng.random(2) - 0.5, rng.random((3, 2)) - 0.5, rng.random((3, 2)) - 0.5
    arrival = TrajectoryUtility(surrogate, candidates, "differences", 0.05, rng)
    departure = TrajectoryUtility(surrogate, candidates, "differences", 0.05, rng, present=here)
    assert departure.value(None) == arrival.value(None)
    assert departure.value([(1.0, one)]) == pytest.approx(arrival.value([(1.0, np.vstack([here, one]))]), rel=1e-9)
    split = [(0.6, one), (0.4, other)]
    both = [(weight, np.vstack([here, path])) for weight, path in split]
    assert departure.value(split) == pytest.approx(arrival.value(both), rel=1e-9)
    tangent, change = departure.linearise(split), 1e-5
    ends = [departure.value([(0.6 - sign * change, one), (0.4 + sign * change, other)]) for sign in (1, -1)]
    slope = tangent.objective.value(other) - tangent.objective.value(one)
    assert (ends[0] - ends[1]) / (2 * change) == pytest.approx(slope, rel=1e-4, abs=1e-9)
