"""The annealed rule: Thompson sampling at the start, from half of the budget on ever narrower upper confidence bounds."""

import numpy as np
import pytest
from scipy import stats

from tcbo_pyomo import Campaign, load_problem, settings_from
from tcbo_pyomo.candidates.annealed import Annealed
from tcbo_pyomo.candidates.thompson_sampling import ThompsonSampling
from tcbo_pyomo.candidates.upper_confidence import UpperConfidence
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


@pytest.fixture(scope="module")
def surrogate():
    belief = ContinuousBelief(SquaredExponential(1.0, 0.2), 2, "exact", None)
    for point, value in zip(np.random.default_rng(0).uniform(-0.5, 0.5, (6, 2)), range(6), strict=True):
        belief.observe(tuple(point), 0.1 * value, 1e-3)
    return belief


@pytest.mark.parametrize(("share", "rule"), [(0.0, ThompsonSampling(12)), (0.5, UpperConfidence(3))])
def test_the_beginning_and_the_middle_are_the_pure_rules(surrogate, share, rule):
    ours, theirs = np.random.default_rng(5), np.random.default_rng(5)
    found = Annealed(12)(surrogate, None, ours, share)
    theirs.random()  # The lot that decides.
    np.testing.assert_array_equal(found, rule(surrogate, None, theirs))


@pytest.mark.parametrize(("share", "largest"), [(0.6, 2.0), (0.75, 1.25), (0.9, 0.5), (1.0, 0.05)])
def test_the_widest_bound_narrows_with_the_second_half(surrogate, share, largest):
    """Against a fine grid: the last candidate has the largest mean + beta sd, the first the largest mean."""
    axis = np.linspace(-0.5, 0.5, 201)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    mean, deviation = surrogate.mean(grid), surrogate.standard_deviation(grid)
    found = Annealed(12)(surrogate, None, np.random.default_rng(5), share)
    assert found.shape == (3, 2)
    for beta, point in ((0.0, found[:1]), (largest, found[2:])):
        bound = surrogate.mean(point)[0] + beta * surrogate.standard_deviation(point)[0]
        assert bound >= (mean + beta * deviation).max() - 1e-9
        assert bound == pytest.approx((mean + beta * deviation).max(), abs=1e-3)


def test_in_between_the_lot_falls_with_the_budget(monkeypatch):
    counts = []
    for share in (0.1, 0.25, 0.4):
        rule, generator = Annealed(4), np.random.default_rng(1)
        drawn = []
        monkeypatch.setattr(ThompsonSampling, "__call__", lambda *_, drawn=drawn, **__: drawn.append(True))
        monkeypatch.setattr(UpperConfidence, "__call__", lambda *_, drawn=drawn, **__: drawn.append(False))
        for _ in range(400):
            rule(None, None, generator, share)
        counts.append(sum(drawn))
        # Binomial with the probability of the docstring; a wrong schedule has no chance at this level.
        assert stats.binomtest(sum(drawn), 400, 1.0 - 2.0 * share).pvalue > 1e-4
    assert counts[0] > counts[1] > counts[2]


def test_a_campaign_knows_how_much_is_spent_and_repeats_itself():
    problem = load_problem("branin2d")
    settings = settings_from(dict(problem.settings), {"candidates": {"rule": "annealed", "count": 8}})
    campaigns = [Campaign(problem, settings, seed=3) for _ in range(2)]
    for campaign in campaigns:
        assert campaign.knowledge.share_spent == 0.0
        for _ in range(3):
            move = campaign.ask()
            campaign.tell(move.number, 0.1)
        assert campaign.knowledge.share_spent == pytest.approx(2 / 100)
        assert len(campaign.candidates) == 8
    first, second = ([move.expected for move in campaign.history.moves] for campaign in campaigns)
    assert first == second
