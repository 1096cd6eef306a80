"""What each constraint says about itself by hand, and what follows from its Pyomo rows, which must be the same."""

import numpy as np
import pyomo.environ as pyo
import pytest
from continuous_plants import PLANE
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tcbo_pyomo.foundation.coordinates import Coordinate, scaled
from tcbo_pyomo.models.constraints import (
    Box,
    Circle,
    EndAt,
    ForbiddenRegion,
    FromFunction,
    MaximumStep,
    NonDecreasing,
    NonIncreasing,
    ResourceBudget,
    TransitionConstraint,
    VisitBudget,
)
from tcbo_pyomo.models.continuous_judge import ContinuousJudge
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.models.finite_judge import FiniteJudge
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics, NonlinearDynamics
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.plant.process import Process

AXES = (Coordinate("x", 0.0, 4.0, "min"), Coordinate("y", 0.0, 4.0))
ANY = list(range(-4, 5))
GRID = grid_process({"x": range(5), "y": range(5)}, {"x": ANY, "y": ANY}, 1.0, {"x": "min"})


def fuel(left, right):
    return 0.5 + abs(right["x"] - left["x"])


def free(points, complete=False):
    return EpisodePath(AXES, np.array(points, dtype=float), complete)


@pytest.mark.parametrize(
    ("rule", "points", "words", "slack", "broken"),
    [
        (
            MaximumStep({"x": (1, 3), "y": 2}),
            [(0, 0), (2, 1), (1.5, 1)],
            "x -1 to +3 min; y -2 to +2 per move",
            0.5,
            [],
        ),
        (
            MaximumStep({"x": (1, 3), "y": 2}),
            [(0, 0), (2, 1), (0, 1)],
            "x -1 to +3 min; y -2 to +2 per move",
            -1.0,
            [1],
        ),
        (NonDecreasing("x"), [(0, 0), (2, 1), (1, 1)], "x may not fall", None, [1]),
        (NonIncreasing("y"), [(0, 0), (2, 1), (1, 1)], "y may not rise", None, [0]),
        (EndAt({"x": 1, "y": 1}), [(0, 0), (2, 1), (1, 1)], "end at x 1 min, y 1", None, []),
        (EndAt({"x": 1}), [(0, 0), (2, 1), (2, 1)], "end at x 1 min", None, [1]),
        (ResourceBudget("fuel", fuel, 4), [(0, 0), (2, 1), (1, 1)], "at most 4 per episode", 0.0, []),
        (ResourceBudget("fuel", fuel, 3), [(0, 0), (2, 1), (1, 1)], "at most 3 per episode", -1.0, [1]),
        (VisitBudget(Box({"x": (1, 4)}), 1.5), [(0, 0), (2, 1), (1, 1)], "at most 1.5 per episode", -0.5, [1]),
    ],
)
def test_by_hand(rule, points, words, slack, broken):
    path = free(points, complete=True)
    assert rule.describe(AXES) == words
    assert rule.slack(path) == (None if slack is None else pytest.approx(slack))
    assert [violation.step for violation in rule.violations(path)] == broken


def test_a_region_by_hand():
    box = Box({"x": (1, 1.5), "y": (0, 4)})
    rule, through = ForbiddenRegion(box), free([(0, 0), (2, 1), (2, 2)])
    assert rule.describe(AXES) == f"keep out of {box}" and rule.regions == (box,) and rule.slack(through) is None
    assert [violation.step for violation in rule.violations(through)] == [0]
    passing = ForbiddenRegion(box, crossing=True)
    assert passing.describe(AXES) == f"stay out of {box}" and passing.violations(through) == []


def test_how_much_was_used_by_hand():
    paths = [free([(0, 0), (2, 1), (1, 1)]), free([(0, 0), (3, 0)])]
    (x,) = MaximumStep({"x": (4, 6)}).usage(paths, paths[1])
    assert (x.limit, x.used, x.share) == ("x: -4 to +6 min per move", "at most 3 min up, 1 min down", 0.5)
    (budget,) = ResourceBudget("fuel", fuel, 8).usage(paths, paths[1])
    assert budget.used == "4 in the most expensive episode, 3.5 in this one" and budget.share == 0.5
    (kept,) = NonDecreasing("y").usage(paths, None)
    assert (kept.limit, kept.used, kept.share) == ("y may not fall", "kept by every move", None)


# Defaults from the rows against the arithmetic of the class, on a finite process.

numbers = st.integers(0, 4)
finite_rules = st.one_of(
    st.builds(lambda a, b: MaximumStep({"x": (a, b), "y": b}), numbers, numbers),
    st.sampled_from([NonDecreasing("x"), NonIncreasing("y"), EndAt({"x": 2}), EndAt({"x": 1, "y": 3})]),
    st.builds(lambda x, y: ForbiddenRegion(Box({"x": (x, x + 0.5), "y": (y, y + 1)})), numbers, numbers),
    st.builds(lambda x, y: ForbiddenRegion(Circle({"x": x, "y": y}, 1.2), crossing=True), numbers, numbers),
    st.builds(lambda limit: ResourceBudget("fuel", fuel, limit), st.floats(0, 16, allow_nan=False)),
    st.builds(lambda x, k: VisitBudget(Box({"x": (x, 4)}), k), numbers, st.integers(0, 3)),
)
places = st.tuples(numbers, numbers)


