"""The lake against the benchmark's numbers: peaks, port, walls by an independent computation, and a short campaign."""

import csv
from importlib import resources
from itertools import pairwise

import numpy as np
import pytest

from tcbo_pyomo import run_campaign, settings_from
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.library.lake_ypacarai import contamination
from tcbo_pyomo.models.constraints import VisitBudget, Wall
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.plant.situation import Situation

WALLS = [((-0.16, 0.02), (0.10, 0.16)), ((0.18, -0.30), (0.32, -0.20))]
PORT, BEST, RIVAL = 78, 93, 15


@pytest.fixture(scope="module")
def lake():
    return load_problem("lake_ypacarai")


@pytest.fixture(scope="module")
def places():
    """The states, read with another reader."""
    with resources.files("tcbo_pyomo.library.data").joinpath("ypacarai_states.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["state"]) for row in rows] == list(range(100))
    return [(float(row["x0"]), float(row["x1"])) for row in rows]


def meet(a, b, c, d):
    """Whether segments ab and cd meet: solve for the point where their lines cross (none of them is parallel here)."""
    matrix = np.array([[b[0] - a[0], c[0] - d[0]], [b[1] - a[1], c[1] - d[1]]])
    along, across = np.linalg.solve(matrix, [c[0] - a[0], c[1] - a[1]])
    return 0 <= along <= 1 and 0 <= across <= 1


def allowed_moves(problem):
    process = problem.process
    pairs = np.flatnonzero(problem.sets.allowed_pairs)
    return set(zip(process.pair_state[pairs].tolist(), process.successor[pairs].tolist(), strict=True))


def test_states_port_and_budget(lake, places):
    np.testing.assert_array_equal(lake.process.states, places)
    np.testing.assert_allclose(lake.process.scaled_states, places, atol=1e-15)
    assert lake.start_state == PORT
    assert (lake.horizon, lake.episodes) == (50, 5)
    assert (lake.kernel.variance, lake.kernel.lengthscale) == (1.0, 0.2)
    assert lake.confidence_width == pytest.approx(np.sqrt(2))
    assert np.flatnonzero(lake.sets.safe[-1]).tolist() == [PORT]
    assert lake.search_space.all()


def test_peaks_are_those_of_the_benchmark(lake, places):
    values = []
    for x0, x1 in places:
        u0, u1 = 10 * x0 + 5, 10 * x1 + 5
        values.append(10 / ((u0 - 2) ** 2 + (u1 - 6.7) ** 2 + 10) + 10 / ((u0 - 9) ** 2 + (u1 - 2) ** 2 + 10))
    np.testing.assert_allclose(lake.truth, values, rtol=1e-12)
    assert lake.best_state == BEST == int(np.argmax(values))
    near_first = [i for i, (x0, x1) in enumerate(places) if np.hypot(10 * x0 + 5 - 2, 10 * x1 + 5 - 6.7) < 3]
    assert max(near_first, key=lambda i: values[i]) == RIVAL == np.argsort(values)[-2]
    assert contamination(np.array([[-0.3, 0.17]])) == pytest.approx(1 + 10 / (49 + 22.09 + 10))


def test_walls_remove_twelve_moves_and_leave_at_most_eight(lake, places):
    near = {(i, j) for i in range(100) for j in range(100) if np.hypot(*np.subtract(places[i], places[j])) < 0.1}
    crossing = {(i, j) for i, j in near if i != j and any(meet(places[i], places[j], *wall) for wall in WALLS)}
    assert len(crossing) == 2 * 12
    assert allowed_moves(lake) == near - crossing
    moves = np.bincount([i for i, _ in allowed_moves(lake)])
    assert moves.max() == 8  # staying counts as a move
    assert all((i, i) in allowed_moves(lake) for i in range(100))


def test_walls_are_declared_constraints(lake):
    regions = [rule.region for rule in lake.rules if hasattr(rule, "region")]
    assert regions == [Wall(("x0", "x1"), *wall) for wall in WALLS]
    through = np.array([[0.0, 0.0], [0.0, 0.2], [0.1, 0.2], lake.process.states[PORT]])
    found = [v for rule in lake.rules for v in rule.violations(EpisodePath(lake.coordinates, through, True))]
    assert [(v.constraint, v.step) for v in found] == [("ForbiddenRegion", 0)]


@pytest.mark.parametrize(
    ("feedback", "kind", "noise"),
    [(None, "episodic", 0.001), ("episodic", "episodic", 0.001), ("immediate", "immediate", 0.01)],
)
def test_noise_depends_on_the_feedback(feedback, kind, noise):
    problem = load_problem("lake_ypacarai", feedback)
    assert set(problem.process.noise_variance) == {noise}
    assert problem.settings["feedback"]["kind"] == kind


def test_linear_programme_equals_dynamic_programming(lake):
    gradient = -np.random.default_rng(2).random(lake.process.number_of_pairs)
    situation = Situation((PORT,), ())
    programme = LinearProgramming(lake.sets, lake.rules)
    visitation = programme.extreme_point(gradient, situation, np.random.default_rng(0))
    value = float(gradient[visitation.pair] @ visitation.probability)
    assert value == pytest.approx(DynamicProgramming(lake.sets).values(gradient)[0, PORT], rel=1e-9)


def test_short_campaign_keeps_every_rule(lake):
    settings = settings_from(
        dict(lake.settings), {"episodes": 2, "planner": {"linear": {"solver": "dynamic_programming"}}}
    )
    result = run_campaign(lake, settings, seed=1)
    for path in result.paths:
        assert path[0] == path[-1] == PORT
        assert all(move in allowed_moves(lake) for move in pairwise(path))
        points = lake.process.states[path]
        assert not [v for rule in lake.rules for v in rule.violations(EpisodePath(lake.coordinates, points, True))]
    assert result.episodes[-1].regret < 0.1


def test_dynamic_programming_refuses_two_budgets_with_advice(lake):
    budgets = [VisitBudget(lambda values, at=at: values["x0"] > at, limit=5, name=f"beyond {at}") for at in (0.3, 0.4)]
    problem = lake.changed(constraints=(*lake.constraints, *budgets))
    with pytest.raises(BadInput, match=r"planner\.linear\.solver to 'auto' or 'highs'"):
        run_campaign(problem, settings_from({"planner": {"linear": {"solver": "dynamic_programming"}}}))
