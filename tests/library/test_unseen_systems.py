"""The systems the tournament kept unseen until its rules were fixed: maxima, ways and budgets by computations of their own."""

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path

from tcbo_pyomo import Problem, load_problem, run_campaign, settings_from
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.solvers.nonlinear.step_simulator import simulator_of


def highest(problem):
    """Place and value of the largest true value: a fine grid, then a local search from its best points."""
    lower, upper = (np.array([getattr(c, side) for c in problem.coordinates]) for side in ("lower", "upper"))
    axes = [np.linspace(a, b, 161) for a, b in zip(lower, upper, strict=True)]
    points = np.array(list(itertools.product(*axes)))
    starts = points[np.argsort(-problem.truth(points))[:5]]
    tops = [
        minimize(
            lambda x: -problem.truth(x[None])[0], s, method="L-BFGS-B", bounds=list(zip(lower, upper, strict=True))
        )
        for s in starts
    ]
    best = min(tops, key=lambda top: top.fun)
    return best.x, -best.fun


def broken(problem, path, complete=True):
    return [v.constraint for rule in problem.rules for v in rule.violations(EpisodePath(problem.coordinates, path, complete))]


def walk(stops, longest, norm):
    """Straight moves of at most `longest` through the stops."""
    path = [np.asarray(stops[0], dtype=float)]
    for left, right in itertools.pairwise(np.asarray(stops, dtype=float)):
        moves = int(np.ceil(np.linalg.norm(right - left, norm) / longest - 1e-9))
        path.extend(left + (right - left) * step / moves for step in range(1, moves + 1))
    return np.array(path)


# Dosing.


@pytest.fixture(scope="module")
def dosing():
    return load_problem("dosing")


def test_nothing_dosed_is_taken_out_again(dosing):
    process, pairs = dosing.process, np.flatnonzero(dosing.sets.allowed_pairs)
    change = process.states[process.successor[pairs]] - process.states[process.pair_state[pairs]]
    assert process.number_of_states == 256 and dosing.search_space.all()
    assert set(change[:, 0].round(9)) == {0.0, 0.1} and set(change[:, 1].round(9)) == {0.0, 0.2}
    assert dosing.settings["feedback"]["kind"] == "episodic"


def test_dosing_truth_by_hand(dosing):
    for base, agent in ((0.0, 0.0), (0.4, 0.8), (1.2, 0.8), (0.3, 2.4)):
        value = 0.45 * np.exp(-((base - 0.4) ** 2) / (2 * 0.18**2)) * np.exp(-((agent - 0.9) ** 2) / (2 * 0.4**2))
        value += 0.75 * np.exp(-((base - 0.35) ** 2) / (2 * 0.2**2)) * np.exp(-((agent - 2.4) ** 2) / (2 * 0.45**2))
        value += 0.9 * np.exp(-((base - 1.23) ** 2) / (2 * 0.2**2)) * np.exp(-((agent - 0.75) ** 2) / (2 * 0.35**2))
        assert dosing.true_value(dosing.locate({"base": base, "agent": agent})) == pytest.approx(value, rel=1e-9)


def test_a_batch_can_go_one_of_two_ways_from_the_lure(dosing):
    process, pairs = dosing.process, np.flatnonzero(dosing.sets.allowed_pairs)
    moves = csr_matrix((np.ones(len(pairs)), (process.pair_state[pairs], process.successor[pairs])), shape=(256, 256))
    hops = shortest_path(moves, unweighted=True)
    lure, best, rival = (dosing.locate({"base": a, "agent": b}) for a, b in ((0.4, 0.8), (1.2, 0.8), (0.3, 2.4)))
    assert best == dosing.best_state and hops[dosing.start_state, best] <= dosing.horizon
    assert np.isfinite(hops[lure, best]) and np.isinf(hops[best, rival]) and np.isinf(hops[rival, best])
    assert dosing.truth[lure] < 0.6 * dosing.truth[best]
    first, second = np.sort(dosing.truth)[[-1, -2]]
    assert first - second > 2 * process.noise_variance[0] ** 0.5


