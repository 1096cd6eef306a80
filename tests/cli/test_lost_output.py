"""Standard output that is full or closed: what was recorded is said on standard error, with exit code 6, and is there once."""

import os
import subprocess
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path

import pytest
from test_campaign_commands import OWN_PROBLEM
from waiting import PATIENCE

from tcbo_pyomo.campaign.simulation import Simulation
from tcbo_pyomo.cli.main import main
from tcbo_pyomo.records import open_campaign, start_campaign

FULL = "/dev/full"
pytestmark = pytest.mark.skipif(not os.path.exists(FULL), reason="needs /dev/full")


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """A campaign with one result and a move asked for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN_PROBLEM)
    campaign = start_campaign(tmp_path / "c.db", "own.py")
    campaign.tell(campaign.ask().number, 0.5)
    campaign.ask()
    return campaign


def run(redirection, *arguments):
    """A command in a shell; its exit code and standard error. Nothing waits for ever."""
    words = " ".join([sys.executable, "-m", "tcbo_pyomo", *arguments])
    done = subprocess.run(["sh", "-c", f"{words} {redirection}"], stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    return done.returncode, done.stderr


COMMANDS = [
    (["undo", "c.db"], "this is recorded, do not repeat the command: undone: the tell of move 1 (0.5)"),
    (["tell", "c.db", "0.25"], "this is recorded, do not repeat the command: recorded: move 2, product = 0.25"),
    (
        ["skip", "c.db", "--episode"],
        "this is recorded, do not repeat the command: recorded: the episode ends 2 moves early",
    ),
    (["start", "d.db", "own.py"], "this is recorded, do not repeat the command: started d.db"),
    (["ask", "c.db"], "this is recorded, ask again to see it: move 2 (episode 1, step 2)"),
    (["status", "c.db"], "error: standard output: cannot be read or written"),
]


@pytest.mark.parametrize("redirection", [f">{FULL}", ">&-"])
@pytest.mark.parametrize(("arguments", "said"), COMMANDS, ids=[words[0] for words, _ in COMMANDS])
def test_what_was_recorded_is_said_and_is_there_once(begun, redirection, arguments, said):
    rows = begun._ledger.position
    code, err = run(redirection, *arguments)
    assert code == 6 and said in err and err.startswith("error: ") and err.count("\n") == 1, err
    begun.refresh()
    assert begun._ledger.position == rows + (arguments[0] in ("undo", "tell", "skip"))


FILES = [
    (["report", "c.db", "--output", "page.html"], "recorded, the file is there: wrote page.html", "page.html"),
    (["new", "mine_here"], "recorded, the files are there: wrote mine_here/mine_here.py | wrote", "mine_here/run.py"),
    (
        ["run", "fuel_lake", "--method", "greedy_ucb", "--episodes", "1", "--output", "r"],
        "recorded, the files are there: recommendation: ",
        "r/result.json",
    ),
    (["study", "s.yaml"], "recorded, every run is kept: tables are in s; figures: tcbo figures s", "s/summary.csv"),
    (["figures", "study"], "recorded, the files are there: study/figures/", "c.db"),
    (["trust", "c.db"], "recorded, do not repeat the command: ", "c.db"),
]


def called(*arguments):
    """The exit code of a command in this process, whose standard output is full."""
    # When it is closed it writes what is left in its buffer: an error that is expected.
    with suppress(OSError), open(FULL, "w") as lost, redirect_stdout(lost), pytest.raises(SystemExit) as end:
        main(list(arguments))
    return end.value.code


@pytest.mark.parametrize(("arguments", "said", "file"), FILES, ids=[words[0] for words, _, _ in FILES])
def test_files_that_were_written_are_named(begun, monkeypatch, capfd, arguments, said, file):
    study = "name: s\nproblems: [fuel_lake]\nmethods: [greedy_ucb]\nseeds: 1..1\nsettings: {episodes: 1}\n"
    Path("s.yaml").write_text(study)
    monkeypatch.setattr("tcbo_pyomo.studies.figures.write_figures", lambda *_: [Path("study/figures/regret.png")])
    code = called(*arguments)
    err = capfd.readouterr().err
    assert code == 6 and said in err and err.startswith("error: ") and err.count("\n") == 1, err
    assert Path(file).exists()


def test_an_interrupted_run_is_kept_before_anything_is_printed(tmp_path, monkeypatch):
    simulated = Simulation.run

    def interrupted(self, on_step):
        def stop(episode, step):
            on_step(episode, step)
            if episode == 2:
                raise KeyboardInterrupt

        return simulated(self, stop)

    monkeypatch.setattr(Simulation, "run", interrupted)
    assert called("run", "fuel_lake", "--method", "greedy_ucb", "--output", str(tmp_path / "r")) == 6
    assert (tmp_path / "r" / "unfinished.json").exists()


def test_a_script_that_repeats_under_a_key_changes_once(begun):
    codes = [run(redirection, "undo", "c.db", "--key", "night")[0] for redirection in (f">{FULL}", ">&-", ">/dev/null")]
    assert codes == [6, 6, 0]
    opened = open_campaign("c.db")
    assert [row.kind for row in opened._ledger.rows].count("undo") == 1 and opened.history.told == []


def test_nothing_can_be_said_at_all(begun):
    assert run(f">{FULL} 2>{FULL}", "tell", "c.db", "0.25") == (6, "")
    assert run(">&- 2>&- <&-", "undo", "c.db") == (6, "")
    assert open_campaign("c.db").history.told == [1]


def test_a_reader_that_has_seen_enough_is_no_error_of_a_reading_command(begun):
    code, err = run("| true", "problems")
    assert (code, err) == (0, "")
