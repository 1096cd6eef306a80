"""Where every place is one move away: gains per move against plain conditioning, moves against a search by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from tcbo_pyomo import Campaign, load_problem
from tcbo_pyomo.campaign.simulation import SimulatedPlant
from tcbo_pyomo.planning.finite.go_and_stay import per_move, plausible, staying_noise
from tcbo_pyomo.rehearsal.standpoint import standpoint_of
from tcbo_pyomo.settings import settings_from


def taken_off(covariance, direction, place, noises):
    """By how much measurements of one place reduce the variance of a linear function, by conditioning on them all."""
    shared = np.tile(covariance[place], (len(noises), 1))
    measured = covariance[place, place] + np.diag(noises)
    return direction @ shared.T @ np.linalg.solve(measured, shared @ direction)


@given(seed=st.integers(0, 10_000), go=st.floats(1e-3, 10.0), stay=st.floats(1e-3, 10.0))
@settings(max_examples=60, deadline=None)
def test_the_gain_per_move_is_that_of_one_measurement_or_half_of_that_of_two(seed, go, stay):
    rng = np.random.default_rng(seed)
    root, direction = rng.standard_normal((5, 5)), rng.standard_normal(5)
    covariance = root @ root.T + 0.1 * np.eye(5)
    for place in range(5):
        one, two = (taken_off(covariance, direction, place, noises) for noises in ([go], [go, stay]))
        found = per_move(np.array([one]), covariance[place, place], np.array([go]), np.array([stay]))
        assert found[0] == pytest.approx(max(one, two / 2), rel=1e-8)


def test_where_the_plant_may_not_stay_one_measurement_counts():
    assert per_move(np.array([3.0]), np.array([1.0]), np.array([0.5]), np.array([np.inf]))[0] == 3.0
    knorr = load_problem("knorr_pyrazole")
    process = knorr.process
    noise = staying_noise(knorr, process.noise_variance)
    for state in range(process.number_of_states):
        stays = [p for p in process.pairs_of(state) if process.successor[p] == state and knorr.sets.allowed_pairs[p]]
        assert noise[state] == (process.noise_of(stays[0], state) if stays else np.inf)


def test_places_that_cannot_be_better_are_left_out_unless_nothing_is_left():
    usable = np.array([True, True, False, True])
    assert plausible(np.array([1.0, 3.0, 9.0, 2.0]), 2.0, usable).tolist() == [1, 3]
    assert plausible(np.array([1.0, 1.0, 9.0, 1.0]), 2.0, usable).tolist() == [0, 1, 3]


@pytest.mark.parametrize("moves", [12, 30])
def test_on_the_laser_the_move_with_the_largest_gain_per_move_is_made(moves):
    """Against slopes of the expected regret by finite differences, and every place looked at."""
    problem = load_problem("free_electron_laser", None, 301).changed(horizon=moves)
    campaign, plant = Campaign(problem, settings_from(dict(problem.settings)), seed=301), SimulatedPlant(problem, 301)
    state = problem.start_state
    for left in range(moves, 0, -1):
        standpoint = standpoint_of(campaign.knowledge)
        mean, covariance = campaign.knowledge.belief.mean, standpoint.covariance()
        best = int(mean.argmax())
        gain = np.full(len(mean), -np.inf)
        for place in np.flatnonzero(mean + 3.0 * np.sqrt(np.diag(covariance)) >= mean.max()):
            noises = [problem.process.noise_of(p, int(place)) for p in _ways(problem, state, place, left)]
            one = _lowered(mean, covariance, best, place, noises[:1])
            gain[place] = max(one, _lowered(mean, covariance, best, place, noises) / len(noises))
        move = campaign.ask()
        assert gain[move.expected] == pytest.approx(gain.max(), rel=1e-4)
        campaign.arrive(move.number, plant.make(move))
        campaign.tell(move.number, plant.measure(move))
        state = move.expected


def _ways(problem, state, place, left):
    """The pair that leads to a place, and where another move is left the one that stays there."""
    pairs = [next(p for p in problem.process.pairs_of(s) if problem.process.successor[p] == place) for s in (state, place)]
    return pairs if left > 1 else pairs[:1]


def _lowered(mean, covariance, best, place, noises):
    """By how much measurements at a place lower the expected regret, to first order in the variances they take off."""
    shared = covariance[place]
    off = (shared - shared[best]) ** 2 / (covariance[place, place] + 1.0 / np.sum(1.0 / np.array(noises)))
    variance = np.diag(covariance) - 2.0 * covariance[best] + covariance[best, best]
    others = np.flatnonzero(np.arange(len(mean)) != best)
    share = 1e-5

    def regret(variances):
        deviation = np.sqrt(variances[others])
        ahead = (mean[others] - mean[best]) / deviation
        return deviation * (norm.pdf(ahead) + ahead * norm.cdf(ahead))

    return float((regret(variance) - regret(variance - share * off)).sum() / share)
