"""A problem read back from its data judges as the problem itself does: the same paths, the same verdicts, in the same words."""

import json

import numpy as np
import pyomo.environ as pyo
import pytest
from random_processes import random_process
from rival_plants import grid, plane

from tcbo_pyomo import Problem, TransitionConstraint, load_problem
from tcbo_pyomo.checks.audit import audit_episodes, unaudited
from tcbo_pyomo.checks.executed_path import ExecutedEpisode, executed_path
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.library import problem_names
from tcbo_pyomo.models.constraints import (
    Box,
    Circle,
    EndAt,
    ForbiddenRegion,
    MaximumStep,
    NonDecreasing,
    Points,
    Polygon,
    ResourceBudget,
    VisitBudget,
    Wall,
)
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics, NonlinearDynamics
from tcbo_pyomo.problem.declaration import declaration_of, declared_problem, opaque_parts
from tcbo_pyomo.problem.declared_changes import declared_changes
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

PATHS, SLOW_PATHS = 60, 20
"""Random paths to judge; fewer where each move of a nonlinear plant has to be solved for."""


def read_back(problem):
    """The problem as another process reads it, and that writing it down again gives the same data."""
    data = json.loads(json.dumps(declaration_of(problem), allow_nan=False))
    found = declared_problem(data)
    assert json.loads(json.dumps(declaration_of(found))) == data and declared_changes(data, data) == []
    return found


def paths_of(problem, generator, moves):
    """Random paths: states of the process, or points of the box, whether the plant can go there or not."""
    slow = isinstance(getattr(problem, "dynamics", None), NonlinearDynamics)
    for _ in range(SLOW_PATHS if slow else PATHS):
        length = int(generator.integers(1, moves + 1))
        if hasattr(problem, "process"):
            states = [problem.start_state]
            for _ in range(length):
                pair = int(generator.choice(problem.process.pairs_of(states[-1])))
                anywhere = generator.random() < 0.1
                successors = (
                    np.arange(problem.process.number_of_states) if anywhere else problem.process.successors_of(pair)
                )
                states.append(int(generator.choice(successors)))
            yield problem.points(states)
        else:
            steps = generator.normal(scale=0.15, size=(length, len(problem.coordinates)))
            scaled = np.clip(np.cumsum([problem.start_state, *steps], axis=0), -0.5, 0.5)
            yield problem.points(scaled)


def verdicts(problem, points):
    path = executed_path(problem, points, len(points) > problem.horizon)
    return audit_episodes(problem, [ExecutedEpisode(1, tuple(range(1, len(points))), path)])


def assert_same_verdicts(problem, seed=0):
    found, generator, broken = read_back(problem), np.random.default_rng(seed), 0
    assert unaudited(found) == unaudited(problem)
    for points in paths_of(problem, generator, problem.horizon):
        wanted = verdicts(problem, points)
        broken += bool(wanted)
        assert verdicts(found, points) == wanted
    return found, broken


@pytest.mark.parametrize("name", problem_names())
def test_shipped_problems_are_all_data(name):
    problem = load_problem(name)
    found, _ = assert_same_verdicts(problem)
    assert opaque_parts(declaration_of(problem)) == []
    assert found.coordinates == problem.coordinates and found.start_state == problem.start_state
    assert [rule.name for rule in found.rules] == [rule.name for rule in problem.rules]
    assert found.kernel == problem.kernel and found.place_words(found.start_state) == problem.place_words(
        problem.start_state
    )
    if isinstance(problem, Problem):
        assert np.array_equal(found.search_space, problem.search_space)
        for pair in range(0, problem.process.number_of_pairs, 97):
            arrived = int(problem.process.successors_of(pair)[0])
            assert found.noise_variance(pair, arrived) == problem.noise_variance(pair, arrived)
            assert found.locate(found.describe(arrived)) == arrived


