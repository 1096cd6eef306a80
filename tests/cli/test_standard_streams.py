"""`-` is standard input where a table is read and standard output where one is written; elsewhere it is refused."""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest
from random_commands import LINE

from tcbo_pyomo.cli.main import main

TABLE = "x,t (K),y (%)\n1,10,0.4\n2,20,0.5\n"


@contextmanager
def standard_input(text):
    """Standard input is a pipe that holds a text."""
    reading, writing = os.pipe()
    os.write(writing, text.encode())
    os.close(writing)
    before = os.dup(0)
    os.dup2(reading, 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(reading)


@pytest.fixture
def tcbo(tmp_path, monkeypatch, capsysbinary):
    """A campaign, and commands beside it: exit code, standard output and standard error."""

    def call(*words, given=""):
        capsysbinary.readouterr()
        with standard_input(given), pytest.raises(SystemExit) as end:
            main(list(words))
        out, err = capsysbinary.readouterr()
        return end.value.code, out.decode(), err.decode()

    monkeypatch.chdir(tmp_path)
    (tmp_path / "line.py").write_text(LINE)
    assert call("start", "c.db", "line.py")[0] == 0
    return call


def test_results_and_exports_pass_through_pipes(tcbo, tmp_path):
    header, *rows = tcbo("ask", "c.db", "--episode", "--csv")[1].splitlines()
    filled = "\n".join([header, *(row + "0.5" for row in rows)])
    code, out, _ = tcbo("tell", "c.db", "--csv", "-", given=filled)
    assert code == 0 and out.count("recorded: move") == 3

    code, exported, err = tcbo("export", "c.db", "-")
    assert tcbo("export", "c.db", "out.csv")[0] == 0
    assert (code, exported, err) == (0, (tmp_path / "out.csv").read_text(), "")
    code, out, _ = tcbo("audit", "-", "--problem", "line.py", given=exported)
    assert (code, out) == (0, "-: no violations in 3 moves of line\n")
    assert not (tmp_path / "-").exists()


def test_the_export_of_a_campaign_without_moves_can_be_audited(tcbo):
    exported = tcbo("export", "c.db", "-")[1]
    code, out, _ = tcbo("audit", "-", "--problem", "line.py", given=exported)
    assert (code, out) == (0, "-: no violations in 0 moves of line\n")


def test_past_experiments_through_a_pipe(tcbo):
    code, out, _ = tcbo("data", "c.db", "add", "-", given=TABLE)
    assert code == 0 and "2 past results from standard input" in out
    assert tcbo("data", "c.db", "remove", "1")[0] == 0
    code, out, _ = tcbo("start", "d.db", "line.py", "--data", "-", given=TABLE)
    assert code == 0 and "2 past results" in out


def test_what_cannot_be_a_stream_is_refused(tcbo, tmp_path):
    for words in (
        ["start", "-", "line.py"],
        ["run", "line.py", "--output", "-"],
        ["study", "s.yaml", "--output", "-"],
        ["figures", "s", "--output", "-"],
        ["report", "c.db", "--output", "-"],
        ["status", "-"],
    ):
        code, out, err = tcbo(*words)
        assert (code, out, err.count("\n")) == (2, "", 1), words
        assert "'-'" in err, words
        assert not (tmp_path / "-").exists()


def test_no_table_on_standard_input(tcbo):
    command = [sys.executable, "-m", "tcbo_pyomo", "tell", "c.db", "--csv", "-"]
    answer = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    assert answer.returncode == 2 and b"is a device; name a file" in answer.stderr
