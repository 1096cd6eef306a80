"""`tcbo start --data`, `tcbo data` and `tcbo run --data`: what is said, and one line for every mistake."""

import json

import numpy as np
import pytest
from test_campaign_commands import tcbo  # noqa: F401  A fixture.

OLD = "x (s),product (mg/l),sd (mg/l)\n60,200,10\n210,600,\n360,900,20\n"


@pytest.fixture
def old(tmp_path):
    (tmp_path / "old.csv").write_text(OLD)


def test_from_start_to_undo(tcbo, old, tmp_path):  # noqa: F811
    code, out, err = tcbo("start", "c.db", "own.py", "--data", "old.csv")
    assert code == 0 and err == ""
    assert "27 moves and 3 past results from old.csv (1 row between the states of the plant (first: row 3)" in out
    assert "3 past results from old.csv (list them: tcbo data)" in tcbo("status", "c.db")[1]
    assert json.loads(tcbo("status", "c.db", "--json")[1])["past_sources"] == ["old.csv"]
    out = tcbo("best", "c.db")[1]
    # Where the result was best, at 6 minutes, no episode can go.
    assert "recommendation: x = 5 minute; product = 0.87" in out and "from 0 measurements and 3 past results" in out
    listed = tcbo("data", "c.db")[1].splitlines()
    assert listed[0] == "data 1: 3 past results from old.csv"
    assert listed[1] == "  row 2: x = 1 minute; product = 0.200 ± 0.010 g/l"
    (batch,) = json.loads(tcbo("data", "c.db", "--json")[1])
    np.testing.assert_allclose([result["at"][0] for result in batch["results"]], [1.0, 3.5, 6.0])
    code, out, err = tcbo("data", "c.db", "add", "old.csv")
    assert code == 2 and err.startswith("error: data 'old.csv': all of its 3 rows") and "--again" in err
    assert tcbo("data", "c.db", "add", "old.csv", "--again")[1].startswith("added: data 2, 3 past results from old.csv")
    assert tcbo("undo", "c.db")[1] == "undone: data 2, 3 past results from old.csv\n"
    assert tcbo("data", "c.db", "remove", "1", "--row", "3")[1] == "removed: data 1, 1 past result from old.csv\n"
    assert tcbo("data", "c.db", "remove", "old.csv")[1] == "removed: data 1, 2 past results from old.csv\n"
    assert tcbo("data", "c.db")[1].startswith("no past experiments")
    assert tcbo("best", "c.db")[1].startswith("no recommendation yet")
    assert tcbo("ask", "c.db")[0] == 0


def test_a_slip_is_said_aloud_and_can_be_confirmed(tcbo, old, tmp_path):  # noqa: F811
    tcbo("start", "c.db", "own.py", "--data", "old.csv")
    (tmp_path / "slip.csv").write_text("x,product\n1,20\n")
    code, out, err = tcbo("data", "c.db", "add", "slip.csv")
    assert code == 0 and "added: data 2" in out
    assert "warning: row 2 of slip.csv: 20 g/l, expected was 0.2" in err and "remove 2 --row N" in err
    assert "unlikely past result: row 2 of slip.csv" in tcbo("status", "c.db")[1]
    tcbo("undo", "c.db")
    code, out, err = tcbo("data", "c.db", "add", "slip.csv", "--yes-really")
    assert code == 0 and "expected was" not in err and "unlikely past" not in tcbo("status", "c.db")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data", "c.db", "append", "old.csv"], "'append' is nothing to do with data"),
        (["data", "c.db", "add"], "say the CSV file"),
        (["data", "c.db", "remove"], "say the number or the file"),
        (["data", "c.db", "remove", "4"], "no data '4'; there are: none"),
        (["data", "c.db", "add", "missing.csv"], "missing.csv"),
        (["data", "c.db", "add", "old.csv", "--row", "2"], "use it with remove"),
        (["data", "d.db", "add", "old.csv"], "d.db"),
        (["run", "own.py", "--data", "old.csv", "--resume", "--output", "out"], "leave out other options"),
        (["start", "d.db", "own.py", "--data", "own.py"], "own.py"),
    ],
)
def test_mistakes(tcbo, old, tmp_path, arguments, message):  # noqa: F811
    tcbo("start", "c.db", "own.py")
    before = (tmp_path / "c.db").read_bytes()
    code, out, err = tcbo(*arguments)
    assert code == 2 and err.startswith("error: ") and message in err and err.count("\n") == 1 and out == ""
    assert (tmp_path / "c.db").read_bytes() == before and not (tmp_path / "d.db").exists()


def test_a_simulation_starts_from_them(tcbo, tmp_path):  # noqa: F811
    lines = ["residence_time (min),ratio,y", *(f"{t},{r},0.1" for t in (4, 8) for r in (0.1, 0.5))]
    (tmp_path / "knorr.csv").write_text("\n".join(lines))
    common = ["run", "knorr_pyrazole", "--episodes", "1", "--data", "knorr.csv"]
    code, out, err = tcbo(*common, "--output", "run")
    assert code == 0, err
    summary = json.loads((tmp_path / "run" / "result.json").read_text())
    assert summary["past_data"][0]["source"] == "knorr.csv" and len(summary["past_data"][0]["results"]) == 4
    code, out, err = tcbo("report", "run", "--output", "page.html")
    assert code == 0 and "10 results and 4 past results" in out
