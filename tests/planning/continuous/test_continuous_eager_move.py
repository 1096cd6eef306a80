"""The eager first move on continuous plants: gains against plain conditioning, moves against a grid of all of them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy.optimize import approx_fprime

from tcbo_pyomo import Campaign, load_problem, settings_from
from tcbo_pyomo.campaign.assembly import planner_for
from tcbo_pyomo.campaign.simulation import run_campaign
from tcbo_pyomo.explain.explanation import explain
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.constraints import (
    Circle,
    EndAt,
    ForbiddenRegion,
    MaximumStep,
    NonDecreasing,
    ResourceBudget,
    TransitionConstraint,
)
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.planning.continuous.distance_objectives import DistanceObjective, Passing
from tcbo_pyomo.planning.continuous.eager_move import EagerPaths, wanted
from tcbo_pyomo.planning.continuous.utility import TrajectoryUtility
from tcbo_pyomo.plant.actions import BoxActions, NormActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.settings import PlannerSettings
from tcbo_pyomo.solvers.nonlinear.step_simulator import simulator_of
from tcbo_pyomo.surrogate.acquisition import InformationGain, gain_about_everything
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

NOISE, BOX, START = 1e-3, 0.1, (-0.3, -0.2)
KERNEL = SquaredExponential(1.0, 0.25)


def surrogate_of(seed, number=6, representation="exact"):
    rng = np.random.default_rng(seed)
    surrogate = ContinuousBelief(KERNEL, 2, representation)
    for point in rng.random((number, 2)) - 0.5:
        surrogate.observe(point, float(rng.standard_normal()), NOISE)
    return surrogate


def problem_of(actions=None, horizon=12, **changes):
    fields = dict(
        name="plane",
        coordinates=(Coordinate("x", -0.5, 0.5), Coordinate("y", -0.5, 0.5)),
        dynamics=LinearDynamics.free_moves(2, actions or BoxActions(BOX)),
        start={"x": START[0], "y": START[1]},
        horizon=horizon,
        episodes=1,
        kernel=KERNEL,
        output="height",
        noise=NOISE,
    )
    return ContinuousProblem(**{**fields, **changes})


def begun(problem, seed=0, stage="exploring", path=(START,), candidates=((0.4, 0.1), (-0.4, 0.45))):
    """A plan of the trajectory oracle, and the same with the eager move first."""
    situation = Situation(tuple(path), tuple(tuple(np.subtract(b, a)) for a, b in pairwise(path)))
    rng = np.random.default_rng(seed)
    utility = TrajectoryUtility(surrogate_of(seed), np.array(candidates), "differences", NOISE, rng, stage)
    planner = planner_for(problem, PlannerSettings(first_move="drawn"))
    plan = planner.plan(utility, situation, rng)
    (_, drawn), tangent = plan.components[0], plan.tangent
    eager = EagerPaths(problem, planner.oracle).begin(drawn, tangent, utility, situation, rng)
    return drawn, eager, wanted(utility, tangent), utility, tangent


def arrival_of(ahead, utility, tangent):
    covariance = utility.surrogate.covariance(ahead, np.vstack([tangent.first, tangent.second])) @ [1.0, -1.0]
    return int(np.argmax(covariance**2 >= 0.99 * (covariance**2).max()))


@pytest.mark.parametrize("representation", ["exact", "nystroem"])
def test_a_gain_is_what_a_measurement_takes_off_the_variance(representation):
    surrogate = surrogate_of(1, representation=representation)
    first, second = np.array([0.1, 0.2]), np.array([-0.3, 0.4])
    pair = InformationGain(surrogate, surrogate.covariance_with(first, second), NOISE)
    everywhere = gain_about_everything(surrogate, NOISE)
    grid = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, 81)] * 2), axis=-1).reshape(-1, 2)
    for point in np.random.default_rng(2).random((5, 2)) - 0.5:
        after = surrogate.copy()
        after.observe(point, None, NOISE)
        both = np.vstack([first, second])
        taken = surrogate.difference_variances(both)[0, 1] - after.difference_variances(both)[0, 1]
        assert pair.value(point[None])[0, 0] == pytest.approx(taken, rel=1e-6)
        # 256 even points stand for the box: close to the mean over a fine grid.
        mean = (surrogate.variance(grid) - after.variance(grid)).mean()
        assert everywhere.value(point[None])[0, 0] == pytest.approx(mean, rel=0.05)


@pytest.mark.parametrize("representation", ["exact", "nystroem"])
def test_slopes_of_gains_are_those_of_differences(representation):
    surrogate = surrogate_of(3, representation=representation)
    pair = surrogate.covariance_with(np.array([0.1, 0.2]), np.array([-0.3, 0.4]))
    points = np.random.default_rng(4).random((7, 2)) - 0.5
    for surface in (InformationGain(surrogate, pair, NOISE), gain_about_everything(surrogate, NOISE)):
        value, slope = surface.value_and_gradient(points, np.zeros(7, dtype=np.intp))
        np.testing.assert_allclose(value, surface.value(points)[:, 0], rtol=1e-9)
        for point, found in zip(points, slope, strict=True):
            numeric = approx_fprime(point, lambda x, surface=surface: surface.value(x[None])[0, 0], 1e-7)
            np.testing.assert_allclose(found, numeric, rtol=1e-3, atol=1e-5 * np.abs(value).max())


@pytest.mark.parametrize("stage", ["exploring", "refining"])
@pytest.mark.parametrize("limits", [(-0.1, 0.1), (0.0, 0.1), (-0.02, 0.1)])
@pytest.mark.parametrize("seed", range(4))
def test_no_move_that_puts_the_plan_off_by_one_is_better(stage, limits, seed):
    problem = problem_of(BoxActions({"east": limits, "north": limits}))
    drawn, eager, surface, utility, tangent = begun(problem, seed, stage)
    k = arrival_of(drawn.states[1:], utility, tangent)
    destination = drawn.states[1 + k]
    offsets = np.stack(np.meshgrid(*[np.linspace(*limits, 61)] * 2), axis=-1).reshape(-1, 2)
    points = np.array(START) + offsets
    # One move late: k + 1 moves are left after the first, and n moves lead anywhere in n times the box of one.
    to_go = destination - points
    possible = ((to_go >= (k + 1) * limits[0] - 1e-6) & (to_go <= (k + 1) * limits[1] + 1e-6)).all(axis=1)
    best = surface.value(points[possible & (np.abs(points) <= 0.5).all(axis=1)]).max()
    assert surface.value(eager.states[1:2])[0, 0] >= best - 1e-4 * abs(best)
    # The path is one the plant can follow, and it arrives.
    moves = np.diff(eager.states, axis=0)
    np.testing.assert_allclose(moves, eager.actions, atol=1e-6)
    assert (moves >= limits[0] - 1e-6).all() and (moves <= limits[1] + 1e-6).all()
    assert np.abs(eager.states).max() <= 0.5 + 1e-6 and len(eager.states) == len(drawn.states)
    if eager is not drawn and k + 2 < len(eager.states):
        np.testing.assert_allclose(eager.states[k + 2], destination, atol=1e-6)
    assert eager.value == pytest.approx(tangent.objective.value(eager.states[1:]), rel=1e-9)


def test_a_plant_that_cannot_wait_is_not_put_off():
    """Every move goes at least 0.09 east and north: arriving later is going further, so the plan's own pace is kept."""
    problem = problem_of(BoxActions({"east": (0.09, 0.1), "north": (0.09, 0.1)}), horizon=6)
    drawn, eager, *_ = begun(problem)
    moves = np.diff(eager.states, axis=0)
    assert (moves >= 0.09 - 1e-6).all() and (moves <= 0.1 + 1e-6).all()
    assert len(eager.states) == len(drawn.states)