# The mirror.


def test_mirror_moves_and_noise_by_hand():
    mirror = load_problem("fibre_coupling", seed=101)
    process = mirror.process
    assert process.number_of_states == 225 and (mirror.horizon, mirror.episodes) == (80, 1)
    centre = mirror.locate({"tip": 0.0, "tilt": 0.0})
    own = np.flatnonzero(process.pair_state == centre)
    steps = (process.states[process.successor[own]] * 14).round(9)
    assert sorted(map(tuple, steps.tolist())) == sorted(itertools.product((-2.0, -1.0, 0.0, 1.0, 2.0), repeat=2))
    for pair, (tip, tilt) in zip(own, steps, strict=True):
        sd = 0.02 * (1 + 3 * np.hypot(tip, tilt))
        assert process.noise_of(pair, process.successor[pair]) == pytest.approx(sd**2, rel=1e-9)


def test_mirror_surface_by_hand_and_its_maximum_is_unique():
    generator = np.random.default_rng(np.random.SeedSequence([101, 4]))
    waves, phases = generator.normal(0.0, 5.0, (2, 200)), generator.uniform(0.0, 2 * np.pi, 200)
    mirror = load_problem("fibre_coupling", seed=101)
    x, y = mirror.process.states[180]
    value = 0.6 * np.exp(-((x + 0.2) ** 2 + (y + 0.25) ** 2) / (2 * 0.13**2))
    value += 0.8 * np.exp(-((x - 0.3) ** 2 + (y + 0.2) ** 2) / (2 * 0.13**2))
    value += 0.9 * np.exp(-((x - 0.2) ** 2 + (y - 0.3) ** 2) / (2 * 0.14**2))
    value += sum(0.008 * np.cos(a * x + b * y + p) for a, b, p in zip(*waves, phases, strict=True))
    assert mirror.truth[180] == pytest.approx(value, rel=1e-9)
    for seed in range(1, 26):
        first, second = np.sort(load_problem("fibre_coupling", seed=seed).truth)[[-1, -2]]
        assert first - second > 1e-4


# The two tanks.


@pytest.fixture(scope="module")
def tanks():
    return load_problem("tank_cascade")


def test_a_step_of_the_tanks_solves_their_balances(tanks):
    """An integrator of differential equations instead of the matrix exponential, in degrees."""
    for first, second, heating in ((30.0, 30.0, 1.0), (90.0, 50.0, -0.4), (60.0, 60.0, 0.0)):

        def balances(_, t, heating=heating):
            return [(60.0 + 64.0 * heating - t[0]) / 3.0, (t[0] - t[1]) / 6.0]

        end = solve_ivp(balances, (0.0, 1.5), [first, second], rtol=1e-10, atol=1e-10).y[:, -1]
        start = (np.array([first, second]) - 60.0) / 80.0
        np.testing.assert_allclose(
            simulator_of(tanks.dynamics).next_state(start, np.array([heating])) * 80.0 + 60.0, end, atol=1e-6
        )


def test_tank_yield_by_hand(tanks):
    def rate(at_60, energy, celsius):
        return at_60 * np.exp(-energy / 8.314e-3 * (1 / (celsius + 273.15) - 1 / 333.15))

    for first, second in ((60.0, 60.0), (80.0, 50.0), (30.0, 90.0)):
        k1, k2, k3 = rate(0.4, 55, first), rate(0.008, 95, first), rate(0.008, 95, second)
        kept = 1 / (1 + 3 * k2) / (1 + 6 * k3) / (1 + np.exp((45 - second) / 4))
        value = tanks.truth(np.array([[first, second]]))[0]
        assert value == pytest.approx(3 * k1 / (1 + 3 * k1) * kept, rel=1e-12)


