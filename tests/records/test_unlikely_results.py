"""Impossible results are refused, unlikely ones said aloud; exports, recommendations and files of results."""

import pytest
from small_campaigns import LONG, again, started

from tcbo_pyomo import Campaign, load_problem
from tcbo_pyomo.checks.audit import audit_campaign, audit_path
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.records.results_file import read_results
from tcbo_pyomo.report.page import render_report
from tcbo_pyomo.settings import settings_from


@pytest.fixture
def campaign(tmp_path):
    return started(tmp_path / "campaign.db", LONG)


@pytest.mark.parametrize("value", [1e308, -1e308, 1.1e50])
def test_a_value_beyond_all_measure_is_refused(campaign, value):
    campaign.ask()
    before = campaign.path.read_bytes()
    with pytest.raises(BadInput, match=r"must be between -1e\+50 and 1e\+50, because the model computes with squares"):
        campaign.tell(1, value)
    assert campaign.path.read_bytes() == before
    memory = Campaign(LONG)
    with pytest.raises(BadInput, match=r"1e\+50"):
        memory.tell(memory.ask().number, value)


@pytest.mark.parametrize("name", ["knorr_pyrazole", "branin2d"])
def test_the_largest_value_can_be_computed_with(name):
    problem = load_problem(name)
    campaign = Campaign(problem, settings_from(dict(problem.settings), {"candidates": {"count": 4}}), 1)
    for value in (1e50, -1e50):
        campaign.tell(campaign.ask().number, value)
    campaign.ask()
    mean, sd = campaign.predict(problem.describe(campaign.recommendation))
    assert abs(mean) < 1e51 and 0.0 < sd < 10.0


def test_a_slip_of_the_pen_is_said_marked_and_confirmed(campaign, tmp_path):
    """The prior has variance 1 and the noise 0.01, so that a first result has the standard deviation sqrt(1.01)."""
    assert campaign.tell(campaign.ask().number, 5.0).surprise is None
    assert campaign.undo() and campaign.tell(1, 5.1).surprise.deviations == pytest.approx(5.1 / 1.01**0.5)
    receipt = campaign.tell(campaign.ask().number, -550.0)
    mean, sd = before_the_last(campaign)
    assert receipt.surprise.expected == pytest.approx(mean, rel=1e-12)
    assert receipt.surprise.sd == pytest.approx((sd**2 + 0.01) ** 0.5, rel=1e-12)
    assert receipt.surprise.deviations == pytest.approx((mean + 550.0) / receipt.surprise.sd, rel=1e-12)
    assert again(campaign).history.moves[1].surprises == (receipt.surprise,)
    assert list(campaign.status().surprises) == [1, 2]
    assert campaign.status().surprises[2] == [f"-550 g/l, {receipt.surprise.in_words('g/l')}"]
    assert f"-550 g/l, {receipt.surprise.in_words('g/l')}" in render_report(campaign.campaign)
    assert exported(campaign, tmp_path)["surprise"].tolist()[1] == receipt.surprise.in_words("g/l")
    assert campaign.tell(2, -550.0, confirm=True).new and not campaign.tell(2, -550.0, confirm=True).new
    assert list(again(campaign).status().surprises) == [1] and campaign.history.moves[1].surprises[0].confirmed
    assert exported(campaign, tmp_path)["surprise"].tolist()[1].startswith("confirmed: expected was")
    campaign.undo(2)
    assert again(campaign).history.moves[1].surprises == ()


def test_a_confirmed_result_is_on_record_and_not_in_doubt(campaign):
    surprise = campaign.tell(campaign.ask().number, 700.0, confirm=True).surprise
    assert surprise.confirmed and again(campaign).status().surprises == {}
    assert campaign._ledger.rows[-1].body["surprise"]["confirmed"] is True
    assert campaign.tell(1, 0.5, replicate=True).surprise is not None
    assert list(again(campaign).status().surprises) == [1]
    assert campaign.tell(1, 0.5, confirm=True).new and again(campaign).status().surprises == {}
    assert [value for value, _ in campaign.history.moves[0].measured] == [700.0, 0.5]


def before_the_last(campaign):
    """What was predicted for the last result, computed by a campaign in memory with all results but that one."""
    memory = Campaign(LONG, campaign.settings, campaign.seed)
    moves = campaign.history.moves
    for move in moves[:-1]:
        memory.tell(memory.ask().number, move.value)
    return memory.predict(LONG.describe(moves[-1].arrived))


def exported(campaign, folder):
    import pandas as pd

    campaign.export(folder / "all.csv", force=True)
    return pd.read_csv(folder / "all.csv", keep_default_na=False)


def test_an_export_is_audited_as_its_campaign(campaign, tmp_path):
    schedule = campaign.ask_episode()
    campaign.tell(1, 0.3, at={"x": 6})
    campaign.tell(1, 0.31, replicate=True)
    campaign.ask()
    campaign.export(tmp_path / "all.csv")
    findings = audit_path(LONG, tmp_path / "all.csv")
    wanted = audit_campaign(campaign.campaign)
    assert [(f.episode, f.step, f.constraint) for f in findings] == [(f.episode, f.step, f.constraint) for f in wanted]
    assert len(wanted) == 2 and len(schedule) == 4
    other = started(tmp_path / "other.db", LONG)
    other.ask()
    other.export(tmp_path / "open.csv")
    assert audit_path(LONG, tmp_path / "open.csv") == []


def test_there_is_no_recommendation_before_the_first_result(campaign):
    campaign.ask()
    best = campaign.best()
    assert (best.at, best.mean, best.standard_deviation, best.measurements) == (None, None, None, 0)
    campaign.tell(1, 0.3)
    assert campaign.best().at is not None


def test_blank_results_are_not_there_yet(campaign, tmp_path):
    campaign.ask_episode()
    file = tmp_path / "results.csv"
    file.write_text("move,yield_\n1,\n2,0.5\n3,  \n")
    results = read_results(file, campaign.problem, campaign.history)
    assert [(result.number, result.value) for result in results] == [(2, 0.5)]
    file.write_text("move,yield_\n1,\n2, \n")
    with pytest.raises(BadInput, match="is empty in all 2 rows"):
        read_results(file, campaign.problem, campaign.history)
