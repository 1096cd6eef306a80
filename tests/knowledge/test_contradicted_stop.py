"""What speaks against "enough is known": false alarms as often as said, wrong lengthscales found, learned models criticised."""

import numpy as np
import pytest
from rival_plants import DP, line
from scipy.stats import chi2, kstest

from tcbo_pyomo import Campaign, PlainPrior, settings_from
from tcbo_pyomo.knowledge.certainty import Certainty
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.residuals import squared_residuals

LOOSE = {"stop": {"regret": 100.0}}


def test_the_sum_is_that_of_residuals_predicted_from_earlier_results_one_by_one():
    rng = np.random.default_rng(1)
    kernel, points, noise = SquaredExponential(2.0, 0.3), rng.uniform(-0.5, 0.5, (7, 2)), rng.uniform(0.01, 0.3, 7)
    values, total = rng.standard_normal(7), 0.0
    for n in range(7):
        earlier = kernel(points[:n], points[:n]) + np.diag(noise[:n])
        shared = kernel(points[:n], points[n : n + 1])[:, 0]
        weights = np.linalg.solve(earlier, shared) if n else shared
        variance = kernel(points[n : n + 1], points[n : n + 1])[0, 0] + noise[n] - weights @ shared
        total += (values[n] - weights @ values[:n]) ** 2 / variance
    assert squared_residuals(kernel, points, values, noise) == pytest.approx(total, rel=1e-8)
    assert squared_residuals(kernel, points[:0], values[:0], noise[:0]) == 0.0


def test_of_a_right_model_the_sum_is_chi_squared_although_places_depend_on_results():
    """On functions of the prior, measured where the largest bound is."""
    rng, places = np.random.default_rng(5), np.linspace(-0.5, 0.5, 25)[:, None]
    kernel, noise, chances = SquaredExponential(1.0, 0.2), 0.05, []
    covariance = kernel(places, places)
    root = np.linalg.cholesky(covariance + 1e-10 * np.eye(25))
    for _ in range(200):
        truth, visited, values = root @ rng.standard_normal(25), [], []
        for _ in range(12):
            gain = np.linalg.solve(
                covariance[np.ix_(visited, visited)] + noise * np.eye(len(visited)), covariance[visited]
            )
            mean = gain.T @ np.array(values) if visited else np.zeros(25)
            spread = np.sqrt(np.maximum(1.0 - (covariance[visited] * gain).sum(axis=0), 0.0))
            visited.append(int((mean + 2.0 * spread).argmax()))
            values.append(truth[visited[-1]] + noise**0.5 * rng.standard_normal())
        total = squared_residuals(kernel, places[visited], np.array(values), np.full(12, noise))
        chances.append(chi2.sf(total, 12))
    assert kstest(chances, "uniform").pvalue > 0.01


def told(values, problem=None, **surrogate):
    campaign = Campaign(problem or line(), settings_from(DP, LOOSE, {"surrogate": surrogate}), 3)
    for value in values:
        campaign.tell(campaign.ask(anyway=True).number, value)
    return campaign


def test_results_that_the_declared_model_excludes_are_said_aloud():
    doubt = told([5.0, -5.0, 5.0]).certainty.in_words()
    assert "enough is known" in doubt and "contradict the declared model" in doubt and "surrogate.fit: learn" in doubt


def test_where_nothing_is_learned_the_declared_kernel_is_named():
    campaign = told([0.3, 0.4])
    assert campaign.certainty.doubt.startswith("this holds if the declared kernel is right")
    assert Certainty.from_dict(campaign.certainty.to_dict()) == campaign.certainty


def test_a_learned_model_that_fits_is_not_doubted():
    assert told([0.3, 0.4], fit="learn").certainty.doubt == ""


def test_a_learned_model_is_held_against_its_results():
    problem = line(kernel=None, prior=PlainPrior(range=(0.0, 1.0), measurement_sd=0.1))
    assert "outside the declared range" in told([0.3, 7.0], problem).certainty.doubt


def test_rows_of_before_have_no_doubt():
    data = {"probability": 0.95, "tolerance": 0.1, "wanted": 0.9, "enough_known": True}
    assert Certainty.from_dict(data).doubt == ""
