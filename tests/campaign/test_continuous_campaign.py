"""Campaigns on continuous plants: feasible, repeatable, resumable, honest about bad input."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tcbo_pyomo import Campaign, open_campaign, run_campaign, save_campaign, settings_from
from tcbo_pyomo.campaign.simulation import SimulatedPlant, Simulation
from tcbo_pyomo.errors import BadInput, SolverFailed
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.knowledge.feedback import released
from tcbo_pyomo.models.constraints import Circle, EndAt, ForbiddenRegion, NonDecreasing
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.plant.actions import BoxActions, NormActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

COORDINATES = (Coordinate("x", 0.0, 10.0, "m"), Coordinate("y", 0.0, 10.0, "m"))
FEEDBACK = [{"kind": "immediate"}, {"kind": "episodic"}, {"kind": "delayed", "delay": 3}]


def hill(points):
    return np.exp(-((points - np.array([7.0, 6.0])) ** 2).sum(axis=1) / 8.0)


def problem(**changes):
    fields = dict(
        name="hill",
        coordinates=COORDINATES,
        dynamics=LinearDynamics.free_moves(2, BoxActions(0.1)),
        start={"x": 1.0, "y": 1.0},
        horizon=6,
        episodes=2,
        kernel=SquaredExponential(1.0, 0.25),
        noise=1e-3,
        truth=hill,
        maximum=1.0,
        output="height",
        settings={"candidates": {"rule": "upper_confidence", "count": 6}},
    )
    return ContinuousProblem(**{**fields, **changes})


def settings_of(made, **more):
    return settings_from(dict(made.settings), more)


def audit(result):
    """Every executed point obeys the move limit, the bounds and every rule to 1e-6."""
    made = result.problem
    for path in result.paths:
        scaled = np.array(path)
        assert (np.abs(scaled) <= 0.5 + 1e-9).all()
        for left, right in pairwise(scaled):
            move = right - left
            assert np.abs(made.dynamics.actions.clip(move) - move).max() <= 1e-6
        points = np.array([list(made.describe(point).values()) for point in path])
        for rule in made.rules:
            assert rule.violations(EpisodePath(made.coordinates, points, complete=True)) == []


@pytest.mark.parametrize("feedback", FEEDBACK, ids=lambda f: f["kind"])
@pytest.mark.parametrize("rule", ["thompson_sampling", "upper_confidence"])
def test_every_executed_point_is_feasible_and_the_seed_repeats_it(feedback, rule):
    made = problem(
        constraints=(ForbiddenRegion(Circle({"x": 3.0, "y": 3.0}, 1.0)), NonDecreasing("x")),
        dynamics=LinearDynamics.free_moves(2, NormActions(0.12)),
    )
    settings = settings_of(made, feedback=feedback, candidates={"rule": rule, "count": 8})
    one, other = (run_campaign(made, settings, seed=4) for _ in range(2))
    audit(one)
    assert one.paths == other.paths and one.experiments.equals(other.experiments)
    assert len(one.steps) == 12 and one.steps[-1].plan["solver"]


def test_an_end_point_is_met_in_every_episode():
    made = problem(constraints=(EndAt({"x": 2.0, "y": 2.0}),))
    result = run_campaign(made, settings_of(made), seed=1)
    audit(result)
    for path in result.paths:
        np.testing.assert_allclose(list(made.describe(path[-1]).values()), [2.0, 2.0], atol=1e-5)


@pytest.mark.parametrize("components", [1, 3])
@pytest.mark.parametrize("feedback", FEEDBACK, ids=lambda f: f["kind"])
def test_saving_after_any_step_and_loading_gives_the_same_moves(tmp_path, feedback, components):
    made = problem(horizon=4, measure_start=True, constraints=(ForbiddenRegion(Circle({"x": 2.5, "y": 2.5}, 0.8)),))
    settings = settings_of(made, feedback=feedback, planner={"components": components})
    whole = run_campaign(made, settings, seed=2)
    campaign, plant, file = Campaign(made, settings, 2), SimulatedPlant(made, 2), tmp_path / "campaign.json"
    while not campaign.finished:
        move = campaign.ask()
        save_campaign(campaign, file)
        campaign = open_campaign(file, made)
        assert campaign.ask() == move
        campaign.arrive(move.number, plant.make(move))
        due = campaign.history.pending if campaign.finished else released(campaign.history, settings.feedback)
        for late in due:
            campaign.tell(late.number, plant.measure(late))
    assert campaign.experiments().equals(whole.experiments)


def test_the_start_is_measured_first_when_the_problem_says_so():
    made = problem(measure_start=True)
    campaign = Campaign(made, settings_of(made), 0)
    first = campaign.ask()
    assert first.step == 0 and made.describe(first.expected) == {"x": 1.0, "y": 1.0}
    campaign.tell(first.number, 0.1)
    assert campaign.ask().step == 1
    assert campaign.experiments()[["episode", "step", "x", "y"]].values.tolist() == [[1, 0, 1.0, 1.0]]


def test_the_plant_may_go_elsewhere_and_planning_goes_on_from_there():
    made = problem()
    campaign = Campaign(made, settings_of(made), 0)
    campaign.tell(campaign.ask().number, 0.1, at={"x": 5.0, "y": 4.0})
    following = campaign.ask()
    assert made.describe(following.origin) == pytest.approx({"x": 5.0, "y": 4.0})
    assert np.abs(np.subtract(following.expected, following.origin)).max() <= 0.1 + 1e-6


def test_a_smooth_hill_is_climbed():
    made = problem(horizon=25, episodes=1)
    result = run_campaign(made, settings_of(made), seed=3)
    assert result.episodes[-1].regret < 0.05 and result.episodes[-1].identified is None


def test_pending_visits_shrink_the_variance_of_the_design_only():
    made = problem()
    campaign = Campaign(made, settings_of(made, feedback={"kind": "episodic"}), 0)
    for _ in range(3):
        campaign.arrive(campaign.ask().number)
    there = np.array([campaign.history.situation().state])
    assert campaign.knowledge.belief.variance(there)[0] == pytest.approx(1.0)
    assert campaign.knowledge.design.variance(there)[0] < 0.1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": {"x": 11.0, "y": 0.0}}, "outside"),
        ({"start": {"x": 1.0}}, "missing coordinate"),
        ({"horizon": 0}, "horizon"),
        ({"noise": 0.0}, "noise"),
        ({"dynamics": LinearDynamics.free_moves(3, BoxActions(0.1))}, "coordinates"),
    ],
)
def test_bad_problems_are_refused(changes, message):
    with pytest.raises(BadInput, match=message):
        problem(**changes)


def test_credible_bands_are_for_finite_processes():
    made = problem()
    with pytest.raises(BadInput, match="thompson_sampling"):
        Campaign(made, settings_from({"candidates": {"rule": "credible_band"}}), 0)


class Unreliable:
    """A solver that fails at random: an exception, a time-out, NaN or out-of-bounds values called optimal."""

    def __init__(self, solver):
        self.name, self.solver, self.generator = solver.name, solver, np.random.default_rng(0)

    def solve(self, *arguments):
        kind = self.generator.integers(6)
        if kind == 0:
            raise RuntimeError("crashed")
        if kind == 1:
            raise SolverFailed("timed out")
        solution = self.solver.solve(*arguments)
        if kind == 2:
            return replace(solution, values=np.full_like(solution.values, np.nan), feasible=True, status="optimal")
        if kind == 3:
            return replace(solution, values=solution.values + 7.0, objective=-1e9, feasible=True, status="optimal")
        return solution


@pytest.mark.parametrize("feedback", FEEDBACK, ids=lambda f: f["kind"])
def test_a_campaign_survives_solver_failures_without_losing_a_measurement_or_an_infeasible_move(feedback):
    made = problem(constraints=(ForbiddenRegion(Circle({"x": 3.0, "y": 3.0}, 1.0)),))
    simulation = Simulation(Campaign(made, settings_of(made, feedback=feedback), 4))
    oracle = simulation.campaign.method.planner.oracle
    oracle.solver = Unreliable(oracle.solver)
    result = simulation.run()
    audit(result)
    assert len(result.experiments) == made.horizon * made.episodes
    used = [trajectory["used"] for step in result.steps for trajectory in step.plan["trajectories"]]
    assert "warm start" in used and "solver" in used


def test_shortest_paths_are_tried_to_the_pair_and_to_the_best_few_other_candidates():
    made = problem()
    campaign = Campaign(made, settings_of(made, candidates={"rule": "thompson_sampling", "count": 8}), 0)
    campaign.tell(campaign.ask().number, 0.1)
    campaign.ask()
    tangent, candidates = campaign.method.last_plan.tangent, campaign.knowledge.candidates
    assert tangent.targets.shape == (4, 2) and all((candidates == t).all(axis=1).any() for t in tangent.targets)
    rest = [c for c in candidates if not any((c == z).all() for z in tangent.separated)]
    taught = sorted(tangent.objective.value(c[None]) for c in rest)[:2]
    assert [tangent.objective.value(o[None]) for o in tangent.others] == pytest.approx(taught)
    record = campaign.method.plan_record()
    assert len(record["separates"]) == 2


def test_a_long_campaign_gets_a_surrogate_that_does_not_grow():
    short, long = problem(horizon=10, episodes=100), problem(horizon=7, episodes=143)
    assert Campaign(short).knowledge.belief.representation == "exact"
    bounded = Campaign(long).knowledge.belief
    assert bounded.representation == "nystroem" and bounded.covariance_with([0.1, 0.2]).centers.shape[0] <= 1000
    wanted = settings_from({"surrogate": {"features": "exact"}})
    assert Campaign(long, wanted).knowledge.belief.representation == "exact"
    fewer = Campaign(long, settings_from({"surrogate": {"number": 40}})).knowledge.belief
    assert fewer.covariance_with([0.1, 0.2]).centers.shape[0] == 40


def test_the_bounded_surrogate_agrees_with_the_exact_one():
    """In two dimensions a thousand features carry the prior: mean and deviation after 60 results agree."""
    rng = np.random.default_rng(0)
    places, grid = rng.random((60, 2)) - 0.5, rng.random((200, 2)) - 0.5
    bounded, exact = (Campaign(problem(horizon=7, episodes=count)).knowledge.belief for count in (143, 2))
    for point in places:
        for belief in (bounded, exact):
            belief.observe(point, float(hill((point[None] + 0.5) * 10.0)[0]), 1e-3)
    np.testing.assert_allclose(bounded.mean(grid), exact.mean(grid), atol=1e-4)
    np.testing.assert_allclose(bounded.standard_deviation(grid), exact.standard_deviation(grid), atol=1e-3)
