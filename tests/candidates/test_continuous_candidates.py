"""Thompson sampling, upper confidence bounds, uniform points and the recommendation on continuous boxes."""

from __future__ import annotations

import numpy as np
import pytest

from tcbo_pyomo.candidates.search.uniform import uniform_points
from tcbo_pyomo.candidates.thompson_sampling import ThompsonSampling
from tcbo_pyomo.candidates.upper_confidence import UpperConfidence
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.continuous import best_expected
from tcbo_pyomo.surrogate.acquisition import ConfidenceBounds
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

RULES = [ThompsonSampling(12), UpperConfidence(12)]


def two_hills(points):
    high, low = ((points - centre) ** 2 for centre in (0.2, -0.25))
    return np.exp(-high.sum(axis=1) / 0.05) + 0.8 * np.exp(-low.sum(axis=1) / 0.05)


def surrogate(dimension=2, number=25, representation="exact", seed=0):
    belief = ContinuousBelief(SquaredExponential(0.5, 0.2), dimension, representation)
    for point in np.random.default_rng(seed).random((number, dimension)) - 0.5:
        belief.observe(point, two_hills(point[None, :])[0], 1e-4)
    return belief


def grid(number=201):
    axis = np.linspace(-0.5, 0.5, number)
    return np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("representation", ["exact", "nystroem"])
def test_upper_confidence_holds_the_maximisers_of_every_bound(representation):
    belief = surrogate(representation=representation)
    found = UpperConfidence(25)(belief, None, np.random.default_rng(0))
    bounds = ConfidenceBounds(belief, np.linspace(0.0, 2.5, 25))
    best = bounds.value(grid()).max(axis=0)
    values = bounds.value(found).diagonal()
    assert found.shape == (25, 2)
    assert (values >= best - 1e-9).all() and (values <= best + 0.01).all()


@pytest.mark.parametrize("dimension", [2, 4])
def test_the_recommendation_is_the_bound_without_deviation(dimension):
    belief = surrogate(dimension, 60)
    candidates = UpperConfidence(5)(belief, None, np.random.default_rng(0))
    np.testing.assert_allclose(best_expected(belief), candidates[0], atol=1e-4)


def test_the_recommendation_is_the_best_point_of_the_mean():
    belief = surrogate()
    point = best_expected(belief)
    assert point.shape == (2,)
    assert belief.mean(point[None, :])[0] >= belief.mean(grid()).max() - 1e-9


def test_the_recommendation_starts_from_measured_points():
    """A hill narrower than the survey is found from a point on it."""
    belief = ContinuousBelief(SquaredExponential(1.0, 0.003), 2)
    belief.observe([0.3, 0.3], 1.0, 1e-4)
    np.testing.assert_allclose(best_expected(belief), 0.3, atol=1e-5)


def test_thompson_maximisers_are_where_the_maximum_may_be():
    belief = surrogate(number=60)
    found = ThompsonSampling(50)(belief, None, np.random.default_rng(0))
    assert found.shape == (50, 2)
    assert np.median(np.linalg.norm(found - 0.2, axis=1)) < 0.05


def test_thompson_maximisers_follow_the_posterior_probability_of_the_maximum():
    """On a coarse partition of the box, their frequencies are those of maxima of samples drawn on a grid."""
    belief = surrogate(number=6)
    found = ThompsonSampling(400)(belief, None, np.random.default_rng(0))
    places = grid(31)
    root = np.linalg.cholesky(belief.covariance(places, places) + 1e-9 * np.eye(len(places)))
    drawn = belief.mean(places)[:, None] + root @ np.random.default_rng(1).standard_normal((len(places), 400))
    both = (found, places[drawn.argmax(axis=0)])
    shares = [np.histogram2d(*maxima.T, bins=2, range=[[-0.5, 0.5]] * 2)[0] / 400 for maxima in both]
    assert np.abs(shares[0] - shares[1]).max() < 4 * np.sqrt(2 * 0.25 / 400)


@pytest.mark.parametrize("rule", RULES)
def test_before_the_first_measurement_candidates_are_uniform(rule):
    empty = ContinuousBelief(SquaredExponential(0.5, 0.2), 3)
    empty.observe([0.0, 0.0, 0.0], None, 1e-3)
    found = rule(empty, None, np.random.default_rng(7))
    np.testing.assert_array_equal(found, uniform_points(12, 3, np.random.default_rng(7)))


@pytest.mark.parametrize("rule", RULES)
def test_the_same_seed_gives_the_same_candidates(rule):
    belief = surrogate(3)
    first, second = (rule(belief, None, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert (np.abs(first) <= 0.5).all()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("number", [0, 25])
def test_forbidden_regions_hold_no_candidate(rule, number):
    def allowed(points):
        return np.linalg.norm(points - 0.2, axis=1) > 0.15

    belief = surrogate(number=number)
    assert allowed(rule(belief, allowed, np.random.default_rng(0))).all()
    assert allowed(best_expected(belief, allowed=allowed)[None, :]).all()


def test_uniform_points_fill_what_is_allowed():
    points = uniform_points(500, 2, np.random.default_rng(0), lambda p: p[:, 0] > 0.4)
    assert points.shape == (500, 2)
    assert (points[:, 0] > 0.4).all() and points[:, 0].max() > 0.49


def test_nothing_allowed_and_no_candidates_are_refused():
    with pytest.raises(BadInput, match="forbidden regions"):
        uniform_points(3, 2, np.random.default_rng(0), lambda p: np.zeros(len(p), dtype=bool))
    for rule in (ThompsonSampling, UpperConfidence):
        with pytest.raises(BadInput, match="at least 1"):
            rule(0)
