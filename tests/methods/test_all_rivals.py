"""What holds for every rival: no infeasible move, the same moves for the same seed, campaigns that can be resumed."""

import json

import numpy as np
import pytest
from continuous_plants import REACTOR, reactor_dynamics
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_processes import random_process
from rival_plants import chosen_settings, grid, move_noise, plane

from tcbo_pyomo import Campaign, Problem, run_campaign, settings_from
from tcbo_pyomo.campaign.simulation import SimulatedPlant
from tcbo_pyomo.errors import BadInput, InfeasiblePlan, SolverFailed
from tcbo_pyomo.foundation.coordinates import physical
from tcbo_pyomo.knowledge.feedback import released
from tcbo_pyomo.methods.protocol import METHODS, load_method
from tcbo_pyomo.models.constraints import (
    Box,
    Circle,
    EndAt,
    ForbiddenRegion,
    MaximumStep,
    NonDecreasing,
    ResourceBudget,
    VisitBudget,
    Wall,
)
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.plant.actions import BoxActions, NormActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.solvers.nonlinear.step_simulator import simulator_of
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

FINITE = ["greedy_ucb", "local_ucb", "mdp_expected_improvement", "random_walk", "rollout", "stateless"]
CONTINUOUS = ["local_search_region", "local_ucb", "random_walk", "truncated_snake"]
FEEDBACK = [{"kind": "immediate"}, {"kind": "episodic"}, {"kind": "delayed", "delay": 2}]


def travelled(left, right):
    return abs(right["x"] - left["x"]) + abs(right["y"] - left["y"])


def test_every_rival_is_known_by_name():
    assert set(METHODS.names()) == {"mdp_bo", *FINITE, *CONTINUOUS}
    assert load_method("truncated_snake").__name__ == "TruncatedSnake"


@st.composite
def rules(draw):
    """A few constraints of different kinds on the 5 x 5 grid."""
    number = st.floats(0, 4, allow_nan=False)
    kinds = {
        "step": st.builds(lambda a: MaximumStep({"x": (a, 1)}), st.integers(0, 1)),
        "grow": st.just(NonDecreasing("x")),
        "end": st.builds(lambda x, y: EndAt({"x": x, "y": y}), st.integers(0, 4), st.integers(0, 4)),
        "end_x": st.builds(lambda x: EndAt({"x": x}), st.integers(0, 4)),
        "circle": st.builds(lambda x, y: ForbiddenRegion(Circle({"x": x, "y": y}, 0.8)), number, number),
        "wall": st.builds(lambda a, b: ForbiddenRegion(Wall(("x", "y"), (a, b), (b, a + 1))), number, number),
        "visits": st.builds(lambda x, k: VisitBudget(Box({"x": (x, 4)}), k), st.integers(0, 4), st.integers(0, 3)),
        "fuel": st.builds(lambda limit: ResourceBudget("fuel", travelled, limit), st.floats(0, 8, allow_nan=False)),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(kinds)), max_size=4, unique=True))
    return tuple(draw(kinds[name]) for name in chosen)


def broken_rules(problem, paths):
    return [
        violation
        for path in paths
        for rule in problem.rules
        for violation in rule.violations(EpisodePath(problem.coordinates, path, complete=True))
    ]


@given(st.sampled_from(FINITE), rules(), st.sampled_from(FEEDBACK), st.integers(0, 24), st.integers(2, 4))
@settings(max_examples=150)
def test_no_move_on_a_grid_breaks_a_rule(method, constraints, feedback, start, horizon):
    try:
        problem = grid(constraints, horizon, start, move_noise)
        result = run_campaign(problem, chosen_settings(problem, method, feedback=feedback), 3)
    except InfeasiblePlan as error:
        # Only a plan that was never feasible may be refused: nothing has been done by then.
        assert "step 0" in str(error) or "problem 'grid'" in str(error)
        assume(False)
    assert len(result.experiments) == 2 * horizon
    assert broken_rules(problem, problem.process.states[np.array(result.paths)]) == []


@given(st.sampled_from(FINITE), st.integers(0, 10**6), st.sampled_from(FEEDBACK), st.booleans(), st.floats(0.3, 4))
@settings(max_examples=100)
def test_no_move_breaks_a_rule_whatever_chance_does(method, seed, feedback, end, limit):
    process = random_process(seed, 7, 4, 3, move_noise=True)
    fuel = ResourceBudget("fuel", travelled, limit)
    constraints = (fuel, EndAt({"x": float(process.states[2, 0])})) if end else (fuel,)
    fields = dict(constraints=constraints, truth=np.linspace(0, 1, 7), output="f")
    try:
        problem = Problem("chance", process, 0, 3, 2, SquaredExponential(1.0, 0.3), **fields)
        result = run_campaign(problem, settings_from({"method": method, "feedback": feedback}), seed)
    except InfeasiblePlan as error:
        assert "step 0" in str(error)
        assume(False)
    except BadInput as error:
        # Where all allowed moves are equally noisy, there is nothing to be blind to.
        assert method == "stateless" and "depends on the move" in str(error)
        assume(False)
    assert broken_rules(problem, process.states[np.array(result.paths)]) == []


def lagging(limit):
    return LinearDynamics(np.diag([0.8, 0.9]), np.eye(2), BoxActions(limit))


