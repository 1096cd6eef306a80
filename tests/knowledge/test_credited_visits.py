"""What the history counts in the utility with departure and arrival, against dense matrices written out."""

import json

import numpy as np
import pytest

from tcbo_pyomo import Campaign, Coordinate, Problem, load_problem, run_campaign, settings_from
from tcbo_pyomo.explain.explanation import explain
from tcbo_pyomo.knowledge.credited_visits import credited_visits
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.settings import UtilitySettings
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

FAST = {"linear": {"solver": "dynamic_programming"}, "first_move": "drawn"}


def campaign_of(problem, moves, information, form="features", **settings):
    """A campaign after some moves that were answered with numbers that matter to no variance."""
    utility = {"information": information, "form": form, "objective": "differences"}
    chosen = settings_from(dict(problem.settings), {"utility": utility, "planner": FAST, **settings})
    campaign = Campaign(problem, chosen, 5)
    for number in range(moves):
        campaign.tell(campaign.ask().number, 0.1 * number)
    return campaign


def two_rates(horizon=3):
    """Four places in a row; a step is noisy, staying precise."""
    labels = "abcd"
    moves = [(x, f"to {y}", y) for i, x in enumerate(labels) for j, y in enumerate(labels) if abs(i - j) <= 1]
    noise = [0.01 if x == y else 0.7 for x, _, y in moves]
    process = Process.from_moves([Coordinate("x", 0, 3)], {label: [i] for i, label in enumerate(labels)}, moves, noise)
    return Problem("row", process, kernel=SquaredExponential(1.0, 0.4), start="b", horizon=horizon, episodes=4)


def dense_covariance(problem, information):
    """(K^{-1} + diag(w))^{-1} by a plain inverse, with jitter that is far below the comparison."""
    points = problem.process.scaled_states
    kernel = problem.kernel(points, points)
    return np.linalg.inv(np.linalg.inv(kernel) + np.diag(information))


def information_by_hand(campaign):
    """1 / sigma^2 at the state each move left, and where the last one of an episode arrived."""
    problem = campaign.problem
    found = np.zeros(problem.process.number_of_states)
    for move in campaign.history.made:
        rate = 1.0 / problem.noise_variance(move.decision, move.arrived)
        found[move.origin] += rate
        if move.step == problem.horizon:
            found[move.arrived] += rate
    return found


@pytest.mark.parametrize("form", ["features", "kernel"])
@pytest.mark.parametrize("moves", [0, 2, 3, 7])
def test_the_posterior_of_the_utility_is_that_of_dense_matrices(form, moves):
    problem = two_rates()
    campaign = campaign_of(problem, moves, "departure", form)
    utility = campaign.knowledge.utility(campaign.generator)
    made = information_by_hand(campaign)
    states = np.arange(4)
    expected = dense_covariance(problem, made)
    np.testing.assert_allclose(utility.posterior(None).covariance_of(states), expected, rtol=1e-6, atol=1e-9)
    planned = np.array([0.0, 3.0, 0.5, 0.0])
    expected = dense_covariance(problem, made + planned)
    np.testing.assert_allclose(utility.posterior(planned).covariance_of(states), expected, rtol=1e-6, atol=1e-9)


def test_the_gradient_of_a_campaign_is_that_of_dense_matrices():
    problem = two_rates()
    campaign = campaign_of(problem, 5, "departure")
    utility = campaign.knowledge.utility(campaign.generator)
    tangent = utility.linearise()
    covariance = dense_covariance(problem, information_by_hand(campaign))
    z = campaign.knowledge.candidates
    spread = np.add.outer(covariance.diagonal(), covariance.diagonal()) - 2 * covariance
    assert tangent.value == pytest.approx(spread[np.ix_(z, z)].max(), rel=1e-6)
    about = (covariance[tangent.first] - covariance[tangent.second]) ** 2
    process = problem.process
    for pair in range(process.number_of_pairs):
        x, y, noise = process.pair_state[pair], process.successor[pair], process.noise_variance[pair]
        assert -tangent.gradient[0, pair] == pytest.approx(about[x] / noise, rel=1e-5)
        assert -tangent.gradient[1, pair] == pytest.approx((about[x] + about[y]) / noise, rel=1e-5)


def test_the_belief_and_the_recommendation_do_not_depend_on_it():
    problem = two_rates()
    departure = campaign_of(problem, 7, "departure")
    arrival = Campaign(problem, settings_from({"planner": FAST}), 5)
    arrival.history.load(departure.history.to_dict())
    arrival.knowledge.load(departure.knowledge.state())
    np.testing.assert_array_equal(departure.knowledge.belief.mean, arrival.knowledge.belief.mean)
    np.testing.assert_array_equal(departure.knowledge.belief.factor, arrival.knowledge.belief.factor)
    assert departure.knowledge.recommendation == arrival.knowledge.recommendation
    np.testing.assert_array_equal(departure.knowledge.candidates, arrival.knowledge.candidates)


