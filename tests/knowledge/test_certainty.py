"""The probability that the recommendation is good enough, against integrals, brute force and the truth."""

import numpy as np
import pytest
from rival_plants import DP, line, plane
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from tcbo_pyomo import Campaign, PlainPrior, settings_from
from tcbo_pyomo.knowledge import drawn_regrets
from tcbo_pyomo.knowledge.certainty import Certainty
from tcbo_pyomo.surrogate.hyperparameter_draws import drawn_models
from tcbo_pyomo.surrogate.joint_moments import Moments
from tcbo_pyomo.surrogate.kernel_factors import Factors, Learned, Spreads
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.likely_rivals import NEGLIGIBLE, chance_above, likely_rivals
from tcbo_pyomo.surrogate.rivals import Rivals
from tcbo_pyomo.surrogate.target import Target

ERROR = 3.5 * 0.5 / np.sqrt(drawn_regrets.DRAWS)


def told(problem, values, stop, **settings):
    """A campaign that was told values of the states it is asked to go to."""
    campaign = Campaign(problem, settings_from(dict(problem.settings), DP, {"stop": stop}, settings), 3)
    for value in values:
        move = campaign.ask(anyway=True)
        campaign.tell(move.number, value)
    return campaign


def independent(**changes):
    """Five states that know nothing of each other."""
    return line(kernel=SquaredExponential(1.0, 1e-3), noise=0.04, **changes)


@pytest.mark.parametrize("tolerance", [0.0, 0.3, 1.0])
def test_of_independent_states_it_is_an_integral(tolerance):
    campaign = told(independent(), [1.5], {"regret": tolerance})
    mean, deviation = campaign.knowledge.belief.mean, campaign.knowledge.belief.standard_deviation
    best = campaign.recommendation

    def density(value):
        others = [s for s in range(5) if s != best]
        below = np.prod([norm.cdf(value + tolerance, mean[s], deviation[s]) for s in others])
        return norm.pdf(value, mean[best], deviation[best]) * below

    exact = quad(density, mean[best] - 8 * deviation[best], mean[best] + 8 * deviation[best])[0]
    assert campaign.certainty.probability == pytest.approx(exact, abs=ERROR)


def test_of_correlated_states_it_is_a_normal_distribution_function():
    campaign = told(line(), [0.5, 0.9, 0.7], {"regret": 0.2})
    belief, best = campaign.knowledge.belief, campaign.recommendation
    others = [s for s in range(5) if s != best]
    difference = np.eye(5)[others] - np.eye(5)[best]
    covariance = difference @ belief.factor @ belief.factor.T @ difference.T
    exact = multivariate_normal.cdf(np.full(4, 0.2), difference @ belief.mean, covariance, allow_singular=True)
    assert campaign.certainty.probability == pytest.approx(exact, abs=ERROR)


def test_on_a_continuous_plant_it_is_that_of_a_fine_grid():
    problem = plane(kernel=SquaredExponential(1.0, 0.5))
    campaign = told(problem, [0.3, 0.5, 0.4], {"regret": 0.1})
    axis = np.linspace(-0.5, 0.5, 25)
    points = np.array([(x, y) for x in axis for y in axis])
    reachable = points[campaign.knowledge._space(points)]
    belief = campaign.knowledge.belief
    places = np.vstack([campaign.recommendation, reachable])
    moments = Moments(belief.mean(places), belief.covariance(places, places))
    drawn = moments.drawn(np.random.default_rng(5).standard_normal((4000, len(places))))
    brute_force = np.mean(drawn.max(axis=1) - drawn[:, 0] <= 0.1)
    # The grid misses maxima between its points, and the rivals those of functions that nobody drew.
    assert campaign.certainty.probability == pytest.approx(brute_force, abs=0.04)


