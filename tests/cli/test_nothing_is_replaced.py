"""--force replaces a table, a page or a picture, and never a campaign, a device or a pipe."""

import os
import stat

import pytest

from tcbo_pyomo.cli.main import main
from tcbo_pyomo.records import start_campaign
from tcbo_pyomo.records.json_file import save_campaign
from tcbo_pyomo.records.opening import in_memory


@pytest.fixture
def rig(tmp_path, monkeypatch):
    """Two campaigns, a saved one, one with a name that says nothing, one behind a link, a pipe and a folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.db", "other.db", "hidden.html"):
        campaign = start_campaign(name, "knorr_pyrazole")
    save_campaign(in_memory(campaign), "saved.html")
    os.symlink("other.db", "link.html")
    os.symlink("/dev/null", "null.html")
    os.mkfifo("pipe.html")
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "damaged.db").write_bytes(b"\0" * 4096)
    return tmp_path


PLACES = [
    "other.db",
    "a.db",
    "hidden.html",
    "saved.html",
    "link.html",
    "null.html",
    "pipe.html",
    "folder.html",
    "damaged.db",
]


def tcbo(capsys, *arguments):
    with pytest.raises(SystemExit) as exit_:
        main(list(arguments))
    return exit_.value.code, capsys.readouterr().err


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("command", ["export", "report", "check"])
def test_force_replaces_no_campaign_device_pipe_or_folder(rig, capsys, command, place):
    if command == "check" and place == "damaged.db":
        pytest.skip("under another name nothing says what it was")
    if command == "check":  # A picture must end in .png, and has no --force: it replaces what is there.
        os.rename(place, "place.png")
        place = "place.png"
    kind, content = os.stat(place).st_mode, None
    if stat.S_ISREG(kind):
        content = (rig / place).read_bytes()
    arguments = {
        "export": ("export", "a.db", place, "--force"),
        "report": ("report", "a.db", "--output", place, "--force"),
        "check": ("check", "knorr_pyrazole", "--output", place),
    }[command]
    code, err = tcbo(capsys, *arguments)
    assert code == 2 and err.startswith("error: ") and err.count("\n") == 1
    assert os.stat(place).st_mode == kind
    assert content is None or (rig / place).read_bytes() == content


def test_a_table_and_a_page_are_replaced_with_force_only(rig, capsys):
    (rig / "t.csv").write_text("old")
    assert tcbo(capsys, "export", "a.db", "t.csv")[0] == 2
    assert (rig / "t.csv").read_text() == "old"
    assert tcbo(capsys, "export", "a.db", "t.csv", "--force")[0] == 0
    assert (rig / "t.csv").read_text().startswith("move,")


def test_a_run_and_a_saved_campaign_replace_no_campaign_file(rig, capsys):
    from tcbo_pyomo.errors import BadInput
    from tcbo_pyomo.records import open_campaign

    (rig / "run").mkdir()
    os.rename("other.db", "run/result.json")
    before = (rig / "run" / "result.json").read_bytes()
    quick = ("--set", "planner.linear.solver=dynamic_programming", "--episodes", "1")
    code, err = tcbo(capsys, "run", "knorr_pyrazole", *quick, "--output", "run", "--force")
    assert code == 2 and "holds a campaign" in err and (rig / "run" / "result.json").read_bytes() == before
    with pytest.raises(BadInput, match="holds a campaign"):
        save_campaign(in_memory(open_campaign("a.db")), "a.db")
    save_campaign(in_memory(open_campaign("a.db")), "saved.html")  # One saved campaign may follow another.
