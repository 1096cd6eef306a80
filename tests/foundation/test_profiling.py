"""Where the time goes: sums of the tree, the sections of a run, the overhead by a clock we wind, and unchanged results."""

import pytest
from typer.testing import CliRunner

from tcbo_pyomo import load_problem, run_campaign, settings_from
from tcbo_pyomo.cli.main import app
from tcbo_pyomo.foundation.profiling import profile, section, timed


class Clock:
    """Time that passes only when told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def spend(self, name, seconds):
        with section(name):
            self.now += seconds


def campaign(name, solver=None, **settings):
    problem = load_problem(name, seed=1)
    chosen = {"planner": {"linear": {"solver": solver}}} if solver else {}
    return run_campaign(problem, settings_from(dict(problem.settings), chosen, settings), seed=1)


def short_branin():
    problem = load_problem("branin2d", seed=1).changed(horizon=3, episodes=1)
    return run_campaign(problem, settings_from(dict(problem.settings), {"candidates": {"count": 5}}), seed=1)


def names(timings):
    return {row.name for row in timings.rows()}


def test_nested_sections_add_up():
    clock = Clock()
    with profile(clock) as timings:
        clock.now += 1.0
        for _ in range(2):
            with section("plan"):
                clock.spend("utility", 3.0)
                clock.now += 0.5
        clock.spend("utility", 1.0)
    rows = [(row.depth, row.name, row.seconds, row.own_seconds, row.calls) for row in timings.rows()]
    assert rows == [
        (0, "total", 9.0, 1.0, 1),
        (1, "plan", 7.0, 1.0, 2),
        (2, "utility", 6.0, 6.0, 2),
        (1, "utility", 1.0, 1.0, 1),
    ]
    assert timings.by_name() == {"total": 1.0, "plan": 1.0, "utility": 7.0}
    assert timings.rows()[1].share == pytest.approx(7 / 9)
    assert timings.overhead == pytest.approx(2.0)


def test_the_planners_overhead_leaves_out_builds_plant_and_summaries():
    clock = Clock()
    with profile(clock) as timings:
        clock.spend("surrogate", 50.0)  # The prior, before the first step.
        with section("step"):
            with section("ask"):
                clock.now += 1.0
                with section("plan"):
                    clock.now += 2.0
                    clock.spend("LP build", 100.0)
                    clock.spend("LP solve", 5.0)
            clock.now += 7.0  # The plant.
            with section("summary"):
                clock.now += 3.0
                clock.spend("candidates", 4.0)
        with section("tell"):
            clock.spend("surrogate", 2.0)
            clock.now += 1.0
    assert timings.overhead_of_a_step == pytest.approx(4.0 / (4.0 + 5.0 + 4.0 + 2.0))
    assert timings.overhead == pytest.approx(1.0 + 2.0 + 7.0 + 3.0 + 1.0)


def test_without_steps_there_is_no_overhead_of_a_step():
    with profile() as timings:
        pass
    assert timings.overhead_of_a_step is None and timings.total >= 0.0


def test_an_error_closes_its_sections_and_profiles_can_be_nested():
    clock = Clock()

    @timed("utility")
    def fails():
        clock.now += 2.0
        raise ValueError

    with profile(clock) as outer:
        with pytest.raises(ValueError):
            fails()
        with profile(clock) as inner:
            clock.spend("utility", 4.0)
        clock.spend("plan", 1.0)
    assert [(row.name, row.seconds) for row in outer.rows()] == [("total", 7.0), ("utility", 2.0), ("plan", 1.0)]
    assert [(row.name, row.seconds) for row in inner.rows()] == [("total", 4.0), ("utility", 4.0)]
    with section("utility"):  # Nobody is looking any more.
        clock.now += 1.0
    assert outer.rows()[1].seconds == 2.0


@pytest.mark.parametrize(
    ("solver", "expected"),
    [("highs", {"LP build", "LP solve"}), ("dynamic_programming", {"backward induction"})],
)
def test_sections_and_results_of_a_finite_campaign(solver, expected):
    plain = campaign("knorr_pyrazole", solver, episodes=2)
    with profile() as timings:
        seen = campaign("knorr_pyrazole", solver, episodes=2)
    assert {"step", "ask", "tell", "plan", "surrogate", "candidates", "utility", *expected} <= names(timings)
    assert sum(timings.by_name().values()) == pytest.approx(timings.total)
    assert all(row.own_seconds >= 0.0 for row in timings.rows())
    assert 0.0 < timings.overhead_of_a_step < 1.0
    assert next(row.calls for row in timings.rows() if row.name == "step") == 20
    assert seen.experiments.equals(plain.experiments) and seen.steps == plain.steps


def test_sections_and_results_of_a_continuous_campaign():
    plain = short_branin()
    with profile() as timings:
        seen = short_branin()
    programme = {"NLP build", "NLP solve", "NLP objective", "warm starts", "first move"}
    assert programme | {"candidates", "recommendation", "surrogate"} <= names(timings)
    assert seen.experiments.equals(plain.experiments) and seen.steps == plain.steps


def test_the_command_prints_the_tree():
    done = CliRunner().invoke(app, ["run", "knorr_pyrazole", "--episodes", "1", "--profile"])
    assert done.exit_code == 0, done.output
    for text in ("set-up", "LP build", "LP solve", "utility", "surrogate", "candidates", "overhead", "calls", "share"):
        assert text in done.output
    assert "the planner's own overhead is" in done.output