def test_the_last_move_is_the_best_single_one_near_the_plan():
    problem = problem_of(horizon=3)
    path = (START, (-0.2, -0.1), (-0.1, 0.0))
    _, eager, surface, *_ = begun(problem, path=path)
    assert eager.states.shape == (4, 2)
    np.testing.assert_array_equal(eager.states[:3], np.array(path))
    assert np.abs(eager.states[3] - eager.states[2]).max() <= BOX + 1e-6
    assert np.isfinite(surface.value(eager.states[3:])).all()


def test_before_the_first_result_the_move_learns_most_about_the_whole_box():
    drawn, eager, surface, *_ = begun(problem_of(), stage="blind")
    offsets = np.stack(np.meshgrid(*[np.linspace(-BOX, BOX, 61)] * 2), axis=-1).reshape(-1, 2)
    values = surface.value(np.array(START) + offsets)
    assert surface.value(eager.states[1:2])[0, 0] >= values.max() * (1 - 1e-6)
    assert not np.allclose(eager.states[1], drawn.states[1])
    # From there it goes on to where the plan was going.
    assert np.abs(np.diff(eager.states, axis=0)).max() <= BOX + 1e-6
    assert np.abs(eager.states - drawn.states[-1]).max(axis=1).min() <= 1e-6


@pytest.mark.parametrize("limits", [(0.0, 0.1), (0.02, 0.1), (-0.1, 0.0)])
def test_before_the_first_result_a_one_way_plant_stays_on_its_way(limits):
    problem = problem_of(BoxActions({"east": limits, "north": limits}), horizon=5)
    _, eager, *_ = begun(problem, stage="blind")
    moves = np.diff(eager.states, axis=0)
    assert (moves >= limits[0] - 1e-6).all() and (moves <= limits[1] + 1e-6).all()
    assert np.abs(eager.states).max() <= 0.5 + 1e-6


