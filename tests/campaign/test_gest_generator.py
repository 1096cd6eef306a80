"""The Generator standard: a campaign driven by suggest and ingest makes the moves it makes by ask and tell."""

import sys

import pytest

from tcbo_pyomo import Campaign, load_problem
from tcbo_pyomo.campaign.simulated_plant import SimulatedPlant
from tcbo_pyomo.errors import BadInput


def test_a_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gest_api", None)
    monkeypatch.delitem(sys.modules, "tcbo_pyomo.campaign.gest_generator", raising=False)
    with pytest.raises(BadInput, match="pip install gest-api"):
        import tcbo_pyomo.campaign.gest_generator  # noqa: F401


@pytest.fixture(scope="module")
def gest():
    pytest.importorskip("gest_api", reason="gest-api is not installed: the Generator standard was NOT tested")
    import tcbo_pyomo.campaign.gest_generator as module

    return module


@pytest.fixture
def generator(gest):
    return gest.CampaignGenerator(None, Campaign(load_problem("knorr_pyrazole", "immediate"), seed=1))


def measured(generator, points):
    """What a workflow does between suggest and ingest: evaluate a simulation."""
    campaign = generator.campaign
    plant = SimulatedPlant(campaign.problem, campaign.seed)
    results = []
    for point in points:
        move = campaign.history.move(point["_id"])
        sent = Campaign(campaign.problem).history.add(move.origin, move.step, move.decision, move.expected)
        sent.episode, sent.arrived = move.episode, move.expected
        results.append({**point, "y": plant.measure(sent)})
    return results


def test_it_is_a_generator_with_our_coordinates(gest, generator):
    from gest_api import Generator

    assert isinstance(generator, Generator) and generator.returns_id
    assert generator.vocs.variable_names == ["residence_time", "ratio"]
    assert generator.vocs.bounds == [[0.0, 40.0], [0.0, 1.0]]
    assert generator.vocs.objective_names == ["y"]
    assert generator._validate_vocs(generator.vocs) is None
    generator.finalize()


def test_suggest_and_ingest_are_ask_and_tell(generator):
    other = Campaign(load_problem("knorr_pyrazole", "immediate"), seed=1)
    plant = SimulatedPlant(other.problem, 1)
    for _ in range(5):
        move = other.ask()
        other.arrive(move.number)
        points = generator.suggest(1)
        assert points == [{**other.problem.describe(move.expected), "_id": move.number}]
        assert generator.suggest() == points
        generator.ingest(measured(generator, points))
        other.tell(move.number, plant.measure(move))
    assert generator.campaign.recommendation == other.recommendation
    assert generator.campaign.experiments().equals(other.experiments())


def test_a_whole_episode_is_suggested_as_a_schedule_and_told_in_any_order(generator):
    points = generator.suggest(10)
    assert [point["_id"] for point in points] == list(range(1, 11))
    generator.ingest(measured(generator, points[::-1]))
    assert generator.campaign.history.told == list(range(10, 0, -1))
    with pytest.raises(ValueError, match="10 moves left"):
        generator.suggest(3)


def test_the_plant_may_have_gone_elsewhere(generator):
    (point,) = generator.suggest(1)
    generator.ingest([{**point, "residence_time": 4.0, "ratio": 0.1, "y": 0.2}])
    (move,) = generator.campaign.history.moves
    assert generator.campaign.problem.describe(move.arrived) == {"residence_time": 4.0, "ratio": 0.1}


def test_bad_results_are_refused_and_nothing_is_told(generator):
    (point,) = generator.suggest(1)
    good = {**point, "y": 0.1}
    bad = [
        ({**good, "y": float("nan")}, "finite number"),
        ({**good, "y": "0.1"}, "finite number"),
        ({**good, "_id": 7}, "never asked for"),
        ({**good, "ratio": 0.123}, "no state at"),
        (point, "no 'y'"),
    ]
    for result, message in bad:
        with pytest.raises(ValueError, match=message):
            generator.ingest([good, result] if result is not point else [result])
        assert generator.campaign.history.told == []
    with pytest.raises(ValueError, match="occurs twice"):
        generator.ingest([good, good])
    generator.ingest([{name: value for name, value in good.items() if name != "_id"}])
    with pytest.raises(ValueError, match="already has a result"):
        generator.ingest([good])


def test_another_vocs_is_refused(gest):
    from gest_api.vocs import VOCS

    campaign = Campaign(load_problem("knorr_pyrazole"), seed=1)
    variables = {"residence_time": [0, 40], "ratio": [0, 1]}
    for vocs, message in [
        (VOCS(variables={"x": [0, 1]}, objectives={"y": "MAXIMIZE"}), "variables"),
        (VOCS(variables={**variables, "ratio": [0, 2]}, objectives={"y": "MAXIMIZE"}), "'ratio'"),
        (VOCS(variables=variables, objectives={"y": "MINIMIZE"}), "maximise 'y'"),
        (VOCS(variables=variables, objectives={"y": "MAXIMIZE"}, constants={"c": 1}), "constants"),
    ]:
        with pytest.raises(ValueError, match=message):
            gest.CampaignGenerator(vocs, campaign)
    gest.CampaignGenerator(VOCS(variables=variables, objectives={"y": "MAXIMIZE"}), campaign)


def test_a_continuous_campaign_and_a_random_plant(gest):
    generator = gest.CampaignGenerator(None, Campaign(load_problem("thermal_reactor"), seed=1))
    for _ in range(2):
        (point,) = generator.suggest(1)
        generator.ingest([{**point, "y": 0.3}])
    assert [move.arrived == move.expected for move in generator.campaign.history.moves] == [True, True]
    with pytest.raises(ValueError, match="random transitions"):
        gest.CampaignGenerator(None, Campaign(load_problem("river"), seed=1)).suggest(1)


def test_results_of_a_schedule_that_was_left_are_all_refused(gest):
    generator = gest.CampaignGenerator(None, Campaign(load_problem("knorr_pyrazole"), seed=1))
    points = generator.suggest(load_problem("knorr_pyrazole").horizon)
    elsewhere = {**points[0], "residence_time": 40.0, "ratio": 1.0}
    with pytest.raises(ValueError, match="move 1 ended elsewhere than suggested, and later moves also have results"):
        generator.ingest([{**elsewhere, "y": 0.3}, {**points[1], "y": 0.3}])
    with pytest.raises(ValueError, match=r"1e\+50"):
        generator.ingest([{**points[0], "y": 0.3}, {**points[1], "y": 1e300}])
    assert generator.campaign.history.told == []
    generator.ingest([{**elsewhere, "y": 0.3}])
    assert generator.campaign.history.told == [1] and generator.campaign.history.moves[1].cancelled
