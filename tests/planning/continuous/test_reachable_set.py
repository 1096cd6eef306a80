"""Recommendations and candidates of continuous plants: each has a feasible episode, and none that is better is missed."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slow_reactor import MOVES, brute_force, cold_is_best, hot_is_best, slow_reactor

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.campaign.simulation import run_campaign
from tcbo_pyomo.candidates.search.uniform import uniform_points
from tcbo_pyomo.errors import InfeasiblePlan
from tcbo_pyomo.foundation.coordinates import Coordinate, scaled
from tcbo_pyomo.knowledge.continuous import ContinuousKnowledge
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.models.components import add_component
from tcbo_pyomo.models.constraints.end_at import EndAt
from tcbo_pyomo.models.constraints.forbidden_region import ForbiddenRegion
from tcbo_pyomo.models.constraints.resource_budget import ResourceBudget
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.models.regions.regions import Wall
from tcbo_pyomo.planning.continuous.reachable_set import reachable_set
from tcbo_pyomo.planning.continuous.true_maximum import best_true_value
from tcbo_pyomo.plant.actions import BoxActions, NormActions
from tcbo_pyomo.plant.dynamics import LinearDynamics, NonlinearDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.settings import settings_from
from tcbo_pyomo.solvers.nonlinear.step_simulator import simulator_of
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

SLOW = settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def assert_proven(problem, route, point):
    """The actions of a route, simulated step by step, keep every limit and pass the point."""
    simulator, state, states = simulator_of(problem.dynamics), np.array(problem.start_state), []
    assert route.actions.shape[0] == problem.horizon and 0 <= route.step <= problem.horizon
    for action in route.actions:
        assert np.abs(problem.dynamics.actions.clip(action) - action).max() <= 1e-6
        state = simulator.next_state(state, action)
        assert np.abs(state).max() <= 0.5 + 1e-6
        states.append(state)
    path = np.vstack([[problem.start_state], states])
    assert np.abs(path[route.step] - np.asarray(point)).max() <= 1e-6
    executed = EpisodePath(problem.coordinates, problem.points(np.clip(path, -0.5, 0.5)), True)
    assert [broken for rule in problem.rules for broken in rule.violations(executed)] == []


def informed(problem, seed=0, results=8, rule=None):
    """What is known after some results at reachable points, with candidates drawn."""
    chosen = settings_from({"candidates": {"rule": rule} if rule else {}})
    knowledge = ContinuousKnowledge(problem, chosen, seed, History(problem.start_state, problem.horizon))
    generator = np.random.default_rng(seed)
    points = uniform_points(results, len(problem.coordinates), generator, knowledge.reach)
    for point in points:
        value = problem.true_value(tuple(point)) + problem.noise**0.5 * generator.standard_normal()
        knowledge.belief.observe(point, value, problem.noise)
    knowledge.utility(generator)
    return knowledge


def assert_all_proven(problem, knowledge):
    assert len(knowledge.candidate_routes) == len(knowledge.candidates) > 0
    for route, candidate in zip(knowledge.candidate_routes, knowledge.candidates, strict=True):
        assert_proven(problem, route, candidate)
    assert_proven(problem, knowledge.route, knowledge.recommendation)


def plane(dynamics, horizon=8, start=(0.0, 0.0), truth=None, **fields):
    axes = tuple(Coordinate(name, -0.5, 0.5) for name in "xyz"[: len(start)])
    return ContinuousProblem(
        name="plane",
        coordinates=axes,
        dynamics=dynamics,
        start=dict(zip("xyz", start, strict=False)),
        horizon=horizon,
        episodes=1,
        kernel=SquaredExponential(1.0, 0.3),
        noise=1e-3,
        output="value",
        truth=truth or (lambda points: np.sin(7.0 * points[:, 0]) + np.cos(5.0 * points[:, -1])),
        **fields,
    )


@SLOW
@given(st.integers(0, 10_000), st.sampled_from([1, 2]), st.booleans(), st.sampled_from(["thompson_sampling", None]))
def test_random_linear_plants(seed, inputs, norm, rule):
    generator = np.random.default_rng(seed)
    dimension = int(generator.integers(2, 4))
    matrix = generator.normal(size=(dimension, dimension))
    matrix *= generator.uniform(0.5, 1.0) / np.abs(np.linalg.eigvals(matrix)).max()
    limits = NormActions(0.3) if norm else BoxActions(float(generator.uniform(0.05, 0.4)))
    dynamics = LinearDynamics(matrix, generator.normal(size=(dimension, inputs)), limits)
    problem = plane(dynamics, int(generator.integers(2, 12)), tuple(generator.uniform(-0.1, 0.1, dimension)))
    assert_all_proven(problem, informed(problem, seed, rule=rule))


def bent(matrix, inputs):
    def function(model, step):
        state = [model.physical[step, name] for name in ("x", "y")]
        push = [sum(b * model.action[step, a] for b, a in zip(row, ("u", "v"), strict=False)) for row in inputs]
        return {
            name: 0.5 * pyo.tanh(2.0 * sum(a * s for a, s in zip(row, state, strict=True)) + p)
            for name, row, p in zip(("x", "y"), matrix, push, strict=True)
        }

    return function


@SLOW
@given(st.integers(0, 10_000), st.sampled_from([1, 2]), st.sampled_from(["upper_confidence", None]))
def test_random_nonlinear_plants(seed, inputs, rule):
    generator = np.random.default_rng(seed)
    matrix, pushes = generator.normal(0.0, 0.6, (2, 2)), generator.normal(0.0, 1.0, (2, inputs))
    axes = (Coordinate("x", -0.5, 0.5), Coordinate("y", -0.5, 0.5))
    limits = BoxActions({name: float(generator.uniform(0.1, 0.6)) for name in ("u", "v")[:inputs]})
    problem = plane(NonlinearDynamics(axes, bent(matrix, pushes), limits), int(generator.integers(2, 10)))
    assert_all_proven(problem, informed(problem, seed, rule=rule))


def straight(left, right):
    return ((right["x"] - left["x"]) ** 2 + (right["y"] - left["y"]) ** 2) ** 0.5


def below(model, point):
    return model.physical[point, "y"] <= 0.1


RULES = {
    "budget and end": (ResourceBudget("fuel", straight, 0.9), EndAt({"x": -0.4, "y": -0.4})),
    "partial end": (EndAt({"x": -0.4}),),
    "wall": (ForbiddenRegion(Wall(("x", "y"), (0.0, -0.5), (0.0, 0.3))),),
    "function": (lambda model: add_component(model, "low", pyo.Constraint(model.POINTS, rule=below)),),
}


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("free", [True, False])
def test_plants_with_rules(rules, free):
    matrix = np.eye(2) if free else np.array([[0.9, 0.1], [0.0, 0.95]])
    dynamics = LinearDynamics(matrix, np.eye(2), BoxActions(0.12))
    problem = plane(dynamics, 14, (-0.4, -0.4), constraints=RULES[rules])
    knowledge = informed(problem)
    assert_all_proven(problem, knowledge)
    if rules == "function":
        assert np.max([*knowledge.candidates[:, 1], knowledge.recommendation[1]]) <= 0.1 + 1e-6


@pytest.mark.parametrize("limits", [BoxActions(0.05), NormActions(0.05)])
def test_a_short_episode_of_free_moves_reaches_a_box_or_a_ball(limits):
    problem = plane(LinearDynamics.free_moves(2, limits), 4, (-0.2, 0.1), truth=lambda p: p[:, 0] + 0.5 * p[:, 1])
    direction = np.array([1.0, 0.5]) / np.hypot(1.0, 0.5)
    farthest = np.array([-0.2, 0.1]) + (0.2 * direction if isinstance(limits, NormActions) else 0.2)
    assert best_true_value(problem) == pytest.approx(farthest[0] + 0.5 * farthest[1], abs=1e-5)
    assert_all_proven(problem, informed(problem))


def test_what_reaches_everything():
    free = LinearDynamics.free_moves
    assert plane(free(2, BoxActions(0.1)), 5).reaches_everything
    assert not plane(free(2, BoxActions(0.1)), 4).reaches_everything
    assert not plane(free(2, NormActions(0.1)), 7).reaches_everything and plane(free(2, NormActions(0.1)), 8).reaches_everything
    assert not plane(free(2, BoxActions(0.1)), 9, (-0.5, 0.0)).reaches_everything
    assert not plane(free(2, BoxActions(0.1)), 5, constraints=(EndAt({"x": 0.0}),)).reaches_everything
    assert load_problem("branin2d").reaches_everything and load_problem("hartmann6d").reaches_everything
    assert not load_problem("tank_cascade").reaches_everything
    knowledge = informed(plane(free(2, BoxActions(0.1)), 5))
    assert knowledge.reach is None and knowledge.candidate_routes == ()
    assert_proven(knowledge.problem, knowledge.route, knowledge.recommendation)


REACTOR_POINTS = brute_force()


@pytest.mark.parametrize("truth", [cold_is_best, hot_is_best])
def test_the_slow_reactor_against_brute_force(truth):
    problem = slow_reactor(truth)
    assert 306.0 < REACTOR_POINTS[:, 0].min() < 309.0 and 336.0 < REACTOR_POINTS[:, 0].max() < 342.0
    edge = truth(np.array([[300.0, 2.3], [345.0, 1.4]])).max()
    assert truth(REACTOR_POINTS).max() - 1e-6 <= best_true_value(problem) < edge
    result = run_campaign(problem, seed=1)
    assert_recommendation_is_best(result.campaign, REACTOR_POINTS)
    route = result.campaign.route
    assert route[-1]["at"] == pytest.approx(result.episodes[-1].recommendation, abs=1e-4)
    assert 1 <= len(route) <= MOVES and set(route[0]) == {"step", "actions", "at"}


def assert_recommendation_is_best(campaign, points):
    """The recommended value is within 1 % of the range of the output of the best of all simulated points."""
    problem, knowledge = campaign.problem, campaign.knowledge
    assert_proven(problem, knowledge.route, campaign.recommendation)
    believed = knowledge.belief.mean(scaled(problem.coordinates, points))
    box = np.random.default_rng(0).uniform(-0.5, 0.5, (4000, len(problem.coordinates)))
    spread = np.ptp(problem.known_truth(problem.points(box)))
    recommended = float(knowledge.belief.mean(np.array([campaign.recommendation]))[0])
    assert recommended >= believed.max() - 0.01 * spread
    assert best_true_value(problem) >= problem.known_truth(points).max() - 0.01 * spread


def test_the_tank_cascade_against_brute_force():
    """Bang-bang heating with three switches, with the temperature of the first tank held where it meets its limits."""
    problem = load_problem("tank_cascade")
    a, b = problem.dynamics.state_matrix, problem.dynamics.input_matrix
    generator, points = np.random.default_rng(0), []
    times = np.sort(generator.integers(0, 41, (40_000, 3)), axis=1)
    levels = generator.choice([-1.0, -0.3, 0.0, 0.3, 0.6, 1.0], (40_000, 4))
    state = np.tile(problem.start_state, (40_000, 1))
    for step in range(40):
        heating = levels[np.arange(40_000), (step >= times).sum(axis=1)]
        free = state @ a.T
        low, high = (-0.5 - free[:, 0]) / b[0, 0], (0.5 - free[:, 0]) / b[0, 0]
        state = free + np.clip(np.clip(heating, low, high), -1.0, 1.0)[:, None] @ b.T
        points.append(state[(np.abs(state) <= 0.5).all(axis=1)])
    assert_recommendation_is_best(_begun("tank_cascade", 12), problem.points(np.concatenate(points)))


def test_the_drone_against_brute_force():
    """Straight there and back within the battery: every point of a grid whose way is no longer than half of it."""
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201)), axis=-1).reshape(-1, 2)
    away = np.abs(grid - [0.5, 0.05])
    enough = (2 * np.linalg.norm(away, axis=1) <= 1.9 * 0.995) & (2 * np.ceil(away.max(axis=1) / 0.1 - 1e-9) <= 25)
    assert_recommendation_is_best(_begun("drone", 30), grid[enough])


def _begun(name, moves):
    problem = load_problem(name, "immediate")
    campaign, generator = Campaign(problem, seed=3), np.random.default_rng(0)
    for _ in range(moves):
        move = campaign.ask()
        campaign.arrive(move.number)
        campaign.tell(move.number, problem.true_value(move.arrived) + problem.noise**0.5 * generator.standard_normal())
    return campaign


def test_every_basin_of_the_fjord_is_found():
    problem = load_problem("fjord")
    reach = reachable_set(problem)
    for spot in ((0.14, 0.75), (0.52, 0.20), (0.86, 0.72), (0.95, 0.85)):
        (route,) = reach.routes(np.array([spot]) - 0.5)
        assert np.abs(route.state - (np.array(spot) - 0.5)).max() <= 1e-9
        assert_proven(problem, route, route.state)


class Everywhere:
    """A rule of a user's own that does not ask where the plant can get to."""

    plant = "continuous"

    @classmethod
    def from_settings(cls, settings):
        return cls()

    def __call__(self, belief, space, generator, share_spent=0.0):
        return generator.random((12, belief.dimension)) - 0.5


def test_candidates_of_a_users_rule_are_moved_to_reachable_points():
    problem = slow_reactor()
    assert_all_proven(problem, informed(problem, rule=f"{__name__}:Everywhere"))


def test_no_episode_at_all_is_said_so():
    stuck = plane(LinearDynamics.free_moves(2, BoxActions(0.05)), 3, constraints=(EndAt({"x": 0.5}),))
    with pytest.raises(InfeasiblePlan, match="cannot be reached"):
        _ = reachable_set(stuck).cloud


def test_regret_refers_to_what_can_be_reached_after_settings_changed_the_start():
    problem = slow_reactor(episodes=1, maximum=best_true_value(slow_reactor()))
    warm = settings_from({"start": {"temperature": 340.0, "flow": 2.0}})
    result = run_campaign(problem, warm, seed=1)
    assert result.campaign.problem.maximum < problem.maximum - 1e-3
    assert -1e-6 <= result.episodes[-1].regret < 0.2
