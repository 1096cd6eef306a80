"""Past experiments in the record: kept, taken back, given back, and the same in every digit for whoever reads them."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_campaigns import SETTINGS, again, line, result_of, started, state

from tcbo_pyomo import BadInput, Campaign, PlainPrior, open_campaign, save_campaign, start_campaign
from tcbo_pyomo.campaign.simulation import Simulation
from tcbo_pyomo.checks.audit import full_campaign_audit
from tcbo_pyomo.records import file_format
from tcbo_pyomo.records.json_file import resume_simulation, save_simulation
from tcbo_pyomo.records.run_folder import read_run, write_run
from tcbo_pyomo.report.page import render_report

OLD = "x (min),yield_ (g/l),operator\n1,0.2,ann\n3.5,0.6,\n6,0.9,bob\n0,,bob\n"
FORMAT_2 = Path(__file__).parent / "files_of_format_2" / "campaign.db"


@pytest.fixture
def old(tmp_path):
    (tmp_path / "old.csv").write_text(OLD)
    return tmp_path / "old.csv"


def learning(**changes):
    return line(kernel=None, prior=PlainPrior((0.0, 2.0), 0.1), **changes)


def test_a_campaign_starts_from_them_and_another_process_finds_the_same(tmp_path, old):
    campaign = start_campaign(tmp_path / "c.db", line(), SETTINGS, 4, data=old)
    memory = Campaign(line(), SETTINGS, 4, data=old)
    assert campaign.recommendation == memory.recommendation == 5
    assert campaign.status().past_results == 3 and campaign.best().past_results == 3
    for number in range(1, 8):
        move, same = campaign.ask(), memory.ask()
        assert (move.number, move.decision) == (same.number, same.decision)
        campaign.tell(number, result_of(number))
        memory.tell(number, result_of(number))
    again(campaign)
    assert json.dumps(campaign.campaign.state()) == json.dumps(memory.state())
    assert campaign.status().measurements == 7 and campaign.status().moves_made == 7


def test_added_later_they_change_the_plan_and_are_taken_back_without_a_trace_in_the_belief(tmp_path, old):
    campaign = started(tmp_path / "c.db", learning())
    for number in range(1, 7):
        campaign.tell(campaign.ask().number, result_of(number))
    mean, learned = campaign.knowledge.belief.mean.copy(), campaign.knowledge.learned
    added = campaign.add_data(old)
    assert added.batch.source == "old.csv" and [result.row for result in added.batch.results] == [2, 3, 4]
    assert added.notes[0] == "left out the columns operator" and "1 row between the states" in added.notes[-1]
    with_data = campaign.knowledge.belief.mean.copy()
    assert np.abs(with_data - mean).max() > 0.01
    again(campaign)
    assert campaign.undo() == "data 1, 3 past results from old.csv"
    np.testing.assert_array_equal(campaign.knowledge.belief.mean, mean)
    assert campaign.knowledge.learned == learned
    again(campaign)
    # Whatever was added and taken back, numbers are used once.
    assert campaign.add_data(old).batch.number == 2
    np.testing.assert_array_equal(again(campaign).knowledge.belief.mean, with_data)
    assert campaign.remove_data(2, rows=[3]) == "data 2, 1 past result from old.csv"
    assert [result.row for _, result in again(campaign).past.rows] == [2, 4]
    assert campaign.remove_data("old.csv") == "data 2, 2 past results from old.csv"
    assert not again(campaign).past
    assert campaign.undo() == "the removal of data 2, 2 past results from old.csv"
    assert campaign.undo() == "the removal of data 2, 1 past result from old.csv"
    np.testing.assert_array_equal(again(campaign).knowledge.belief.mean, with_data)
    # A result can be taken back across them.
    assert campaign.undo(6).startswith("the tell of move 6") and len(again(campaign).past) == 3


def test_the_same_file_twice_and_the_same_command_twice(tmp_path, old):
    campaign = started(tmp_path / "c.db")
    campaign.add_data(old, key="monday")
    position = campaign._ledger.position
    repeated = campaign.add_data(old, key="monday")
    assert not repeated.new and repeated.batch == campaign.past.batches[0] and campaign._ledger.position == position
    with pytest.raises(BadInput, match=r"all of its 3 rows .* are in data 1 .old.csv. already"):
        campaign.add_data(old)
    with pytest.raises(BadInput, match="was used for another command"):
        campaign.add_data([{"x": 1.0, "yield_": 0.3}], key="monday")
    assert campaign._ledger.position == position
    assert campaign.add_data(old, again=True).batch.number == 2
    campaign.remove_data(2, key="tuesday")
    assert campaign.remove_data(2, key="tuesday").endswith("(as before)")


def test_a_table_that_is_refused_leaves_no_file_and_no_row(tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("x,yield_\n1,0.2\n9,0.3\n")
    with pytest.raises(BadInput, match="row 3, column 'x': 9 minute lies outside 0 to 6"):
        start_campaign(tmp_path / "c.db", line(), SETTINGS, 4, data=bad)
    assert sorted(os.listdir(tmp_path)) == ["bad.csv"]
    campaign = started(tmp_path / "c.db")
    before = (tmp_path / "c.db").read_bytes()
    with pytest.raises(BadInput, match="row 3"):
        campaign.add_data(bad)
    assert (tmp_path / "c.db").read_bytes() == before and not campaign.past


def test_the_chain_covers_them(tmp_path, old):
    campaign = start_campaign(tmp_path / "c.db", line(), SETTINGS, 4, data=old)
    with sqlite3.connect(campaign.path) as connection:
        connection.execute("UPDATE campaign_rows SET body = replace(body, '0.6', '0.7') WHERE kind = 'data'")
    from tcbo_pyomo import DamagedFile

    with pytest.raises(DamagedFile, match="row 2 does not match its SHA-256"):
        open_campaign(campaign.path, line())


def test_they_never_count_in_the_audit_and_stand_in_every_table(tmp_path, old):
    campaign = start_campaign(tmp_path / "c.db", line(), SETTINGS, 4, data=old)
    campaign.tell(campaign.ask().number, 0.5)
    audit = full_campaign_audit(campaign.campaign)
    assert audit.moves == 1 and not audit.findings
    assert campaign.export(tmp_path / "all.csv") == 4
    header, *rows = (tmp_path / "all.csv").read_text().splitlines()
    assert header.endswith("status,violations,surprise,source")
    assert rows[0] == ",,,1.0,0.2,past,,,row 2 of old.csv" and rows[3].startswith("1,1,1,")
    page = render_report(campaign.live())
    assert "Past experiments" in page and "1 result and 3 past experiments" in page and "old.csv" in page
    # The export of one campaign teaches the next.
    follower = start_campaign(tmp_path / "d.db", line(), SETTINGS, 5, data=tmp_path / "all.csv")
    assert len(follower.past) == 4


def test_an_amended_campaign_keeps_them(tmp_path, old):
    campaign = start_campaign(tmp_path / "c.db", line(), SETTINGS, 4, data=old)
    campaign.tell(campaign.ask().number, 0.5)
    amended = learning()
    campaign.amend(amended)
    fresh = Campaign(amended, SETTINGS, 4, data=old)
    move = campaign.history.moves[0]
    fresh.history.add(move.origin, move.step, move.decision, move.expected)
    fresh.tell(1, 0.5)
    assert len(campaign.past) == 3 and campaign.knowledge.learned.results == 0
    np.testing.assert_array_equal(campaign.knowledge.belief.mean, fresh.knowledge.belief.mean)
    again(campaign)


def test_bounds_that_are_amended_leave_them_where_they_were(tmp_path, old):
    from learning_plants import box

    from tcbo_pyomo.foundation.coordinates import Coordinate

    narrow = box().changed(coordinates=(Coordinate("x", 0.0, 6.0, "min"), Coordinate("y", 0.0, 3.0)))
    data = [{"x": 6.5, "y": 1.0, "rate": 30.0}, {"x": 2.0, "y": 1.0, "rate": 35.0}]
    campaign = start_campaign(tmp_path / "c.db", box(), None, 4, data=data)
    campaign.amend(narrow)
    wanted = [[6.5 / 6 - 0.5, 1 / 3 - 0.5], [2 / 6 - 0.5, 1 / 3 - 0.5]]
    np.testing.assert_allclose(campaign.past.points(campaign.problem), wanted)
    assert campaign.past_experiments()["x"].tolist() == [6.5, 2.0]


def test_saved_files_and_interrupted_runs_keep_them(tmp_path, old):
    simulated = line(truth=np.linspace(0.0, 1.0, 7))
    campaign = Campaign(simulated, SETTINGS, 4, data=old)
    save_campaign(campaign, tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text())["version"] == 2
    loaded = open_campaign(tmp_path / "c.json", simulated)
    assert loaded.history.past == campaign.history.past and loaded.ask().decision == campaign.ask().decision
    save_campaign(Campaign(simulated, SETTINGS, 4), tmp_path / "plain.json")
    assert json.loads((tmp_path / "plain.json").read_text())["version"] == 1

    whole = Simulation(Campaign(simulated, SETTINGS, 4, data=old))
    part = Simulation(Campaign(simulated, SETTINGS, 4, data=old))
    for _ in range(4):
        part._make_move()
    save_simulation(part, tmp_path / "unfinished.json")
    resumed = resume_simulation(tmp_path / "unfinished.json", simulated)
    for _ in range(9):
        whole._make_move()
    for _ in range(5):
        resumed._make_move()
    assert json.dumps(resumed.campaign.state()) == json.dumps(whole.campaign.state())


def test_a_run_folder_keeps_them(tmp_path, old):
    simulated = line(3, truth=np.linspace(0.0, 1.0, 7))
    result = Simulation(Campaign(simulated, SETTINGS, 4, data=old)).run()
    write_run(result, tmp_path / "run")
    read = read_run(tmp_path / "run", simulated)
    assert read.history.past == result.campaign.history.past
    np.testing.assert_allclose(read.knowledge.belief.mean, result.campaign.knowledge.belief.mean, rtol=1e-9)
    from tcbo_pyomo import DamagedFile

    summary = json.loads((tmp_path / "run" / "result.json").read_text())
    summary["past_data"][0].pop("results")
    (tmp_path / "run" / "result.json").write_text(json.dumps(summary))
    with pytest.raises(DamagedFile, match="past_data"):
        read_run(tmp_path / "run", simulated)


def test_a_file_of_format_2_opens_is_left_alone_and_then_takes_them(tmp_path, old):
    path = tmp_path / "c.db"
    shutil.copy(FORMAT_2, path)
    before = path.read_bytes()
    campaign = open_campaign(path, line())
    assert campaign.status().measurements == 5 and path.read_bytes() == before
    moves = [(move.number, move.decision, move.value) for move in campaign.history.moves]
    model = campaign._story.model
    assert model is not None
    campaign.add_data(old)
    kinds = [row.kind for row in campaign._ledger.rows]
    assert kinds[-2:] == ["migration", "data"] and campaign._ledger.rows[-2].body == {"from": 2, "to": file_format.VERSION}
    opened = again(campaign)
    assert [(move.number, move.decision, move.value) for move in opened.history.moves] == moves and len(opened.past) == 3
    opened.undo()
    shutil.copy(FORMAT_2, tmp_path / "d.db")
    assert opened.ask().decision == open_campaign(tmp_path / "d.db", line()).ask().decision


def test_two_processes_add_at_once_and_both_stand(tmp_path, old):
    campaign = started(tmp_path / "c.db")
    script = (
        "import sys; sys.path.insert(0, {folder!r})\n"
        "from small_campaigns import line\n"
        "from tcbo_pyomo import open_campaign\n"
        "for i in range(4):\n"
        "    open_campaign({path!r}, line()).add_data([{{'x': 1.0, 'yield_': 0.1 * i + {shift}}}], name='{name}')\n"
    )
    folder = str(Path(__file__).parent)
    works = [
        subprocess.Popen([sys.executable, "-c", script.format(folder=folder, path=str(campaign.path), shift=shift, name=name)])
        for name, shift in (("one", 0.03), ("two", 0.07))
    ]
    assert [work.wait(timeout=300) for work in works] == [0, 0]
    campaign.refresh()
    assert sorted(batch.number for batch in campaign.past.batches) == list(range(1, 9))


def test_the_state_of_a_campaign_without_them_is_as_ever(tmp_path):
    campaign = started(tmp_path / "c.db")
    assert '"past"' not in state(campaign)
