"""Files of users outlive us: what version 0.1.0 wrote opens and goes on with the moves that 0.1.0 itself made next.

All of them name `planner.linear.hot_start`, a setting that is gone. next_moves.json and the two tables beside it were written
by 0.1.0 when it went on with copies of these files, results being `result_of`.
"""

import csv
import hashlib
import json
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tcbo_pyomo import load_problem, open_campaign, save_campaign
from tcbo_pyomo.errors import BadInput, NotTrusted
from tcbo_pyomo.foundation.atomic_file import write_checked
from tcbo_pyomo.records import DurableCampaign
from tcbo_pyomo.records.json_file import resume_simulation
from tcbo_pyomo.records.opening import trust_campaign
from tcbo_pyomo.studies import read_study, run_study

FILES = Path(__file__).parent / "files_of_0_1_0"
NEXT = json.loads((FILES / "next_moves.json").read_text())
SOURCES = {"knorr": "knorr_pyrazole", "dosed_tank": "dosed_tank.py", "branin": "branin2d"}


@pytest.fixture
def rig(tmp_path, monkeypatch):
    """The folder of that user, to work in."""
    shutil.copytree(FILES, tmp_path / "rig")
    monkeypatch.chdir(tmp_path / "rig")
    return tmp_path / "rig"


def result_of(number):
    return ((number * 7919) % 1000) / 1000.0


def gone_on(campaign, moves):
    made = []
    for _ in range(moves):
        move = campaign.ask()
        made.append([move.number, move.episode, move.step, move.origin, move.decision, move.expected])
        campaign.tell(move.number, result_of(move.number))
    return made


def assert_same(found, wanted):
    """States and actions exactly; points and values within 1e-9: their last digits belong to the processor."""
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        for here, there in zip(one, other, strict=True):
            if isinstance(there, list):
                assert np.allclose(here, there, rtol=0.0, atol=1e-9)
            elif isinstance(there, float):
                assert here == pytest.approx(there, rel=0.0, abs=1e-9)
            else:
                assert here == there


def test_every_fixture_names_the_setting_that_is_gone():
    stored = [*FILES.glob("*.json"), *FILES.glob("*/*.json"), *FILES.glob("*.db"), *FILES.glob("*/runs/*.json")]
    silent = [path.name for path in stored if b'"hot_start":true' not in path.read_bytes().replace(b" ", b"")]
    assert silent == ["next_moves.json"]


def test_the_problem_file_has_the_bytes_that_the_campaign_was_started_with(rig):
    digest = hashlib.sha256((FILES / "dosed_tank.py").read_bytes()).hexdigest()
    assert digest.encode() in (rig / "dosed_tank.db").read_bytes()


@pytest.mark.parametrize("name", SOURCES)
def test_a_campaign_file_goes_on(rig, name):
    campaign = open_campaign(rig / f"{name}.db", trust=name == "dosed_tank")
    assert isinstance(campaign, DurableCampaign) and campaign.status().violations == {}
    assert campaign.definition.declared is None
    wanted = NEXT[f"{name}.db"]
    assert_same(gone_on(campaign, len(wanted)), wanted)
    # What 0.1.0 did not keep is on record since the first new row: from here on no code is needed to look at the file.
    first = next(row for row in campaign._ledger.rows if row.kind == "migration")
    assert first.body["declared"]["plant"]["rules"] == json.loads(json.dumps(campaign.problem.plant_data()))["rules"]
    assert campaign.definition.declared is not None and campaign.definition.row == 1
    assert open_campaign(rig / f"{name}.db").history.told[-1] == wanted[-1][0]


def test_the_problem_file_of_a_campaign_of_0_1_0_runs_only_if_it_is_trusted(rig):
    with pytest.raises(NotTrusted, match=r"neither started nor trusted by you.*dosed_tank.py \(SHA-256 \w{64}\)"):
        open_campaign(rig / "dosed_tank.db")
    assert open_campaign(rig / "dosed_tank.db", rig / "dosed_tank.py").status().problem == "dosed_tank"
    code, remembered = trust_campaign(rig / "dosed_tank.db")
    assert remembered and [one.what for one, _ in code] == ["problem file"]
    opened = open_campaign(rig / "dosed_tank.db")
    opened.tell(opened.ask().number, 0.5)
    assert open_campaign(rig / "dosed_tank.db").ask().number == opened.history.moves[-1].number + 1


def same_cell(one, other):
    """The same text, or the same number."""
    try:
        return one == other or float(one) == pytest.approx(float(other), rel=0.0, abs=1e-9)
    except ValueError:
        return False


