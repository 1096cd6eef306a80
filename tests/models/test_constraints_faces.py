"""Both faces of every constraint, and its audit, on the same paths: each must call the same paths allowed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyomo.environ as pyo
import pytest
from continuous_plants import PLANE

from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import scaled
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
from tcbo_pyomo.models.regions.convex_pieces import convex_pieces
from tcbo_pyomo.models.state_action_polytope import build_state_action_polytope
from tcbo_pyomo.planning.continuous.compiled_trajectory import CompiledTrajectory
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.plant.process import Process

L_SHAPE = Polygon(("x", "y"), [(3, 1), (6, 1), (6, 2), (4, 2), (4, 4), (3, 4)])
TRIANGLE = Polygon(("x", "y"), [(3, 1), (5, 1), (4, 3)])


def fuel(left: dict, right: dict) -> object:
    return ((right["x"] - left["x"]) ** 2 + (right["y"] - left["y"]) ** 2) ** 0.5 + 0.5 * abs(right["y"] - left["y"])


# constraint, paths it allows, paths it forbids
CASES: dict[str, tuple[TransitionConstraint, list[list], list[list]]] = {
    "maximum_step": (
        MaximumStep({"x": 2, "y": (0.5, 1)}),
        [[(1, 1), (3, 2), (3, 1.5)], [(5, 1), (3, 2), (1, 2)]],
        [[(1, 1), (3.1, 2), (3, 2)], [(1, 1), (1, 1), (1, 0.4)]],
    ),
    "non_decreasing": (NonDecreasing("x"), [[(1, 1), (1, 0), (2, 3)]], [[(1, 1), (2, 1), (1.9, 1)]]),
    "non_increasing": (NonIncreasing("y"), [[(1, 3), (2, 3), (1, 1)]], [[(1, 1), (2, 1.01), (2, 1)]]),
    "end_at": (EndAt({"y": 2}), [[(1, 1), (5, 5), (7, 2)]], [[(1, 1), (5, 2), (7, 2.1)]]),
    "circle": (
        ForbiddenRegion(Circle({"x": 4, "y": 2}, 1)),
        [[(1, 1), (2.5, 3.5), (6, 4)], [(2.9, 2), (2.9, 1), (4, 0.9)]],
        [[(1, 1), (4, 1.2), (6, 1)], [(2, 2), (6, 2.2), (6, 3)]],
    ),
    "circle, crossing": (
        ForbiddenRegion(Circle({"x": 4, "y": 2}, {"x": 2, "y": 1}), crossing=True),
        [[(1, 2), (7, 2), (4, 3.1)]],
        [[(1, 2), (5.9, 2), (7, 2)]],
    ),
    "box": (
        ForbiddenRegion(Box({"x": (3, 5), "y": (1, 3)})),
        [[(1, 1), (2.9, 3.2), (6, 3.1)], [(2.5, 3), (3.5, 4.1), (5.5, 3)]],
        [[(1, 1), (4, 2), (6, 2)], [(2, 2), (6, 2.5), (6, 3)], [(2.5, 2.5), (3.5, 3.2), (6, 4)]],
    ),
    "box, crossing": (
        ForbiddenRegion(Box({"x": (3, 5)}), crossing=True),
        [[(1, 1), (6, 1), (2, 1)]],
        [[(1, 1), (5, 1), (6, 1)]],
    ),
    "triangle": (
        ForbiddenRegion(TRIANGLE),
        [[(1, 1), (3, 2.7), (5, 3.6)], [(3, 3), (4, 3.1), (5, 3)]],
        [[(1, 1), (4, 2), (6, 2)], [(3, 2), (5, 2), (6, 2)]],
    ),
    "polygon that is not convex": (
        ForbiddenRegion(L_SHAPE),
        [[(5, 3), (4.2, 2.3), (5.9, 2.1)], [(1, 1), (2, 4.5), (4.2, 4.1)]],
        [[(5, 3), (3.5, 3), (2, 3)], [(5, 3), (5, 1.5), (5, 0.5)], [(2.5, 4.5), (7, 1), (7, 2)]],
    ),
    "wall": (
        ForbiddenRegion(Wall(("x", "y"), (3, 0), (5, 3))),
        [[(1, 1), (3, 3.5), (6, 3.5)], [(3.5, 0.5), (5, 2.5), (6, 4)]],
        [[(1, 1), (6, 1), (7, 1)], [(2, 3), (5.5, 2.9), (6, 3)]],
    ),
    "resource_budget": (
        ResourceBudget("fuel", fuel, 4.0),
        [[(1, 1), (2, 1), (4.9, 1)], [(1, 1), (1, 1), (1, 1)], [(1, 1), (1, 3), (1.5, 3)]],
        [[(1, 1), (2, 1), (5.1, 1)], [(1, 1), (1, 3), (1, 2)]],
    ),
    "visit_budget below one": (
        VisitBudget(Box({"x": (3, 5), "y": (1, 3)}), 0.5),
        [[(1, 1), (6, 2), (2, 2)]],
        [[(1, 1), (4, 2), (6, 2)]],
    ),
}
PATHS = [
    pytest.param(constraint, path, allowed, id=f"{name}: {'allowed' if allowed else 'forbidden'} {number}")
    for name, (constraint, good, bad) in CASES.items()
    for allowed, paths in ((True, good), (False, bad))
    for number, path in enumerate(paths)
]


@pytest.mark.parametrize(("constraint", "path", "allowed"), PATHS)
def test_the_audit(constraint: TransitionConstraint, path: list, allowed: bool) -> None:
    assert (constraint.violations(EpisodePath(PLANE, np.array(path, dtype=float), True)) == []) is allowed


@pytest.mark.parametrize(("constraint", "path", "allowed"), PATHS)
def test_the_trajectory_face(constraint: TransitionConstraint, path: list, allowed: bool) -> None:
    points = scaled(PLANE, np.array(path, dtype=float))
    dynamics = LinearDynamics.free_moves(2, BoxActions(1.0))
    compiled = CompiledTrajectory(PLANE, dynamics, points[0], len(points) - 1, [constraint])
    values = compiled.vector(points, np.diff(points, axis=0))
    bounds = compiled.bounds(points[:1], np.zeros((0, 2)))
    missed, worst = compiled.programme.violation(values, bounds)
    assert (missed <= 1e-6) is allowed, (missed, worst)


@pytest.mark.parametrize(("constraint", "path", "allowed"), PATHS)
def test_the_polytope_face(constraint: TransitionConstraint, path: list, allowed: bool) -> None:
    assert allowed_in_polytope(constraint, np.array(path, dtype=float)) is allowed


def allowed_in_polytope(constraint: TransitionConstraint, path: Array) -> bool:
    """Whether the only path of a chain of states is in the polytope."""
    states = {f"s{h}": tuple(point) for h, point in enumerate(path)}
    moves = [(f"s{h}", "go", f"s{h + 1}") for h in range(len(path) - 1)]
    # The end of the chain needs some move of its own; no path of this length uses it.
    moves.append((f"s{len(path) - 1}", "stay", f"s{len(path) - 1}"))
    process = Process.from_moves(PLANE, states, moves, 1.0)
    try:
        model = build_state_action_polytope(process, "s0", len(path) - 1, [constraint])
    except (InfeasiblePlan, BadInput):
        return False
    for move in model.visitation.values():
        move.set_value(1.0)
    return all(
        row.upper is None or pyo.value(row.body) <= pyo.value(row.upper) + 1e-9
        for row in model.component_data_objects(pyo.Constraint)
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["circle", "box", "triangle", "polygon that is not convex", "wall"])
def test_random_moves_around_regions_are_judged_as_by_the_audit(name: str, seed: int) -> None:
    """Moves with some distance from touching: the faces differ by the clearance of 1e-5 only."""
    constraint = CASES[name][0]
    generator = np.random.default_rng(seed)
    paths = generator.uniform([2, 0.3], [7, 4.5], (40, 2, 2))
    dynamics = LinearDynamics.free_moves(2, BoxActions(1.0))
    compiled = CompiledTrajectory(PLANE, dynamics, np.zeros(2), 1, [constraint])
    judged = set()
    for path in paths:
        points = scaled(PLANE, path)
        bounds = compiled.bounds(points[:1], np.zeros((0, 2)))
        missed, _ = compiled.programme.violation(compiled.vector(points, np.diff(points, axis=0)), bounds)
        judged.add(missed <= 1e-6)
        assert (missed <= 1e-6) is (constraint.violations(EpisodePath(PLANE, path, True)) == []), path
    assert judged == {True, False}


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_many_next_points_at_once_are_judged_as_one_by_one(name: str, last: bool) -> None:
    rule = CASES[name][0]
    generator = np.random.default_rng(3)
    made = np.array(CASES[name][1][0][:2], dtype=float)
    points = np.vstack(
        [generator.uniform([0, 0], [10, 5], (200, 2)), [p[-1] for _, good, _ in CASES.values() for p in good]]
    )
    single = [rule.violations(EpisodePath(PLANE, np.vstack([made, point]), last)) for point in points]
    expected = [not any(broken.step >= 1 for broken in found) for found in single]
    assert rule.allows_next(EpisodePath(PLANE, made, False), points, last).tolist() == expected
    assert rule.allows_next(EpisodePath(PLANE, made, False), points[:0], last).tolist() == []


@pytest.mark.parametrize(
    ("region", "limit", "points"),
    [
        (Circle({"x": 4, "y": 2}, 1), "region.radius", [[4.9, 2.0], [5.5, 2.0]]),
        (Box({"x": (3, 5), "y": (1, 3)}), "region.ranges.x", [[4.9, 2.0], [5.5, 2.0]]),
    ],
)
def test_a_region_that_was_asked_before_answers_for_other_axes_and_other_limits(region, limit, points) -> None:
    """What a region has read once it must not use where it is not true any more."""
    at, rule = np.array(points), ForbiddenRegion(region)
    assert rule.allowed_points(PLANE, at).tolist() == [False, True]
    turned = (PLANE[1], PLANE[0])
    assert rule.allowed_points(turned, at[:, ::-1]).tolist() == [False, True]
    wider = rule.with_limit(limit, 2.0 if limit.endswith("radius") else (3, 6))
    assert wider.allowed_points(PLANE, at).tolist() == [False, False]
    assert rule.allowed_points(PLANE, at).tolist() == [False, True]
    assert rule.named_limits().keys() == wider.named_limits().keys() == ForbiddenRegion(region).named_limits().keys()


def test_convex_pieces_cover_a_polygon_exactly() -> None:
    star = Polygon(
        ("x", "y"),
        [(5, 4.8), (4.5, 3), (2, 3), (4, 2), (3, 0.2), (5, 1.4), (7, 0.2), (6, 2), (8, 3), (5.5, 3)],
    )
    generator = np.random.default_rng(0)
    points = generator.uniform([0, 0], [10, 5], (5000, 2))
    at = scaled(PLANE, points)
    for polygon in (star, L_SHAPE, TRIANGLE):
        inside = np.zeros(len(points), dtype=bool)
        for piece in convex_pieces(polygon, PLANE):
            inside |= (at @ piece.normals.T <= piece.offsets).all(axis=1)
        np.testing.assert_array_equal(inside, polygon.contains(PLANE, points))


def build(constraint: TransitionConstraint | Callable) -> CompiledTrajectory:
    rule = constraint if isinstance(constraint, TransitionConstraint) else FromFunction(constraint)
    return CompiledTrajectory(PLANE, LinearDynamics.free_moves(2, BoxActions(0.1)), np.zeros(2), 3, [rule])


def test_a_users_function_adds_smooth_rows() -> None:
    def stay_near(model: pyo.ConcreteModel) -> None:
        model.near = pyo.Constraint(
            model.POINTS, rule=lambda m, h: (m.physical[h, "x"] - 5) ** 2 + m.physical[h, "y"] <= 3
        )

    compiled = build(stay_near)
    assert "near[3]" in compiled.programme.row_names


def broken(model: pyo.ConcreteModel) -> None:
    raise KeyError("pump")


def whole_numbers(model: pyo.ConcreteModel) -> None:
    model.valve = pyo.Var(domain=pyo.Binary)
    model.use = pyo.Constraint(expr=model.valve >= model.state[1, "x"])


class NoFace(TransitionConstraint):
    pass


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (NoFace(), "constraint 'NoFace' cannot constrain a trajectory"),
        (broken, "constraint function 'broken' failed: KeyError: 'pump'"),
        (whole_numbers, "variable 'valve' has the domain Binary"),
        (VisitBudget(Box({"x": (3, 5)}), 2.0), "number of visits of a path is not a smooth function"),
        (
            VisitBudget(lambda values: values["x"] > 3, 0.5),
            "number of visits of a path is not a smooth function",
        ),
        (ForbiddenRegion(Points([{"x": 1.0}])), "Points has no smooth form"),
        (ForbiddenRegion(Polygon(("x", "y"), [(0, 0), (2, 2), (2, 0), (0, 1)])), "crosses itself"),
        (ForbiddenRegion(Polygon(("x", "y"), [(0, 0), (1, 1), (2, 2)])), "enclose no area"),
        (EndAt({"x": 11.0}), "end_at: x 11.0 is outside its bounds 0 to 10"),
        (EndAt({"z": 1.0}), "unknown coordinate 'z'"),
        (NonDecreasing("z"), "unknown coordinate 'z'"),
        (MaximumStep({"x": -1.0}), "must not be negative"),
        (
            ResourceBudget("fuel", lambda left, right: np.hypot(right["x"], left["x"]), 1.0),
            "fuel.*write it with",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "__name__", type(value).__name__),
)
def test_what_cannot_be_done_is_refused_by_name(constraint: object, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        build(constraint)
