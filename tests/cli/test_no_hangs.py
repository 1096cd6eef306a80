"""Inputs that once kept a command busy for ever end within a second, with one line and exit code 2 or 3."""

import os
import sqlite3
import time
from contextlib import closing

import pytest

from tcbo_pyomo.cli.main import main
from tcbo_pyomo.records import start_campaign

LIMIT = 1.0
"""Seconds of processor time, the commands' imports apart: a busy machine gives us less of the clock."""
KNORR = ["--problem", "knorr_pyrazole"]


@pytest.fixture(autouse=True)
def imported():
    """What commands import on first use is not what is measured."""
    import pyomo.environ  # noqa: F401

    from tcbo_pyomo.studies import study_runner  # noqa: F401


@pytest.fixture
def campaign(tmp_path):
    start_campaign(tmp_path / "c.db", "knorr_pyrazole")
    return tmp_path / "c.db"


def refused(capsys, *arguments, codes=(2,)):
    seconds = []
    while not seconds or (
        seconds[-1] >= LIMIT and len(seconds) < 3
    ):  # Others may have taken our caches: a second chance.
        start = time.process_time()
        with pytest.raises(SystemExit) as exit_:
            main([str(argument) for argument in arguments])
        seconds.append(time.process_time() - start)
        out, err = capsys.readouterr()
        assert exit_.value.code in codes, err
        assert err.startswith("error: ") and err.count("\n") == 1 and len(err) < 2000 and not out
    assert min(seconds) < LIMIT
    return err


@pytest.mark.timeout(300)
@pytest.mark.parametrize("unit", ["m**9**9**9**9", "m^9^9^9", "9**99999999", "m**(9**9)", "m**-9**9", "s" * 5000])
def test_units_with_towers_of_powers(tmp_path, campaign, capsys, unit):
    (tmp_path / "t.csv").write_text(f"residence_time ({unit}),ratio\n1,1\n")
    refused(capsys, "audit", tmp_path / "t.csv", *KNORR)
    refused(capsys, "tell", campaign, "0.5", "--unit", unit)
    refused(capsys, "whatif", campaign, "--set", f"maximum_step.ratio=8{unit}")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("heading", [" " * 60_000, "x" + " " * 60_000 + "y", "x" + " " * 60_000 + "(", "(" * 60_000])
def test_endless_headings(tmp_path, capsys, heading):
    (tmp_path / "t.csv").write_text(f'"{heading}",ratio\n1,1\n')
    refused(capsys, "audit", tmp_path / "t.csv", *KNORR)


@pytest.mark.timeout(300)
def test_devices_and_pipes(tmp_path, campaign, capsys, monkeypatch):
    monkeypatch.setattr("tcbo_pyomo.foundation.limited_read.SECONDS_WITHOUT_DATA", 0.1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for source in ("/dev/zero", pipe):
        assert str(source) in refused(capsys, "tell", campaign, "--csv", source)
        for command in ("audit", "explain", "status"):
            refused(capsys, command, source, *KNORR)
        refused(capsys, "run", "knorr_pyrazole", "--settings", source)
        refused(capsys, "study", source)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "unfinished.json").symlink_to("/dev/zero")
    monkeypatch.setattr("tcbo_pyomo.foundation.atomic_file.LARGEST_FILE", 1_000_000)
    refused(capsys, "audit", tmp_path / "run", *KNORR)


def test_a_pipe_that_somebody_fills_is_read(tmp_path, campaign, capsys):
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(SystemExit):
        main(["ask", str(campaign)])
    thread = threading.Thread(target=lambda: pipe.write_text("move,value\n1,0.25\n"))
    thread.start()
    with pytest.raises(SystemExit) as exit_:
        main(["tell", str(campaign), "--csv", str(pipe)])
    thread.join(60)
    assert exit_.value.code == 0, capsys.readouterr().err


@pytest.mark.timeout(300)
@pytest.mark.parametrize("horizon", ["100000000", "1e9", "1e999", "9" * 90])
def test_a_horizon_that_nobody_means(campaign, capsys, horizon):
    assert "from 1 to 10000" in refused(capsys, "whatif", campaign, "--set", f"horizon={horizon}")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seeds", ["1..999999999", "0..100000"])
def test_more_seeds_than_a_study_can_have(tmp_path, capsys, seeds):
    (tmp_path / "s.yaml").write_text("name: s\nproblems: [knorr_pyrazole]\nseeds: 1..2\n")
    assert "at most 100000" in refused(capsys, "study", tmp_path / "s.yaml", "--seeds", seeds, "--dry-run")


@pytest.mark.timeout(300)
def test_a_grid_that_explodes(tmp_path, capsys):
    lists = "".join(f"  planner.linear.options.o{i}: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n" for i in range(20))
    (tmp_path / "s.yaml").write_text(f"name: s\nproblems: [knorr_pyrazole]\nseeds: 1..2\ngrid:\n{lists}")
    assert "a study has at most 100000" in refused(capsys, "study", tmp_path / "s.yaml")


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "setting",
    [
        "candidates.count",
        "planner.components",
        "episodes",
        "surrogate.number",
        "planner.nonlinear.solves",
        "feedback.delay",
    ],
)
def test_numbers_that_nobody_means(tmp_path, capsys, setting):
    for number in ("2000000000", "9" * 4000):
        message = refused(capsys, "run", "branin2d", "--set", f"{setting}={number}")
        assert setting in message


VIEWS = {
    "rows": "CREATE VIEW campaign_rows AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT i AS number, 'x' AS time, 'x' AS kind, 'x' AS key, 'x' AS body, 'x' AS chain FROM n ORDER BY i DESC",
    "head": "CREATE VIEW campaign_head AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT 1 AS id, max(i) AS number, 'x' AS chain FROM n",
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("table", VIEWS)
def test_a_campaign_file_whose_table_is_an_endless_view(campaign, capsys, table):
    with closing(sqlite3.connect(campaign)) as connection:
        connection.execute(f"ALTER TABLE campaign_{table} RENAME TO hidden")
        connection.execute(VIEWS[table])
        connection.commit()
    for command in ("status", "ask", "audit", "undo"):
        assert "is damaged (it holds a view" in refused(capsys, command, campaign, codes=(3,))


@pytest.mark.timeout(300)
def test_a_campaign_file_with_an_endless_trigger(campaign, capsys):
    with closing(sqlite3.connect(campaign)) as connection:
        connection.execute("CREATE TRIGGER t AFTER INSERT ON campaign_rows BEGIN SELECT 1; END")
        connection.commit()
    assert "it holds a trigger" in refused(capsys, "ask", campaign, codes=(3,))
