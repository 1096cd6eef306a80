"""A short campaign of every shipped problem with every method that makes sense on it; the others are refused with a reason."""

import numpy as np
import pytest

from tcbo_pyomo import Campaign, Problem, load_problem, settings_from
from tcbo_pyomo.campaign.simulated_plant import SimulatedPlant
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.library import problem_names
from tcbo_pyomo.methods.protocol import METHODS
from tcbo_pyomo.models.episode_path import EpisodePath

FINITE_ONLY = {"greedy_ucb", "mdp_expected_improvement", "stateless"}
CONTINUOUS_ONLY = {"truncated_snake", "local_search_region"}


def refused(problem, method):
    """Whether the pair makes no sense, said here once more in plain words."""
    if method in (CONTINUOUS_ONLY if isinstance(problem, Problem) else FINITE_ONLY):
        return True
    if method == "stateless":  # only where the noise depends on the move
        return problem.name not in ("free_electron_laser", "wide_beam", "fibre_coupling")
    if method == "truncated_snake":  # straight walks need free moves
        return problem.name in ("thermal_reactor", "tank_cascade")
    # Local search needs each result at once.
    return method == "local_search_region" and problem.settings["feedback"]["kind"] != "immediate"


def test_all_names_of_the_paper_and_our_own_are_there():
    assert set(problem_names()) == {
        "knorr_pyrazole", "lake_ypacarai", "free_electron_laser", "river", "branin2d", "hartmann3d", "hartmann6d",
        "michalewicz2d", "michalewicz3d", "levy4d", "snar", "thermal_reactor",
        "two_ridge_reactor", "hartmann3d_obstacles", "fuel_lake", "wide_beam",
        "dosing", "fibre_coupling", "tank_cascade", "fjord", "drone",
    }  # fmt: skip
    assert set(METHODS.names()) == FINITE_ONLY | CONTINUOUS_ONLY | {"mdp_bo", "local_ucb", "random_walk", "rollout"}


@pytest.mark.parametrize("method", METHODS.names())
@pytest.mark.parametrize("name", problem_names())
def test_a_short_campaign(name, method):
    problem = load_problem(name, seed=1)
    coupled = any(rule.couples_steps for rule in problem.rules)  # a budget needs the linear programme
    solver = {} if method != "mdp_bo" or coupled else {"planner": {"linear": {"solver": "dynamic_programming"}}}
    # One member alone is not simulated: on a continuous plant that takes its time.
    members = ("random_walk", "local_ucb") if name in ("branin2d", "snar") else ("random_walk",)
    quick = None if isinstance(problem, Problem) else {member: {"method": member} for member in members}
    few = {"candidates": {"count": 4}, "rollout": {"draws": 2, "methods": quick}}
    settings = settings_from(dict(problem.settings), solver, {"method": method, **few})
    if refused(problem, method):
        with pytest.raises(BadInput, match=method):
            Campaign(problem, settings, 1)
        return
    campaign, plant = Campaign(problem, settings, 1), SimulatedPlant(problem, 1)
    for _ in range(3):
        move = campaign.ask()
        campaign.arrive(move.number, plant.make(move))
        campaign.tell(move.number, plant.measure(move))
    path = campaign.history.situation().path
    points = np.array([list(problem.describe(location).values()) for location in path])
    for rule in problem.rules:
        assert rule.violations(EpisodePath(problem.coordinates, points, complete=False)) == []
    assert len(campaign.experiments()) == 3 and problem.regret(campaign.recommendation) is not None


@pytest.mark.parametrize("name", ["branin2d", "lake_ypacarai"])
def test_g_allocation_is_a_utility_of_its_own(name):
    problem = load_problem(name)
    settings = settings_from(
        dict(problem.settings), {"utility": {"objective": "g_allocation"}, "candidates": {"count": 4}}
    )
    campaign = Campaign(problem, settings, 1)
    for _ in range(2):
        move = campaign.ask()
        campaign.tell(move.number, problem.true_value(move.expected))
    if campaign.method.last_plan is not None:
        assert campaign.method.last_plan.tangent.second is None