def test_the_best_temperatures_are_no_steady_state_but_can_be_passed(tanks):
    (first, second), value = highest(tanks)
    assert value == pytest.approx(tanks.maximum, abs=1e-8)
    line = np.repeat(np.linspace(20.0, 100.0, 801)[:, None], 2, axis=1)
    assert first > second + 15.0 and tanks.truth(line).max() < tanks.maximum - 0.05
    # Heat fully for one step, then find two inputs that end within a tenth of a degree of the best.
    matrix, inputs = tanks.dynamics.state_matrix, tanks.dynamics.input_matrix[:, 0]
    target = (np.array([first, second]) - 60.0) / 80.0
    state, reached = np.asarray(tanks.start_state), []
    for wait in range(10):
        effect = np.column_stack([matrix @ inputs, inputs])
        pair = np.linalg.solve(effect, target - matrix @ matrix @ state)
        between = matrix @ state + inputs * pair[0]
        if (np.abs(pair) <= 1.0).all() and (np.abs(between) <= 0.5).all():
            reached.append(wait)
        state = matrix @ state + inputs * 0.4
    assert reached


# The fjord.


@pytest.fixture(scope="module")
def fjord():
    return load_problem("fjord")


def test_fjord_maximum_and_settings(fjord):
    place, value = highest(fjord)
    np.testing.assert_allclose(place, (0.86, 0.72), atol=1e-3)
    assert value == pytest.approx(fjord.maximum, abs=1e-8)
    settings = settings_from(dict(fjord.settings))
    assert (settings.feedback.kind, settings.feedback.delay, fjord.horizon) == ("delayed", 15, 60)


def test_the_headlands_are_in_the_way_and_a_way_round_them_leads_there_and_back(fjord):
    port, inner = (0.1, 0.1), (0.86, 0.72)
    assert broken(fjord, np.array([port, inner]), False) and broken(fjord, np.array([(0.52, 0.6), inner]), False)
    there = [port, (0.35, 0.63), (0.68, 0.42), inner]
    path = walk(there + there[-2::-1], 0.08, 2)
    assert len(path) - 1 <= 44 < fjord.horizon  # about two thirds of the moves
    path = np.vstack([path, np.repeat([port], fjord.horizon + 1 - len(path), axis=0)])
    assert broken(fjord, path) == [] and fjord.truth(path).max() == pytest.approx(fjord.maximum, abs=1e-4)
    assert broken(fjord, np.vstack([path[:-1], [(0.1, 0.12)]])) == ["EndAt"]


# The drone.


@pytest.fixture(scope="module")
def drone():
    return load_problem("drone")


def test_drone_maximum(drone):
    place, value = highest(drone)
    np.testing.assert_allclose(place, (0.85, 0.75), atol=1e-3)
    assert value == pytest.approx(drone.maximum, abs=1e-8)
    assert drone.settings["feedback"]["kind"] == "episodic"


def test_the_battery_lasts_to_one_leak_and_not_to_both(drone):
    base, west, east = (0.5, 0.05), (0.12, 0.70), (0.85, 0.75)
    for stops, length, allowed in (
        ((base, east, base), 1.57, True),
        ((base, west, base), 1.50, True),
        ((base, west, east, base), 2.27, False),
    ):
        path = walk(stops, 0.1, np.inf)
        assert len(path) - 1 <= drone.horizon
        assert np.linalg.norm(np.diff(path, axis=0), axis=1).sum() == pytest.approx(length, abs=0.01)
        path = np.vstack([path, np.repeat([base], drone.horizon + 1 - len(path), axis=0)])
        assert broken(drone, path) == ([] if allowed else ["ResourceBudget(battery)"])


# Whole episodes of short runs, audited.


@pytest.mark.parametrize("method", ["local_ucb", "random_walk"])
@pytest.mark.parametrize("name", ["dosing", "tank_cascade", "drone"])
def test_episodes_keep_every_rule(name, method):
    problem = load_problem(name).changed(horizon=20)
    result = run_campaign(problem, settings_from(dict(problem.settings), {"method": method, "episodes": 1}), seed=101)
    assert len(result.experiments) == 20
    path = np.array(
        [problem.process.states[s] for s in result.paths[0]]
        if isinstance(problem, Problem)
        else [list(problem.describe(point).values()) for point in result.paths[0]]
    )
    assert broken(problem, path) == []
