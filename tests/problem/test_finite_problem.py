"""Problems: what is refused before a campaign, where the maximum is sought, what settings may change."""

import math
import sys

import numpy as np
import pyomo.environ as pyo
import pytest

from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.models.constraints import (
    EndAt,
    ForbiddenRegion,
    MaximumStep,
    NonDecreasing,
    Points,
    ResourceBudget,
    Wall,
)
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.with_settings import with_settings
from tcbo_pyomo.settings import settings_from
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

PROCESS = grid_process({"x": range(5), "y": range(3)}, {"x": [-1, 0, 1], "y": [-1, 0, 1]}, 0.01)


def problem(**changes):
    fields = dict(
        name="walk",
        process=PROCESS,
        start={"x": 0, "y": 0},
        horizon=3,
        episodes=2,
        kernel=SquaredExponential(1.0, 0.3),
        output="height",
    )
    return Problem(**{**fields, **changes})


def changed_by(settings, **changes):
    return with_settings(problem(**changes), settings_from(settings))


@pytest.mark.parametrize("start", ["x=0, y=0", 0, {"x": 0.0, "y": 0.0}])
def test_the_start_is_a_label_an_index_or_a_point(start):
    assert problem(start=start).start_state == 0


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"x": 5, "y": 0}, "no state at x=5, y=0; the nearest is 'x=4, y=0'"),
        ({"x": 0.5, "y": 0}, "no state at"),
        ({"x": 0}, "missing coordinate"),
        ({"x": 0, "y": 0, "z": 0}, "unknown coordinate 'z'"),
        ({"x": math.nan, "y": 0}, "coordinate 'x': nan is not a finite number"),
        ("x=0,y=0", "unknown state"),
        (15, "unknown state 15"),
        (-1, "unknown state -1"),
        (None, "unknown state"),
        ([0, 0], "unknown state"),
    ],
)
def test_a_start_outside_the_space_is_refused(start, message):
    with pytest.raises(BadInput, match=f"problem 'walk': start: {message}"):
        problem(start=start)


def test_an_end_that_cannot_be_reached_within_the_horizon_is_refused():
    with pytest.raises(
        InfeasiblePlan, match=r"problem 'walk': no plan of 3 moves from state 'x=0, y=0'.*EndAt.*at step 2"
    ):
        problem(constraints=[EndAt({"x": 4})])
    assert problem(constraints=[EndAt({"x": 4})], horizon=4).search_space.sum() < 15


def test_a_start_from_which_every_move_is_forbidden_is_refused():
    walls = [ForbiddenRegion(Points([{"x": 0, "y": 0}]))]
    with pytest.raises(InfeasiblePlan, match=r"problem 'walk': .*state itself is forbidden by ForbiddenRegion"):
        problem(constraints=walls)


@pytest.mark.parametrize("field", ["horizon", "episodes"])
@pytest.mark.parametrize("number", [0, -1, 2.0, "3", None, True, math.nan])
def test_horizon_and_episodes_are_whole_numbers_of_at_least_one(field, number):
    with pytest.raises(BadInput, match=f"problem 'walk': {field}"):
        problem(**{field: number})


@pytest.mark.parametrize("truth", [np.zeros(14), np.zeros((15, 1)), np.full(15, math.nan), [math.inf] * 15, 3.0])
def test_the_truth_is_one_finite_value_per_state(truth):
    with pytest.raises(BadInput, match="truth must be 15 finite values"):
        problem(truth=truth)


@pytest.mark.parametrize("width", [0.0, -1.0, math.nan, math.inf])
def test_the_confidence_width_is_positive(width):
    with pytest.raises(BadInput, match="confidence_width"):
        problem(confidence_width=width)


@pytest.mark.parametrize("output", ["x", "y", "episode", "step"])
def test_what_is_measured_may_not_be_called_like_another_column_of_the_table(output):
    with pytest.raises(BadInput, match=f"problem 'walk': output '{output}'"):
        problem(output=output)


def test_two_budgets_of_one_name_are_refused():
    budgets = [ResourceBudget("fuel", lambda left, right: 1.0, limit) for limit in (3, 4)]
    with pytest.raises(BadInput, match=r"ResourceBudget\(fuel\) occur twice"):
        problem(constraints=budgets)


def test_an_unknown_coordinate_in_a_constraint_is_refused():
    with pytest.raises(BadInput, match="unknown coordinate 'speed'"):
        problem(constraints=[MaximumStep({"speed": 1})])


def labels(mask):
    return {PROCESS.labels[state] for state in np.flatnonzero(mask)}


def test_the_search_space_is_what_an_episode_can_visit():
    assert labels(problem(horizon=1).search_space) == {"x=0, y=0", "x=1, y=0", "x=0, y=1", "x=1, y=1"}
    assert problem(horizon=4).search_space.all()


def test_the_search_space_leaves_out_what_lies_behind_a_wall_or_too_far_from_the_end():
    wall = ForbiddenRegion(Wall(("x", "y"), (1.5, -1), (1.5, 3)))
    assert labels(problem(horizon=9, constraints=[wall]).search_space) == {
        f"x={x}, y={y}" for x in (0, 1) for y in (0, 1, 2)
    }
    # Back at the start after three moves: nothing farther than one cell away can be visited.
    assert labels(problem(constraints=[EndAt({"x": 0, "y": 0})]).search_space) == labels(
        problem(horizon=1).search_space
    )


def test_best_state_and_regret_look_at_the_search_space_only():
    truth = PROCESS.states[:, 0] + 0.1 * PROCESS.states[:, 1]
    near = problem(horizon=2, truth=truth)
    assert PROCESS.labels[near.best_state] == "x=2, y=2"
    assert near.regret(PROCESS.state_index("x=1, y=2")) == pytest.approx(1.0)
    assert problem().regret(0) is None
    with pytest.raises(BadInput, match="no known truth"):
        _ = problem().best_state


