"""`tcbo check` on continuous plants: each finding on a plant made to show it."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from slow_reactor import brute_force, slow_reactor

from tcbo_pyomo.checks.problem_check import check_problem
from tcbo_pyomo.cli.main import main
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.models.constraints.end_at import EndAt
from tcbo_pyomo.models.constraints.forbidden_region import ForbiddenRegion
from tcbo_pyomo.models.constraints.resource_budget import ResourceBudget
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.regions.regions import Circle
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics, NonlinearDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.settings import settings_from
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

AXES = (Coordinate("x", 0.0, 10.0, "cm"), Coordinate("y", 0.0, 10.0, "cm"))


def plane(horizon=20, dynamics=None, **fields):
    given = {
        "name": "plane",
        "coordinates": AXES,
        "dynamics": dynamics or LinearDynamics.free_moves(2, BoxActions(0.1)),
        "start": {"x": 2.0, "y": 2.0},
        "horizon": horizon,
        "episodes": 1,
        "kernel": SquaredExponential(1.0, 0.3),
        "noise": 1e-2,
        "output": "value",
    }
    return ContinuousProblem(**{**given, **fields})


def found(problem, subject):
    findings = check_problem(problem, settings_from({}))
    return [(finding.level, finding.message) for finding in findings if finding.subject == subject]


def only(problem, subject):
    (finding,) = found(problem, subject)
    return finding


def test_a_sound_plant_has_only_ok_findings():
    findings = check_problem(plane(), settings_from({}))
    assert {finding.level for finding in findings} == {"ok"}
    assert {"dynamics", "scaling", "reach", "truth", "noise", "first plan"} == {f.subject for f in findings}


def test_reach_in_every_coordinate_against_the_bounds():
    level, text = only(plane(horizon=3), "reach of x")
    assert level == "warning" and text.startswith("an episode reaches 0 to 5 of 0 to 10 cm")
    points = brute_force()
    level, text = only(slow_reactor(), "reach of temperature")
    low, high = (float(word) for word in text.split("reaches ")[1].split(" of")[0].split(" to "))
    assert level == "warning" and low <= points[:, 0].min() + 1e-3 and high >= points[:, 0].max() - 1e-3
    assert low > 305.0 and high < 343.0


def steps(left, right):
    return abs(right["x"] - left["x"]) + abs(right["y"] - left["y"])


def high_y(model):
    model.low = pyo.Constraint(model.POINTS, rule=lambda m, h: m.physical[h, "y"] <= 7.0)


def away_from_the_start(model):
    """Rows alone, with a known answer: the start (2, 2) is 1 cm from (2, 3), and 2 cm are asked for."""

    def outside(model, point):
        return (model.physical[point, "x"] - 2.0) ** 2 + (model.physical[point, "y"] - 3.0) ** 2 >= 4.0

    model.outside = pyo.Constraint(model.POINTS, rule=outside)


class AwayFromTheStart(TransitionConstraint):
    add_to_trajectory = staticmethod(away_from_the_start)


RULES = {
    "binds": (ResourceBudget("way", steps, 12.0), "ok", "it binds"),
    "does not bind": (ResourceBudget("way", steps, 1000.0), "warning", "it does not bind"),
    "rows only": (high_y, "ok", "it binds"),
    "start forbidden": (ForbiddenRegion(Circle({"x": 2.0, "y": 2.5}, 1.0)), "error", "the start is not allowed"),
    "start forbidden by rows": (AwayFromTheStart(), "error", "the start is not allowed, outside[0] is 1"),
    "start forbidden by rows of a function": (away_from_the_start, "error", "outside[0] is 1, allowed is at least 4"),
    "cannot be kept": (EndAt({"x": 9.9}), "error", "no episode satisfies it"),
}


@pytest.mark.parametrize("case", RULES)
def test_rules_one_by_one(case):
    rule, level, text = RULES[case]
    problem = plane(horizon=5 if case == "cannot be kept" else 16, constraints=(rule,))
    (finding,) = (f for f in check_problem(problem, settings_from({})) if f.subject == problem.rules[0].name)
    assert finding.level == level and text in finding.message


def test_rules_that_exclude_each_other():
    problem = plane(constraints=(EndAt({"x": 8.0}), ResourceBudget("way", steps, 3.0)))
    levels = {f.subject: f.level for f in check_problem(problem, settings_from({}))}
    assert levels["reach"] == "error" and levels["EndAt"] == levels["ResourceBudget(way)"] == "ok"


def test_dynamics_that_are_not_finite_or_not_stable():
    def root(model, step):
        return {"x": model.physical[step, "x"] + model.action[step, "u"], "y": pyo.sqrt(model.physical[step, "y"] - 5.0)}

    def runaway(model, step):
        return {n: 5.0 + 1.4 * (model.physical[step, n] - 5.0) + model.action[step, "u"] for n in ("x", "y")}

    high = {"x": 2, "y": 9}
    level, text = only(plane(dynamics=NonlinearDynamics(AXES, root, BoxActions({"u": 1.0})), start=high), "dynamics")
    assert level == "warning" and "no finite outcome" in text
    level, text = only(plane(dynamics=NonlinearDynamics(AXES, runaway, BoxActions({"u": 1.0}))), "dynamics")
    assert level == "warning" and "up to 1.4 times" in text


def test_scaling():
    tiny = LinearDynamics(np.eye(2), 1e-5 * np.eye(2), BoxActions(1.0))
    level, text = only(plane(dynamics=tiny), "scaling")
    assert level == "warning" and "no move from the start changes x" in text
    level, text = only(plane(kernel=SquaredExponential(1.0, 30.0)), "scaling")
    assert level == "warning" and "lengthscale is 30 widths" in text


def test_the_maximum_against_the_truth():
    def truth(points):
        return points[:, 0] / 10.0

    assert only(plane(truth=truth, maximum=1.0), "maximum")[0] == "ok"
    level, text = only(plane(truth=truth, maximum=0.9), "maximum")
    assert level == "warning" and "is below 1, a value of the truth" in text
    level, text = only(plane(horizon=3, truth=truth, maximum=1.0), "maximum")
    assert level == "warning" and "above 0.5, the largest value found that an episode can reach" in text
    assert "an episode can reach 1" in only(plane(truth=truth), "maximum")[1]
    with np.errstate(invalid="ignore"):
        assert only(plane(truth=lambda points: np.log(points[:, 0] - 5.0)), "truth")[0] == "error"
    level, text = only(plane(truth=lambda points: 300.0 + points[:, 0]), "prior")
    assert level == "warning" and "standard deviations from the prior mean" in text


def test_a_narrow_peak_counts_for_the_prior_as_for_the_maximum():
    """Three steps reach x = 5; random points miss a peak that is a hundredth of the axis wide."""

    def truth(points):
        return 40.0 * np.exp(-(((points[:, 0] - 4.0) / 0.3) ** 2) - ((points[:, 1] - 2.0) / 0.3) ** 2)

    problem = plane(horizon=3, truth=truth, maximum=40.0)
    level, text = only(problem, "prior")
    assert level == "warning" and "to 40 where an episode can reach" in text
    assert only(problem, "maximum") == ("ok", "an episode can reach 40, maximum is 40")


@pytest.mark.parametrize("name", ["thermal_reactor", "drone", "branin2d"])
def test_shipped_plants_are_sound(name):
    findings = check_problem(load_problem(name), settings_from(dict(load_problem(name).settings)))
    assert [finding for finding in findings if finding.level != "ok"] == []


def test_the_command(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["check", "tank_cascade"])
    text = capsys.readouterr().out
    assert "reach of first_tank" in text and "no errors" in text
