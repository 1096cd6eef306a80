"""The Knorr problem against an independent integration of its kinetics, its balances, and the benchmark's numbers."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tcbo_pyomo.library import load_problem
from tcbo_pyomo.library.knorr_pyrazole import RATIOS, RESIDENCE_TIMES, concentrations, product
from tcbo_pyomo.models.episode_path import EpisodePath

# Columns R1 .. R9, rows y1 .. y7: written from the benchmark's equations, not from the code.
STOICHIOMETRY = np.array(
    [
        [0, 0, 0, 1, 1, 1, 1, 1, 1],
        [-1, 0, -1, 0, 0, 0, 0, 2, 1],
        [-1, 0, 0, 0, 0, 0, 0, 0, 0],
        [1, -1, -1, 0, 0, 0, 0, 0, 0],
        [0, 1, 0, -1, -1, -1, 0, 0, 0],
        [0, 0, 1, 0, 0, 0, -1, -1, -1],
        [1, 0, 1, 1, 1, 1, 0, 0, 0],
    ]
)


def independent_product(ratio):
    """y1 at all residence times by another integrator, from the stoichiometric form of the kinetics."""

    def change(_time, y):
        first = 2.23589 * y[1] * y[2]
        second = 1753.989 * y[3] - 0.25614 * y[4]
        third = 13760.73 * y[3] * y[1]
        fifth_species = y[4] * np.array([0.63061 * y[2], 0.0, 0.0399 * y[0]])
        sixth_species = y[5] * np.array([11.87965 * y[2], 0.0, 3.69715 * y[0]])
        return STOICHIOMETRY @ np.concatenate([[first, second, third], fifth_species, sixth_species])

    start = [0, 1 - ratio, ratio, 0, 0, 0, 0]
    solved = solve_ivp(change, (0, 40), start, method="BDF", t_eval=RESIDENCE_TIMES, rtol=1e-9, atol=1e-12)
    return solved.y[0]


@pytest.fixture(scope="module")
def knorr():
    return load_problem("knorr_pyrazole")


def test_truth_and_its_maximum_equal_an_independent_integration(knorr):
    independent = np.column_stack([independent_product(ratio) for ratio in RATIOS])
    assert np.abs(knorr.truth.reshape(11, 11) - independent).max() < 1e-6
    best = np.unravel_index(independent.argmax(), independent.shape)
    assert knorr.process.describe(knorr.best_state) == {
        "residence_time": RESIDENCE_TIMES[best[0]],
        "ratio": RATIOS[best[1]],
    }
    assert knorr.process.describe(knorr.best_state) == {"residence_time": 40.0, "ratio": 0.4}


@pytest.mark.parametrize("ratio", [0.1, 0.4, 0.75])
def test_balances_of_hydrazine_and_water_hold(ratio):
    y = concentrations(np.linspace(0.0, 40.0, 101), ratio)
    np.testing.assert_allclose(y[:, [0, 2, 3, 4, 5]].sum(axis=1), ratio, rtol=0, atol=1e-9)
    np.testing.assert_allclose(y[:, 6], 2 * y[:, 0] + y[:, 3] + y[:, 4] + 2 * y[:, 5], rtol=0, atol=1e-9)
    assert y.min() > -1e-9


def test_product_needs_both_reactants_and_time():
    assert not product(RESIDENCE_TIMES, 0.0).any()
    assert not product(RESIDENCE_TIMES, 1.0).any()
    assert product(RESIDENCE_TIMES, 0.4)[0] == 0.0
    assert (np.diff(product(RESIDENCE_TIMES, 0.4)) > 0).all()


def test_grid_moves_and_budget_are_those_of_the_benchmark(knorr):
    process = knorr.process
    assert (process.number_of_states, knorr.horizon, knorr.episodes) == (121, 10, 10)
    assert sorted(set(process.states[:, 0])) == [4.0 * i for i in range(11)]
    assert sorted(set(process.states[:, 1])) == [i / 10 for i in range(11)]
    assert process.describe(knorr.start_state) == {"residence_time": 0.0, "ratio": 0.0}
    assert set(process.noise_variance) == {1e-4}
    assert knorr.confidence_width == pytest.approx(np.sqrt(2))
    assert knorr.search_space.all()
    step = process.states[process.successor] - process.states[process.pair_state]
    assert {(round(a / 4), round(b * 10)) for a, b in step} == {(a, b) for a in (0, 1) for b in (-1, 0, 1)}
    assert process.number_of_pairs == (11 * 2 - 1) * (11 * 3 - 2)


def test_prior_is_one_reaction_feature_and_a_small_correction(knorr):
    points = knorr.process.scaled_states
    feature, correction = knorr.kernel.kernels
    assert knorr.kernel.mean(points) == pytest.approx(0.6 * feature.feature(points))
    assert knorr.kernel.diagonal(points) == pytest.approx(0.0225 * feature.feature(points) ** 2 + 0.001)
    assert correction.lengthscale == 0.1


def test_declared_rules_forbid_what_the_plant_cannot_do(knorr):
    path = np.array([[8.0, 0.3], [4.0, 0.3], [12.0, 0.5]])
    found = [v for rule in knorr.rules for v in rule.violations(EpisodePath(knorr.process.coordinates, path, True))]
    assert {(v.constraint, v.step) for v in found} == {("NonDecreasing", 0), ("MaximumStep", 1)}
    assert all(rule.allowed_transitions(knorr.process).all() for rule in knorr.rules)


def test_limits_may_be_written_in_pyomo_units(knorr):
    from pyomo.environ import units

    assert knorr.process.coordinates[0].value_of(240 * units.second) == pytest.approx(4.0)


def test_preferred_feedback():
    assert load_problem("knorr_pyrazole").settings == {"feedback": {"kind": "episodic"}}
    assert load_problem("knorr_pyrazole", feedback="immediate").settings == {"feedback": {"kind": "immediate"}}