def judge_of(process, horizon, start=0):
    return FiniteJudge(EpisodeSets(process, (), horizon), start)


@given(finite_rules, st.lists(places, min_size=2, max_size=4))
@settings(max_examples=150, deadline=None)
def test_finite_defaults_agree_with_the_classs_own_arithmetic(rule, points):
    path = np.array([(0, 0), *points], dtype=float)
    executed = EpisodePath(AXES, path, True, (), judge_of(GRID, len(points)))
    own, default = rule.violations(executed), TransitionConstraint.violations(rule, executed)
    assert bool(own) is bool(default)
    if rule.couples_steps and TransitionConstraint.slack(rule, executed) is not None:
        assert TransitionConstraint.slack(rule, executed) == pytest.approx(rule.slack(executed), abs=1e-9)
    elif not rule.couples_steps:
        # A rule about single moves or states is judged step by step.
        assert {violation.step for violation in own} == {violation.step for violation in default}


@given(st.floats(1, 12, allow_nan=False), st.lists(places, min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_in_an_episode_that_goes_on_a_row_is_broken_when_nothing_can_repair_it(limit, points):
    rule, horizon = ResourceBudget("fuel", fuel, limit), 5
    path = EpisodePath(AXES, np.array([(0, 0), *points], dtype=float), False, (), judge_of(GRID, horizon))
    # Every move costs at least 0.5, also those to come.
    needed = rule.spent(AXES, path.points) + 0.5 * (horizon - len(points))
    assume(abs(needed - limit) > 1e-3)
    assert bool(TransitionConstraint.violations(rule, path)) is (needed > limit)
    assert TransitionConstraint.slack(rule, path) == pytest.approx(limit - needed)


# The same on a continuous plant.

values = st.tuples(st.floats(0, 10, allow_nan=False), st.floats(0, 5, allow_nan=False))
smooth_rules = st.one_of(
    st.builds(lambda a, b: MaximumStep({"x": (a, b)}), st.floats(0, 10), st.floats(0, 10)),
    st.sampled_from([NonDecreasing("x"), NonIncreasing("y"), EndAt({"x": 2, "y": 1})]),
    st.builds(lambda limit: ResourceBudget("fuel", fuel, limit), st.floats(0.5, 30)),
    st.builds(lambda x, y: ForbiddenRegion(Circle({"x": x, "y": y}, 1.0)), st.floats(0, 10), st.floats(0, 5)),
    st.builds(lambda x, y: ForbiddenRegion(Box({"x": (x, x + 1), "y": (y, y + 1)})), st.floats(0, 10), st.floats(0, 5)),
)


@given(smooth_rules, st.lists(values, min_size=4, max_size=4), st.booleans())
@example(ResourceBudget("fuel", fuel, 30), [(2.0, 1.0)] * 4, True)
@settings(max_examples=150, deadline=None)
def test_continuous_defaults_agree_with_the_classs_own_arithmetic(rule, points, at_end):
    path = np.array([*points[:-1], (2.0, 1.0) if at_end else points[-1]], dtype=float)
    dynamics = LinearDynamics.free_moves(2, BoxActions(1.0))
    judge = ContinuousJudge(PLANE, dynamics, scaled(PLANE, path[0]), 3)
    executed = EpisodePath(PLANE, path, True, (), judge)
    # Rows keep a clearance from regions and have tolerances of their own: away from the limit both must agree.
    rooms = [row.room for row in TransitionConstraint.rows(rule, executed)]
    assume(rule.end_point or all(abs(room) > 1e-4 or room == 0 for room in rooms if not rule.regions))
    if rule.regions:
        shifted = [EpisodePath(PLANE, path + np.array(d), True) for d in ((1e-2, 0), (-1e-2, 0), (0, 1e-2), (0, -1e-2))]
        assume(len({bool(rule.violations(other)) for other in [executed, *shifted]}) == 1)
    assert bool(TransitionConstraint.violations(rule, executed)) is bool(rule.violations(executed))
    if rule.slack(executed) is not None:
        unit = rule.limit if rule.couples_steps else PLANE[0].width
        assert unit * TransitionConstraint.slack(rule, executed) == pytest.approx(rule.slack(executed), abs=1e-5)


# Rules that have nothing but rows.


class AtMostOnceUp(TransitionConstraint):
    """Only rows: at most one move of an episode is called `up`."""

    def add_to_polytope(self, model):
        model.ups = pyo.Constraint(expr=sum(model.visitation[m] for m in model.MOVES if m[2] == "up") <= 1)


def at_least_two_visits(model):
    model.visits = pyo.Constraint(expr=sum(model.arrival[key] for key in model.arrival if key[1] == "b") >= 2)


def with_a_variable(model):
    model.extra = pyo.Var(bounds=(0, 1))
    model.tied = pyo.Constraint(expr=model.extra >= sum(model.visitation[m] for m in model.MOVES))


PAIR = Process.from_moves(
    (Coordinate("x", 0.0, 2.0),),
    {"a": (0.0,), "b": (1.0,), "c": (2.0,)},
    [
        ("a", "up", "b"),
        ("a", "jump", "b"),
        ("b", "up", "c"),
        ("b", "down", "a"),
        ("c", "down", "b"),
        ("a", "stay", "a"),
    ],
    1.0,
)


def chain(points, complete=False, decisions=(), horizon=4):
    path = np.array(points, dtype=float)[:, None]
    return EpisodePath(PAIR.coordinates, path, complete, decisions, judge_of(PAIR, horizon))


def test_rows_alone_couple_the_steps_and_judge_a_path():
    rule = AtMostOnceUp()
    assert rule.couples_steps and rule.describe(PAIR.coordinates) == "AtMostOnceUp"
    # From a to b by `jump` or by `up`, nobody knows: the benefit of the doubt. From b to c by `up` only.
    assert rule.violations(chain([0, 1, 2, 1])) == [] and rule.slack(chain([0, 1, 2, 1, 0])) == 0.0
    (violation,) = rule.violations(chain([0, 1, 2, 1, 2]))
    assert (violation.constraint, violation.step) == ("AtMostOnceUp", 3)
    assert violation.message == "ups is 2, allowed is at most 1"
    up = next(pair for pair in PAIR.pairs_of(0) if PAIR.actions[PAIR.pair_action[pair]] == "up")
    (asked,) = rule.violations(chain([0, 1, 2], decisions=[up]))
    assert asked.step == 1
    (line,) = rule.usage([chain([0, 1, 2, 1, 0], True)], chain([0, 1]))
    assert (line.limit, line.used, line.share) == ("ups: at most 1", "1 in the tightest episode, 0 in this one", 1.0)


def test_a_limit_from_below_is_judged_when_it_can_no_longer_be_met():
    rule = FromFunction(at_least_two_visits)
    assert rule.violations(chain([0, 0, 0])) == [] and rule.violations(chain([0, 1, 0, 1, 0], True)) == []
    (late,) = rule.violations(chain([0, 0, 0, 0]))
    assert (late.constraint, late.step, late.message) == (
        "at_least_two_visits",
        2,
        "visits is 1, allowed is at least 2",
    )
    (short,) = rule.violations(chain([0, 1], True))
    assert short.message == "visits is 1, allowed is at least 2"


def test_moves_that_the_process_does_not_have_are_left_out_and_counted():
    (violation,) = AtMostOnceUp().violations(chain([1, 2, 0, 2, 1, 2], horizon=5))
    assert violation.message == "ups is 2 without 2 move(s) that the model lacks, allowed is at most 1"


def test_a_variable_of_the_rules_own_takes_the_value_that_keeps_its_rows():
    path, too_small = chain([0, 1, 2]), FromFunction(with_a_variable)
    (violation,) = too_small.violations(path)
    assert (violation.step, violation.message) == (0, "no value of extra keeps tied")
    assert path.judge.unjudged(too_small) == [] and path.judge.unjudged(AtMostOnceUp()) == []
    (line,) = too_small.usage([path], None)
    assert line.used == "no value of extra keeps tied" and line.share is None


def test_points_alone_say_nothing_about_rows():
    path = EpisodePath(PAIR.coordinates, np.array([[0.0], [1.0], [2.0]]), True)
    assert AtMostOnceUp().violations(path) == [] and AtMostOnceUp().slack(path) is None


def cool(model):
    model.cool = pyo.Constraint(model.STEPS, rule=lambda m, h: m.physical[h + 1, "x"] + m.physical[h + 1, "y"] <= 8)
    model.gentle = pyo.Constraint(model.STEPS, rule=lambda m, h: m.action[h, "push"] <= 0.2)


def push(model, step):
    return {"x": model.physical[step, "x"] + 10 * model.action[step, "push"], "y": model.physical[step, "y"]}


def test_a_function_with_smooth_rows_judges_a_path_and_the_actions_asked_for():
    dynamics = NonlinearDynamics(PLANE, push, BoxActions({"push": 1.0}))
    judge = ContinuousJudge(PLANE, dynamics, scaled(PLANE, np.array([1.0, 4.0])), 3)
    rule = FromFunction(cool)
    path = EpisodePath(PLANE, np.array([[1.0, 4.0], [2.0, 4.0], [5.0, 4.0]]), False, [(0.1,), (0.3,)], judge)
    assert [(v.step, v.message) for v in rule.violations(path)] == [
        (1, "cool[1] is 9, allowed is at most 8"),
        (1, "gentle[1] is 0.3, allowed is at most 0.2"),
    ]
    assert rule.slack(path) == pytest.approx(-1.0)
    unknown = EpisodePath(PLANE, path.points, False, (), judge)
    assert [v.message for v in rule.violations(unknown)] == ["cool[1] is 9, allowed is at most 8"]
