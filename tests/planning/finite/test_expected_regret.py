"""Expected regret: its value against simulation, what a visit is worth against explicit conditioning."""

from math import erf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_plans import START, small_plan

from tcbo_pyomo import Problem, SquaredExponential, load_problem, run_campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.planning.finite import expected_regret
from tcbo_pyomo.planning.finite.expected_regret import ExpectedRegret
from tcbo_pyomo.planning.finite.planned_posterior import FeaturePosterior, KernelPosterior
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.settings import settings_from


def plan_with_mean(seed, states=12):
    case = small_plan(seed, states, features=min(states, 30), lengthscale=0.4)
    return case, np.random.default_rng(seed).normal(size=states)


def utility_of(case, mean, places=None):
    places = np.ones(len(mean), dtype=bool) if places is None else places
    return ExpectedRegret(case.process, lambda w: FeaturePosterior(case.features, w), places, mean)


def test_two_states_by_hand():
    """f(z) - f(z*) ~ N(-1, 1): E[( )+] = phi(1) - Phi(-1) = 0.0833155."""
    case, _ = plan_with_mean(0, 2)
    factor, mean = np.diag([1.0, 0.0]), np.array([0.0, 1.0])
    utility = ExpectedRegret(case.process, lambda w: FeaturePosterior(factor, w), np.ones(2, dtype=bool), mean)
    assert utility.value() == pytest.approx(0.08331547058768628, rel=1e-9)
    tangent = utility.linearise()
    assert (tangent.first, tangent.second) == (1, 0)


@given(st.integers(0, 50))
def test_the_value_is_the_sum_of_expected_shortfalls_and_bounds_the_expected_regret(seed):
    case, mean = plan_with_mean(seed)
    draws = mean + np.random.default_rng(1).normal(size=(40_000, len(mean))) @ case.features.T
    over = draws - draws[:, [mean.argmax()]]
    value = utility_of(case, mean).value()
    shortfall = np.maximum(over, 0.0).sum(axis=1)
    assert value == pytest.approx(shortfall.mean(), abs=5 * shortfall.std() / 200 + 1e-9)
    assert value >= over.max(axis=1).mean() - 5 * over.max(axis=1).std() / 200


@pytest.mark.parametrize("seed", range(5))
def test_what_a_visit_is_worth_is_the_variance_that_one_measurement_removes(seed):
    case, mean = plan_with_mean(seed)
    process, covariance, best = case.process, case.features @ case.features.T, int(mean.argmax())
    worth = np.zeros(process.number_of_pairs)
    entries = process.transitions.tocoo()
    for pair, arrived, chance, noise in zip(
        entries.row, entries.col, entries.data, process.noise_variance, strict=True
    ):
        column = covariance[:, arrived]
        after = covariance - np.outer(column, column) / (covariance[arrived, arrived] + noise)
        for z in range(len(mean)):
            if z == best:
                continue
            before = covariance[z, z] + covariance[best, best] - 2 * covariance[z, best]
            left = after[z, z] + after[best, best] - 2 * after[z, best]
            step = 1e-6 * before

            def loss(variance, gap=mean[z] - mean[best]):
                sd = np.sqrt(variance)
                density = np.exp(-0.5 * (gap / sd) ** 2) / np.sqrt(2 * np.pi)
                return sd * density + gap * 0.5 * (1 + erf(gap / sd / sqrt(2)))

            slope = (loss(before + step) - loss(before - step)) / (2 * step)
            worth[pair] += chance * slope * (before - left)
    tangent = utility_of(case, mean).linearise()
    assert np.allclose(tangent.gains, worth, rtol=1e-4, atol=1e-6 * worth.max())
    assert np.array_equal(tangent.gradient, -tangent.gains)


