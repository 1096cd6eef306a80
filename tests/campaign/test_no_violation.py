"""No executed move ever violates a declared constraint: random graphs, random constraints, every kind of feedback."""

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_processes import random_process

from tcbo_pyomo import Problem, grid_process, run_campaign, settings_from
from tcbo_pyomo.errors import InfeasiblePlan
from tcbo_pyomo.models.constraints import (
    Box,
    Circle,
    EndAt,
    ForbiddenRegion,
    MaximumStep,
    NonDecreasing,
    NonIncreasing,
    ResourceBudget,
    TransitionConstraint,
    Violation,
    VisitBudget,
    Wall,
)
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

FEEDBACK = st.sampled_from([{"kind": "immediate"}, {"kind": "episodic"}, {"kind": "delayed", "delay": 2}])


class AtMostTwoLongMoves(TransitionConstraint):
    """A user's own rule: at most two moves of an episode change both coordinates."""

    couples_steps = True

    def add_to_polytope(self, model):
        long = [model.visitation[m] for m in model.MOVES if "," in m[2]]
        model.long_moves = pyo.Constraint(expr=sum(long) <= 2 if long else pyo.Constraint.Feasible)

    def violations(self, path):
        long = (np.abs(path.right - path.left) > 1e-9).all(axis=1).sum()
        return [Violation(self.name, path.moves - 1, f"{long} long moves")] if long > 2 else []


def travelled(left, right):
    return abs(right["x"] - left["x"]) + abs(right["y"] - left["y"])


@st.composite
def rules(draw):
    """A few constraints of different kinds on the 5 x 5 grid."""
    number = st.floats(0, 4, allow_nan=False)
    kinds = {
        "step": st.builds(lambda a, b: MaximumStep({"x": (a, b)}), st.integers(0, 2), st.integers(0, 2)),
        "grow": st.sampled_from([NonDecreasing("x"), NonIncreasing("y")]),
        "end": st.builds(lambda x, y: EndAt({"x": x, "y": y}), st.integers(0, 4), st.integers(0, 4)),
        "end_x": st.builds(lambda x: EndAt({"x": x}), st.integers(0, 4)),
        "box": st.builds(lambda x, y: ForbiddenRegion(Box({"x": (x, x + 0.6), "y": (y, y + 0.6)})), number, number),
        "circle": st.builds(lambda x, y: ForbiddenRegion(Circle({"x": x, "y": y}, 0.8)), number, number),
        "wall": st.builds(
            lambda a, b, c, d: ForbiddenRegion(Wall(("x", "y"), (a, b), (c, d))), number, number, number, number
        ),
        "visits": st.builds(lambda x, k: VisitBudget(Box({"x": (x, 4)}), k), st.integers(0, 4), st.integers(0, 3)),
        "fuel": st.builds(lambda limit: ResourceBudget("fuel", travelled, limit), st.floats(0, 8, allow_nan=False)),
        "own": st.just(AtMostTwoLongMoves()),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(kinds)), max_size=4, unique=True))
    return tuple(draw(kinds[name]) for name in chosen)


def audit(problem, result):
    points = problem.process.states
    for path in result.paths:
        for rule in problem.rules:
            assert rule.violations(EpisodePath(problem.process.coordinates, points[path], complete=True)) == []


@given(rules(), FEEDBACK, st.integers(1, 3), st.integers(0, 10**6), st.integers(2, 6))
@settings(max_examples=120)
def test_no_executed_move_violates_a_constraint_on_a_grid(constraints, feedback, components, seed, horizon):
    process = grid_process({"x": [0, 1, 2, 3, 4], "y": [0, 1, 2, 3, 4]}, {"x": [-2, -1, 0, 1], "y": [-1, 0, 1]}, 0.01)
    settings = settings_from({"feedback": feedback, "planner": {"components": components}, "episodes": 2})
    start = int(np.random.default_rng(seed).integers(25))
    try:
        problem = Problem(
            "grid",
            process,
            start,
            horizon,
            2,
            SquaredExponential(1.0, 0.3),
            constraints,
            truth=np.sin(np.arange(25.0)),
            output="value",
        )
        result = run_campaign(problem, settings, seed)
    except InfeasiblePlan as error:
        # Only a plan that was never feasible may be refused: nothing has been done by then.
        assert "step 0" in str(error) or "problem 'grid'" in str(error)
        assume(False)
    audit(problem, result)


@given(st.integers(0, 10**6), FEEDBACK, st.integers(2, 5), st.booleans(), st.floats(0.3, 4))
@settings(max_examples=60)
def test_no_executed_move_violates_a_constraint_under_chance(seed, feedback, horizon, end, limit):
    """Random transitions: the end is met and the budget is kept whatever chance does."""
    process = random_process(seed, 7, 4, 3)
    fuel = ResourceBudget("fuel", travelled, limit)
    constraints = (fuel, EndAt({"x": float(process.states[2, 0])})) if end else (fuel,)
    truth = np.linspace(0, 1, 7)
    try:
        problem = Problem(
            "chance", process, 0, horizon, 3, SquaredExponential(1.0, 0.3), constraints, truth=truth, output="value"
        )
        result = run_campaign(problem, settings_from({"feedback": feedback}), seed)
    except InfeasiblePlan as error:
        assert "step 0" in str(error)
        assume(False)
    audit(problem, result)


@pytest.mark.parametrize("solver", ["dynamic_programming", "highs"])
def test_both_oracles_obey_constraints_that_do_not_couple_steps(solver):
    process = grid_process({"x": [0, 1, 2, 3, 4], "y": [0, 1, 2, 3, 4]}, {"x": [-1, 0, 1], "y": [-1, 0, 1]}, 0.01)
    constraints = (ForbiddenRegion(Circle({"x": 2, "y": 2}, 0.9)), EndAt({"x": 0, "y": 0}))
    problem = Problem(
        "ring",
        process,
        0,
        9,
        3,
        SquaredExponential(1.0, 0.4),
        constraints,
        truth=process.states.sum(axis=1),
        output="value",
    )
    result = run_campaign(problem, settings_from({"planner": {"linear": {"solver": solver}}}), 1)
    audit(problem, result)
    assert all(path[-1] == 0 for path in result.paths)