def test_a_changed_copy_is_checked_anew():
    assert problem().changed(horizon=5).horizon == 5
    with pytest.raises(BadInput, match="horizon"):
        problem().changed(horizon=0)


def test_a_plain_function_is_a_constraint():
    def rarely_up(model):
        model.rarely_up = pyo.Constraint(expr=model.arrival[0, "x=1, y=1"] <= 0.5)

    (rule,) = problem(constraints=[rarely_up]).rules
    assert rule.name == "rarely_up" and rule.couples_steps


# What settings change


def test_settings_that_change_nothing_give_the_same_problem():
    original = problem()
    assert with_settings(original, settings_from({})) is original


def test_settings_change_start_and_episodes():
    changed = changed_by({"start": {"x": 2, "y": 1}, "episodes": 7})
    assert PROCESS.labels[changed.start_state] == "x=2, y=1" and changed.episodes == 7
    assert changed_by({"start": "x=4, y=2"}).start_state == 14
    with pytest.raises(BadInput, match="problem 'walk': start: no state at x=9, y=1"):
        changed_by({"start": {"x": 9, "y": 1}})


def test_settings_add_constraints_by_name():
    changed = changed_by(
        {"constraints": [{"use": "non_decreasing", "coordinate": "x"}, {"use": "end_at", "point": {"y": 2}}]},
        constraints=[MaximumStep({"y": 1})],
    )
    assert [rule.name for rule in changed.rules] == ["MaximumStep", "NonDecreasing", "EndAt"]
    left, right = PROCESS.states[PROCESS.pair_state, 0], PROCESS.states[PROCESS.successor, 0]
    assert changed.sets.allowed_pairs.tolist() == (right >= left).tolist()
    assert labels(changed.sets.safe[3]) == {f"x={x}, y=2" for x in range(5)}


def test_settings_that_leave_no_plan_are_refused():
    with pytest.raises(InfeasiblePlan, match="EndAt"):
        changed_by({"constraints": [{"use": "end_at", "point": {"x": 4}}]})


@pytest.fixture
def my_limits(tmp_path, monkeypatch):
    """A user's file in the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "my_limits", raising=False)
    (tmp_path / "my_limits.py").write_text(
        "from tcbo_pyomo.models.constraints import TransitionConstraint, transition_constraint\n"
        "class CoolingRate(TransitionConstraint):\n"
        "    def __init__(self, coordinate, limit):\n"
        "        self.coordinate, self.limit = coordinate, limit\n"
        "    def allowed_transitions(self, process):\n"
        "        axis = [c.name for c in process.coordinates].index(self.coordinate)\n"
        "        left, right = transition_constraint.transition_endpoints(process)\n"
        "        return left[:, axis] - right[:, axis] <= self.limit\n"
        "class Unrelated:\n"
        "    def __init__(self, **arguments):\n"
        "        raise SystemExit('must not be called')\n"
    )
    yield
    sys.modules.pop("my_limits", None)


def test_settings_add_a_users_own_constraint(my_limits):
    changed = changed_by({"constraints": [{"use": "my_limits:CoolingRate", "coordinate": "x", "limit": 0}]})
    expected = problem(constraints=[NonDecreasing("x")])
    assert (changed.sets.allowed_pairs == expected.sets.allowed_pairs).all()
    assert changed.rules[0].name == "CoolingRate"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"use": "non_decreasin"}, "unknown constraint 'non_decreasin'; did you mean 'non_decreasing'"),
        ({"use": "non_decreasing"}, "constraint 'non_decreasing': .*coordinate"),
        ({"use": "non_decreasing", "coordinate": "x", "speed": 1}, "constraint 'non_decreasing': .*speed"),
        ({"use": "non_decreasing", "coordinate": "z"}, "unknown coordinate 'z'"),
        ({"use": "non_decreasing", "coordinate": 5}, "unknown coordinate '5'"),
        ({"use": "maximum_step", "limits": {"x": -1}}, "must not be negative"),
        ({"use": "maximum_step", "limits": {"x": "fast"}}, "coordinate 'x'"),
        ({"use": "maximum_step", "limits": {"x": [1, 2, 3]}}, "MaximumStep|maximum_step"),
        ({"use": "maximum_step", "limits": 3}, "maximum_step"),
        ({"use": "forbidden_region", "region": "island"}, "region"),
        ({"use": "visit_budget", "region": "island", "limit": 2}, "region"),
        (
            {"use": "resource_budget", "resource": "fuel", "cost": 3, "limit": 2},
            "ResourceBudget|resource_budget",
        ),
        ({"use": "my_limits:CoolingRate", "coordinate": "z", "limit": 0}, "'CoolingRate' fails"),
        ({"use": "my_limits:HeatingRate"}, "has no 'HeatingRate'"),
        ({"use": "my_limits:Unrelated"}, "not a subclass of TransitionConstraint"),
        ({"use": "os:system", "command": "exit 1"}, "is not a class; it must be a class like .*TransitionConstraint"),
        (
            {"use": "subprocess:Popen", "args": "exit 1", "shell": True},
            "not a subclass of TransitionConstraint",
        ),
        ({"use": "my.limits/CoolingRate"}, "unknown constraint"),
        ({}, "constraints.0.use"),
    ],
)
def test_a_wrong_entry_in_the_settings_is_one_clear_error(my_limits, entry, message):
    with pytest.raises(BadInput, match=message):
        changed_by({"constraints": [entry]})