def test_a_plan_lowers_it_and_both_forms_of_the_posterior_agree():
    case, mean = plan_with_mean(3)
    utility = utility_of(case, mean)
    path = case.oracle().extreme_point(utility.linearise().gradient, START, np.random.default_rng(0))
    assert utility.value(path) < utility.value()
    matrix = case.features @ case.features.T
    other = ExpectedRegret(
        case.process,
        lambda w: KernelPosterior(matrix, np.zeros(len(mean)) if w is None else w),
        np.ones(len(mean), dtype=bool),
        mean,
    )
    assert other.value(path) == pytest.approx(utility.value(path), rel=1e-8)
    assert np.allclose(other.linearise(path).gains, utility.linearise(path).gains, rtol=1e-7)


def test_only_places_of_the_search_space_count():
    case, mean = plan_with_mean(4)
    places = np.arange(len(mean)) < 6
    utility = utility_of(case, mean, places)
    assert utility.recommended == int(mean[:6].argmax()) and set(utility.rivals) == set(range(6)) - {
        utility.recommended
    }
    alone = utility_of(case, mean, np.arange(len(mean)) == 2)
    assert alone.value() == 0.0 and alone.linearise().second is None and not alone.linearise().gains.any()


def test_many_places_are_sampled_without_bias(monkeypatch):
    case, mean = plan_with_mean(7, 120)
    exact = utility_of(case, mean * 0.01).linearise().gains
    monkeypatch.setattr(expected_regret, "PLACES", 60)
    sampled = utility_of(case, mean * 0.01).linearise().gains
    assert not np.array_equal(sampled, exact)
    assert np.corrcoef(sampled, exact)[0, 1] > 0.95 and sampled.sum() == pytest.approx(exact.sum(), rel=0.2)


def test_it_is_a_setting_and_refused_where_it_has_no_meaning():
    problem = load_problem("knorr_pyrazole")
    quick = {"planner": {"linear": {"solver": "dynamic_programming"}}, "episodes": 2}
    default = run_campaign(problem, settings_from(problem.settings, quick), 3)
    named = run_campaign(problem, settings_from(problem.settings, quick, {"utility": {"objective": "regret"}}), 3)
    paper = run_campaign(problem, settings_from(problem.settings, quick, {"utility": {"objective": "differences"}}), 3)
    assert default.paths == named.paths != paper.paths
    with pytest.raises(BadInput, match=r"planner\.gap needs a convex utility"):
        settings_from({"planner": {"gap": 0.1}, "utility": {"objective": "regret"}})
    with pytest.raises(BadInput, match="'branin2d' is continuous"):
        run_campaign(load_problem("branin2d"), settings_from({"utility": {"objective": "regret"}}))


def test_a_crowd_of_alike_places_counts_as_one():
    """Nine rows of a table at one end, one at the other, equally far: the lone one is worth as much as the crowd."""
    kernel, crowd = SquaredExponential(1.0, 0.1), np.linspace(-0.5, -0.49, 9)
    points = np.r_[0.0, crowd, 0.5][:, None]
    covariance, mean = kernel(points, points), np.zeros(11)
    moves = [(str(0), f"to {i}", str(i)) for i in range(11)] + [(str(i), "stay", str(i)) for i in range(1, 11)]
    axes = [Coordinate("x", -0.5, 0.5)]
    process = Process.from_moves(axes, {str(i): point for i, point in enumerate(points)}, moves, 0.01)
    problem = Problem("table", process, "0", 1, 1, kernel)
    np.testing.assert_allclose(problem.place_shares, [1.0, *[1 / 9] * 9, 1.0])
    factor = np.linalg.cholesky(covariance + 1e-9 * np.eye(11))

    def worth(shares):
        places = np.ones(11, dtype=bool)
        given = dict(recommended=0, shares=shares)
        return ExpectedRegret(process, lambda w: FeaturePosterior(factor, w), places, mean, **given).linearise().gains[:11]

    counted, added_up = worth(problem.place_shares), worth(np.ones(11))
    # To the middle of the crowd, and to the lone place; of the crowd's members some are a little less alike.
    assert counted[5] == pytest.approx(counted[10], rel=0.01)
    assert added_up[5] > 8.0 * added_up[10] * 0.9
