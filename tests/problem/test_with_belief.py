"""What settings make a campaign believe; the plant that is simulated stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from tcbo_pyomo import Campaign, PlainPrior, SquaredExponential, load_problem
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.problem.with_belief import with_belief
from tcbo_pyomo.settings import SurrogateSettings, settings_from


def believed(name, **surrogate):
    problem = load_problem(name)
    campaign = Campaign(problem, settings_from(dict(problem.settings), {"surrogate": surrogate}))
    assert campaign.problem is problem
    return problem, campaign.knowledge.problem


@pytest.mark.parametrize("name", ["lake_ypacarai", "branin2d"])
def test_no_settings_change_nothing(name):
    problem, other = believed(name)
    assert other is problem
    assert with_belief(problem, SurrogateSettings()) is problem


@pytest.mark.parametrize("name", ["lake_ypacarai", "branin2d"])
def test_plain_answers_replace_the_kernel_and_keep_the_noise(name):
    problem, other = believed(name, prior={"range": [-1.0, 3.0]})
    assert other.prior == PlainPrior((-1.0, 3.0), problem.typical_noise**0.5)
    assert not other.kernel_given and problem.kernel_given
    assert other.kernel.mean(np.zeros((1, 2)))[0] == 1.0
    assert other.kernel.diagonal(np.zeros((1, 2)))[0] == pytest.approx((4 / 4) ** 2 + (4 / 6) ** 2)
    assert other.typical_noise == problem.typical_noise


@pytest.mark.parametrize("name", ["lake_ypacarai", "branin2d"])
def test_another_or_an_unknown_noise(name):
    _, known = believed(name, prior={"range": [0.0, 2.0], "measurement_sd": 0.5})
    assert known.typical_noise == pytest.approx(0.25) and known.prior.measurement_sd == 0.5
    _, unknown = believed(name, prior={"range": [0.0, 2.0], "measurement_sd": "unknown"})
    assert unknown.typical_noise == pytest.approx(0.04**2) and unknown.prior.measurement_sd is None


def test_a_wrong_belief_is_wrong_by_as_much_as_was_asked_for():
    problem, other = believed("branin2d", misbelief={"lengthscale": 3.0, "variance": 0.1, "noise": 10.0, "level": -5.0})
    shifted, level = other.kernel.kernels
    assert (shifted.variance, *shifted.lengthscale) == pytest.approx((0.06, 0.45, 0.45))
    assert level.weight_mean == pytest.approx(-5.0 * 0.6**0.5) and level.weight_variance < 1e-8
    assert other.noise == pytest.approx(10.0 * problem.noise) and problem.noise == 0.001


def test_an_isotropic_belief_has_the_shortest_lengthscale_everywhere():
    problem = load_problem("branin2d").changed(kernel=SquaredExponential(1.0, (0.1, 2.0)))
    other = with_belief(problem, SurrogateSettings.model_validate({"misbelief": {"isotropic": True}}))
    assert other.kernel.lengthscale == pytest.approx((0.1, 0.1))


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({"range": [3.0, 1.0]}, "prior: range (3.0, 1.0) must be two finite numbers"),
        ({"range": [0.0]}, "setting 'surrogate.prior.range"),
        ({"range": [0.0, 1.0], "measurement_sd": -1.0}, "measurement_sd -1.0 must be a positive number"),
        ({"range": [0.0, 1.0], "measurement_sd": "small"}, "setting 'surrogate.prior.measurement_sd"),
        ({"range": [0.0, 1.0], "changes_within": {"z": 1.0}}, "unknown coordinate 'z'"),
    ],
)
def test_bad_answers_are_one_line(prior, message):
    with pytest.raises(BadInput) as caught:
        believed("branin2d", prior=prior)
    assert message in str(caught.value) and "\n" not in str(caught.value)