def test_the_same_on_a_plant_whose_every_move_stays():
    process = Process.from_moves(
        [Coordinate("x", 0, 2)], {"a": [0], "b": [1], "c": [2]}, [(s, "stay", s) for s in "abc"], [0.1, 0.4, 2.0]
    )
    problem = Problem("still", process, kernel=SquaredExponential(1.0, 0.5), start="b", horizon=4, episodes=3)
    for moves in (1, 2, 3):
        one, other = (
            campaign_of(problem, moves, kind).knowledge._posterior_given()(None) for kind in ("departure", "arrival")
        )
        states = np.arange(3)
        np.testing.assert_allclose(one.covariance_of(states), other.covariance_of(states), rtol=1e-9)


def places(history, information, noise):
    counted = {}
    for place, move, number in credited_visits(history, UtilitySettings(information=information)):
        counted[place] = counted.get(place, 0.0) + number / noise(move)
    return counted


@pytest.mark.parametrize("name", ["knorr_pyrazole", "branin2d"])
def test_over_an_episode_the_totals_differ_by_its_two_end_states(name):
    """x_1 .. x_H and x_0 .. x_H; with one noise variance nothing else differs."""
    problem = load_problem(name)
    chosen = settings_from(dict(problem.settings), {"planner": {**FAST, "first_move": "drawn"}, "episodes": 1})
    if name == "branin2d":
        problem = problem.changed(horizon=6)
    campaign = run_campaign(problem, chosen, 2).campaign
    history, noise = campaign.history, campaign.knowledge.noise_variance
    departure, arrival = (places(history, kind, noise) for kind in ("departure", "arrival"))
    start = history.path(1)[0]
    arrival[start] = arrival.get(start, 0.0) + 1.0 / noise(history.made[0])
    assert departure == pytest.approx(arrival)


def test_pending_moves_and_replicates():
    campaign = campaign_of(two_rates(), 0, "departure")
    campaign.tell(campaign.ask().number, 0.2)
    campaign.tell(1, 0.3, replicate=True)
    campaign.arrive(campaign.ask().number)
    history = campaign.history
    found = list(credited_visits(history, UtilitySettings(information="departure")))
    assert [(place, move.number, number) for place, move, number in found] == [
        (history.moves[0].origin, 1, 2), (history.moves[1].origin, 2, 1)
    ]  # fmt: skip
    ignored = UtilitySettings(information="departure", pending="ignored")
    assert [move.number for _, move, _ in credited_visits(history, ignored)] == [1]


def dense_differences(problem, points, noise, candidates):
    """Var[f(z) - f(z')] of a plain Gaussian process that was measured at some points."""
    k = problem.kernel
    cross = k(candidates, points)
    known = cross @ np.linalg.solve(k(points, points) + np.diag(noise), cross.T)
    covariance = k(candidates, candidates) - known
    return np.add.outer(covariance.diagonal(), covariance.diagonal()) - 2 * covariance


def test_trajectories_are_planned_at_the_states_left_by_dense_matrices():
    problem = load_problem("branin2d").changed(horizon=3, episodes=3, measure_start=False)
    campaign = campaign_of(problem, 4, "departure")
    knowledge = campaign.knowledge
    utility = knowledge.utility(campaign.generator)
    one, two, three, four = campaign.history.made
    # The whole first episode with its end, and of the second what has been left.
    points = np.array([one.origin, two.origin, three.origin, three.arrived, four.origin])
    noise = np.full(len(points), problem.noise)
    variances = dense_differences(problem, points, noise, utility.candidates)
    assert utility.value() == pytest.approx(variances.max(), rel=1e-6)
    ahead = np.array([[0.1, 0.2], [-0.3, 0.0]])
    planned = np.vstack([points, four.arrived, ahead])
    variances = dense_differences(problem, planned, np.full(len(planned), problem.noise), utility.candidates)
    assert utility.value([(1.0, ahead)]) == pytest.approx(variances.max(), rel=1e-6)
    # The next measurement is judged by what was measured, where it was.
    np.testing.assert_array_equal(utility.measured.measured, np.array([m.arrived for m in campaign.history.made]))


@pytest.mark.parametrize("name", ["branin2d", "knorr_pyrazole"])
def test_looking_at_a_campaign_and_loading_it_change_no_move(name):
    problem = load_problem(name)
    if name == "branin2d":
        problem = problem.changed(horizon=3, episodes=3)
    plain, watched = campaign_of(problem, 5, "departure"), campaign_of(problem, 2, "departure")
    for number in range(2, 5):
        explain(watched)
        watched = Campaign.from_state(problem, json.loads(json.dumps(watched.state())))
        watched.tell(watched.ask().number, 0.1 * number)
        explain(watched)
    assert [m.arrived for m in plain.history.made] == [m.arrived for m in watched.history.made]