@pytest.mark.parametrize("stage", ["blind", "exploring", "refining"])
def test_under_rules_the_path_keeps_them_all_and_is_never_worse(stage):
    pillar = ForbiddenRegion(Circle({"x": 0.0, "y": 0.0}, 0.12))
    problem = problem_of(horizon=20, constraints=(pillar, EndAt({"x": -0.3, "y": -0.2})))
    for seed in range(3):
        drawn, eager, surface, utility, tangent = begun(problem, seed, stage)
        assert surface.value(eager.states[1:2])[0, 0] >= surface.value(drawn.states[1:2])[0, 0] - 1e-9
        for rule in problem.rules:
            assert not rule.violations(EpisodePath(problem.coordinates, eager.states, True))
        assert np.abs(np.diff(eager.states, axis=0)).max() <= BOX + 1e-6
        np.testing.assert_allclose(eager.states[-1], START, atol=1e-5)
        if stage != "blind" and eager is not drawn:
            k = arrival_of(drawn.states[1:], utility, tangent)
            np.testing.assert_allclose(eager.states[k + 2], drawn.states[k + 1], atol=BOX / 100)


def test_a_limit_on_the_length_of_moves_holds():
    drawn, eager, surface, *_ = begun(problem_of(NormActions(0.1)))
    assert np.linalg.norm(np.diff(eager.states, axis=0), axis=1).max() <= 0.1 + 1e-6
    assert surface.value(eager.states[1:2])[0, 0] >= surface.value(drawn.states[1:2])[0, 0]


BLIND = (-0.2114, -0.1537)
"""Where the first move of that plant leads, on any processor."""


def test_solvers_that_read_formulas_lay_the_same_path():
    """The objective as a Pyomo expression, solved by pounce, against the compiled one, solved by IPOPT."""
    problem = problem_of(NormActions(0.1), horizon=5)
    firsts = {}
    for interface, solver in (("casadi", "ipopt"), ("pyomo", "pounce")):
        nonlinear = {"interface": interface, "solver": solver}
        campaign = Campaign(problem, settings_from({"planner": {"nonlinear": nonlinear}}), seed=2)
        # To the same place, whatever the last digits of the two solvers: samples of the posterior would differ.
        first = campaign.ask()
        np.testing.assert_allclose(first.expected, BLIND, atol=1e-3)
        campaign.arrive(first.number, BLIND)
        campaign.tell(first.number, 0.3)
        move = campaign.ask()
        firsts[interface] = np.array(move.expected)
        assert np.linalg.norm(np.subtract(move.expected, campaign.history.path(1)[1])) <= 0.1 + 1e-6
    np.testing.assert_allclose(firsts["pyomo"], firsts["casadi"], atol=1e-3)


def test_curved_dynamics_are_followed():
    problem = load_problem("thermal_reactor")
    campaign = Campaign(problem, seed=1)
    for value in (0.1, 0.15, 0.2):
        move = campaign.ask()
        (_, plan) = campaign.method.last_plan.components[0]
        for state, action, after in zip(plan.states[:-1], plan.actions, plan.states[1:], strict=True):
            np.testing.assert_allclose(simulator_of(problem.dynamics).next_state(state, action), after, atol=1e-5)
        campaign.tell(move.number, value)