class FewChanges(TransitionConstraint):
    """A user's rule with a row, a number and words of its own."""

    def __init__(self, limit):
        self.limit = limit

    def add_to_polytope(self, model):
        changes = [model.visitation[move] for move in model.MOVES if "y" in move[2]]
        model.few_changes = pyo.Constraint(expr=sum(changes) <= self.limit)

    def describe(self, coordinates):
        return f"y changes at most {self.limit} times"


class NoCorner(TransitionConstraint):
    """A user's rule that removes states late in the episode, and moves."""

    def allowed_states(self, process, step, horizon):
        return None if step < 2 else process.states[:, 0] + process.states[:, 1] < 6

    def allowed_transitions(self, process):
        left = process.states[process.pair_state[process.transition_pair]]
        return ~((left[:, 0] == 2) & (process.states[process.transitions.indices][:, 0] == 3))


def gentle_start(model):
    early = [
        model.arrival[step, state] for step, state in model.arrival if step < 2 and model.coordinate[state, "y"] > 1
    ]
    model.gentle_start = pyo.Constraint(expr=sum(early) <= 0)


def test_rules_of_users_judge_by_what_they_remove_and_by_their_rows():
    problem = grid([FewChanges(2), NoCorner(), gentle_start, NonDecreasing("x")])
    data = declaration_of(problem)
    assert opaque_parts(data) == ["FewChanges", "NoCorner", "gentle_start"]
    assert data["plant"]["rules"][0]["words"] == "y changes at most 2 times"
    assert data["plant"]["rules"][0]["numbers"] == {"limit": 2.0}
    found, broken = assert_same_verdicts(problem)
    assert broken > 10
    with pytest.raises(BadInput, match="'FewChanges': planning needs its own code"):
        found.rules[0].add_to_polytope(None)


def test_every_rule_and_region_of_the_library_is_data():
    regions = [Box({"x": (2, 3), "y": (1.5, 2)}), Circle({"x": 2, "y": 2}, 0.7), Wall(("x", "y"), (0.5, 3), (2.5, 3.5))]
    regions += [Polygon(("x", "y"), ((3, 3), (4, 3), (4, 4.5))), Points(({"x": 1, "y": 3},))]
    problem = grid(
        [*(ForbiddenRegion(region, crossing=bool(i % 2)) for i, region in enumerate(regions)), EndAt({"x": 2})]
    )
    problem = problem.changed(
        constraints=[
            *problem.constraints,
            MaximumStep({"x": 1, "y": (1, 0)}),
            VisitBudget(Box({"y": (1, 4)}), 2),
            VisitBudget(lambda values: values["x"] > 1, 3, "right"),
            ResourceBudget("fuel", lambda left, right: abs(right["x"] - left["x"]) + 0.1, 2.5),
            ResourceBudget("climb", lambda left, right: np.maximum(0.0, right["y"] - left["y"]), 2.0),
        ]
    )
    _, broken = assert_same_verdicts(problem)
    assert broken > 10 and opaque_parts(declaration_of(problem)) == []


@pytest.mark.parametrize("outcomes", [1, 3])
def test_rows_on_a_plant_with_chance_are_judged_where_it_arrived(outcomes):
    generator = np.random.default_rng(outcomes)
    process = random_process(outcomes, states=6, moves=3, successors=outcomes)
    place = generator.uniform(-1.0, 2.0, process.number_of_states)
    index = {label: number for number, label in enumerate(process.labels)}

    def arrivals(model):
        model.rows = pyo.Constraint(expr=sum(place[index[key[1]]] * model.arrival[key] for key in model.arrival) <= 1.5)

    problem = Problem("chance", process, 0, 4, 2, SquaredExponential(1.0, 0.3), [arrivals], output="f")
    _, broken = assert_same_verdicts(problem)
    assert broken > 5


class SmoothLimit(TransitionConstraint):
    """A user's rule of trajectories with a row that is not linear."""

    def __init__(self, limit):
        self.limit = limit

    def add_to_trajectory(self, model):
        def row(model, step):
            return (
                sum((model.physical[step + 1, n] - model.physical[step, n]) ** 2 for n in model.COORDINATES)
                <= self.limit**2
            )

        model.smooth_limit = pyo.Constraint(model.STEPS, rule=row)


