"""A file grows with what is told and no faster; files of format 1, which repeat results in every row, are continued."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from small_campaigns import LONG, again, line, result_of, started

from tcbo_pyomo.records import file_format, open_campaign
from tcbo_pyomo.records.file_format import make_row
from tcbo_pyomo.records.ledger import insert
from tcbo_pyomo.records.rebuild import data_of


@pytest.fixture
def campaign(tmp_path):
    return started(tmp_path / "campaign.db", LONG)


def test_a_file_grows_with_the_number_of_replicates_and_no_faster(campaign):
    campaign.tell(campaign.ask().number, 0.5)
    sizes, said = [], []
    for _ in range(3):
        for number in range(100):
            campaign.tell(1, 0.5 + number / 1000, replicate=True)
        rows = campaign._ledger.rows[-100:]
        # What is new about the model, in words: a warning more or less.
        said.append([len(json.dumps(row.body["model"])) for row in rows])
        sizes.append(sum(len(row.text) for row in rows) - sum(said[-1]))
    assert max(sizes) < 1.05 * min(sizes) and max(sizes) < 100 * 200
    assert sum(said[2]) <= sum(said[0]) and max(map(max, said)) < 500
    assert len(again(campaign).history.moves[0].values) == 301


def test_rows_of_0_1_0_give_the_results_that_they_repeat():
    fixtures = Path(__file__).parent / "files_of_0_1_0"
    for name in ("knorr", "branin"):
        connection = sqlite3.connect(f"{(fixtures / name).with_suffix('.db').as_uri()}?mode=ro", uri=True)
        bodies = [json.loads(text) for (text,) in connection.execute("SELECT body FROM campaign_rows ORDER BY number")]
        repeated = {}
        for body in bodies:
            repeated.update({move["number"]: move["value"] for move in body.get("moves", ())})
        opened = open_campaign((fixtures / name).with_suffix(".db"))
        assert {move.number: move.value for move in opened.history.moves} == repeated


def test_a_file_of_0_1_0_that_forgot_violations_gets_them_back(tmp_path):
    """The rows are those that 0.1.0 wrote for: ask, tell --at x=5, replicate, undo."""
    campaign = started(tmp_path / "c.db")
    campaign.ask()
    broken = list(campaign.tell(1, 0.3, at={"x": 5}).violations)
    campaign.tell(1, 0.31, replicate=True)
    as_format_1(campaign)
    opened = open_campaign(tmp_path / "c.db", line())
    assert opened.violations == {1: broken} and opened.status().measurements == 1
    opened.ask()
    row = opened._ledger.rows[-2]
    assert row.kind == "migration" and row.body == {"from": 1, "to": file_format.VERSION, "violations": {"1": broken}}
    assert open_campaign(tmp_path / "c.db", line()).violations == {1: broken}


def as_format_1(campaign):
    """Take the last tell back the way 0.1.0 did, in a file of its format."""
    move = {**data_of(campaign.history.moves[0]), "value": 0.3, "replicates": []}
    last = campaign._ledger.rows[-1]
    facts = {"move": 1, "undoes": last.number, "moves": [move], "untold": 1, "violations": {1: []}}
    connection = sqlite3.connect(campaign.path)
    insert(connection, [make_row(last, "undo", facts)])
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()


def test_files_of_0_1_0_stay_as_they_are_until_something_is_written(tmp_path):
    source = Path(__file__).parent / "files_of_0_1_0" / "knorr.db"
    path = shutil.copy(source, tmp_path / "knorr.db")
    campaign = open_campaign(path)
    campaign.status()
    campaign.export(tmp_path / "all.csv")
    assert Path(path).read_bytes() == source.read_bytes()
    number = campaign.ask().number
    campaign.tell(number, result_of(number))
    kinds = [row.kind for row in campaign._ledger.rows]
    found = sqlite3.connect(path).execute("PRAGMA user_version").fetchone()
    assert kinds.count("migration") == 1 and found == (file_format.VERSION,)
