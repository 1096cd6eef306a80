"""What `status` says about the model is read from the row of the last result, and is what the model itself says."""

import json
import sqlite3

import pytest
from small_campaigns import home, started

from tcbo_pyomo.errors import DamagedFile
from tcbo_pyomo.knowledge.knowledge import Knowledge
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.records import open_campaign, start_campaign
from tcbo_pyomo.records.file_format import FIRST, link
from tcbo_pyomo.records.results import Result
from tcbo_pyomo.records.status import status_of
from tcbo_pyomo.settings import settings_from


def model_of(status):
    return status.belief, status.belief_lines, status.warnings


def computed(campaign):
    return model_of(status_of(campaign.campaign, {}))


@pytest.mark.parametrize(
    ("problem", "choices"),
    [
        ("knorr_pyrazole", {}),
        ("fuel_lake", {"surrogate": {"fit": "learn"}}),
        ("branin2d", {"candidates": {"count": 4}, "surrogate": {"fit": "each_episode"}}),
    ],
)
def test_the_row_says_what_the_model_says(tmp_path, monkeypatch, problem, choices):
    monkeypatch.chdir(tmp_path)
    campaign = start_campaign("c.db", problem, settings_from(dict(load_problem(problem).settings), choices), 1)
    for value in (0.3, 0.1, 0.2, 0.25, 0.3, 40.0):
        campaign.tell(campaign.ask().number, value)
        assert model_of(open_campaign("c.db").status()) == computed(open_campaign("c.db")) == computed(campaign)
    campaign.ask()
    told = open_campaign("c.db")
    shown = model_of(told.status())
    assert shown == computed(open_campaign("c.db"))
    told.undo(6)
    assert model_of(told.status()) == computed(open_campaign("c.db"))
    assert told.status().measurements == 5


def test_status_does_not_ask_the_model(tmp_path, monkeypatch):
    campaign = started(tmp_path / "c.db", home(episodes=3))
    campaign.tell(campaign.ask().number, 0.3)
    asked = []
    monkeypatch.setattr(Knowledge, "left_out", lambda *_: asked.append(True))
    opened = open_campaign(tmp_path / "c.db", home(episodes=3))
    assert opened.status().belief_lines
    opened.arrive(opened.ask().number) if opened.history.open_move else None
    opened.skip(1) if opened.history.open_move else None
    assert opened.status().belief_lines and not asked


def test_of_many_results_the_last_row_says_it(tmp_path):
    campaign = started(tmp_path / "c.db", home(episodes=3))
    schedule = campaign.ask_episode()
    campaign.tell_many([Result(move.number, 0.1) for move in schedule])
    says = ["model" in row.body for row in campaign._ledger.rows if row.kind == "tell"]
    assert says == [False] * (len(schedule) - 1) + [True]
    assert model_of(campaign.status()) == computed(campaign)


@pytest.mark.parametrize(
    "nonsense",
    [
        5,
        {"belief_lines": 5},
        {"belief": 5, "belief_lines": [], "warnings": []},
        {"belief": {}, "belief_lines": [5], "warnings": []},
    ],
)
def test_nonsense_of_another_program_is_called_damage(tmp_path, nonsense):
    campaign = started(tmp_path / "c.db", home(episodes=3))
    campaign.tell(campaign.ask().number, 0.3)
    before = FIRST
    with sqlite3.connect(tmp_path / "c.db") as connection:
        for row in campaign._ledger.rows:
            body = row.body | ({"model": nonsense} if row.kind == "tell" else {})
            text = json.dumps(body)
            before = link(before, row.number, row.time, row.kind, row.key, text)
            connection.execute(
                "UPDATE campaign_rows SET body = ?, chain = ? WHERE number = ?", (text, before, row.number)
            )
        connection.execute("UPDATE campaign_head SET chain = ?", (before,))
    connection.close()
    with pytest.raises(DamagedFile, match="do not describe a campaign"):
        open_campaign(tmp_path / "c.db", home(episodes=3))
