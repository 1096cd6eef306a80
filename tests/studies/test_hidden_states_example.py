"""The study of hidden states: its plant against the library's model, and its interval against SciPy."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.stats import ttest_1samp

from tcbo_pyomo.library import tank_cascade

FILE = Path(__file__).parents[2] / "examples" / "hidden_states" / "study.py"


@pytest.fixture(scope="module")
def study():
    spec = importlib.util.spec_from_file_location("hidden_states_study", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_plant_is_the_model_with_other_rates(study):
    problem, plant = tank_cascade.build(), study.Plant(1.0)
    place = problem.start_state
    for heating in (1.0, 0.4, -0.7):
        place = problem.expected_arrival(place, (heating,))
        np.testing.assert_allclose(plant.heat(heating), list(problem.describe(place).values()), rtol=1e-9)
    fast = study.Plant(1.1)

    def slope(_, x):
        first = 1.1 * (0.5 * tank_cascade.AUTHORITY * 0.9 - x[0]) / tank_cascade.TIME_1
        return [first, 1.1 * (x[0] - x[1]) / tank_cascade.TIME_2]

    begin = (np.array([30.0, 30.0]) - 60.0) / 80.0
    end = solve_ivp(slope, (0, tank_cascade.STEP), begin, rtol=1e-10, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(fast.heat(0.9), 60.0 + 80.0 * end, rtol=1e-8)


def test_the_table_has_all_seeds_and_intervals_are_students(study):
    rows = study.rows_of(FILE.with_name("results.csv"))
    fast = [row for row in rows if row["factor"] == "1.1"]
    assert len(fast) == 4 * 30 and {row["seed"] for row in fast} == {str(seed) for seed in range(1, 31)}
    values = np.random.default_rng(0).normal(size=30)
    mean, half = study.interval(values)
    low, high = ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert (mean - half, mean + half) == pytest.approx((low, high))
