"""Finished campaigns made by hand, so that reports are tested without planning."""

import numpy as np
import pytest

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.campaign.simulation import CampaignResult, EpisodeSummary
from tcbo_pyomo.library import load_problem


def finished(problem, number=3, seed=1):
    """A campaign of random feasible walks with random results, and a summary that is made up."""
    generator = np.random.default_rng(seed)
    process = problem.process
    campaign = Campaign(problem.changed(episodes=number), seed=seed)
    while not campaign.finished:
        situation = campaign.history.situation()
        pair = int(generator.choice(list(process.pairs_of(situation.state))))
        arrived = int(process.successors_of(pair)[0])
        move = campaign.history.add(situation.state, situation.step + 1, pair, arrived)
        campaign.tell(move.number, generator.standard_normal(), at=arrived)
    last = process.number_of_states - 1
    summaries = [EpisodeSummary(e, process.describe(last), problem.regret(last), None, 2) for e in range(1, number + 1)]
    return CampaignResult(campaign, summaries, [])


@pytest.fixture(scope="session")
def knorr_result():
    return finished(load_problem("knorr_pyrazole"), number=10)


@pytest.fixture(scope="session")
def finish():
    return finished
