"""Who may run code: a campaign file of somebody else is looked at without running what it names."""

import hashlib
import json
import shutil
import sqlite3
import sys

import pytest
from small_campaigns import SETTINGS

from tcbo_pyomo.checks.audit import full_campaign_audit
from tcbo_pyomo.cli.main import main
from tcbo_pyomo.errors import BadInput, NotTrusted
from tcbo_pyomo.methods.protocol import load_method
from tcbo_pyomo.records import in_memory, open_campaign, start_campaign
from tcbo_pyomo.records.file_format import make_row
from tcbo_pyomo.records.opening import trust_campaign
from tcbo_pyomo.records.trust import Code, code_of, is_trusted, remember, trust_folder
from tcbo_pyomo.report.page import render_report
from tcbo_pyomo.settings import settings_from

OWN = """
import pathlib, sys
pathlib.Path({ran!r}).open("a").write("ran\\n")
from tcbo_pyomo.models.constraints import MaximumStep
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

class Odd(TransitionConstraint):
    def allowed_states(self, process, step, horizon):
        return process.states[:, 0] != 5

def build(feedback=None, seed=0):
    process = grid_process({{"x": list(range(7))}}, {{"x": [-2, -1, 0, 1, 2]}}, 0.01, units={{"x": "minute"}})
    return Problem("own", process, {{"x": 2}}, 3, 4, SquaredExponential(1.0, 0.3), [MaximumStep({{"x": 1}}), Odd()],
                   output="yield_", output_unit="g/l")
"""


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """The machine of somebody else: a campaign of two moves, one of them beyond its limit, and a file that says what ran."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "theirs"))
    folder = tmp_path / "rig"
    folder.mkdir()
    (folder / "own.py").write_text(OWN.format(ran=str(tmp_path / "ran")))
    started = start_campaign(folder / "rig.db", folder / "own.py", SETTINGS, 3)
    started.tell(started.ask().number, 0.5, at={"x": 4})
    started.tell(started.ask().number, 0.7)
    (tmp_path / "ran").unlink()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "mine"))
    return folder


def ran(folder):
    return (folder.parent / "ran").exists()


def test_a_received_file_is_looked_at_without_its_code(elsewhere, tmp_path):
    opened = open_campaign(elsewhere / "rig.db")
    assert opened.status().moves_made == 2 and list(opened.violations) == [1]
    assert opened.best().at is not None and opened.export(tmp_path / "out.csv") == 2
    audit = full_campaign_audit(opened.campaign)
    assert {f.constraint for f in audit.findings} == {"MaximumStep"} and audit.unjudged == ()
    page = render_report(opened.campaign)
    assert "Odd" in page and "The next move was not planned here" in page
    opened.undo()
    opened.tell(2, 0.9)
    opened.skip(2) if opened.history.moves[1].value is None else None
    for plan in (opened.ask, opened.ask_episode, lambda: in_memory(opened)):
        with pytest.raises(
            NotTrusted, match=r"neither started nor trusted by you.*own.py \(SHA-256 \w{64}\).*tcbo trust"
        ):
            plan()
    assert not ran(elsewhere)


def test_after_trust_it_goes_on_as_at_home(elsewhere, tmp_path):
    shutil.copy(elsewhere / "rig.db", elsewhere / "twin.db")
    with_consent = open_campaign(elsewhere / "twin.db", trust=True).ask()
    with pytest.raises(NotTrusted):
        open_campaign(elsewhere / "twin.db").ask()
    (tmp_path / "ran").unlink()
    code, remembered = trust_campaign(elsewhere / "rig.db")
    assert remembered and not ran(elsewhere) and code[0][0].what == "problem file"
    assert open_campaign(elsewhere / "rig.db").ask() == with_consent and ran(elsewhere)
    # The same campaign under another path is the same campaign.
    moved = tmp_path / "moved"
    shutil.copytree(elsewhere, moved)
    assert open_campaign(moved / "rig.db").ask() == with_consent


def test_trust_says_whether_the_code_is_still_what_was_recorded(elsewhere, tmp_path, capsys):
    def said():
        with pytest.raises(SystemExit) as end:
            main(["trust", str(elsewhere / "rig.db")])
        assert end.value.code == 0 and not ran(elsewhere)
        return capsys.readouterr().out

    own = elsewhere / "own.py"
    assert f"; {own} is unchanged" in said()
    (elsewhere / "own.py").write_text(own.read_text() + "# one line more\n")
    now = hashlib.sha256(own.read_bytes()).hexdigest()
    assert f"{own} has changed (SHA-256 {now}): read it, because `ask` runs it as it is" in said()
    # What it says happens.
    with pytest.raises(BadInput, match=r"file own.py was SHA-256 .*`tcbo amend"):
        open_campaign(elsewhere / "rig.db").ask()
    assert ran(elsewhere)
    (tmp_path / "ran").unlink()
    own.unlink()
    assert "is missing: restore it, or name the problem with --problem, before you `ask`" in said()
    with pytest.raises(BadInput, match="is missing; restore it, or name it with --problem"):
        open_campaign(elsewhere / "rig.db").ask()


def test_trust_looks_at_the_modules_too(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "steps_of_rig.py").write_text("STEP = 1\n")
    text = OWN.format(ran=str(tmp_path / "ran")).replace('MaximumStep({"x": 1})', 'MaximumStep({"x": STEP})')
    (tmp_path / "own.py").write_text("from steps_of_rig import STEP\n" + text)
    start_campaign(tmp_path / "rig.db", tmp_path / "own.py", SETTINGS, 3)
    sys.modules.pop("steps_of_rig")
    (tmp_path / "steps_of_rig.py").write_text("STEP = 2\n")
    with pytest.raises(SystemExit):
        main(["trust", str(tmp_path / "rig.db")])
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("problem file") and line.endswith("is unchanged") for line in lines)
    assert any(line.startswith("module steps_of_rig.py") and "has changed" in line for line in lines)


def test_naming_the_problem_is_consent_to_that_problem_only(elsewhere):
    assert open_campaign(elsewhere / "rig.db", elsewhere / "own.py").ask().number == 3
    with pytest.raises(NotTrusted):
        open_campaign(elsewhere / "rig.db").ask()


def rewritten(path, change, every=False):
    """A campaign file whose first row (or every one) was changed by somebody who knows how: every digest is right."""
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT kind, key, body FROM campaign_rows ORDER BY number").fetchall()
        last = None
        for number, (kind, key, body) in enumerate(rows, start=1):
            data = json.loads(body)
            if number == 1 or every:
                change(data)
            last = make_row(last, kind, data, key)
            values = (last.time, last.text, last.chain, number)
            connection.execute("UPDATE campaign_rows SET time = ?, body = ?, chain = ? WHERE number = ?", values)
        connection.execute("UPDATE campaign_head SET chain = ?", (last.chain,))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["settings"].update(method="probe:M"),
        lambda data: data["settings"]["candidates"].update(rule="probe:M"),
        lambda data: data["settings"]["planner"]["linear"].update(solver="probe:M"),
        lambda data: data["settings"]["planner"]["linear"].update(solver="shutdown"),
        lambda data: data["settings"]["planner"]["linear"].update(options={"log_file": "stolen"}),
        lambda data: data["settings"].update(constraints=[{"use": "probe:M"}]),
        lambda data: data["problem"].update(sha256="0" * 64),
    ],
)
def test_a_file_that_comes_back_with_other_code_is_not_trusted_any_more(elsewhere, tmp_path, monkeypatch, change):
    trust_campaign(elsewhere / "rig.db")
    assert open_campaign(elsewhere / "rig.db").status().moves_made == 2
    rewritten(elsewhere / "rig.db", change)
    (tmp_path / "probe.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    opened = open_campaign(elsewhere / "rig.db")
    assert opened.status().moves_made == 2 and opened.best().measurements == 2
    with pytest.raises(NotTrusted):
        opened.ask()
    assert not ran(elsewhere)


@pytest.mark.parametrize("place", ["declared", "kept"])
def test_a_kernel_of_users_is_not_loaded_either(elsewhere, tmp_path, monkeypatch, place):
    (tmp_path / "probe.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)

    def change(data):
        if place == "kept" and "kernel" in data and "declared" not in data:
            data["kernel"]["name"] = "probe:Kernel"
        elif place == "declared" and "declared" in data:
            data["declared"]["kernel"]["name"] = "probe:Kernel"
        elif "declared" in data:  # Only a fit uses the kernel that was kept.
            data["settings"]["surrogate"]["fit"] = "each_episode"

    trust_campaign(elsewhere / "rig.db")
    rewritten(elsewhere / "rig.db", change, every=True)
    opened = open_campaign(elsewhere / "rig.db")
    assert opened.status().measurements == 2
    opened.tell(2, 0.8, replicate=True)  # Told, though nobody can say whether it is a surprise.
    opened.undo()
    with pytest.raises(NotTrusted, match="probe:Kernel"):
        opened.best()
    assert not ran(elsewhere)


@pytest.mark.parametrize("part", ["kernel", "rule"])
def test_a_page_of_a_received_file_shows_what_the_file_says(elsewhere, tmp_path, monkeypatch, part):
    (tmp_path / "probe.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)

    def change(data):
        if "declared" in data and part == "kernel":
            data["declared"]["kernel"]["name"] = "probe:Kernel"
        elif "declared" in data:
            data["settings"]["candidates"]["rule"] = "probe:Rule"

    rewritten(elsewhere / "rig.db", change, every=True)
    opened = open_campaign(elsewhere / "rig.db")
    assert opened.status().belief_lines == (
        "lengthscales (as declared): x 1.8 minute",
        "measurement sd (as declared): 0.1 g/l",
    )
    page = render_report(opened.campaign, list(opened.plans.values()))
    assert not ran(elsewhere) and "Not everything is on this page" in page
    # What is left out, and how to have it.
    assert f"probe:{part.title()}" in page and "tcbo trust" in page and "or add --trust" in page
    for shown in (
        "0.7 g/l",
        "lengthscales",
        "Paths of 1 episode",
        "MaximumStep",
        "1 violation",
        "data:image/png",
    ):
        assert shown in page.replace("\u00a0", " "), shown
    assert ("None: the model is code that must not run here" in page) == (part == "kernel")
    assert ("Posterior mean ± one standard deviation" in page) == (part == "rule")
    assert "The list of candidates needs code" in page
    # The command writes it, too.
    with pytest.raises(SystemExit) as end:
        main(["report", str(elsewhere / "rig.db"), "--output", str(tmp_path / "page.html")])
    assert end.value.code == 0 and not ran(elsewhere)
    assert "Not everything is on this page" in (tmp_path / "page.html").read_text()


def test_everything_that_may_run_is_listed_with_its_hash():
    settings = settings_from({"method": "my:Method", "planner": {"linear": {"solver": "my_solver"}}}).model_dump()
    found = code_of(
        {"file": "/x/own.py", "sha256": "ab"}, settings, {"name": "my:Kernel"}, {"own.py": "ab", "l.py": "cd"}
    )
    assert found == [
        Code("problem file", "/x/own.py", "ab"),
        Code("module", "l.py", "cd"),
        Code("method", "my:Method"),
        Code("kernel", "my:Kernel"),
        Code("linear solver", "my_solver"),
    ]
    assert code_of({"name": "knorr_pyrazole"}, settings_from({}).model_dump(), {"name": "sum"}, {}) == []


def test_trust_belongs_to_one_campaign_and_one_user(tmp_path, monkeypatch):
    code = [Code("problem file", "/x/own.py", "ab")]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert not is_trusted("1", code) and remember("1", code)
    assert is_trusted("1", code) and not is_trusted("2", code) and not is_trusted("1", [*code, Code("method", "a:B")])
    assert is_trusted("1", [Code("problem file", "/elsewhere/own.py", "ab")])
    assert trust_folder() == tmp_path / "tcbo" / "trusted" and trust_folder().stat().st_mode & 0o77 == 0
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert not remember("1", code)


def test_a_method_is_a_class_derived_from_method(tmp_path, monkeypatch):
    (tmp_path / "their_methods.py").write_text(
        "class Looks:\n    plant = 'any'\n    instead = 'mdp_bo'\n"
        "    def __init__(self, *a): pass\n    def next_decision(self, *a): pass\n    def plan_record(self): pass\n"
        "    def state(self): pass\n    def load(self, state): pass\n    def believed(cls, problem): pass\n"
    )
    monkeypatch.chdir(tmp_path)
    for name in ("os:system", "subprocess:Popen", "builtins:exec", "their_methods:Looks"):
        with pytest.raises(BadInput, match=r"is not a (class|method|subclass of Method)"):
            load_method(name)
