"""A slip of the pen does not upset a model that learns; what is confirmed, or happens again and again, counts in full."""

from __future__ import annotations

import numpy as np
import pytest
from learning_plants import FAST, box, finite, told

from tcbo_pyomo import Campaign, open_campaign, save_campaign
from tcbo_pyomo.campaign.simulated_plant import SimulatedPlant
from tcbo_pyomo.knowledge.belief_in_words import belief_lines
from tcbo_pyomo.records import start_campaign
from tcbo_pyomo.settings import settings_from
from tcbo_pyomo.surrogate.kernel_factors import Factors, with_factors
from tcbo_pyomo.surrogate.most_probable_factors import learn

SLIP = 600.0
"""60 with a zero too many: the range is 0 to 100."""


def with_slips(problem, moves, at, confirm=False, settings=None, seed=5):
    """A campaign in which somebody wrote down nonsense at some moves."""
    campaign, plant = Campaign(problem, settings, seed), SimulatedPlant(problem, seed)
    for number in range(1, moves + 1):
        if number in at:
            move = campaign.ask()
            campaign.arrive(move.number, plant.make(move))
            plant.measure(move)
            campaign.tell(move.number, SLIP, confirm=confirm)
        else:
            told(campaign, plant, 1)
    return campaign


def learned_alone(campaign, used, without):
    """What the first results teach, some of them left out; with the range of the output that the campaign believes in."""
    kept = np.array([i for i in range(used) if i + 1 not in without])
    knowledge = campaign.knowledge
    kernel = with_factors(knowledge.learner.kernel, Factors((1.0, 1.0), knowledge.learned.factors.variance))
    return learn(kernel, knowledge.learner.spreads, *(part[kept] for part in knowledge.results()))


@pytest.mark.parametrize("make", [finite, box])
def test_lengthscales_and_noise_are_learned_without_a_slip(make):
    campaign = with_slips(make(), 11, {8})
    learned, alone = campaign.knowledge.learned, learned_alone(campaign, 10, {8})
    assert learned.results == 10
    assert learned.factors.noise == alone.factors.noise
    longest = 1.0 if campaign.knowledge.learner.held_until > 10 else np.inf
    assert learned.factors.lengthscales == tuple(min(longest, factor) for factor in alone.factors.lengthscales)
    assert learned.factors.noise < learned_alone(campaign, 10, set()).factors.noise
    how = "lengthscales (learned from 10 results without 1 unlikely one that nobody confirmed):"
    assert belief_lines(campaign.knowledge)[0].startswith(how)


def test_in_the_belief_a_slip_counts_as_if_it_were_noisy():
    campaign = with_slips(finite(), 11, {8})
    knowledge = campaign.knowledge
    (surprise,) = campaign.history.move(8).surprises
    points, values, noise = knowledge.believed_results()
    noise[7] += (0.5 * (SLIP - surprise.expected)) ** 2
    kernel, states = knowledge.kernel, knowledge.problem.seen_states
    gain = np.linalg.solve(kernel(points, points) + np.diag(noise), kernel(points, states)).T
    expected = kernel.mean(states) + gain @ (values - kernel.mean(points))
    np.testing.assert_allclose(knowledge.belief.mean, expected, atol=1e-4)
    assert knowledge.belief.mean.max() < 150.0


def test_a_confirmed_result_counts_in_full():
    campaign = with_slips(finite(), 11, {8}, confirm=True)
    assert campaign.knowledge.learned.factors.noise == learned_alone(campaign, 10, set()).factors.noise
    assert campaign.knowledge.belief.mean.max() > 150.0


def test_a_result_that_is_confirmed_later_counts_in_full_from_then_on(tmp_path):
    problem = finite()
    campaign, plant = start_campaign(tmp_path / "c.db", problem, seed=5), SimulatedPlant(problem, 5)
    told(campaign, plant, 9)
    slip = campaign.ask().number
    assert campaign.tell(slip, SLIP).surprise is not None
    doubted = campaign.knowledge.belief.mean.max()
    assert campaign.tell(slip, SLIP, confirm=True).new
    assert campaign.knowledge.belief.mean.max() > max(150.0, 2.0 * doubted)
    again = open_campaign(tmp_path / "c.db", problem)
    assert again.knowledge.belief.mean.tolist() == campaign.knowledge.belief.mean.tolist()


def test_two_unlikely_results_among_ten_say_that_the_model_is_wrong():
    campaign = with_slips(finite(), 11, {4, 8})
    assert all(any(campaign.history.move(number).surprises) for number in (4, 8))
    assert campaign.knowledge.learned.factors.noise == learned_alone(campaign, 10, set()).factors.noise


def test_without_learning_every_result_counts_as_it_was_told():
    settings = settings_from(FAST, {"surrogate": {"fit": "never"}})
    campaign = with_slips(finite(), 9, {8}, settings=settings)
    assert any(campaign.history.move(8).surprises)
    assert campaign.knowledge.belief.mean.max() > 150.0


@pytest.mark.parametrize("make", [finite, box])
@pytest.mark.parametrize("at", [{7}, {5}, {4, 9}])
def test_a_loaded_campaign_doubts_the_same(make, at, tmp_path):
    problem, moves = make(), 11
    for number in range(5, moves + 1):
        campaign = with_slips(problem, number, at)
        save_campaign(campaign, tmp_path / "c.json")
        again = open_campaign(tmp_path / "c.json", problem)
        seen, loaded = (known.predict([problem.start_state]) for known in (campaign.knowledge, again.knowledge))
        assert np.array_equal(seen, loaded)