PLANTS = {
    "free": lambda: plane(BoxActions(0.2), horizon=5),
    "ball": lambda: plane(NormActions(0.1), horizon=5),
    "end": lambda: plane(BoxActions(0.1), (EndAt({"x": 1.5, "y": 1.0}),)),
    "ball and end": lambda: plane(NormActions(0.1), (EndAt({"x": 2.0}),)),
    "island": lambda: plane(BoxActions(0.15), (ForbiddenRegion(Circle({"x": 2.6, "y": 1.2}, 0.8)), EndAt({"x": 3.5}))),
    "one way": lambda: plane(BoxActions(0.1), (NonDecreasing("x"), MaximumStep({"y": 0.2}))),
    "fuel": lambda: plane(BoxActions(0.2), (ResourceBudget("fuel", travelled, 3.0), EndAt({"x": 1.5}))),
    "current": lambda: plane(BoxActions({"east": (0.02, 0.1), "north": 0.1})),
    "lag": lambda: plane(dynamics=lagging(0.1), constraints=(EndAt({"y": 1.5}),)),
    "reactor": lambda: plane(
        dynamics=reactor_dynamics(),
        coordinates=REACTOR,
        start={"temperature": 50.0, "residence": 3.0},
        constraints=(EndAt({"temperature": 60.0}),),
        horizon=3,
    ),
}


NOT_A_FREE_MOVE = {"lag", "reactor"}
"""Plants that truncated SnAKe refuses."""


@pytest.mark.parametrize(
    ("name", "method"),
    [(n, m) for n in PLANTS for m in CONTINUOUS if m != "truncated_snake" or n not in NOT_A_FREE_MOVE],
)
def test_no_move_of_a_continuous_plant_breaks_a_rule(name, method):
    problem = PLANTS[name]()
    feedback = FEEDBACK[0] if method == "local_search_region" else FEEDBACK[sorted(PLANTS).index(name) % 3]
    result = run_campaign(problem, chosen_settings(problem, method, feedback=feedback), 4)
    path = np.array(result.paths[0])
    assert path.shape == (problem.horizon + 1, 2) and np.abs(path).max() <= 0.5
    assert broken_rules(problem, [physical(problem.coordinates, path)]) == []
    actions = np.array([move.decision for move in result.campaign.history.moves])
    assert np.allclose(problem.dynamics.actions.clip(actions), actions, atol=1e-8)
    for here, action, there in zip(path, actions, path[1:], strict=False):
        assert np.allclose(simulator_of(problem.dynamics).next_state(here, action), there, atol=1e-6)


@st.composite
def planes(draw):
    """A plane with random limits of the moves, and some of: an end, an island, a one-way rule, a budget."""
    size = draw(st.floats(0.05, 0.3))
    limits = BoxActions(size) if draw(st.booleans()) else NormActions(size)
    x, y = st.floats(0.0, 10.0), st.floats(0.0, 5.0)
    kinds = {
        "end": st.builds(lambda x: EndAt({"x": x}), x),
        "island": st.builds(lambda x, y: ForbiddenRegion(Circle({"x": x, "y": y}, 0.7)), x, y),
        "one way": st.just(NonDecreasing("x")),
        "fuel": st.builds(lambda limit: ResourceBudget("fuel", travelled, limit), st.floats(1.0, 8.0)),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(kinds)), max_size=3, unique=True))
    start = {"x": draw(x), "y": draw(y)}
    return plane(limits, tuple(draw(kinds[name]) for name in chosen), start=start, horizon=draw(st.integers(1, 4)))


@given(planes(), st.sampled_from(CONTINUOUS), st.sampled_from(FEEDBACK), st.integers(0, 10**6))
@settings(max_examples=30)
def test_no_move_breaks_a_rule_on_random_planes(problem, method, feedback, seed):
    feedback = FEEDBACK[0] if method == "local_search_region" else feedback
    campaign = Campaign(problem, chosen_settings(problem, method, feedback=feedback), seed)
    try:
        campaign.ask()
    except (InfeasiblePlan, SolverFailed):
        assume(False)
    plant = SimulatedPlant(problem, seed)
    while not campaign.finished:
        move = campaign.ask()
        campaign.arrive(move.number, plant.make(move))
        for due in released(campaign.history, campaign.settings.feedback):
            campaign.tell(due.number, plant.measure(due))
    path = np.array(campaign.history.path(1))
    assert np.abs(path).max() <= 0.5 and broken_rules(problem, [physical(problem.coordinates, path)]) == []
    actions = np.array([move.decision for move in campaign.history.moves])
    assert np.allclose(problem.dynamics.actions.clip(actions), actions, atol=1e-8)


def problem_for(method, kind):
    if kind == "finite":
        return grid((EndAt({"x": 1}),), horizon=3, noise=move_noise)
    rules = (ForbiddenRegion(Circle({"x": 2.6, "y": 1.2}, 0.8)), EndAt({"x": 2.0}))
    return plane(BoxActions(0.2), rules, episodes=2, horizon=2, measure_start=True)


PAIRS = [(method, "finite") for method in FINITE] + [(method, "continuous") for method in CONTINUOUS]


@pytest.mark.parametrize(("method", "kind"), PAIRS)
def test_the_same_seed_gives_the_same_moves_and_a_saved_campaign_goes_on_bit_for_bit(method, kind):
    problem = problem_for(method, kind)
    feedback = FEEDBACK[0] if method == "local_search_region" else FEEDBACK[2]
    settings = chosen_settings(problem, method, feedback=feedback)
    whole = run_campaign(problem, settings, 5)

    campaign, plant = Campaign(problem, settings, 5), SimulatedPlant(problem, 5)
    while not campaign.finished:
        campaign = Campaign.from_state(problem, json.loads(json.dumps(campaign.state())))
        move = campaign.ask()
        campaign.arrive(move.number, plant.make(move))
        for late in campaign.history.pending if campaign.finished else released(campaign.history, settings.feedback):
            campaign.tell(late.number, plant.measure(late))
    assert [move.decision for move in campaign.history.moves] == [m.decision for m in whole.campaign.history.moves]
    assert campaign.experiments().equals(whole.experiments)
