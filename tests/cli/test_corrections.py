"""The commands of reporting and correcting as an operator types them: what goes to which move, and what is said."""

import csv
import json

import pytest
from test_campaign_commands import OWN_PROBLEM

from tcbo_pyomo.cli import main as cli


@pytest.fixture
def tcbo(capsys, tmp_path, monkeypatch):
    """Call the command line on a campaign whose output is in percent; returns exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN_PROBLEM.replace("g/l", "%").replace("horizon=3", "horizon=4"))

    def called(*arguments):
        with pytest.raises(SystemExit) as stopped:
            cli.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return stopped.value.code, out, err

    assert called("start", "c.db", "own.py")[0] == 0
    return called


def rows(tcbo, tmp_path):
    assert tcbo("export", "c.db", "all.csv", "--force")[0] == 0
    return list(csv.DictReader((tmp_path / "all.csv").read_text().splitlines()))


def test_a_skipped_move_of_a_schedule(tcbo, tmp_path):
    first = tcbo("ask", "c.db", "--episode")[1].splitlines()[0]
    place = first.split("x = ")[1].split()[0]
    assert tcbo("skip", "c.db", "--move", 1, "--at", f"x={place}")[0] == 0
    assert tcbo("ask", "c.db")[1].startswith("move 2 ")
    status = tcbo("status", "c.db")[1]
    assert "1 of 36 moves made" in status and "asked for: moves 2, 3, 4\nresults outstanding: none\n" in status
    assert tcbo("tell", "c.db", "0.5")[1] == "recorded: move 2, product = 0.5\n"
    assert [row["status"] for row in rows(tcbo, tmp_path)] == ["skipped", "measured", "open", "open"]
    assert tcbo("audit", "all.csv", "--problem", "own.py")[1] == "all.csv: no violations in 2 moves of line\n"


def test_violations_that_stand_after_an_undo(tcbo, tmp_path):
    tcbo("ask", "c.db")
    tcbo("tell", "c.db", "0.3", "--at", "x=5")
    tcbo("tell", "c.db", "0.31", "--replicate", "--move", 1)
    assert tcbo("undo", "c.db")[1] == "undone: the tell of move 1 (0.31)\n"
    assert tcbo("status", "c.db")[1].count("move 1 broke a declared limit") == 2
    assert rows(tcbo, tmp_path)[0]["violations"].count("declared:") == 2
    assert "2 violations" in tcbo("audit", "c.db")[1]
    assert "2 violations in 1 move" in tcbo("audit", "all.csv", "--problem", "own.py")[1]


def test_a_wrong_place_is_corrected_as_the_messages_say(tcbo):
    tcbo("ask", "c.db")
    tcbo("arrive", "c.db", "--at", "x=5")
    assert tcbo("arrive", "c.db", "--move", 1)[1] == "recorded already: move 1 was made\n"
    tcbo("tell", "c.db", "0.3")
    assert "still recorded as arrived at x = 5 minute: if that is wrong too, repeat `undo --move 1`" in tcbo("undo", "c.db")[1]
    code, _, err = tcbo("tell", "c.db", "0.3", "--at", "x=1")
    assert code == 2 and "if that is wrong, use `undo --move 1` first" in err
    assert tcbo("undo", "c.db", "--move", 1)[1] == "undone: the arrive of move 1\n"
    assert tcbo("tell", "c.db", "0.3", "--at", "x=1")[0] == 0


def test_a_mistaken_skip_of_the_episode(tcbo):
    tcbo("ask", "c.db")
    tcbo("tell", "c.db", "0.3")
    assert "the episode ends 3 moves early" in tcbo("skip", "c.db", "--episode", "--key", "k")[1]
    assert "the episode ends 3 moves early" in tcbo("skip", "c.db", "--episode", "--key", "k")[1]
    assert tcbo("undo", "c.db")[1] == "undone: the skip of the rest of the episode\n"
    assert tcbo("ask", "c.db")[1].startswith("move 2 (episode 1, step 2)")


def test_a_value_with_its_unit(tcbo):
    tcbo("ask", "c.db")
    assert tcbo("tell", "c.db", "3.5 %")[1] == "recorded: move 1, product = 3.5\n"
    tcbo("ask", "c.db")
    assert tcbo("tell", "c.db", "3.6%", "--unit", "%")[1] == "recorded: move 2, product = 3.6\n"


def test_an_unlikely_value_is_said_marked_and_confirmed(tcbo, tmp_path):
    tcbo("ask", "c.db")
    code, out, err = tcbo("tell", "c.db", "550")
    assert code == 0 and out == "recorded: move 1, product = 550.0\n" and err.count("\n") == 1
    assert "550.0 is recorded, but unlikely under the model: expected was 0 ± 1 %, 547 sd away" in err
    assert "`tcbo undo c.db --move 1`" in err and "`tcbo tell c.db 550.0 --move 1 --yes-really`" in err
    assert "move 1 has an unlikely result: 550 %, expected was 0 ± 1 %" in tcbo("status", "c.db")[1]
    assert json.loads(tcbo("status", "c.db", "--json")[1])["surprises"]["1"][0].startswith("550 %")
    assert rows(tcbo, tmp_path)[0]["surprise"].startswith("expected was 0")
    assert tcbo("tell", "c.db", "550.0", "--move", 1, "--yes-really") == (0, "recorded: move 1, product = 550.0\n", "")
    assert "unlikely" not in tcbo("status", "c.db")[1]
    assert rows(tcbo, tmp_path)[0]["surprise"].startswith("confirmed: expected was 0")
    code, _, err = tcbo("tell", "c.db", "5.5", "--move", 1)
    assert code == 2 and "use `undo --move 1` to correct it" in err
    assert tcbo("undo", "c.db", "--move", 1)[0] == 0
    assert tcbo("tell", "c.db", "560", "--yes-really") == (0, "recorded: move 1, product = 560.0\n", "")


def test_no_recommendation_before_the_first_result(tcbo):
    assert tcbo("best", "c.db") == (0, "no recommendation yet: there are no results\n", "")
    assert json.loads(tcbo("best", "c.db", "--json")[1])["at"] is None


def test_a_schedule_with_results_that_are_not_there_yet(tcbo, tmp_path):
    header, *lines = tcbo("ask", "c.db", "--episode", "--csv")[1].splitlines()
    filled = [lines[0] + "1", lines[1], lines[2] + "3", lines[3]]
    (tmp_path / "filled.csv").write_text("\n".join([header, *filled]) + "\n")
    code, out, _ = tcbo("tell", "c.db", "--csv", "filled.csv")
    assert code == 0 and out == "recorded: move 1, product = 1.0\nrecorded: move 3, product = 3.0\n"
    assert tcbo("ask", "c.db")[1].startswith("move 4 ")
    assert "results outstanding: 2\n" in tcbo("status", "c.db")[1]
