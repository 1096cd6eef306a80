"""Model criticism: quiet where the model is right, plain words where the results contradict it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from learning_plants import FAST, finite, told

from tcbo_pyomo import Campaign, PlainPrior, SquaredExponential
from tcbo_pyomo.campaign.simulated_plant import SimulatedPlant
from tcbo_pyomo.cli._campaign_texts import status_as_text
from tcbo_pyomo.knowledge.belief_in_words import belief_lines, belief_now
from tcbo_pyomo.knowledge.criticism import contradictions, criticise
from tcbo_pyomo.records.status import status_of
from tcbo_pyomo.settings import settings_from


def measured(problem, seed=1, number=20, **surrogate):
    campaign = Campaign(problem, settings_from(FAST, {"surrogate": surrogate}), seed)
    told(campaign, SimulatedPlant(problem, seed), number)
    return campaign


def test_a_right_model_is_not_doubted():
    alarms = 0
    for seed in range(8):
        problem = finite(kernel=SquaredExponential(400.0, 0.3), prior=None).with_drawn_truth(np.random.default_rng(seed))
        alarms += bool(criticise(measured(problem, seed, fit="never").knowledge).warnings)
    assert alarms == 0


def test_residuals_are_those_of_a_regression_without_the_result():
    campaign = measured(finite(), number=8)
    found = criticise(campaign.knowledge)
    without = Campaign(campaign.problem, campaign.settings, 1)
    told(without, SimulatedPlant(campaign.problem, 1), 7)
    # With seven results both have learned from the same five.
    mean, deviation = without.knowledge.predict([campaign.history.moves[7].arrived])
    assert found.expected[7] == pytest.approx(mean[0])
    noise = without.knowledge.noise_variance(campaign.history.moves[7])
    assert found.left_out.deviations[7] == pytest.approx(np.sqrt(deviation[0] ** 2 + noise))


def test_results_outside_the_range_are_named_with_what_to_do():
    campaign = measured(finite(prior=PlainPrior((0.0, 40.0), 1.0)))
    found = criticise(campaign.knowledge)
    assert found.outside and all(campaign.history.moves[n - 1].value > 40.0 for n in found.outside)
    (text,) = [text for text in found.warnings if "range" in text and "outside" in text]
    assert "outside the declared range 0 to 40" in text and "wider range" in text
    assert text in contradictions(campaign.knowledge, {found.outside[-1]})
    assert contradictions(campaign.knowledge, {1}) == ()
    status = status_of(campaign, {})
    assert f"warning: {text}" in status_as_text(status)


def test_surprising_results_are_listed_farthest_first():
    campaign = measured(finite(kernel=SquaredExponential(400.0, 0.5), prior=None), number=16, fit="never")
    for _ in range(2):
        move = campaign.ask()
        campaign.tell(move.number, 500.0)
    found = criticise(campaign.knowledge)
    assert {surprise.move for surprise in found.surprising} >= {17, 18}
    assert all(abs(surprise.residual) > 3.0 for surprise in found.surprising)
    said = "of the last 10 results lie more than 3 sd"
    assert any(said in text and "surrogate.fit: learn" in text for text in found.warnings)
    json.dumps(found.to_dict())


def test_one_wild_result_does_not_make_its_neighbours_wild():
    campaign = measured(finite(), number=12)
    before = {surprise.move for surprise in criticise(campaign.knowledge).surprising}
    wild = campaign.ask()
    campaign.tell(wild.number, 900.0)
    found = criticise(campaign.knowledge)
    assert {surprise.move for surprise in found.surprising} == before | {wild.number}
    assert (np.abs(found.left_out.residuals) > 3.0).sum() > 1, "which they look like when all are judged at once"


def test_noise_that_was_declared_much_too_large_or_small_is_noticed():
    kernel = SquaredExponential(400.0, 0.5)
    quiet = finite(kernel=kernel, prior=None)
    believed_noisy = measured(quiet, number=24, fit="never", misbelief={"noise": 1e4})
    assert any("times closer" in text for text in criticise(believed_noisy.knowledge).warnings)
    sure = measured(quiet.with_noise(25.0), number=24, fit="never", misbelief={"noise": 4e-4})
    assert any("overconfident" in text for text in criticise(sure.knowledge).warnings)


def test_what_is_believed_is_told_in_units():
    campaign = measured(finite(), number=10)
    now = belief_now(campaign.knowledge)
    assert now.learned_from == 10 and set(now.changes_within) == {"x", "y"}
    x = now.changes_within["x"]
    lengths = campaign.knowledge.kernel.kernels[0].lengthscale
    assert x.value == pytest.approx(7.0 * lengths[0]) and x.low < x.value < x.high
    assert now.measurement_sd.value == pytest.approx(campaign.knowledge.noise_factor**0.5)
    lines = belief_lines(campaign.knowledge)
    assert "learned from 10 results" in lines[0] and " min (" in lines[0]
    kept = measured(finite(kernel=SquaredExponential(400.0, 0.5), prior=None), number=6)
    assert "as declared" in belief_lines(kept.knowledge)[0]
    assert belief_now(kept.knowledge).learned_from is None
    json.dumps(now.to_dict())


def test_an_empty_campaign_has_nothing_to_criticise():
    found = criticise(Campaign(finite(), settings_from(FAST)).knowledge)
    assert found.warnings == () and found.surprising == () and found.to_dict()["within_2_sd"] == 1.0
