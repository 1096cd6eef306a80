"""Campaigns that learn: the same after loading, corrections and in any process; a given kernel stays as it was given."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from learning_plants import FAST, box, finite, hill, told

from tcbo_pyomo import Campaign, PlainPrior, open_campaign, save_campaign
from tcbo_pyomo.campaign.simulated_plant import SimulatedPlant
from tcbo_pyomo.campaign.simulation import Simulation, run_campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.belief_in_words import belief_lines, belief_now
from tcbo_pyomo.knowledge.continuous import best_expected
from tcbo_pyomo.knowledge.what_learns import learner_for
from tcbo_pyomo.records import start_campaign
from tcbo_pyomo.settings import settings_from
from tcbo_pyomo.surrogate import learner, most_probable_factors
from tcbo_pyomo.surrogate.kernel_factors import Spreads
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.learner import Learner, learned_from
from tcbo_pyomo.surrogate.most_probable_factors import learn


def score_of(campaign, points, caution):
    mean, deviation = campaign.knowledge.belief.predict(np.array(points))
    return campaign.knowledge.goal.expected(mean, deviation) - caution * deviation


@pytest.mark.parametrize("goal", ["maximise", "minimise", {"target": 40.0}])
def test_where_the_kernel_is_learned_half_a_standard_deviation_is_taken_off(goal):
    """No point of a fine grid is better by this score, and each of the two recommendations is the better one by its own."""
    learned = run_campaign(box(goal=goal), seed=3).campaign
    given = run_campaign(box(goal=goal), settings_from({"surrogate": {"fit": "never"}}), seed=3).campaign
    grid = (np.indices((281, 281)).reshape(2, -1).T / 280.0) - 0.5
    for campaign, caution in ((learned, 0.5), (given, 0.0)):
        (found,), best = score_of(campaign, [campaign.recommendation], caution), score_of(campaign, grid, caution).max()
        assert best - 1e-9 <= found <= best + 0.05
    plain = best_expected(learned.knowledge.belief, goal=learned.knowledge.goal)
    bold, careful = (score_of(learned, [plain, learned.recommendation], caution) for caution in (0.0, 0.5))
    assert bold[0] >= bold[1] and careful[1] > careful[0]


def test_when_learning_happens():
    assert [learned_from(n) for n in (0, 4, 5, 9, 25, 29, 30, 35, 36, 42, 43)] == [0, 0, 5, 5, 25, 25, 30, 30, 36, 36, 43]
    assert all(learned_from(learned_from(n)) == learned_from(n) <= n for n in range(400))
    assert 400 - learned_from(400) <= 80


@pytest.mark.parametrize("make", [finite, box])
def test_without_a_kernel_campaigns_learn_and_find_the_hill(make):
    result = run_campaign(make(), seed=3)
    knowledge = result.campaign.knowledge
    assert knowledge.learned.results == learned_from(len(result.campaign.history.told)) > 0
    assert knowledge.kernel != result.problem.kernel
    assert result.episodes[-1].regret < 8.0
    declared = run_campaign(make(), settings_from(FAST, {"surrogate": {"fit": "never"}}), seed=3)
    assert declared.campaign.knowledge.learned is None
    assert declared.campaign.knowledge.kernel == result.problem.kernel


@pytest.mark.parametrize(
    ("moves", "past", "until"),
    [
        (11, 0, 50),  # Two inputs, 25 results for each.
        (200, 0, 100),  # Half of the budget.
        (11, 60, 65),  # Past results count for the inputs, but half of the campaign's own must be in as well.
        (200, 60, 160),
    ],
)
def test_long_lengthscales_wait_for_half_of_the_budget_and_for_results_that_tell_inputs_apart(moves, past, until):
    problem = replace(box(), horizon=moves)
    assert learner_for(problem, "auto", past, 25).held_until == until
    assert learner_for(problem, "auto", past).held_until == past + moves // 2
    assert Campaign(problem).knowledge.learner.held_until == max(50, moves // 2)
    assert Campaign(finite()).knowledge.learner.held_until == 12, "half of 24 moves"
    given = replace(problem, prior=None, kernel=SquaredExponential(4.0, 0.3), noise=1.0)
    assert learner_for(given, "learn", past, 25).held_until == until and learner_for(given, "auto", past) is None


@pytest.mark.parametrize(
    ("values", "doublings"),
    [
        ([20.0, 99.0], 0),
        ([20.0, 102.0], 0),  # Within the noise of the declared range.
        ([20.0, 130.0], 1),  # Twice 0 to 100 around its middle is -50 to 150.
        ([-49.0, 130.0], 1),
        ([-160.0, 130.0], 3),  # -50 to 150 and -150 to 250 do not contain it, -350 to 450 does.
        ([20.0, 1e9], 10),
    ],
)
def test_a_declared_range_is_doubled_until_it_contains_the_results(values, doublings):
    learns = Learner(SquaredExponential(4.0, 0.3), Spreads((0.7, 0.7), 0.0, 0.3), expected=(0.0, 100.0))
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (5, 2))
    results = np.array([30.0, 40.0, 50.0, *values])
    found = learns(points, results, np.ones(5))
    assert found.factors.variance == 4.0**doublings and found.kernel.variance == 4.0 * 4.0**doublings
    # One that is doubted says nothing, and neither does any before learning begins.
    assert learns(points, results, np.array([1.0, 1.0, 1.0, np.inf, np.inf])).factors.variance == 1.0
    assert learns(points[1:], results[1:], np.ones(4)).factors.variance == 1.0
    # Around a given kernel nothing is declared about the range.
    assert Learner(learns.kernel, learns.spreads)(points, results, np.ones(5)).factors.variance == 1.0


@pytest.mark.parametrize("make", [finite, box])
def test_a_campaign_says_that_its_range_was_too_narrow_and_goes_on_with_a_wider_one(make, tmp_path):
    problem = make(prior=PlainPrior((10.0, 40.0), 1.0))  # The hill is 20 to 80: four times as wide, -35 to 85.
    result = run_campaign(problem, seed=3)
    knowledge = result.campaign.knowledge
    assert result.experiments["rate"].max() > 62.5 and result.episodes[-1].regret < 8.0
    assert knowledge.learned.factors.variance == 16.0 and belief_now(knowledge).range_times == 4.0
    assert "range: 4 times as wide as declared, because results lie outside it" in belief_lines(knowledge)
    save_campaign(result.campaign, tmp_path / "c.json")
    assert open_campaign(tmp_path / "c.json", problem).knowledge.learned == knowledge.learned
    assert not any("as declared, because" in line for line in belief_lines(run_campaign(make(), seed=3).campaign.knowledge))


@pytest.mark.parametrize("make", [finite, box])
@pytest.mark.parametrize("forget", [False, True])
def test_saving_and_loading_after_any_move_gives_the_same_moves(make, forget, tmp_path, monkeypatch):
    problem = make()
    whole = run_campaign(problem, seed=2)
    campaign, plant, file = Campaign(problem, seed=2), SimulatedPlant(problem, 2), tmp_path / "c.json"
    while not campaign.finished:
        told(campaign, plant, 1)
        save_campaign(campaign, file)
        if forget:
            # A new process: nothing that was learned is at hand but what the file holds.
            learner._learned.cache_clear()
            monkeypatch.setattr(most_probable_factors, "learn", refused)
        before, campaign = campaign, open_campaign(file, problem)
        monkeypatch.undo()
        assert campaign.knowledge.learned == before.knowledge.learned
        assert campaign.knowledge.noise_factor == before.knowledge.noise_factor
    assert campaign.experiments().equals(whole.experiments)


def refused(kernel, spreads, points, values, noise):
    assert len(values) == 0, "what was learned is in the file"
    return learn(kernel, spreads, points, values, noise)


def test_a_stored_answer_of_other_results_is_not_believed(tmp_path):
    problem = finite()
    campaign, plant = Campaign(problem, seed=1), SimulatedPlant(problem, 1)
    told(campaign, plant, 10)
    state = json.loads(json.dumps(campaign.state()))
    state["moves"][2]["value"] += 30.0
    changed = Campaign.from_state(problem, state)
    assert changed.knowledge.learned != campaign.knowledge.learned
    fresh = Campaign(problem, seed=1)
    fresh.history.load(state)
    fresh.knowledge.replay(problem.kernel)
    assert changed.knowledge.learned == fresh.knowledge.learned


def test_an_undone_result_leaves_what_the_others_teach(tmp_path):
    problem = finite()
    plant = SimulatedPlant(problem, 4)
    kept, other = (start_campaign(tmp_path / f"{name}.db", problem, seed=4) for name in ("a", "b"))
    told(kept, plant, 9)
    told(other, plant, 9)
    move = other.ask()
    assert move.number == kept.ask().number == 10
    other.tell(10, 500.0)
    assert other.knowledge.learned != kept.knowledge.learned
    other.undo(10)
    assert other.knowledge.learned == kept.knowledge.learned
    assert other.knowledge.belief.mean.tolist() == kept.knowledge.belief.mean.tolist()
    again = open_campaign(tmp_path / "b.db", problem)
    assert again.knowledge.belief.mean.tolist() == kept.knowledge.belief.mean.tolist()


def test_an_interrupted_simulation_goes_on_as_if_nothing_had_happened():
    problem = finite()
    whole = run_campaign(problem, seed=6)
    simulation = Simulation(Campaign(problem, seed=6))
    for _ in range(13):
        simulation._make_move()
    resumed = Simulation.from_checkpoint(problem, json.loads(json.dumps(simulation.checkpoint())))
    assert resumed.run().experiments.equals(whole.experiments)


@pytest.mark.parametrize("fit", ["auto", "never"])
def test_a_given_kernel_stays_as_it_was_given(fit):
    kernel = SquaredExponential(400.0, 0.3)
    settings = settings_from(FAST, {"surrogate": {"fit": fit}})
    result = run_campaign(finite(kernel=kernel, prior=None), settings, seed=1)
    assert result.campaign.knowledge.kernel is kernel and result.campaign.knowledge.noise_factor == 1.0
    assert "learned" not in result.campaign.state()


def test_a_given_kernel_is_learned_around_when_asked_for():
    # The level is off by 5 and more prior standard deviations, the lengthscale by 3: both are repaired.
    settings = settings_from(FAST, {"surrogate": {"fit": "learn"}})
    result = run_campaign(finite(kernel=SquaredExponential(16.0, 0.1), prior=None), settings, seed=1)
    knowledge = result.campaign.knowledge
    assert knowledge.learned.factors.variance > 2.0
    assert max(knowledge.learned.factors.lengthscales) > 1.2
    assert result.episodes[-1].regret < 6.0


def test_the_learned_noise_reaches_the_planner():
    problem = finite(prior=PlainPrior((0.0, 100.0)))
    campaign = Campaign(problem, settings_from(FAST), seed=1)
    told(campaign, SimulatedPlant(problem, 1), 1)
    for value in (8.0, 31.0, 12.0, 27.0, 19.0, 35.0, 5.0, 24.0, 16.0):
        campaign.tell(1, value, replicate=True)
    factor = campaign.knowledge.noise_factor
    assert 20.0 < factor < 200.0
    utility = campaign.knowledge.utility(np.random.default_rng(0))
    np.testing.assert_allclose(utility.process.noise_variance, factor * problem.process.noise_variance)
    assert utility.linearise().noise_factor == factor


def test_a_positive_output_is_modelled_by_its_logarithm():
    decades = PlainPrior((0.01, 100.0), None, {"x": 2.0}, positive=True)

    def peaks(points):
        return 10.0 ** (hill(points) / 30.0 - 1.5)

    process = finite().process
    problem = finite(prior=decades, truth=peaks(process.states))
    assert problem.kernel.mean(np.zeros((1, 2)))[0] == pytest.approx(0.0)
    assert problem.kernel.kernels[0].lengthscale == pytest.approx((2.0 / 7.0, 0.3))
    campaign = Campaign(problem, settings_from(FAST), seed=1)
    move = campaign.ask()
    campaign.tell(move.number, -0.3)
    low = campaign.predict(problem.describe(move.expected))[0]
    assert 0.0 < low < 0.1
    told(campaign, SimulatedPlant(problem.with_noise(1e-6), 1), 22)
    mean, deviation = campaign.predict(problem.describe(campaign.recommendation))
    assert mean == pytest.approx(problem.true_value(campaign.recommendation), abs=4.0 * deviation + 0.2)
    assert campaign.knowledge.incumbent == pytest.approx(np.log(max(value for _, value in campaign.history.measurements)))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"range": (3.0,)}, "range (3.0,) must be two finite numbers, the lower one first"),
        ({"range": (2.0, 1.0)}, "range (2.0, 1.0) must be two finite numbers, the lower one first"),
        ({"range": (0.0, float("inf"))}, "must be two finite numbers"),
        ({"range": (0.0, 1.0), "positive": True}, "range (0.0, 1.0) of a positive output must start above zero"),
        ({"range": (0.0, 1.0), "measurement_sd": 0.0}, "measurement_sd 0.0 must be a positive number, or None"),
        ({"range": (0.0, 1.0), "changes_within": {"x": -1}}, "changes_within of 'x': -1 must be a positive distance"),
    ],
)
def test_answers_that_make_no_sense_are_refused_by_name(fields, message):
    with pytest.raises(BadInput) as caught:
        PlainPrior(**fields)
    assert message in str(caught.value)


def test_a_problem_needs_a_kernel_or_answers():
    with pytest.raises(BadInput, match=r"'grid': give the range you expect of rate, prior=PlainPrior\(range=\(low, high\)\)"):
        finite(prior=None)
    with pytest.raises(BadInput, match="problem 'box': give the noise variance of a measurement"):
        box(prior=None, kernel=SquaredExponential())
    with pytest.raises(BadInput, match="unknown coordinate 'z'"):
        finite(prior=PlainPrior((0.0, 1.0), changes_within={"z": 1.0}))
    assert box().noise == 1.0 and box(prior=PlainPrior((0.0, 100.0))).noise == pytest.approx(4.0)


def test_plain_answers_are_plain_data():
    prior = PlainPrior((1, 100), None, {"x": 2.0}, True)
    assert PlainPrior(**json.loads(json.dumps(prior.to_dict()))) == prior
