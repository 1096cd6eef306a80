"""The constraint library on hand-worked cases; what may be planned and what counts as broken agree."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyomo.environ import units

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.models.constraints import (
    Box,
    Circle,
    EndAt,
    ForbiddenRegion,
    FromFunction,
    MaximumStep,
    NonDecreasing,
    NonIncreasing,
    Points,
    Polygon,
    ResourceBudget,
    TransitionConstraint,
    VisitBudget,
    Wall,
)
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.plant.grid import grid_process

ANY = list(range(-4, 5))
TIME = grid_process({"time": [0, 2, 4, 6, 8]}, {"time": ANY}, 1.0, {"time": "min"})
SQUARE = grid_process({"x": range(5), "y": range(5)}, {"x": ANY, "y": ANY}, 1.0)
PLANE = SQUARE.coordinates


def moves(process, mask):
    """The moves left by a mask, as {(value left, value arrived at)} of a process on one axis."""
    values = process.states[:, 0]
    left, right = values[process.pair_state[process.transition_pair]], values[process.transitions.indices]
    return {(a, b) for a, b, allowed in zip(left, right, mask, strict=True) if allowed}


def steps_broken(rule, *points, complete=False, coordinates=PLANE):
    path = np.array(points, dtype=float).reshape(len(points), -1)
    found = rule.violations(EpisodePath(coordinates, path, complete))
    assert all(v.constraint == rule.name for v in found)
    return [v.step for v in found]


def touches(region, *segment):
    """Whether a straight move touches a region of the square."""
    left, right = (np.array([point], dtype=float) for point in segment)
    return bool(region.crossed_by(PLANE, left, right)[0])


def inside(region, *points):
    return region.contains(PLANE, np.array(points, dtype=float)).tolist()


# Maximum step


@pytest.mark.parametrize(
    ("limit", "fall", "rise"),
    [
        (2, 2, 2),
        (3.9, 2, 2),
        (0, 0, 0),
        ((2, 4), 2, 4),
        ((0, 8), 0, 8),
        (240 * units.s, 4, 4),
        ((1 * units.hour, 2 * units.min), 8, 2),
    ],
)
def test_maximum_step_leaves_the_moves_within_its_limits(limit, fall, rise):
    values = [0, 2, 4, 6, 8]
    expected = {(a, b) for a in values for b in values if -fall <= b - a <= rise}
    assert moves(TIME, MaximumStep({"time": limit}).allowed_transitions(TIME)) == expected


def test_maximum_step_names_each_step_that_is_too_large():
    rule = MaximumStep({"x": (1, 2), "y": 3})
    assert steps_broken(rule, (0, 0), (2, 3), (1, 0)) == []
    assert steps_broken(rule, (0, 0), (3, 0), (1, 0), (1, 4)) == [0, 1, 2]
    path = EpisodePath(TIME.coordinates, np.array([[0.0], [2.0]]), False)
    (violation,) = MaximumStep({"time": 60 * units.s}).violations(path)
    assert violation.message == "time (min) changed by 2, allowed is -1 to 1"


def test_a_step_equal_to_its_limit_is_allowed_in_spite_of_rounding():
    process = grid_process({"x": np.linspace(0, 1, 11)}, {"x": [-1, 0, 1]}, 1.0)
    assert MaximumStep({"x": 0.1}).allowed_transitions(process).all()


@pytest.mark.parametrize(
    "limits", [{"tme": 2}, {"time": -1}, {"time": (1, -2)}, {"time": 3 * units.K}, {"time": math.nan}]
)
def test_maximum_step_refuses_limits_it_cannot_use(limits):
    with pytest.raises(BadInput, match="time"):
        MaximumStep(limits).allowed_transitions(TIME)


def test_maximum_step_needs_a_limit():
    with pytest.raises(BadInput, match="at least one"):
        MaximumStep({})


# Non-decreasing, non-increasing


def test_non_decreasing_and_non_increasing_leave_one_direction_and_standing_still():
    values = [0, 2, 4, 6, 8]
    assert moves(TIME, NonDecreasing("time").allowed_transitions(TIME)) == {
        (a, b) for a in values for b in values if b >= a
    }
    assert moves(TIME, NonIncreasing("time").allowed_transitions(TIME)) == {
        (a, b) for a in values for b in values if b <= a
    }


def test_steps_in_the_wrong_direction_are_named():
    path = np.array([[0.0], [4.0], [2.0], [2.0], [8.0], [0.0]])
    assert [(v.step, v.message) for v in NonDecreasing("time").violations(EpisodePath(TIME.coordinates, path, True))] == [
        (1, "time (min) fell from 4 to 2"),
        (4, "time (min) fell from 8 to 0"),
    ]
    assert [v.step for v in NonIncreasing("time").violations(EpisodePath(TIME.coordinates, path, True))] == [0, 3]


@pytest.mark.parametrize("rule", [NonDecreasing("tine"), NonIncreasing("tine")])
def test_an_unknown_coordinate_is_refused(rule):
    with pytest.raises(BadInput, match="unknown coordinate 'tine'; did you mean 'time'"):
        rule.allowed_transitions(TIME)


# End at


def test_end_at_allows_one_state_after_the_last_move_only():
    rule = EndAt({"x": 3, "y": 1})
    assert all(rule.allowed_states(SQUARE, step, 4) is None for step in range(4))
    assert np.flatnonzero(rule.allowed_states(SQUARE, 4, 4)).tolist() == [SQUARE.state_index({"x": 3, "y": 1})]


def test_end_at_matches_only_the_coordinates_named():
    mask = EndAt({"y": 2}).allowed_states(SQUARE, 1, 1)
    assert {SQUARE.labels[state] for state in np.flatnonzero(mask)} == {f"x={x}, y=2" for x in range(5)}
    assert EndAt({"time": 360 * units.s}).allowed_states(TIME, 1, 1).tolist() == [
        False,
        False,
        False,
        True,
        False,
    ]


def test_end_at_is_broken_only_by_a_finished_path_that_ends_elsewhere():
    rule = EndAt({"x": 3})
    assert steps_broken(rule, (3, 0), (0, 0)) == []
    assert steps_broken(rule, (0, 0), (3, 4), complete=True) == []
    assert steps_broken(rule, (3, 0), (3, 1), (2, 1), complete=True) == [1]


@pytest.mark.parametrize("point", [{"x": 2.5}, {"x": 7}, {"z": 1}, {"x": 1 * units.s}])
def test_end_at_refuses_a_point_that_is_no_state(point):
    with pytest.raises(BadInput, match=r"end_at: no state at x=|unknown coordinate 'z'|does not convert"):
        EndAt(point).allowed_states(SQUARE, 3, 3)
    with pytest.raises(BadInput, match="at least one"):
        EndAt({})


# Regions


def test_box_holds_its_edges_and_every_value_of_coordinates_left_out():
    assert (
        inside(Box({"x": (1, 2), "y": (1, 3)}), (1, 1), (2, 3), (1.5, 2), (0.9, 2), (1, 3.1))
        == [True] * 3 + [False] * 2
    )
    assert inside(Box({"y": (1, 3)}), (0, 2), (4, 2), (4, 0)) == [True, True, False]
    assert Box({"time": (60 * units.s, 240 * units.s)}).contains(TIME.coordinates, TIME.states).tolist() == [
        False,
        True,
        True,
        False,
        False,
    ]


def test_an_edge_of_a_box_holds_grid_values_in_spite_of_rounding():
    process = grid_process({"x": np.linspace(0, 1, 11)}, {"x": [0]}, 1.0)
    assert np.linspace(0, 1, 11)[3] > 0.3
    assert np.flatnonzero(Box({"x": (0.1, 0.3)}).contains(process.coordinates, process.states)).tolist() == [
        1,
        2,
        3,
    ]


def test_box_is_crossed_by_moves_through_it_and_past_its_corner():
    box = Box({"x": (1, 2), "y": (1, 2)})
    assert (
        touches(box, (0, 1.5), (4, 1.5)) and touches(box, (0, 0), (4, 4)) and touches(box, (0, 1), (1, 0.99)) is False
    )
    assert touches(box, (0, 2), (1, 3)) is False and touches(box, (0, 1), (2, 3))
    assert (
        touches(box, (1.5, 1.5), (1.5, 1.5)) and touches(box, (1.5, 0), (1.5, 4)) and not touches(box, (3, 0), (3, 4))
    )


def test_circle_leaves_its_edge_free_and_may_be_an_ellipse():
    circle = Circle({"x": 2, "y": 2}, 1)
    assert inside(circle, (2, 2), (2.9, 2), (3, 2), (2.8, 2.8)) == [True, True, False, False]
    assert touches(circle, (0, 2), (4, 2)) and touches(circle, (0, 1.1), (4, 1.1))
    assert not touches(circle, (0, 1), (4, 1)) and not touches(circle, (0, 2), (1, 2))
    ellipse = Circle({"x": 2, "y": 2}, {"x": 2, "y": 0.5})
    assert inside(ellipse, (3.9, 2), (2, 2.4), (2, 2.6)) == [True, True, False]


CUP = Polygon(("x", "y"), [(0, 0), (4, 0), (4, 4), (3, 4), (3, 1), (1, 1), (1, 4), (0, 4)])
"""A cup open at the top: walls one thick, the hollow is 1 < x < 3, y > 1."""


def test_the_hollow_of_a_polygon_is_outside_and_its_outline_inside():
    assert inside(CUP, (0.5, 3), (3.5, 3), (2, 0.5)) == [True] * 3
    assert inside(CUP, (2, 2), (2, 4), (2, 5)) == [False] * 3
    assert inside(CUP, (0, 0), (4, 4), (1, 3), (3, 3), (2, 1), (4, 2), (2, 0)) == [True] * 7


def test_moves_within_the_hollow_are_free_and_moves_through_a_wall_are_not():
    assert not touches(CUP, (1.5, 2), (2.5, 3)) and not touches(CUP, (2, 2), (2, 5))
    assert touches(CUP, (2, 2), (5, 2)) and touches(CUP, (-1, 3.5), (2, 3.5)) and touches(CUP, (2, 2), (2, -1))
    assert touches(CUP, (0.5, 2), (0.5, 3)), "a move that stays inside touches no outline and is still inside"
    assert touches(CUP, (1.5, 2), (1, 2)), "a move that ends on the outline"


def test_the_corners_of_a_polygon_may_be_given_in_either_direction():
    points = np.stack(np.meshgrid(np.linspace(-1, 5, 25), np.linspace(-1, 5, 25)), axis=-1).reshape(-1, 2)
    other_way = Polygon(CUP.over, CUP.corners[::-1])
    assert (other_way.contains(PLANE, points) == CUP.contains(PLANE, points)).all()


def test_wall_is_touched_at_its_ends_and_along_itself():
    wall = Wall(("x", "y"), (1, 1), (3, 1))
    assert touches(wall, (2, 0), (2, 2)) and touches(wall, (1, 0), (1, 1)) and touches(wall, (0, 2), (2, 0))
    assert touches(wall, (0, 1), (1, 1)) and touches(wall, (0, 1), (4, 1)) and touches(wall, (1.5, 1), (2, 1))
    assert (
        not touches(wall, (0, 1), (0.9, 1)) and not touches(wall, (0, 0), (0, 2)) and not touches(wall, (1, 2), (3, 2))
    )
    assert inside(wall, (2, 1), (3, 1), (4, 1), (2, 1.1)) == [True, True, False, False]


def segments_meet(a, b, c, d):
    """Whether a + t (b - a) = c + s (d - c) for some t, s in [0, 1], solved in exact fractions."""
    (px, py), (qx, qy), (rx, ry) = (
        (b[0] - a[0], b[1] - a[1]),
        (d[0] - c[0], d[1] - c[1]),
        (c[0] - a[0], c[1] - a[1]),
    )
    det = px * qy - py * qx
    if det:
        return 0 <= Fraction(rx * qy - ry * qx, det) <= 1 and 0 <= Fraction(rx * py - ry * px, det) <= 1
    # Parallel: they meet exactly when an end of one lies on the other.
    return any(on_segment(p, c, d) for p in (a, b)) or any(on_segment(p, a, b) for p in (c, d))


def on_segment(p, a, b):
    distances = math.dist(p, a), math.dist(p, b), math.dist(a, b)
    return abs(distances[0] + distances[1] - distances[2]) < 1e-9


corner = st.tuples(st.integers(0, 6), st.integers(0, 6))


@given(corner, corner, corner, corner)
def test_walls_against_the_exact_solution_of_the_line_equations(a, b, c, d):
    assert touches(Wall(("x", "y"), c, d), a, b) == segments_meet(a, b, c, d)


@given(
    st.tuples(st.floats(0, 6), st.floats(0, 6)),
    st.tuples(st.floats(0, 6), st.floats(0, 6)),
    st.sampled_from([Box({"x": (1, 3), "y": (2, 5)}), Circle({"x": 3, "y": 2}, 1.5), CUP]),
)
def test_a_move_crosses_a_region_when_a_point_of_it_lies_inside(left, right, region):
    share = np.linspace(0, 1, 401)[:, None]
    points = (1 - share) * np.array(left) + share * np.array(right)
    if region.contains(PLANE, points).any():
        assert touches(region, left, right)
    elif touches(region, left, right):
        # Between two samples the move may graze the region: then some sample is as near as half a step.
        around = 0.03 * np.stack([np.cos(np.arange(64)), np.sin(np.arange(64))], axis=1)
        assert region.contains(PLANE, (points[:, None] + around).reshape(-1, 2)).any()


def test_points_match_to_rounding_and_may_leave_coordinates_out():
    assert inside(Points([{"x": 1, "y": 2}, {"x": 3}]), (1, 2), (1 + 1e-7, 2), (1, 3), (3, 4)) == [
        True,
        True,
        False,
        True,
    ]
    assert touches(Points([{"x": 1, "y": 1}]), (1, 1), (2, 2)) and not touches(
        Points([{"x": 1, "y": 1}]), (0, 0), (2, 2)
    )


@pytest.mark.parametrize(
    ("region", "message"),
    [
        (Box({"z": (0, 1)}), "unknown coordinate 'z'"),
        (Box({"x": (2, 1)}), "lower bound first"),
        (Circle({"x": 1, "y": 1}, 0), "radius"),
        (Polygon(("x", "y"), [(0, 0), (1, 1)]), "3 corners"),
        (Wall(("x", "z"), (0, 0), (1, 1)), "unknown coordinate 'z'"),
        (Points([{"z": 1}]), "unknown coordinate 'z'"),
    ],
)
def test_regions_that_make_no_sense_are_refused(region, message):
    with pytest.raises(BadInput, match=message):
        region.contains(PLANE, SQUARE.states)


# Forbidden region


def test_a_zone_forbids_standing_in_it_and_moving_through_it():
    rule = ForbiddenRegion(Box({"x": (1, 3), "y": (1, 3)}))
    outside = {(x, y) for x in range(5) for y in range(5) if not (1 <= x <= 3 and 1 <= y <= 3)}
    assert {tuple(SQUARE.states[s]) for s in np.flatnonzero(rule.allowed_states(SQUARE, 0, 5))} == outside
    assert steps_broken(rule, (0, 0), (4, 0), (4, 4)) == []
    assert steps_broken(rule, (0, 0), (4, 4)) == [0] and steps_broken(rule, (0, 0), (0, 4), (4, 2), (0, 2)) == [1, 2]


def test_with_crossing_allowed_only_arriving_in_the_zone_counts():
    rule = ForbiddenRegion(Box({"x": (1, 3), "y": (1, 3)}), crossing=True)
    assert steps_broken(rule, (0, 0), (4, 4)) == [] and steps_broken(rule, (0, 0), (2, 2)) == [0]
    assert rule.allowed_transitions(SQUARE).sum() == 25 * 16
    assert ForbiddenRegion(rule.region).allowed_transitions(SQUARE).sum() < 25 * 16


def test_a_wall_with_a_gap_lets_moves_pass_at_the_gap_only():
    # The wall stands between x = 1 and x = 2 and leaves a gap below y = 0.5.
    rule = ForbiddenRegion(Wall(("x", "y"), (1.5, 0.5), (1.5, 4)))
    assert steps_broken(rule, (1, 0), (2, 0)) == [] and steps_broken(rule, (1, 1), (2, 1)) == [0]
    assert steps_broken(rule, (1, 0), (2, 1)) == [0], "a diagonal move touches the end of the wall"
    assert steps_broken(rule, (1, 1), (1, 4)) == []
    assert rule.allowed_states(SQUARE, 0, 5).all()


# Budgets


@pytest.mark.parametrize("region", [Box({"x": (3, 4)}), lambda values: values["x"] >= 3], ids=["region", "predicate"])
def test_visit_budget_counts_arrivals_but_not_the_start(region):
    rule = VisitBudget(region, 2, name="hot")
    assert rule.name == "VisitBudget(hot)" and rule.couples_steps
    path = [(4, 0), (3, 0), (0, 0), (4, 0), (3, 0), (4, 4)]
    assert rule.spent(PLANE, np.array(path, dtype=float)) == 4.0
    assert steps_broken(rule, *path) == [3], "the first visit too many"
    assert steps_broken(rule, *path[:4]) == []
    arrived = SQUARE.states[SQUARE.transitions.indices]
    assert rule.transition_cost(SQUARE).tolist() == (arrived[:, 0] >= 3).astype(float).tolist()
    assert rule.allowed_transitions(SQUARE) is None and rule.allowed_states(SQUARE, 0, 3) is None


def test_resource_budget_adds_up_the_cost_of_moves():
    rule = ResourceBudget("fuel", lambda left, right: 0.5 + abs(right["x"] - left["x"]), 5)
    path = [(0, 0), (2, 0), (2, 4), (0, 4), (1, 4)]
    assert rule.name == "ResourceBudget(fuel)" and rule.couples_steps
    assert rule.spent(PLANE, np.array(path, dtype=float)) == 2.5 + 0.5 + 2.5 + 1.5
    assert steps_broken(rule, *path) == [2]
    assert rule.spent(PLANE, np.array([[0.0, 0.0]])) == 0.0
    (violation,) = rule.violations(EpisodePath(PLANE, np.array(path, dtype=float), False))
    assert violation.message == "5.5 used, the budget is 5"


def test_a_budget_used_up_exactly_is_kept_in_spite_of_rounding():
    rule = ResourceBudget("time", lambda left, right: 0.1, 0.3)
    assert 0.1 + 0.1 + 0.1 > 0.3
    assert steps_broken(rule, (0, 0), (1, 0), (2, 0), (3, 0)) == []
    assert steps_broken(rule, (0, 0), (1, 0), (2, 0), (3, 0), (4, 0)) == [3]


@pytest.mark.parametrize("cost", [-1.0, math.nan, math.inf])
def test_a_cost_that_is_negative_or_not_finite_names_the_move(cost):
    rule = ResourceBudget("fuel", lambda left, right: np.where(right["time"] == 6, cost, 1.0), 5)
    with pytest.raises(BadInput, match=r"resource_budget 'fuel': cost of the move \[0.0\] -> \[6.0\]"):
        rule.transition_cost(TIME)
    with pytest.raises(BadInput, match="fuel"):
        rule.violations(EpisodePath(TIME.coordinates, np.array([[0.0], [6.0]]), False))


@pytest.mark.parametrize("limit", [-1, math.nan, math.inf])
def test_a_budget_needs_a_finite_limit_that_is_not_negative(limit):
    with pytest.raises(BadInput, match=r"resource_budget 'fuel': limit"):
        ResourceBudget("fuel", lambda left, right: 1.0, limit)
    with pytest.raises(BadInput, match=r"visit_budget 'hot': limit"):
        VisitBudget(Box({"x": (0, 1)}), limit, "hot")


# What all of them share


def test_a_plain_constraint_allows_everything():
    rule = TransitionConstraint()
    assert rule.allowed_transitions(SQUARE) is None and rule.allowed_states(SQUARE, 0, 1) is None
    assert rule.violations(EpisodePath(PLANE, SQUARE.states, True)) == [] and not rule.couples_steps


def test_an_error_inside_a_users_function_names_the_function():
    def cooling_rate(model):
        return model.no_such_component

    assert FromFunction(cooling_rate).name == "cooling_rate"
    with pytest.raises(BadInput, match="constraint function 'cooling_rate' failed: AttributeError"):
        FromFunction(cooling_rate).add_to_polytope(object())


tenths = st.integers(0, 30).map(lambda n: n / 10)
intervals = st.tuples(tenths, tenths).map(lambda pair: tuple(sorted(pair)))
places = st.tuples(tenths, tenths)
regions = st.one_of(
    st.builds(lambda x, y: Box({"x": x, "y": y}), intervals, intervals),
    st.builds(lambda x, y, r: Circle({"x": x, "y": y}, r + 0.1), tenths, tenths, tenths),
    st.builds(lambda corners: Polygon(("x", "y"), corners), st.lists(places, min_size=3, max_size=5)),
    st.builds(lambda start, end: Wall(("x", "y"), start, end), places, places),
    st.builds(lambda x, y: Points([{"x": x, "y": y}]), tenths, tenths),
)
rules = st.one_of(
    st.builds(lambda down, up, y: MaximumStep({"x": (down, up), "y": y}), tenths, tenths, tenths),
    st.sampled_from([NonDecreasing("x"), NonIncreasing("y")]),
    st.builds(ForbiddenRegion, regions, st.booleans()),
)
axes = st.lists(st.integers(0, 30), min_size=2, max_size=4, unique=True).map(lambda v: [n / 10 for n in sorted(v)])


@given(axes, axes, rules)
def test_a_move_may_be_planned_exactly_when_making_it_breaks_nothing(xs, ys, rule):
    process = grid_process({"x": xs, "y": ys}, {"x": ANY, "y": ANY}, 1.0)
    allowed = rule.allowed_transitions(process)
    for pair in range(process.number_of_pairs):
        path = process.states[[process.pair_state[pair], process.successor[pair]]]
        assert allowed[pair] == (rule.violations(EpisodePath(process.coordinates, path, False)) == [])


@given(axes, axes, st.data())
def test_an_episode_may_end_exactly_where_a_finished_path_breaks_nothing(xs, ys, data):
    process = grid_process({"x": xs, "y": ys}, {"x": [0], "y": [0]}, 1.0)
    rule = EndAt(
        data.draw(st.fixed_dictionaries({}, optional={"x": st.sampled_from(xs)}))
        | {"y": data.draw(st.sampled_from(ys))}
    )
    for state, allowed in enumerate(rule.allowed_states(process, 2, 2)):
        assert allowed == (rule.violations(EpisodePath(process.coordinates, process.states[[0, state]], True)) == [])


@given(axes, axes, st.lists(st.integers(0, 1000), min_size=1, max_size=6), st.integers(0, 4))
def test_a_budget_is_broken_exactly_when_more_is_spent_than_it_holds(xs, ys, choices, limit):
    process = grid_process({"x": xs, "y": ys}, {"x": ANY, "y": ANY}, 1.0)
    path, used = [0], []
    for choice in choices:
        pairs = process.pairs_of(path[-1])
        used.append(pairs[choice % len(pairs)])
        path.append(int(process.successor[used[-1]]))
    points = process.states[path]
    for rule in (
        VisitBudget(lambda values: values["x"] > xs[0], limit),
        ResourceBudget("fuel", lambda left, right: abs(right["x"] - left["x"]) + 0.25, limit),
    ):
        cost = rule.transition_cost(process)[used]
        assert rule.spent(process.coordinates, points) == pytest.approx(cost.sum())
        first = next((h for h in range(len(used)) if cost[: h + 1].sum() > limit + 1e-4), None)
        broken = [violation.step for violation in rule.violations(EpisodePath(process.coordinates, points, False))]
        assert broken == ([] if first is None else [first])