@pytest.mark.parametrize("name", SOURCES)
def test_a_saved_campaign_goes_on_and_is_saved_again(rig, name):
    campaign, wanted = open_campaign(rig / f"{name}.json", SOURCES[name]), NEXT[f"{name}.json"]
    assert_same(gone_on(campaign, 2), wanted[:2])
    save_campaign(campaign, rig / "again.json")
    assert_same(gone_on(open_campaign(rig / "again.json", SOURCES[name]), len(wanted) - 2), wanted[2:])


@pytest.mark.parametrize("name", SOURCES)
def test_an_interrupted_run_goes_on(rig, name):
    wanted = NEXT[f"{name}_unfinished"]
    simulation = resume_simulation(rig / f"{name}_unfinished" / "unfinished.json", SOURCES[name])
    history = simulation.campaign.history
    assert 0 < len(history.moves) < len(wanted)
    assert open_campaign(rig / f"{name}_unfinished", SOURCES[name]).history == history

    def stop(episode, step):
        if len(history.moves) == len(wanted):
            raise InterruptedError

    with suppress(InterruptedError):
        simulation.run(stop)
    found = [[m.number, m.episode, m.step, m.origin, m.decision, m.expected, m.value] for m in history.moves]
    assert_same(found, wanted)


@pytest.mark.parametrize(
    ("name", "source"),
    [("knorr_finished", None), ("dosed_tank_finished", "dosed_tank.py"), ("thermal_reactor_finished", None)],
)
def test_a_finished_run_is_read_back(rig, name, source):
    campaign, wanted = open_campaign(rig / name, source), NEXT[name]
    moves = campaign.history.moves
    assert campaign.finished and campaign.history.told == wanted["told"]
    assert [move.value for move in moves] == wanted["values"]
    assert len(campaign.plans) == len([move for move in moves if move.step > 0])
    continuous = isinstance(wanted["arrived"][0], list)
    # Files hold set-points in engineering units with twelve digits.
    tolerance = 1e-9 if continuous else 0.0
    assert np.allclose([move.arrived for move in moves], wanted["arrived"], rtol=0.0, atol=tolerance)
    found = campaign.problem.describe(campaign.recommendation)
    assert found == (pytest.approx(wanted["recommendation"], rel=1e-6) if continuous else wanted["recommendation"])
    if not continuous:
        assert len(campaign.candidates) == wanted["candidates"]


def test_half_a_study_goes_on_where_it_was(rig):
    made = {path.name: path.read_bytes() for path in (rig / "dosed_tanks" / "runs").iterdir()}
    tables = run_study(read_study("dosed_tanks.yaml"), "dosed_tanks", workers=1)
    now = {path.name: path.read_bytes() for path in (rig / "dosed_tanks" / "runs").iterdir()}
    assert len(made) == 4 and len(now) == 8 and {name: now[name] for name in made} == made
    for table in ("runs", "paths"):
        wanted = list(csv.DictReader((FILES / f"dosed_tanks_{table}.csv").read_text().splitlines()))
        found = tables.rows(table)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert one.keys() == other.keys()
            assert all(same_cell(one[name], other[name]) for name in one), (one, other)


def test_a_folder_of_0_1_0_says_that_it_keeps_the_defaults_of_then(rig, caplog):
    for _ in range(2):
        caplog.clear()
        run_study(read_study("dosed_tanks.yaml"), "dosed_tanks", workers=1)
        assert "begun with earlier defaults" in caplog.text and "differences" in caplog.text
    assert len(list((rig / "dosed_tanks" / "runs").iterdir())) == 8
    caplog.clear()
    run_study(read_study("dosed_tanks.yaml"), "elsewhere", workers=1)
    assert "earlier defaults" not in caplog.text
    old, new = ((rig / folder / "paths.csv").read_text() for folder in ("dosed_tanks", "elsewhere"))
    assert old != new, "a new folder has the default of today"


def test_a_campaign_that_does_not_name_the_objective_goes_on_with_that_of_its_time(rig):
    stored = json.loads((rig / "knorr.json").read_text())
    del stored["content"]["settings"]["utility"]
    write_checked(rig / "silent.json", stored["format"], stored["version"], stored["content"])
    wanted = NEXT["knorr.json"]
    assert_same(gone_on(open_campaign(rig / "silent.json", "knorr_pyrazole"), len(wanted)), wanted)


def test_another_problem_is_still_refused(rig):
    with pytest.raises(BadInput, match="was saved for another problem"):
        open_campaign(rig / "knorr.json", load_problem("dosing"))