@pytest.mark.parametrize("goal", ["minimise", {"target": 0.6}], ids=str)
@pytest.mark.parametrize("prior", [None, PlainPrior(range=(0.1, 10.0), measurement_sd=0.05, positive=True)], ids=str)
def test_of_another_goal_it_is_that_of_its_scores(goal, prior):
    problem = line() if prior is None else line(kernel=None, prior=prior)
    campaign = told(problem, [0.5, 0.9, 0.7], {"regret": 0.1}, goal=goal, surrogate={"fit": "never"})
    belief, best = campaign.knowledge.belief, campaign.recommendation
    normal = np.random.default_rng(5).standard_normal((200_000, belief.factor.shape[1]))
    drawn = belief.mean + normal @ belief.factor.T
    output = drawn if prior is None else np.exp(drawn)
    missed = output[:, best] - output.min(axis=1)
    if goal != "minimise":
        away = np.abs(output - 0.6)
        missed = away[:, best] - away.min(axis=1)
    assert campaign.certainty.probability == pytest.approx(np.mean(missed <= 0.1), abs=ERROR + 0.002)


def test_bounds_of_chances_to_be_closer_to_a_target_hold():
    generator = np.random.default_rng(2)
    for _ in range(20):
        factor, mean, target = generator.normal(size=(4, 4)), generator.normal(size=4), generator.normal()
        covariance = factor @ factor.T
        deviation = np.sqrt(covariance.diagonal()[1:] + covariance[0, 0] - 2.0 * covariance[0, 1:])
        rivals = Rivals(mean[0], covariance[0, 0], mean[1:], covariance.diagonal()[1:], covariance[0, 1:], deviation)
        away = np.abs(mean + generator.standard_normal((40_000, 4)) @ factor.T - target)
        assert (np.mean(away[:, 1:] < away[:, :1], axis=0) <= Target(target).chances(rivals, 0.0) + 0.01).all()


def test_a_positive_output_is_judged_in_its_own_unit():
    prior = PlainPrior(range=(0.1, 10.0), measurement_sd=0.05, positive=True)
    problem = line(kernel=None, prior=prior, truth=np.linspace(1.0, 2.0, 5))
    campaign = told(problem, [1.0, 3.0, 2.0], {"regret": 0.5}, surrogate={"fit": "never"})
    belief = campaign.knowledge.belief
    drawn = belief.mean + np.random.default_rng(1).standard_normal((200_000, belief.factor.shape[1])) @ belief.factor.T
    output = np.exp(drawn)
    exact = np.mean(output.max(axis=1) - output[:, campaign.recommendation] <= 0.5)
    assert campaign.certainty.probability == pytest.approx(exact, abs=ERROR)


def test_of_a_learned_model_it_is_the_mean_over_models_that_may_be_right():
    results = [0.1, 0.6, 0.9, 0.7, 0.2]
    campaign = told(line(episodes=3), results, {"regret": 0.02}, surrogate={"fit": "learn"})
    knowledge, best = campaign.knowledge, campaign.recommendation
    difference = np.delete(np.eye(5), best, axis=0) - np.eye(5)[best]
    points, values, noise = knowledge.results()
    states, chances = knowledge.scaled_points(range(5)), []
    for kernel, factor in drawn_models(knowledge.learner.kernel, knowledge.learned, 300, np.random.default_rng(9)):
        inner = kernel(points, points) + np.diag(noise * factor)
        gain = np.linalg.solve(inner, kernel(points, states)).T
        mean = kernel.mean(states) + gain @ (values - kernel.mean(points))
        covariance = difference @ (kernel(states, states) - gain @ kernel(points, states)) @ difference.T
        chances.append(multivariate_normal.cdf(np.full(4, 0.02), difference @ mean, covariance, allow_singular=True))
    error = np.std(chances) / np.sqrt(drawn_regrets.MODELS)
    assert campaign.certainty.probability == pytest.approx(np.mean(chances), abs=3.5 * error + ERROR)