class OnlyCode(TransitionConstraint):
    """A rule that only its own code can judge."""

    def add_to_trajectory(self, model):
        """Nothing."""

    def violations(self, path):
        raise AssertionError("foreign code ran")


def test_rules_of_trajectories_judge_by_their_arithmetic():
    rules = [SmoothLimit(0.8), MaximumStep({"x": 1.0}), ForbiddenRegion(Circle({"x": 3, "y": 2}, 0.5))]
    problem = plane(BoxActions(0.12), [*rules, ResourceBudget("way", lambda a, b: abs(b["x"] - a["x"]), 2.0)])
    _, broken = assert_same_verdicts(problem)
    assert broken > 10 and opaque_parts(declaration_of(problem)) == ["SmoothLimit"]


def test_a_rule_that_only_its_code_can_judge_is_not_judged_and_never_kept():
    found = read_back(plane(constraints=[OnlyCode()]))
    assert unaudited(found) == ["OnlyCode"]
    path = executed_path(found, np.array([[1.0, 1.0], [1.5, 1.0]]), False)
    assert [line.used for line in found.rules[0].usage([path], None)] == ["not checked: only its own code can"]
    assert verdicts(found, path.points) == []


def test_dynamics_of_users_are_kept_as_equations():
    def heated(model, step):
        x, y, a = model.physical[step, "x"], model.physical[step, "y"], model.action[step, "power"]
        return {"x": x + 0.1 * a * pyo.exp(-0.1 * y), "y": y + 0.2 * (x - y)}

    axes = plane().coordinates
    problem = plane(dynamics=NonlinearDynamics(axes, heated, BoxActions({"power": (-2.0, 8.0)})))
    found = read_back(problem)
    generator = np.random.default_rng(0)
    for _ in range(20):
        state, action = generator.uniform(-0.4, 0.4, 2), generator.uniform(-2.0, 8.0, 1)
        wanted = problem.judge._next_state(state, action)
        assert np.allclose(found.judge._next_state(state, action), wanted, rtol=1e-9, atol=1e-12)
    assert unaudited(found) == [] and opaque_parts(declaration_of(problem)) == []
    with pytest.raises(BadInput, match="'heated': planning needs their own code"):
        found.dynamics.next_values(None, 0)


def test_every_difference_is_named_with_both_sides():
    problem = grid([MaximumStep({"x": 1}), FewChanges(2)])
    old = declaration_of(problem)

    def named(**changes):
        return {c.what: (c.before, c.after) for c in declared_changes(old, declaration_of(problem.changed(**changes)))}

    assert named(horizon=6)["horizon (moves per episode)"] == ("4", "6")
    assert named(kernel=SquaredExponential(4.0, 0.3)) == {
        "prior": (
            "squared_exponential(variance 1, lengthscale 0.3)",
            "squared_exponential(variance 4, lengthscale 0.3)",
        )
    }
    assert named(constraints=[MaximumStep({"x": 2}), FewChanges(2)]) == {
        "rule MaximumStep": ("x -1 to +1 per move", "x -2 to +2 per move")
    }
    assert named(constraints=[MaximumStep({"x": 1}), FewChanges(3)]) == {
        "rule FewChanges": ("y changes at most 2 times", "y changes at most 3 times")
    }
    assert named(constraints=[MaximumStep({"x": 1})]) == {"rule FewChanges": ("y changes at most 2 times", "none")}
    assert named(process=grid(noise=0.04).process) == {"noise variance": ("0.01", "0.04")}
    assert named(start=3) == {"start": ("x 0, y 0", "x 0, y 3")}
    box, ball = (declaration_of(plane(BoxActions(limit))) for limit in (0.1, 0.2))
    assert [c.what for c in declared_changes(box, ball)] == ["limits of the actions"]
    slow = declaration_of(plane(dynamics=LinearDynamics(np.eye(2), 0.5 * np.eye(2), BoxActions(0.1))))
    assert [c.what for c in declared_changes(box, slow)] == ["dynamics"]