def test_a_passing_objective_has_true_derivatives_and_a_true_expression():
    rng = np.random.default_rng(0)
    passing = [Passing(0, rng.random(2), 1.0), Passing(2, rng.random(2), 50.0), Passing(2, rng.random(2), 3.0)]
    objective, points = DistanceObjective(*passing), rng.random((4, 2))
    expected = sum(p.weight * ((points[p.position] - p.point) ** 2).sum() for p in passing)
    assert objective.value(points) == pytest.approx(expected, rel=1e-12)

    def flat(x):
        return objective.value(x.reshape(4, 2))

    np.testing.assert_allclose(objective.gradient(points).ravel(), approx_fprime(points.ravel(), flat, 1e-7), atol=1e-4)
    for row in range(4):
        rows = np.zeros((4, 2))
        rows[row] = [1e-3, -2e-3]
        change = objective.gradient(points + rows) - objective.gradient(points)
        np.testing.assert_allclose(change[row], objective.hessian(points)[row] @ rows[row], atol=1e-9)
    model = pyo.ConcreteModel()
    model.INPUTS = pyo.Set(initialize=["x", "y"])
    values = {(step + 5, name): points[step, i] for step in range(4) for i, name in enumerate(["x", "y"])}
    model.state = pyo.Var(range(5, 9), model.INPUTS, initialize=values)
    assert pyo.value(objective.expression(model, [5, 6, 7, 8])) == pytest.approx(expected, rel=1e-12)


def test_stages_follow_the_results_that_are_known():
    problem = problem_of(horizon=8, truth=lambda points: points.sum(axis=1), maximum=1.0)
    delayed = settings_from({"feedback": {"kind": "delayed", "delay": 3}})
    campaign = Campaign(problem, delayed, seed=1)
    stages = []
    for number in range(1, 9):
        stages.append(campaign.knowledge.stage)
        move = campaign.ask()
        campaign.arrive(move.number)
        if number > 3:
            campaign.tell(campaign.history.pending[0].number, 0.1)
    assert stages == ["blind"] * 4 + ["exploring"] * 3 + ["refining"]


def test_the_first_move_is_a_setting():
    """As in the paper the first move of the plan is made when it is to be drawn; the eager campaign goes another way."""
    problem = problem_of(horizon=5, truth=lambda points: points.sum(axis=1), maximum=1.0)
    paths = {}
    for choice in ("drawn", "eager"):
        campaign = run_campaign(problem, settings_from({"planner": {"first_move": choice}}), seed=3).campaign
        paths[choice] = np.array(campaign.history.path(1))
        assert np.abs(np.diff(paths[choice], axis=0)).max() <= BOX + 1e-6
    assert not np.allclose(paths["drawn"], paths["eager"])


def test_an_explanation_says_how_the_first_move_is_chosen():
    problem = problem_of(horizon=4)
    campaign = Campaign(problem, seed=1)
    assert explain(campaign).choice.startswith("no result is known yet")
    campaign.tell(campaign.ask().number, 0.3)
    assert "largest upper confidence bound" in explain(campaign).choice
    campaign.tell(campaign.ask().number, 0.4)
    assert "most informative about the pair" in explain(campaign).choice
    drawn = settings_from({"planner": {"first_move": "drawn"}})
    assert explain(Campaign(replace(problem), drawn, seed=1)).choice == ""


UNDONE = {"branin2d": True, "snar": True, "fjord": True, "hartmann3d_obstacles": True}
KEPT = {"drone": False, "tank_cascade": False, "thermal_reactor": False}


@pytest.mark.parametrize(("name", "eager"), {**UNDONE, **KEPT}.items())
def test_by_default_the_move_is_eager_only_where_moves_can_be_undone(name, eager):
    problem = load_problem(name)
    assert planner_for(problem, PlannerSettings()).is_eager == problem.moves_can_be_undone == eager
    assert planner_for(problem, PlannerSettings(first_move="eager")).is_eager
    assert not planner_for(problem, PlannerSettings(first_move="drawn")).is_eager


@pytest.mark.parametrize(
    ("rule", "eager"),
    [
        (MaximumStep({"x": 0.1}), True),
        (MaximumStep({"x": (0, 0.1)}), False),
        (NonDecreasing("x"), False),
        (ForbiddenRegion(Circle({"x": 0.5, "y": 0.5}, 0.1)), True),
        (ResourceBudget("fuel", lambda here, there: there["x"] - here["x"], 1.0), False),
        (TransitionConstraint(), True),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_a_rule_says_whether_moves_can_be_undone(rule, eager):
    assert rule.lets_return(problem_of(horizon=4).coordinates) == eager
