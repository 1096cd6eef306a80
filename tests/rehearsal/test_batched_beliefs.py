"""Beliefs of many campaigns at once, against one Gaussian process each, conditioned in one go."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tcbo_pyomo.rehearsal.batched_beliefs import BatchedBeliefs


def conditioned(mean, covariance, places, noise, values=None):
    """The textbook formula: mean and covariance given all measurements at once."""
    inner = covariance[np.ix_(places, places)] + np.diag(noise)
    gain = np.linalg.solve(inner, covariance[places]).T
    new = mean if values is None else mean + gain @ (values - mean[places])
    return new, covariance - gain @ covariance[places]


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(0, 7))
@settings(max_examples=40, deadline=None)
def test_visits_shrink_at_once_and_results_move_the_mean_when_they_come(seed, visits, told):
    rng, n, draws = np.random.default_rng(seed), 6, 3
    root = rng.standard_normal((n, n))
    mean, covariance, told = rng.standard_normal(n), root @ root.T + 0.1 * np.eye(n), min(told, visits)
    places, noise = rng.integers(n, size=(visits, draws)), rng.uniform(0.01, 1.0, (visits, draws))
    values = rng.standard_normal((visits, draws))
    rows = np.array([1, 4, 5])
    beliefs = BatchedBeliefs(mean, covariance, draws, visits, rows)
    for place, spread in zip(places, noise, strict=True):
        beliefs.visit(place, spread)
    for result in values[:told]:
        beliefs.tell(result)
    for d in range(draws):
        design = conditioned(mean, covariance, places[:, d], noise[:, d])[1]
        after, belief = conditioned(mean, covariance, places[:told, d], noise[:told, d], values[:told, d])
        assert np.allclose(beliefs.mean[d], after)
        assert np.allclose(beliefs.told_variance[d], belief.diagonal())
        assert np.allclose(beliefs.variance[d], design.diagonal())
        assert np.allclose(beliefs.covariance[d], design[rows])
        assert np.allclose(beliefs.covariance_with(np.full(draws, 2))[d], design[2])
