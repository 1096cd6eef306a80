"""Every maximum of the continuous benchmarks, found again by an optimisation of its own; kinetics by a second integrator."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import differential_evolution, minimize

from tcbo_pyomo import Campaign, load_problem, settings_from
from tcbo_pyomo.library import snar, thermal_reactor

MAXIMA = {
    "branin2d": (1.047394, 0.05, 0.6, 0.15),
    "hartmann3d": (3.86278, 0.1, 2.0, 0.13849),
    "hartmann6d": (3.32237, 0.2, 1.7, 0.22),
    "michalewicz2d": (0.675447, 0.05, 0.35, 0.179485),
    "michalewicz3d": (1.672843, 0.1, 0.85, 0.179485),
    "levy4d": (1.0, 0.1, 0.6, 0.14175),
}


@pytest.mark.parametrize("name", MAXIMA)
def test_the_maximum_is_what_the_benchmark_says(name):
    problem = load_problem(name)
    bounds = [(c.lower, c.upper) for c in problem.coordinates]
    found = differential_evolution(
        lambda u: -problem.truth(u[None, :])[0], bounds, seed=1, tol=1e-10, popsize=40, init="sobol"
    )
    assert problem.maximum == MAXIMA[name][0]
    assert -found.fun == pytest.approx(problem.maximum, abs=2e-6 if name != "hartmann3d" else 5e-6)


@pytest.mark.parametrize("name", MAXIMA)
def test_settings_of_the_benchmark_table(name):
    _, box, variance, lengthscale = MAXIMA[name]
    for feedback, noise in (("immediate", 1e-3), ("delayed", 1e-4)):
        problem = load_problem(name, feedback)
        lower, upper = problem.dynamics.actions.bounds()
        assert (upper == box).all() and (lower == -box).all()
        assert (problem.kernel.variance, problem.kernel.lengthscale) == (variance, lengthscale)
        assert problem.noise == noise and problem.horizon == 100 and problem.episodes == 1 and problem.measure_start
        assert set(problem.describe(problem.start_state).values()) == {0.0}
        settings = settings_from(dict(problem.settings))
        # One default rule for all continuous plants: a benchmark has no rule of its own.
        assert settings.candidates.rule is None and settings.feedback.delay == (25 if feedback == "delayed" else 0)


def test_branin_has_three_equal_maxima():
    branin = load_problem("branin2d")
    peaks = np.array([[-np.pi, 12.275], [np.pi, 2.275], [9.42478, 2.475]])  # the textbook minimisers
    values = branin.truth((peaks + np.array([5.0, 0.0])) / 15.0)
    np.testing.assert_allclose(values, 1.047394, atol=1e-6)


def test_levy_and_hartmann_at_their_textbook_maximisers():
    assert load_problem("levy4d").truth(np.full((1, 4), 0.5625))[0] == pytest.approx(1.0, abs=1e-12)
    assert load_problem("hartmann3d").truth(np.array([[0.114614, 0.555649, 0.852547]]))[0] == pytest.approx(
        3.86278, abs=1e-5
    )
    six = np.array([[0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]])
    assert load_problem("hartmann6d").truth(six)[0] == pytest.approx(3.32237, abs=1e-5)


def test_snar_kinetics_agree_with_a_second_integrator():
    rng = np.random.default_rng(0)
    lower, upper = (np.array([getattr(c, end) for c in snar.COORDINATES]) for end in ("lower", "upper"))
    for point in lower + rng.random((8, 4)) * (upper - lower):
        temperature, concentration, time, equivalents = point
        ours = snar.outlet(*point)
        kelvin = temperature + 273.71
        ka, kb, kc, kd = (
            0.6 * k * np.exp(-e / 8.314e-3 * (1 / kelvin - 1 / 363.71))
            for k, e in ((57.9, 33.3), (2.70, 35.3), (0.865, 38.9), (1.63, 44.8))
        )

        def rates(_t, c, ka=ka, kb=kb, kc=kc, kd=kd):
            r0 = -(ka + kb) * c[0] * c[1]
            r2, r3 = ka * c[0] * c[1] - kc * c[1] * c[2], kb * c[0] * c[1] - kd * c[1] * c[3]
            r4 = kc * c[1] * c[2] + kd * c[1] * c[3]
            return [r0, r0 - kc * c[1] * c[2] - kd * c[1] * c[3], r2, r3, r4]

        feed = [concentration, equivalents * concentration, 0, 0, 0]
        second = solve_ivp(rates, (0, time), feed, method="Radau", rtol=1e-11, atol=1e-14).y[:, -1]
        np.testing.assert_allclose(ours, second, atol=1e-6)
        # Every aromatic ring ends as reagent, product, isomer or double adduct.
        assert ours[0] + ours[2] + ours[3] + ours[4] == pytest.approx(concentration, abs=1e-9)


def test_snar_maximum():
    problem = load_problem("snar")
    start = np.array([81.1, 0.5, 0.5, 1.457])
    bounds = [(c.lower, c.upper) for c in problem.coordinates]
    found = minimize(
        lambda x: -problem.truth(x[None, :])[0], start, method="Nelder-Mead", bounds=bounds, options={"xatol": 1e-6}
    )
    assert -found.fun == pytest.approx(problem.maximum, abs=1e-4)
    assert (np.abs(found.x - start) < [0.2, 1e-4, 1e-4, 0.01]).all()
    grid = np.random.default_rng(1).random((300, 4)) * np.ptp(bounds, axis=1) + np.min(bounds, axis=1)
    assert problem.truth(grid).max() < problem.maximum


def test_thermal_reactor_maximum_and_lag():
    problem = load_problem("thermal_reactor")
    bounds = [(c.lower, c.upper) for c in problem.coordinates]
    found = differential_evolution(lambda x: -problem.truth(x[None, :])[0], bounds, seed=1, tol=1e-12)
    assert -found.fun == pytest.approx(problem.maximum, abs=1e-8)
    # The energy balance integrated numerically, against the dynamics the planner uses.
    state, jacket, change = {"residence_time": 6.0, "temperature": 70.0}, 120.0, 0.5
    exact = solve_ivp(
        lambda _t, T: (25.0 - T) / 6.0 + thermal_reactor.HEAT_TRANSFER * (jacket - T),
        (0, 2.0),
        [70.0],
        rtol=1e-11,
        atol=1e-11,
    ).y[0, -1]
    arrived = problem.describe(problem.expected_arrival(problem.locate(state), (jacket, change)))
    assert arrived["temperature"] == pytest.approx(exact, rel=1e-8) and arrived["residence_time"] == pytest.approx(6.5)


def test_thermal_reactor_yield_against_integrated_kinetics():
    for time, temperature in ((3.0, 60.0), (10.0, 95.0), (18.0, 118.0)):
        warmer = 1.0 / (temperature + 273.15) - 1.0 / 353.15
        k1, k2 = 0.15 * np.exp(-60.0 / 8.314e-3 * warmer), 0.03 * np.exp(-85.0 / 8.314e-3 * warmer)
        integrated = solve_ivp(
            lambda _t, y, k1=k1, k2=k2: [-k1 * y[0], k1 * y[0] - k2 * y[1]],
            (0, time),
            [1.0, 0.0],
            rtol=1e-11,
            atol=1e-13,
        ).y[1, -1]
        value = thermal_reactor.profit(np.array([[time, temperature]]))[0]
        assert value == pytest.approx(integrated - 0.012 * time, abs=1e-8)


@pytest.mark.parametrize("name", [*MAXIMA, "snar", "thermal_reactor"])
def test_the_first_moves_of_every_continuous_problem_obey_its_limits(name):
    problem = load_problem(name)
    campaign = Campaign(problem, settings_from(dict(problem.settings), {"candidates": {"count": 5}}), 1)
    for _ in range(3):
        move = campaign.ask()
        campaign.tell(move.number, problem.true_value(move.expected))
        if move.step:
            action = np.array(move.decision)
            np.testing.assert_allclose(problem.dynamics.actions.clip(action), action, atol=1e-6)