def test_certain_hyperparameters_draw_one_model():
    kernel = SquaredExponential(2.0, 0.3)
    learned = Learned(kernel, Factors((1.5,), 1.0, 2.0), 5, lambda: Spreads((0.0,)))
    models = list(drawn_models(kernel, learned, 4, np.random.default_rng(1)))
    assert {noise for _, noise in models} == {2.0}
    assert all(np.isclose(model.lengthscale, 0.45) and model.variance == 2.0 for model, _ in models)


def test_drawn_hyperparameters_have_the_spread_that_learning_left():
    kernel = SquaredExponential(1.0, 0.3)
    learned = Learned(kernel, Factors((1.5,), 1.2, 2.0), 5, lambda: Spreads((0.4,), 0.1, 0.6))
    models = list(drawn_models(kernel, learned, 4000, np.random.default_rng(1)))
    lengths = np.log([model.lengthscale for model, _ in models])
    assert lengths.mean() == pytest.approx(np.log(0.45), abs=0.03) and lengths.std() == pytest.approx(0.4, abs=0.02)
    assert np.log([noise for _, noise in models]).std() == pytest.approx(0.6, abs=0.03)
    assert min(model.variance for model, _ in models) >= 1.0


def test_the_posterior_of_a_drawn_model_is_that_of_the_campaign():
    campaign = told(line(), [0.5, 0.9], {"regret": 0.1})
    knowledge = campaign.knowledge
    points = knowledge.scaled_points(range(5))
    found = Moments.given(knowledge.kernel, *knowledge.results(), points)
    assert np.allclose(found.mean, knowledge.belief.mean)
    assert np.allclose(found.covariance, knowledge.belief.factor @ knowledge.belief.factor.T)


def test_what_is_left_out_of_the_rivals_hardly_matters():
    gap = np.array([0.5, 3.0, 8.0, 0.1, 3.2])
    chosen, chance = likely_rivals(chance_above(-gap, np.ones(5)))
    assert chosen.tolist() == [3, 0, 1] or chosen.tolist() == [3, 0, 1, 4]
    assert np.allclose(chance, norm.cdf(-gap[chosen]))
    assert norm.cdf(-np.delete(gap, chosen)).sum() <= NEGLIGIBLE


def test_one_candidate_left_is_identified():
    campaign = told(independent(), [3.0], {"identified": True, "probability": 0.9999}, candidates={"width": 0.1})
    assert len(campaign.candidates) == 1 and campaign.certainty.probability < 0.9999
    assert campaign.certainty.enough_known


def test_identified_means_within_what_measurements_can_tell():
    campaign = told(line(), [0.5, 0.9, 0.7], "identified")
    deviation = campaign.knowledge.predict([campaign.recommendation])[1][0]
    assert campaign.certainty.tolerance == pytest.approx(min(deviation, 0.1))


def test_it_is_the_same_after_loading_and_leaves_the_moves_alone():
    free, strict = (told(line(), [0.5, 0.9, 0.7], stop) for stop in ({}, {"regret": 0.0, "probability": 0.999}))
    assert free.certainty is None and free.history.moves == strict.history.moves
    assert free.generator.bit_generator.state == strict.generator.bit_generator.state
    loaded = Campaign.from_state(line(), strict.state())
    assert loaded.certainty == strict.certainty


def test_before_the_first_result_nothing_is_said():
    assert told(line(), [], {"regret": 0.1}).certainty is None


def test_words_and_data():
    sure = Certainty(0.934, 0.01, 0.9, True)
    assert "enough is known: with probability 0.93" in sure.in_words("mol") and "0.01 mol" in sure.in_words("mol")
    assert Certainty(0.99999, 0.0, 0.9, True).in_words().startswith("enough is known: with probability 0.999 ")
    assert "not enough is known yet" in Certainty(0.5, 0.0, 0.9, False).in_words()
    assert Certainty.from_dict(sure.to_dict()) == sure
    with pytest.raises(ValueError):
        Certainty.from_dict({**sure.to_dict(), "probability": float("nan")})
