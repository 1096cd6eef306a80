"""The systems on which planning is the point: maxima, forks, budgets and noise by computations of their own."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.optimize import minimize
from scipy.sparse.csgraph import shortest_path

from tcbo_pyomo import Campaign, load_problem, run_campaign, settings_from
from tcbo_pyomo.campaign.simulated_plant import SimulatedPlant
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.planning.continuous.shortest_path import straight_path

MAXIMUM, SECOND = np.array([0.114589, 0.555649, 0.852547]), np.array([0.109337, 0.860524, 0.564123])
"""Of Hartmann3D: where the first and the second largest of its bumps have their tops."""
PORT, BEST, RIVAL = 78, 93, 15
"""Places of the lake."""


@pytest.fixture(scope="module")
def reactor():
    return load_problem("two_ridge_reactor")


@pytest.fixture(scope="module")
def obstacles():
    return load_problem("hartmann3d_obstacles")


@pytest.fixture(scope="module")
def lake():
    return load_problem("fuel_lake")


@pytest.fixture(scope="module")
def beam():
    return load_problem("wide_beam", seed=101)


def moves_of(problem, cost=None):
    """The allowed moves as a sparse matrix of their costs (one each when not given), staying left out."""
    process, pairs = problem.process, np.flatnonzero(problem.sets.allowed_pairs)
    left, right = process.pair_state[pairs], process.successor[pairs]
    left, right = left[left != right], right[left != right]
    weights = np.ones(len(left)) if cost is None else cost(process.states[left], process.states[right])
    return sparse.csr_matrix((weights, (left, right)), shape=(process.number_of_states,) * 2)


def distances(left, right):
    return np.hypot(*(right - left).T)


# The reactor with two ridges.


def test_reactor_grid_and_budget(reactor):
    process = reactor.process
    assert process.number_of_states == 16 * 15 and (reactor.horizon, reactor.episodes) == (15, 6)
    assert reactor.settings["feedback"]["kind"] == "episodic"
    assert load_problem("two_ridge_reactor", "immediate").settings["feedback"]["kind"] == "immediate"
    pairs = np.flatnonzero(reactor.sets.allowed_pairs)
    change = process.states[process.successor[pairs]] - process.states[process.pair_state[pairs]]
    assert set(change[:, 0]) == {0.0, 1.0} and set(change[:, 1].round(9)) == {-0.05, 0.0, 0.05}
    assert (process.noise_variance / reactor.kernel.variance == 1e-3).all()


def test_reactor_truth_by_hand(reactor):
    for time, ratio in ((0.0, 0.15), (3.0, 0.35), (13.0, 0.75), (15.0, 0.85)):
        lean = 0.6 * (1 - np.exp(-0.5 * time)) * np.exp(-((ratio - (0.38 - 0.01 * time)) ** 2) / (2 * 0.07**2))
        grown = 0.01 * np.exp(0.65 * time) / (0.99 + 0.01 * np.exp(0.65 * time))
        rich = grown * np.exp(-((ratio - (0.62 + 0.01 * time)) ** 2) / (2 * 0.07**2))
        state = reactor.locate({"residence_time": time, "ratio": ratio})
        assert reactor.true_value(state) == pytest.approx(lean + rich - 0.012 * time, rel=1e-9)


def test_behind_the_fork_no_way_leads_to_the_other_ridge(reactor):
    time, ratio = reactor.process.states.T
    hops = shortest_path(moves_of(reactor), unweighted=True)
    behind = reactor.search_space & (time >= 2.0)
    lean, rich = behind & (ratio < 0.5), behind & (ratio > 0.5)
    assert (lean | rich)[behind].all()  # the wedge has the middle
    assert np.isinf(hops[np.ix_(lean, rich)]).all() and np.isinf(hops[np.ix_(rich, lean)]).all()
    # Before it both ridges are open, to their far ends.
    for summit in ((13.0, 0.75), (8.0, 0.3)):
        goal = reactor.locate(dict(zip(("residence_time", "ratio"), summit, strict=True)))
        assert hops[reactor.start_state, goal] <= reactor.horizon
    free = hops[reactor.start_state] <= reactor.horizon
    np.testing.assert_array_equal(free, reactor.search_space)


def test_the_lean_ridge_is_a_lure(reactor):
    time, ratio = reactor.process.states.T
    value = np.where(reactor.search_space, reactor.truth, -np.inf)
    for minutes in (1.0, 2.0, 3.0, 4.0, 5.0):
        assert value[(time == minutes) & (ratio < 0.5)].max() > 3 * value[(time == minutes) & (ratio > 0.5)].max()
    # What a look one cell ahead sees at the tip of the wedge.
    left, right = (reactor.locate({"residence_time": 2.0, "ratio": ratio}) for ratio in (0.45, 0.55))
    assert reactor.truth[left] > reactor.truth[right] + 10 * reactor.process.noise_variance[0] ** 0.5
    lean, rich = value[ratio < 0.5].max(), value[ratio > 0.5].max()
    assert rich > 1.5 * lean


def test_reactor_maximum_is_unique_and_far_along_the_rich_ridge(reactor):
    assert reactor.describe(reactor.best_state) == pytest.approx({"residence_time": 13.0, "ratio": 0.75})
    first, second = np.sort(reactor.truth)[[-1, -2]]
    assert reactor.truth[reactor.best_state] == first
    # A few visits tell it from the next best.
    assert first - second > reactor.process.noise_variance[0] ** 0.5


# Hartmann3D among pillars.


def test_obstacles_settings(obstacles):
    free = load_problem("hartmann3d", "delayed")
    settings = settings_from(dict(obstacles.settings))
    assert (settings.feedback.kind, settings.feedback.delay, obstacles.horizon) == ("delayed", 25, 100)
    assert obstacles.truth is free.truth and obstacles.noise == free.noise and obstacles.maximum == free.maximum
    assert obstacles.measure_start and set(obstacles.describe(obstacles.start_state).values()) == {0.0}
    assert load_problem("hartmann3d_obstacles", "immediate").settings["feedback"]["kind"] == "immediate"


def test_the_maximum_is_allowed_and_the_true_one(obstacles):
    starts = np.random.default_rng(1).random((400, 3))
    starts = starts[np.argsort(-obstacles.truth(starts))[:20]]
    tops = [minimize(lambda u: -obstacles.truth(u[None])[0], s, method="L-BFGS-B", bounds=[(0, 1)] * 3) for s in starts]
    best = min(tops, key=lambda top: top.fun)
    np.testing.assert_allclose(best.x, MAXIMUM, atol=1e-4)
    assert -best.fun == pytest.approx(obstacles.maximum, abs=1e-6)
    assert obstacles.allowed(np.array([MAXIMUM, SECOND]) - 0.5).all()
    for pillar in [rule.region for rule in obstacles.rules if hasattr(rule, "region")]:
        axes, center, radius = pillar.numbers(obstacles.coordinates)
        for top in (MAXIMUM, SECOND):
            assert np.linalg.norm(top[axes] - center) > radius[0] + 0.04


def test_straight_ways_are_blocked(obstacles):
    pillars = [rule for rule in obstacles.rules if hasattr(rule, "region")]
    assert len(pillars) == 3

    def blocked(points):
        return any(rule.violations(EpisodePath(obstacles.coordinates, np.asarray(points), False)) for rule in pillars)

    assert blocked([np.zeros(3), MAXIMUM]) and blocked([np.zeros(3), SECOND]) and blocked([MAXIMUM, SECOND])
    states, _ = straight_path(obstacles.dynamics, np.full(3, -0.5), MAXIMUM - 0.5, 20)
    np.testing.assert_allclose(states[-1], MAXIMUM - 0.5)
    assert blocked(states + 0.5)
    # Each pillar stands in the way of something: points of the line inside it, by plain geometry.
    share = np.linspace(0, 1, 201)[:, None]
    line = share * MAXIMUM
    assert (np.hypot(line[:, 1] - 0.30, line[:, 2] - 0.42) < 0.17).any()
    assert (np.hypot(line[:, 0] - 0.08, line[:, 2] - 0.42) < 0.10).any()
    between = MAXIMUM + share * (SECOND - MAXIMUM)
    assert (np.hypot(between[:, 0] - 0.11, between[:, 1] - 0.72) < 0.09).any()


def test_a_way_to_the_maximum_and_back_exists(obstacles):
    stops = [np.zeros(3), np.array([0.25, 0.05, 0.3]), np.array([0.25, 0.05, 0.65]), MAXIMUM]
    path = [stops[0]]
    for left, right in itertools.pairwise([*stops, *stops[-2::-1]]):
        moves = int(np.ceil(np.abs(right - left).max() / 0.1))
        path.extend(left + (right - left) * step / moves for step in range(1, moves + 1))
    assert len(path) - 1 == 26 and np.abs(np.diff(path, axis=0)).max() <= 0.1 + 1e-12
    path = np.array(path + [stops[0]] * (obstacles.horizon + 1 - len(path)))
    assert [v for rule in obstacles.rules for v in rule.violations(EpisodePath(obstacles.coordinates, path, True))] == []
    assert obstacles.truth(path).max() == pytest.approx(obstacles.maximum, abs=1e-6)
    elsewhere = np.vstack([path[:-1], [[0.1, 0.0, 0.0]]])
    ended = EpisodePath(obstacles.coordinates, elsewhere, True)
    found = [v.constraint for rule in obstacles.rules for v in rule.violations(ended)]
    assert found == ["EndAt"]


# The lake with fuel.


def test_lake_is_the_lake_with_a_budget(lake):
    free = load_problem("lake_ypacarai")
    np.testing.assert_array_equal(lake.sets.allowed_pairs, free.sets.allowed_pairs)
    assert [rule.name for rule in lake.rules] == [*(rule.name for rule in free.rules), "ResourceBudget(fuel)"]
    assert np.flatnonzero(lake.sets.safe[-1]).tolist() == [PORT]
    np.testing.assert_array_equal(lake.process.states, free.process.states)
    np.testing.assert_array_equal(lake.truth, free.truth)
    assert (lake.horizon, lake.episodes, lake.start_state, lake.best_state) == (30, 5, PORT, BEST)
    assert np.flatnonzero(lake.truth == lake.truth.max()).tolist() == [BEST]
    assert lake.settings["feedback"]["kind"] == "episodic" and free.search_space.all()
    assert set(load_problem("fuel_lake", "immediate").process.noise_variance) == {0.01}


def test_fuel_is_the_distance_travelled(lake):
    budget, process = lake.rules[-1], lake.process
    left, right = process.states[process.pair_state], process.states[process.successor]
    np.testing.assert_allclose(budget.transition_cost(process), distances(left, right), atol=1e-15)
    path = np.array([[0.0, 0.0], [0.03, 0.04], [0.03, 0.04], [0.0, 0.0]])
    assert budget.spent(lake.coordinates, path) == pytest.approx(0.1)


def test_what_can_be_visited_is_what_the_fuel_takes_there_and_back(lake):
    """By the shortest ways of scipy; the horizon is long enough for all of them."""
    way = shortest_path(moves_of(lake, distances))
    there_and_back = way[PORT] + way[:, PORT]
    np.testing.assert_array_equal(lake.search_space, there_and_back <= lake.rules[-1].limit + 1e-9)
    assert lake.visitable.exact and lake.search_space.sum() == 87


def test_fuel_is_enough_for_one_peak_and_not_for_both(lake):
    way = shortest_path(moves_of(lake, distances))
    hops = shortest_path(moves_of(lake), unweighted=True)
    limit = lake.rules[-1].limit
    for peak in (BEST, RIVAL):
        assert 2 * way[PORT, peak] < 0.8 * limit
    assert 2 * way[PORT, BEST] == pytest.approx(0.94, abs=0.01) and 2 * way[PORT, RIVAL] == pytest.approx(
        1.17, abs=0.01
    )
    both = way[PORT, BEST] + way[BEST, RIVAL] + way[RIVAL, PORT]
    assert both == pytest.approx(1.98, abs=0.01) and both > limit
    # The moves would do for both, so it is the fuel that forbids it.
    assert hops[PORT, BEST] + hops[BEST, RIVAL] + hops[RIVAL, PORT] <= lake.horizon
    # Nor can any two places that come within two per cent of the peaks, one on either side, be seen in one trip.
    high = np.flatnonzero(lake.truth > 0.98 * lake.truth.max())
    east = lake.process.states[high, 0] > 0.0
    trips = [way[PORT, i] + way[i, j] + way[j, PORT] for i in high[east] for j in high[~east]]
    assert BEST in high[east] and RIVAL in high[~east] and min(trips) > limit


# The beamline.


def test_beam_grid_moves_and_budget(beam):
    process = beam.process
    assert (process.number_of_states, process.number_of_pairs) == (400, 160_000)
    assert (beam.horizon, beam.episodes) == (60, 1) and beam.search_space.all()
    assert np.unique(process.states[:, 0].round(12)) == pytest.approx(np.linspace(-0.5, 0.5, 20))
    assert beam.settings["feedback"] == {"kind": "immediate"}
    assert beam.settings["planner"]["linear"]["solver"] == "dynamic_programming"
    assert process.pair_state.tolist()[:401] == [0] * 400 + [1]
    np.testing.assert_array_equal(process.successor, np.tile(np.arange(400), 400))


def test_beam_noise_by_hand(beam):
    process, start = beam.process, beam.start_state

    def sd(cells_1, cells_2):
        target = process.state_index({"magnet_1": -0.5 + cells_1 / 19, "magnet_2": -0.5 + cells_2 / 19})
        return process.noise_of(start * 400 + target, target) ** 0.5

    assert sd(0, 0) == pytest.approx(0.01)
    assert sd(1, 0) == pytest.approx(0.01 * (1 + 20 * 9 / 19))
    assert sd(3, 4) == pytest.approx(0.01 * (1 + 20 * 5 * 9 / 19))
    # From corner to corner it is the laser's: nine of its cells along both axes.
    laser = load_problem("free_electron_laser").process
    assert sd(19, 19) == pytest.approx(0.01 * (1 + 20 * 9 * 2**0.5)) == pytest.approx(laser.noise_variance.max() ** 0.5)


def test_beam_surface_by_hand(beam):
    """Peaks and waves once more, one state and one wave at a time."""
    generator = np.random.default_rng(np.random.SeedSequence([101, 4]))
    waves, phases = generator.normal(0.0, 5.0, (2, 200)), generator.uniform(0.0, 2 * np.pi, 200)
    for state in (0, 57, 399):
        x, y = beam.process.states[state]
        value = 0.80 * np.exp(-((x + 0.25) ** 2 + (y - 0.30) ** 2) / (2 * 0.15**2))
        value += 0.85 * np.exp(-((x - 0.05) ** 2 + (y + 0.15) ** 2) / (2 * 0.18**2))
        value += 0.90 * np.exp(-((x - 0.35) ** 2 + (y - 0.25) ** 2) / (2 * 0.15**2))
        value += sum(0.008 * np.cos(a * x + b * y + p) for a, b, p in zip(*waves, phases, strict=True))
        assert beam.truth[state] == pytest.approx(value, rel=1e-9)


def test_beam_has_one_maximum_that_moves_with_the_seed():
    places = []
    for seed in [*range(26), 101, 102]:
        truth = load_problem("wide_beam", seed=seed).truth
        first, second = np.sort(truth)[[-1, -2]]
        assert first - second > 1e-4
        places.append(int(truth.argmax()))
    assert len(set(places)) > 3
    np.testing.assert_array_equal(truth, load_problem("wide_beam", seed=102).truth)


def test_beam_field_has_the_spread_and_the_smoothness_written_down():
    from tcbo_pyomo.library.wide_beam import random_field

    points = np.array([[0.0, 0.0], [0.2, 0.0], [0.4, -0.3]])
    fields = np.array([random_field(points, seed) for seed in range(2000)])
    assert fields.std(axis=0) == pytest.approx(np.full(3, 0.08), rel=0.06)
    correlation = np.corrcoef(fields.T)
    assert correlation[0, 1] == pytest.approx(np.exp(-0.5), abs=0.06)
    assert correlation[0, 2] == pytest.approx(np.exp(-0.25 / 0.08), abs=0.06)


# Short runs of the yardsticks, audited.


def audited(problem, points, complete):
    return [v for rule in problem.rules for v in rule.violations(EpisodePath(problem.coordinates, points, complete))]


@pytest.mark.parametrize("method", ["local_ucb", "random_walk", "greedy_ucb"])
@pytest.mark.parametrize("name", ["two_ridge_reactor", "fuel_lake"])
def test_whole_episodes_of_the_yardsticks_keep_every_rule(name, method):
    problem = load_problem(name)
    result = run_campaign(problem, settings_from(dict(problem.settings), {"method": method, "episodes": 2}), seed=101)
    assert len(result.experiments) == 2 * problem.horizon
    for path in result.paths:
        assert audited(problem, problem.process.states[path], True) == []


@pytest.mark.parametrize("method", ["local_ucb", "random_walk"])
def test_a_short_run_on_the_beam(beam, method):
    short = beam.changed(horizon=8)
    result = run_campaign(short, settings_from(dict(beam.settings), {"method": method}), seed=101)
    assert len(result.experiments) == 8 and result.paths[0][0] == beam.start_state


@pytest.mark.parametrize("method", ["local_ucb", "random_walk"])
def test_a_short_episode_among_the_pillars_ends_where_it_started(obstacles, method):
    """A whole episode, shortened: 12 moves, and the results of the first seven are seen on the way."""
    short = obstacles.changed(horizon=12)
    settings = settings_from(dict(obstacles.settings), {"method": method, "feedback": {"kind": "delayed", "delay": 5}})
    result = run_campaign(short, settings, seed=101)
    points = np.array([list(short.describe(point).values()) for point in result.paths[0]])
    assert audited(short, points, True) == []
    assert points.max() > 0.05 and np.abs(points[-1]).max() < 1e-6
    assert np.abs(np.diff(points, axis=0)).max() <= 0.1 + 1e-6


@pytest.mark.parametrize("name", ["two_ridge_reactor", "fuel_lake"])
def test_the_first_moves_of_the_planner_keep_every_rule(name):
    problem = load_problem(name, "immediate")
    campaign, plant = Campaign(problem, settings_from(dict(problem.settings)), 101), SimulatedPlant(problem, 101)
    for _ in range(3):
        move = campaign.ask()
        campaign.arrive(move.number, plant.make(move))
        campaign.tell(move.number, plant.measure(move))
    assert audited(problem, problem.process.states[list(campaign.history.situation().path)], False) == []
