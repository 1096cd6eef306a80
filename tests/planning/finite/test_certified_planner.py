"""`planner: {gap: ...}` in campaigns: settings, records, repeatability, budgets with HiGHS."""

import pytest

from tcbo_pyomo import Campaign, Problem, grid_process, load_problem, open_campaign, save_campaign, settings_from
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.models.constraints import NonDecreasing, ResourceBudget
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def heating(left, right):
    return abs(right["y"] - left["y"])


def problem(*constraints):
    plant = grid_process({"x": list(range(5)), "y": list(range(4))}, {"x": [0, 1], "y": [-1, 0, 1]}, 0.05)
    start = {"x": 0, "y": 0}
    return Problem("small", plant, start, 6, 2, SquaredExponential(1.0, 0.3), constraints, output="found")


def settings(gap=0.02, **planner):
    return settings_from({"feedback": {"kind": "episodic"}, "planner": {"gap": gap, **planner}})


@pytest.mark.parametrize("gap", [0.0, 1.0, -0.1, "1 %"])
def test_gap_is_a_share(gap):
    with pytest.raises(BadInput, match="gap"):
        settings(gap)


def test_continuous_plants_refuse_a_gap():
    with pytest.raises(BadInput, match="not convex"):
        Campaign(
            load_problem("branin2d"),
            settings_from({"candidates": {"rule": "upper_confidence"}, "planner": {"gap": 0.1}}),
        )


@pytest.mark.parametrize("solver", ["highs", "dynamic_programming"])
def test_every_plan_of_a_campaign_carries_its_certificate_and_the_campaign_repeats(solver, tmp_path):
    chosen = settings(linear={"solver": solver})
    first, second = (Campaign(problem(NonDecreasing("x")), chosen, seed=4) for _ in range(2))
    for number in range(1, 13):
        moves = [campaign.ask() for campaign in (first, second)]
        assert moves[0] == moves[1]
        record = first.method.plan_record()
        assert record["certificate"]["gap"] <= 0.02 and record["components"] >= 1
        assert record["certificate"]["lower"] <= record["certificate"]["upper"] <= record["utility"]
        for campaign in (first, second):
            campaign.tell(number, 0.1 * number)
        if number == 5:
            save_campaign(second, tmp_path / "campaign.json")
            second = open_campaign(tmp_path / "campaign.json", problem(NonDecreasing("x")))
    assert first.finished


def test_budgets_hold_on_every_executed_path():
    rule = ResourceBudget("heating", heating, 2.0)
    for seed in range(5):
        campaign = Campaign(problem(rule), settings(), seed=seed)
        while not campaign.finished:
            campaign.arrive(campaign.ask().number)
        for episode in (1, 2):
            path = campaign.problem.process.states[list(campaign.history.path(episode))]
            assert rule.violations(EpisodePath(campaign.problem.coordinates, path, True)) == []


@pytest.mark.parametrize("chosen", [{"form": "kernel"}, {"objective": "g_allocation"}])
def test_other_forms_of_the_utility(chosen):
    campaign = Campaign(problem(), settings_from({"utility": chosen, "planner": {"gap": 0.02}}), seed=1)
    campaign.ask()
    assert campaign.method.last_plan.certificate.gap <= 0.02
