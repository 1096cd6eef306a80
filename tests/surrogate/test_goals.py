"""Goals against their definitions: integrals, samples, finite differences, mirror images; and how they are named."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.surrogate.acquisition import ConfidenceBounds, ExpectedScore, ImprovementSurface, Scored, drawn_scores
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.extremes import MAXIMISE, Maximise, Minimise
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.named_goal import goal_from
from tcbo_pyomo.surrogate.output_scale import LogScale, OutputScale
from tcbo_pyomo.surrogate.rivals import Rivals
from tcbo_pyomo.surrogate.target import Target

SCALES = {"as measured": OutputScale(), "logarithm": LogScale.of_range(0.1, 10.0)}
GOALS = {
    "maximise": MAXIMISE,
    "minimise": Minimise(),
    "target": Target(1.3),
    "target, logarithm": Target(1.3).on(SCALES["logarithm"]),
}
NORMALS = [(0.2, 0.5), (1.3, 0.01), (-1.0, 0.8), (0.26, 1.0), (3.0, 0.2)]


def rivals(best_variance=0.3):
    """Three rivals of a recommended place."""
    variance, covariance = np.array([0.5, 0.1, 0.3]), np.array([0.2, -0.1, 0.1])
    deviation = np.sqrt(variance + best_variance - 2.0 * covariance)
    return Rivals(0.4, best_variance, np.array([0.2, 1.5, 0.4]), variance, covariance, deviation)


RIVALS = rivals()


def integral(function, mean, deviation, *kinks):
    """E[function(f)] of a normal f, by quadrature between the kinks."""
    inside = sorted(kink for kink in kinks if abs(kink - mean) < 10 * deviation)
    ends = [mean - 10 * deviation, *inside, mean + 10 * deviation]
    pieces = pairwise(ends)
    return sum(quad(lambda f: function(f) * norm.pdf(f, mean, deviation), *piece, limit=200)[0] for piece in pieces)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("mean", "deviation"), NORMALS)
@pytest.mark.parametrize("incumbent", [-0.4, -2.0])
def test_distance_and_improvement_of_a_target_are_their_integrals(scale, mean, deviation, incumbent):
    goal, modelled = Target(1.3).on(SCALES[scale]), SCALES[scale].modelled
    kinks = [modelled(level) for level in (1.3, 1.3 + incumbent, 1.3 - incumbent)]
    arguments = np.array([mean]), np.array([deviation])
    distance = integral(lambda f: -goal.score(f), mean, deviation, *kinks)
    assert goal.expected(*arguments)[0] == pytest.approx(-distance, rel=1e-6, abs=1e-9)
    gained = integral(lambda f: max(goal.score(f) - incumbent, 0.0), mean, deviation, *kinks)
    assert goal.improvement(*arguments, incumbent)[0] == pytest.approx(gained, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", GOALS)
def test_what_is_missed_is_the_mean_over_pairs(name):
    goal, normal = GOALS[name], np.random.default_rng(0).standard_normal((400_000, 2))
    for i in range(3):
        covariance = [[0.3, RIVALS.covariance[i]], [RIVALS.covariance[i], RIVALS.variance[i]]]
        best, rival = (np.array([0.4, RIVALS.mean[i]]) + normal @ np.linalg.cholesky(covariance).T).T
        gained = np.maximum(goal.score(rival) - goal.score(best), 0.0)
        error = gained.std() / np.sqrt(len(gained))
        assert goal.missed(RIVALS)[0][i] == pytest.approx(gained.mean(), abs=5 * error + 2e-3 * gained.mean())


def test_what_a_target_misses_has_a_closed_form():
    """E[(|y* - t| - |y - t|)+] by quadrature over a grid of both."""
    goal, line = Target(0.5), np.linspace(-4.0, 5.0, 1201)
    best, rival = np.meshgrid(line, line, indexing="ij")
    for i in range(3):
        covariance = [[0.3, RIVALS.covariance[i]], [RIVALS.covariance[i], RIVALS.variance[i]]]
        density = multivariate_normal([0.4, RIVALS.mean[i]], covariance).pdf(np.stack([best, rival], axis=-1))
        gained = np.maximum(np.abs(best - 0.5) - np.abs(rival - 0.5), 0.0)
        whole = (density * gained).sum() * (line[1] - line[0]) ** 2
        assert goal.missed(RIVALS)[0][i] == pytest.approx(whole, rel=1e-4)


@pytest.mark.parametrize("name", ["maximise", "minimise"])
def test_the_slope_of_what_is_missed_is_that_in_the_deviation_of_the_difference(name):
    goal, step = GOALS[name], 1e-6
    low, high = (rivals(0.3 + sign * step) for sign in (-1, 1))
    slope = (goal.missed(high)[0] - goal.missed(low)[0]) / (high.deviation - low.deviation)
    np.testing.assert_allclose(goal.missed(RIVALS)[1], slope, rtol=1e-5)


@pytest.mark.parametrize("name", ["target", "target, logarithm"])
def test_what_a_target_misses_goes_with_the_variance(name):
    """weight x variance of the difference is all of it; where nothing is left to be learned, nothing counts."""
    missed, slope = GOALS[name].missed(RIVALS)
    np.testing.assert_allclose(slope / (2.0 * RIVALS.deviation) * RIVALS.deviation**2, missed)
    known = Rivals(0.4, 0.3, np.array([0.4]), np.array([0.3]), np.array([0.3]), np.zeros(1))
    assert [part.tolist() for part in GOALS[name].missed(known)] == [[0.0], [0.0]]


@pytest.mark.parametrize("name", GOALS)
@pytest.mark.parametrize(("mean", "deviation"), NORMALS)
def test_slopes_are_finite_differences(name, mean, deviation):
    goal, step = GOALS[name], 1e-6
    for value, slopes in (
        (goal.expected, goal.expected_slopes),
        (lambda m, s: goal.optimistic(m, s, 1.7), lambda m, s: goal.optimistic_slopes(m, s, 1.7)),
        (lambda m, s: goal.improvement(m, s, -0.4), lambda m, s: goal.improvement_slopes(m, s, -0.4)),
    ):
        m, s = np.array([mean]), np.array([deviation])
        by_mean, by_deviation = slopes(m, s)
        assert by_mean == pytest.approx((value(m + step, s) - value(m - step, s)) / (2 * step), rel=1e-5, abs=1e-6)
        assert by_deviation == pytest.approx((value(m, s + step) - value(m, s - step)) / (2 * step), rel=1e-5, abs=1e-6)


@settings(deadline=None)
@given(mean=st.floats(-3, 3), spread=st.floats(0, 2), share=st.floats(-1, 1), name=st.sampled_from(sorted(GOALS)))
def test_the_band_holds_the_score_of_every_value_within_it(mean, spread, share, name):
    goal = GOALS[name]
    low, high = goal.band(np.array([mean]), np.array([spread]))
    score = goal.score(np.array([mean + share * spread]))
    assert low[0] - 1e-9 <= score[0] <= high[0] + 1e-9
    ends = goal.score(mean + spread * np.linspace(-1.0, 1.0, 20_001))
    assert low[0] == pytest.approx(ends.min(), abs=1e-9) and high[0] == pytest.approx(ends.max(), abs=1e-2)


def test_an_optimistic_distance_is_the_straddle_where_the_side_of_the_target_is_certain():
    goal, mean, deviation = Target(42.0), np.array([10.0, 80.0]), np.array([1.0, 2.0])
    np.testing.assert_allclose(goal.optimistic(mean, deviation, 2.0), 2.0 * deviation - np.abs(mean - 42.0))


def test_a_known_close_place_beats_one_that_is_on_target_by_its_mean_alone():
    """E|f - t| is 0.8 sd at the target: 0.3 known is better than 0 with a standard deviation of 1."""
    expected = Target(5.0).expected(np.array([5.0, 5.3]), np.array([1.0, 0.01]))
    assert expected[0] == pytest.approx(-np.sqrt(2.0 / np.pi)) and expected[1] == pytest.approx(-0.3)


def test_the_mirror_image_of_a_belief():
    """Minimising f is maximising -f, draw by draw and bit by bit."""
    beliefs = [ContinuousBelief(SquaredExponential(1.0, 0.3), 2) for _ in range(2)]
    for point in np.random.default_rng(1).uniform(-0.5, 0.5, (6, 2)):
        beliefs[0].observe(point, float(np.sin(7 * point.sum())), 1e-3)
        beliefs[1].observe(point, -float(np.sin(7 * point.sum())), 1e-3)
    points, owner = np.random.default_rng(2).uniform(-0.5, 0.5, (50, 2)), np.arange(50) % 5
    for make in (
        lambda belief, goal: ConfidenceBounds(belief, np.linspace(0.0, 2.5, 5), goal),
        lambda belief, goal: drawn_scores(belief, goal, 5, np.random.default_rng(3)),
        lambda belief, goal: ImprovementSurface(belief, 0.2, goal),
        ExpectedScore,
    ):
        one, other = make(beliefs[0], Minimise()), make(beliefs[1], Maximise())
        np.testing.assert_array_equal(one.value(points), other.value(points))
        which = owner if one.count == 5 else np.zeros(50, dtype=int)
        for left, right in zip(one.value_and_gradient(points, which), other.value_and_gradient(points, which), strict=True):
            np.testing.assert_array_equal(left, right)


def test_samples_of_a_target_are_best_where_they_meet_it():
    from tcbo_pyomo.candidates.thompson_sampling import ThompsonSampling

    belief = ContinuousBelief(SquaredExponential(1.0, 0.3), 2)
    belief.observe([0.1, 0.1], 0.5, 1e-3)
    found = ThompsonSampling(20)(belief, None, np.random.default_rng(5), goal=Target(0.3))
    samples = belief.samples(20, np.random.default_rng(5))
    np.testing.assert_allclose(samples.value(found).diagonal(), 0.3, atol=1e-5)
    assert Scored(samples, Target(0.3)).rough().count == 20


@pytest.mark.parametrize(
    ("given_as", "goal"),
    [("maximise", MAXIMISE), ("minimise", Minimise()), ({"target": 42}, Target(42.0)), (Target(1.0), Target(1.0))],
)
def test_goals_by_name(given_as, goal):
    found = goal_from(given_as)
    assert found == goal and goal_from(found.data) == found


@pytest.mark.parametrize(
    "wrong", ["maximize", None, 42, {"target": "42"}, {"target": float("nan")}, {"target": True}, {"goal": 1}, {}]
)
def test_what_is_no_goal_is_refused_in_one_line(wrong):
    with pytest.raises(BadInput, match=r"goal: got .*; use maximise, minimise, or \{target: 42\}") as error:
        goal_from(wrong)
    assert "\n" not in str(error.value)


def test_words():
    assert [goal.adjective("%") for goal in (MAXIMISE, Minimise(), Target(42.0))] == ["largest", "smallest", "closest to 42 %"]
    assert [goal.noun("%") for goal in (MAXIMISE, Minimise(), Target(42.0))] == ["maximum", "minimum", "value closest to 42 %"]
