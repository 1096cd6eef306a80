"""Simulated campaigns make the moves of the package's own methods, on the same function with the same noise."""

import numpy as np
import pytest
from random_processes import random_process
from rival_plants import DP

from tcbo_pyomo import Campaign, Problem, settings_from
from tcbo_pyomo.campaign.simulated_plant import SimulatedPlant
from tcbo_pyomo.knowledge.feedback import released
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.models.constraints import EndAt
from tcbo_pyomo.rehearsal.chances import Chances, draw_chances
from tcbo_pyomo.rehearsal.members import members_of
from tcbo_pyomo.rehearsal.simulated_campaigns import FinitePlant, rehearse
from tcbo_pyomo.rehearsal.standpoint import standpoint_of
from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves

FEEDBACK = [{"kind": "immediate"}, {"kind": "episodic"}, {"kind": "delayed", "delay": 3}]
MEMBERS = {
    "regret": {"utility": {"objective": "regret"}},
    "eager": {"utility": {"objective": "differences"}},
    "drawn": {"utility": {"objective": "differences"}, "planner": {"first_move": "drawn"}},
    "g": {"utility": {"objective": "g_allocation"}, "planner": {"first_move": "likeliest"}},
    "departing": {"utility": {"objective": "differences", "information": "departure"}},
    "departing regret": {"utility": {"objective": "regret", "information": "departure"}},
    "ignoring": {"utility": {"objective": "regret", "pending": "ignored"}},
    "improvement": {"method": "mdp_expected_improvement"},
    "local": {"method": "local_ucb"},
    "greedy": {"method": "greedy_ucb"},
}
FREE = 7
"""Moves before the comparison begins: by then no two places are as good as each other any more."""


def scattered(move_noise=False, **changes):
    """A process on random points, so that hardly ever two moves are equally good."""
    process = random_process(5, 14, 5, 1, move_noise)
    truth = np.random.default_rng(3).standard_normal(14)
    fields = dict(constraints=(EndAt({"x": float(process.states[2, 0])}),), truth=truth, output="f")
    return Problem("scattered", process, 0, 5, 4, MaternFiveHalves(1.0, 0.3), **{**fields, **changes})


def simulate(campaign, plant, until):
    """Ask, move and tell what is due, until so many moves are made."""
    while campaign.history.moves_made < until and not campaign.finished:
        move = campaign.ask()
        campaign.arrive(move.number, plant.make(move))
        due = campaign.history.pending if campaign.finished else released(campaign.history, campaign.settings.feedback)
        for late in due:
            campaign.tell(late.number, plant.measure(late))


def noise_of(seed, moves):
    """The standard normal numbers that a simulated plant uses in moves of those numbers."""
    streams = [np.random.default_rng(np.random.SeedSequence([seed, 1, 2, made])) for made in moves]
    return np.array([[stream.standard_normal() for stream in streams]])


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("feedback", FEEDBACK, ids=lambda feedback: feedback["kind"])
@pytest.mark.parametrize("move_noise", [False, True], ids=["one noise", "noise by move"])
def test_a_simulated_campaign_makes_the_moves_of_the_method(member, feedback, move_noise):
    problem, seed = scattered(move_noise), 8
    settings = settings_from(DP, {"feedback": feedback}, MEMBERS[member])
    campaign, plant = Campaign(problem, settings, seed), SimulatedPlant(problem, seed)
    simulate(campaign, plant, FREE)
    standpoint = standpoint_of(campaign.knowledge)
    pending = [visit.order for visit in standpoint.pending]
    assert len(pending) == {"immediate": 0, "episodic": 2, "delayed": 3}[feedback["kind"]]
    left = standpoint.moves_left
    noise = noise_of(seed, [*pending, *range(FREE + 1, FREE + left + 1)])
    chances = Chances(problem.truth[None], noise, np.zeros((1, left)), np.random.SeedSequence(1))
    (own,) = members_of(settings_from(settings.model_dump(), {"rollout": {"methods": {member: MEMBERS[member]}}}))
    simulated = own.simulated(standpoint.band_width)
    made = FinitePlant(problem, standpoint.noise_variance)
    found = rehearse(simulated, made, standpoint, chances, own.counts_pending)
    simulate(campaign, plant, 10**6)
    moves = [move.arrived for move in campaign.history.made][FREE:]
    assert found.visited[:, 0].tolist() == moves
    assert found.final[0] == pytest.approx(problem.regret(campaign.recommendation))


@pytest.mark.parametrize("name", ["knorr_pyrazole", "two_ridge_reactor", "free_electron_laser"])
def test_the_moves_on_shipped_plants_are_those_of_the_method(name):
    # Expected regret leaves no ties there, from the first move on.
    problem = load_problem(name, "immediate")
    rng = np.random.default_rng(6)
    problem = problem.changed(truth=problem.truth + 1e-3 * rng.standard_normal(len(problem.truth)), episodes=1)
    settings = settings_from(dict(problem.settings), DP, {"utility": {"objective": "regret"}})
    campaign = Campaign(problem, settings, 4)
    standpoint = standpoint_of(campaign.knowledge)
    noise = noise_of(4, range(1, standpoint.moves_left + 1))
    chances = Chances(problem.truth[None], noise, np.zeros_like(noise), np.random.SeedSequence(1))
    (own, *_) = members_of(settings)
    plant = FinitePlant(problem, standpoint.noise_variance)
    found = rehearse(own.simulated(standpoint.band_width), plant, standpoint, chances)
    simulate(campaign, SimulatedPlant(problem, 4), 10**6)
    assert found.visited[:, 0].tolist() == [move.arrived for move in campaign.history.made]


def test_draws_do_not_depend_on_each_other():
    problem = scattered()
    standpoint = standpoint_of(Campaign(problem, settings_from(DP)).knowledge)
    plant = FinitePlant(problem, standpoint.noise_variance)
    few, many = (draw_chances(standpoint, draws, np.random.SeedSequence([1, 2])) for draws in (3, 8))
    assert np.allclose(few.functions, many.functions[:3])
    (own,) = members_of(settings_from({"rollout": {"methods": {"d": MEMBERS["regret"]}}}))
    method = own.simulated(standpoint.band_width)
    assert np.array_equal(
        rehearse(method, plant, standpoint, few).visited, rehearse(method, plant, standpoint, many).visited[:, :3]
    )


def test_functions_are_drawn_from_what_is_believed():
    problem = scattered()
    campaign = Campaign(problem, settings_from(DP), 2)
    simulate(campaign, SimulatedPlant(problem, 2), 6)
    standpoint = standpoint_of(campaign.knowledge)
    drawn = draw_chances(standpoint, 20_000, np.random.SeedSequence(3)).functions
    assert np.allclose(drawn.mean(axis=0), campaign.knowledge.belief.mean, atol=0.03)
    assert np.allclose(np.cov(drawn.T), standpoint.covariance(), atol=0.05)


def test_chance_moves_simulated_plants_as_often_as_the_process_says():
    process = random_process(11, 6, 3, 3)
    problem = Problem("chance", process, 0, 1, 1, MaternFiveHalves(1.0, 0.3), output="f")
    plant = FinitePlant(problem, process.noise_variance)
    luck = np.random.default_rng(1).random(20_000)
    for pair in range(process.number_of_pairs):
        entries = plant.tables.arrive(np.full(len(luck), pair), luck)
        met = np.bincount(plant.tables.arrived_at(entries), minlength=6) / len(luck)
        assert np.allclose(met, process.transitions[[pair]].toarray()[0], atol=0.015)
