"""The smoothed master problem: its error is controlled, and its derivatives are those of the barrier function."""

import numpy as np
import pytest
from small_plans import small_plan

from tcbo_pyomo.planning.finite.active_pairs import ActivePairs
from tcbo_pyomo.planning.finite.corrective_step import CorrectiveStep, smooth_maximum
from tcbo_pyomo.planning.finite.planned_posterior import FeaturePosterior, KernelPosterior


def test_smooth_maximum_by_hand():
    assert smooth_maximum(np.array([3.0]), 0.1) == pytest.approx(3.1)
    assert smooth_maximum(np.array([3.0, 3.0]), 0.1) == pytest.approx(3.2)
    # mu / t + mu / (t + 1) = 1 with mu = 2/3: t = 1.
    assert smooth_maximum(np.array([0.0, -1.0]), 2 / 3) == pytest.approx(1.0)


@pytest.mark.parametrize("mu", [1.0, 1e-3, 1e-8])
def test_smooth_maximum_is_above_the_maximum_by_at_most_mu_for_each_value(mu):
    values = np.random.default_rng(0).random(200)
    level = smooth_maximum(values, mu)
    assert values.max() + mu <= level * (1 + 1e-15) and level <= values.max() + 200 * mu
    assert (mu / (level - values)).sum() == pytest.approx(1.0, rel=1e-6)


def master(seed=5, atoms=12, mu=1e-3):
    case = small_plan(seed, 25)
    utility, oracle, rng = case.utility(), case.extreme_point(), np.random.default_rng(2)
    visits = [oracle(-rng.random(case.process.number_of_pairs)) for _ in range(atoms)]
    information = np.column_stack([utility.information.planned(d) for d in visits])
    active = ActivePairs(utility)
    for weights in np.vstack([np.full(atoms, 1 / atoms), rng.dirichlet(np.ones(atoms), 8)]):
        active.add_worst(utility.posterior(information @ weights))
    scale = active.tangents(information @ np.full(atoms, 1 / atoms)).values.max()
    return CorrectiveStep(active, information, scale, mu), np.full(atoms, 1 / atoms)


def test_a_mixture_of_one_and_the_same_visitation_is_at_its_minimum():
    """From state 0 of this process there is only one way: every weight is as good, and only rounding differs."""
    step, weights = master(seed=11)
    assert np.ptp(step.information, axis=1).max() == 0.0
    here = step.at(weights)
    for _ in range(30):
        here = step.improve(here)
        assert here.centred


def test_newton_steps_find_the_minimum_of_the_barrier_function():
    step, weights = master()
    assert len(np.unique(step.information, axis=1).T) > 3
    here = step.at(weights)
    barriers = [here.barrier]
    for _ in range(30):
        here = step.improve(here)
        barriers.append(here.barrier)
    assert all(np.diff(barriers) <= 1e-12) and here.centred
    assert here.weights.sum() == pytest.approx(1.0) and (here.weights > 0.0).all()
    # At the minimum every direction that keeps the sum has slope zero.
    slope = here.multipliers @ here.tangents.slopes @ step.information / step.scale - step.mu / here.weights
    np.testing.assert_allclose(slope, slope.mean(), atol=1e-6)


@pytest.mark.parametrize("mu", [1e-2, 1e-4, 1e-6])
def test_the_error_of_the_smoothing_is_controlled(mu):
    """Utility of the mixture less the bound of its pair weights is at most mu for every pair and visitation."""
    step, weights = master(mu=mu)
    here = step.at(weights)
    for _ in range(60):
        here = step.improve(here)
    functions = len(here.multipliers) + len(here.weights)
    bound = (here.pair_weights(step.information) @ here.tangents.at(step.information)).min() / step.scale
    assert here.tangents.values.max() / step.scale - bound <= mu * functions * 1.01


def test_curvature_equals_finite_differences_of_the_slopes():
    step, weights = master(atoms=6)
    here, width = step.at(weights), 1e-5
    curvature = step._curvature(here)
    for k in range(6):
        there = [step.active.tangents(step.information @ (weights + s * width * np.eye(6)[k])) for s in (-1, 1)]
        slopes = [here.multipliers @ t.slopes @ step.information / step.scale for t in there]
        np.testing.assert_allclose((slopes[1] - slopes[0]) / (2 * width), curvature[k], rtol=1e-5, atol=1e-6)


def test_both_forms_of_the_posterior_give_the_same_covariances():
    case, rng = small_plan(5, 20), np.random.default_rng(0)
    information, some = rng.random(20), np.array([1, 4, 7])
    one = FeaturePosterior(case.features, information)
    other = KernelPosterior(case.features @ case.features.T, information)
    np.testing.assert_allclose(one.covariance_of(some), other.covariance_of(some), atol=1e-10)
    first, second = np.array([0, 3]), np.array([2, 5])
    for pair in ((first, second), (first, None)):
        np.testing.assert_allclose(one.covariances_with(*pair), other.covariances_with(*pair), atol=1e-10)
        alone = FeaturePosterior(case.features, information)
        rows = [alone.covariance_with(i, None if pair[1] is None else j) for i, j in zip(first, second, strict=True)]
        np.testing.assert_allclose(one.covariances_with(*pair), rows, atol=1e-12)
