"""Campaigns simulated ahead have the goal of the campaign: they make the moves of the methods, and miss what these miss."""

import numpy as np
import pytest
from rival_plants import DP
from test_simulated_campaigns import FEEDBACK, FREE, MEMBERS, noise_of, scattered, simulate

from tcbo_pyomo import Campaign, settings_from
from tcbo_pyomo.campaign.simulated_plant import SimulatedPlant
from tcbo_pyomo.rehearsal.chances import Chances
from tcbo_pyomo.rehearsal.members import members_of
from tcbo_pyomo.rehearsal.simulated_campaigns import FinitePlant, rehearse
from tcbo_pyomo.rehearsal.standpoint import standpoint_of


@pytest.mark.parametrize("member", [name for name in MEMBERS if "departing" not in name])
@pytest.mark.parametrize("feedback", FEEDBACK, ids=lambda feedback: feedback["kind"])
@pytest.mark.parametrize("goal", ["minimise", {"target": 0.4}], ids=str)
def test_a_simulated_campaign_has_the_goal_of_the_campaign(member, feedback, goal):
    problem, seed = scattered(goal=goal), 8
    settings = settings_from(DP, {"feedback": feedback}, MEMBERS[member])
    campaign, plant = Campaign(problem, settings, seed), SimulatedPlant(problem, seed)
    simulate(campaign, plant, FREE)
    standpoint = standpoint_of(campaign.knowledge)
    pending, left = [visit.order for visit in standpoint.pending], standpoint.moves_left
    noise = noise_of(seed, [*pending, *range(FREE + 1, FREE + left + 1)])
    chances = Chances(problem.truth[None], noise, np.zeros((1, left)), np.random.SeedSequence(1))
    (own,) = members_of(settings_from(settings.model_dump(), {"rollout": {"methods": {member: MEMBERS[member]}}}))
    made = FinitePlant(problem, standpoint.noise_variance)
    found = rehearse(own.simulated(standpoint.band_width), made, standpoint, chances, own.counts_pending)
    simulate(campaign, plant, 10**6)
    assert found.visited[:, 0].tolist() == [move.arrived for move in campaign.history.made][FREE:]
    assert found.final[0] == pytest.approx(problem.regret(campaign.recommendation))
