"""The laser: noise by hand, random field by scikit-learn, memory of a plan, and LP = dynamic programming."""

import tracemalloc

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from tcbo_pyomo import Campaign, run_campaign, settings_from
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.library.free_electron_laser import noise_variance, random_field
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.plant.situation import Situation

ONE_ARRAY = 100 * 100 * 100 * 8
"""Bytes of one array of horizon x states x actions."""


@pytest.fixture(scope="module")
def laser():
    return load_problem("free_electron_laser", seed=1)


@pytest.fixture(scope="module")
def table():
    from importlib import resources

    with resources.files("tcbo_pyomo.library.data").joinpath("free_electron_laser_grid.csv").open() as file:
        return np.array([[float(cell) for cell in line.split(",")] for line in file.read().split()[1:]])


def test_grid_moves_and_budget(laser, table):
    process = laser.process
    assert (process.number_of_states, process.number_of_pairs) == (100, 10_000)
    assert (laser.horizon, laser.episodes, laser.confidence_width) == (100, 1, 2.0)
    np.testing.assert_allclose(process.states, table[:, :2], atol=1e-6)
    assert sorted(set(process.states[:, 0].round(12))) == pytest.approx(np.linspace(-0.5, 0.5, 10))
    assert process.states[laser.start_state].tolist() == [-0.5, -0.5]
    assert process.pair_action.tolist() == process.successor.tolist()
    assert len(set(zip(process.pair_state.tolist(), process.successor.tolist(), strict=True))) == 10_000
    assert (laser.kernel.variance, laser.kernel.lengthscale) == (1.0, 0.4)
    assert laser.settings["feedback"] == {"kind": "immediate"}
    assert laser.settings["planner"]["linear"]["solver"] == "dynamic_programming"


def test_noise_grows_with_the_move(laser):
    process, start = laser.process, laser.start_state

    def sd(cells_1, cells_2):
        target = process.state_index({"quadrupole_1": -0.5 + cells_1 / 9, "quadrupole_2": -0.5 + cells_2 / 9})
        pair = next(pair for pair in process.pairs_of(start) if process.successor[pair] == target)
        return process.noise_of(pair, target) ** 0.5

    assert sd(0, 0) == pytest.approx(0.01)
    assert sd(1, 0) == pytest.approx(0.01 * (1 + 20 * 1))
    assert sd(3, 4) == pytest.approx(0.01 * (1 + 20 * 5))
    assert sd(9, 9) == pytest.approx(0.01 * (1 + 20 * 9 * 2**0.5))
    assert noise_variance(np.zeros((1, 2)), np.array([[2 / 9, 0.0]])) == pytest.approx(0.41**2)


@pytest.mark.parametrize("seed", [1, 7])
def test_random_field_equals_scikit_learn(table, seed):
    points = load_problem("free_electron_laser").process.states
    values = np.random.default_rng(np.random.SeedSequence([seed, 3])).normal(0.0, 0.066, 100)
    smoother = GaussianProcessRegressor(RBF(0.3), alpha=1e-6, optimizer=None).fit(points, values)
    np.testing.assert_allclose(random_field(points, seed), smoother.predict(points), atol=1e-8)
    np.testing.assert_allclose(
        load_problem("free_electron_laser", seed=seed).truth, table[:, 2] + smoother.predict(points), atol=1e-8
    )


def test_each_seed_has_its_own_surface(laser):
    again, other = (load_problem("free_electron_laser", seed=seed) for seed in (1, 2))
    np.testing.assert_array_equal(laser.truth, again.truth)
    assert np.abs(laser.truth - other.truth).max() > 0.01
    fields = np.array([random_field(laser.process.states, seed) for seed in range(200)])
    assert np.abs(fields.mean(axis=0)).max() < 5 * 0.066 / 200**0.5
    assert fields.std(axis=0).max() < 0.066 * 1.2  # Smoothing takes away, it does not add.


def test_planning_never_holds_two_arrays_of_horizon_by_states_by_actions(laser):
    campaign = Campaign(laser, settings_from(dict(laser.settings)), seed=1)
    tracemalloc.start()
    try:
        for _ in range(3):
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            move = campaign.ask()
            _, peak = tracemalloc.get_traced_memory()
            assert peak - before < 2 * ONE_ARRAY < 1e9
            campaign.tell(move.number, float(laser.truth[move.expected]))
    finally:
        tracemalloc.stop()


def test_building_the_problem_takes_little_memory():
    from tcbo_pyomo.library import free_electron_laser

    free_electron_laser._process.cache_clear()
    tracemalloc.start()
    try:
        assert load_problem("free_electron_laser", seed=5).search_space.all()
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()


def test_short_campaign(laser):
    result = run_campaign(laser.changed(horizon=15), settings_from(dict(laser.settings)), seed=1)
    assert len(result.experiments) == 15
    assert len(result.paths[0]) == 16 and result.paths[0][0] == laser.start_state


def test_noise_of_the_move_enters_the_regression(laser):
    campaign = Campaign(laser, settings_from(dict(laser.settings)), seed=1)
    move = campaign.ask()
    campaign.tell(move.number, 0.7)
    left, right = laser.process.states[[move.origin, move.arrived]]
    variance = (0.01 * (1 + 20 * 9 * np.hypot(*(right - left)))) ** 2
    belief = campaign.knowledge.belief
    assert belief.mean[move.arrived] == pytest.approx(0.7 / (1 + variance), rel=1e-6)
    assert (belief.factor[move.arrived] ** 2).sum() == pytest.approx(variance / (1 + variance), rel=1e-6)


@pytest.mark.slow
def test_the_whole_laser_as_a_linear_programme_of_a_million_moves_equals_dynamic_programming(laser):
    gradient = -np.random.default_rng(3).random(10_000) / laser.process.noise_variance
    situation = Situation((laser.start_state,), ())
    programme = LinearProgramming(laser.sets, laser.rules)
    visitation = programme.extreme_point(gradient, situation, np.random.default_rng(0))
    value = float(gradient[visitation.pair] @ visitation.probability)
    assert value == pytest.approx(DynamicProgramming(laser.sets).values(gradient)[0, laser.start_state], rel=1e-9)
