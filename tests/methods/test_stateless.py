"""State-less BO believes in the worst noise; the plant keeps its own."""

import numpy as np
import pytest
from rival_plants import grid, line, move_noise, plane

from tcbo_pyomo import Campaign, run_campaign, settings_from
from tcbo_pyomo.campaign.simulation import SimulatedPlant
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.methods.stateless import Stateless
from tcbo_pyomo.models.constraints import MaximumStep
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

SETTINGS = settings_from({"method": "stateless"})


def test_model_and_plan_believe_the_worst_and_the_plant_does_not():
    campaign = Campaign(line(noise=move_noise), SETTINGS)
    worst = 0.01 + 0.1
    assert set(campaign.knowledge.problem.process.noise_variance) == {worst}
    assert set(campaign.method.planner.problem.process.noise_variance) == {worst}
    assert set(np.round(campaign.problem.process.noise_variance, 12)) == {0.01, 0.11}

    move = campaign.ask()
    stay = next(p for p in campaign.problem.process.pairs_of(2) if campaign.problem.process.successor[p] == 2)
    move.decision, move.expected = stay, 2
    campaign.tell(move.number, 0.3)
    # One measurement of a prior variance of 1 with the believed noise.
    assert campaign.knowledge.belief.variance[2] == pytest.approx(1.0 - 1.0 / (1.0 + worst), rel=1e-9)
    plant = SimulatedPlant(campaign.problem, 0)
    surprise = plant.measure(move) - campaign.problem.truth[2]
    assert surprise == pytest.approx(0.01**0.5 * plant._chance(move, 2).standard_normal(), rel=1e-12)


def test_only_moves_that_may_be_made_count():
    process = grid(noise=move_noise).process
    assert process.noise_variance.max() == pytest.approx(0.21)
    problem = grid((MaximumStep({"y": 0}),), noise=move_noise)
    assert set(np.round(Stateless.believed(problem).process.noise_variance, 12)) == {0.11}


def test_it_gives_a_long_move_as_much_credit_as_a_short_one():
    """Either of two states tells them apart: the paper's method prefers the near one, this rival does not care."""
    problem = line(3, noise=move_noise, start=0, horizon=1, kernel=SquaredExponential(1.0, 0.01))
    moves = {"mdp_bo": set(), "stateless": set()}
    for method, found in moves.items():
        for seed in range(20):
            settings = settings_from({"method": method, "planner": {"linear": {"solver": "dynamic_programming"}}})
            found.add(Campaign(problem, settings, seed).ask().expected)
    assert moves == {"mdp_bo": {0}, "stateless": {0, 1}}


def test_pairs_that_make_no_sense_are_refused_with_the_reason():
    with pytest.raises(BadInput, match=r"stateless.*in problem 'line' it does not \(variance 0.01 everywhere\)"):
        Campaign(line(), SETTINGS)
    with pytest.raises(BadInput, match=r"stateless.*'plane' is continuous; use mdp_bo"):
        Campaign(plane(), settings_from({"method": "stateless", "candidates": {"rule": "upper_confidence"}}))


def test_a_campaign_runs():
    result = run_campaign(grid(noise=move_noise, episodes=1), SETTINGS, 2)
    assert len(result.experiments) == 4
