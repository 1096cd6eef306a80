"""`tcbo new`: what it writes runs untouched in an empty folder; what exists is never touched."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tcbo_pyomo
from tcbo_pyomo.cli._plain_questions import answers_from
from tcbo_pyomo.cli.main import main
from tcbo_pyomo.cli.new import write_template
from tcbo_pyomo.errors import BadInput, DiskError

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(tcbo_pyomo.__file__).parents[1]), "OPENBLAS_NUM_THREADS": "1"}


def called(folder, *command):
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def tcbo(folder, *arguments):
    return called(folder, "-m", "tcbo_pyomo", *arguments)


def test_untouched_template_runs_in_an_empty_folder(tmp_path):
    said = tcbo(tmp_path, "new", "my_reactor")
    assert sorted(path.name for path in (tmp_path / "my_reactor").iterdir()) == [
        "my_reactor.py",
        "run.py",
        "settings.yaml",
    ]
    assert "tcbo run my_reactor/my_reactor.py" in said
    ran = tcbo(tmp_path, "run", "my_reactor/my_reactor.py", "--settings", "my_reactor/settings.yaml", "--output", "out")
    assert "recommendation: temperature = " in ran
    assert (tmp_path / "out" / "result.json").exists()
    script = called(tmp_path, "my_reactor/run.py")
    assert script.count("episode") == 4 and script.count("move") == 3


def test_another_name_leaves_no_trace_of_the_placeholder(tmp_path):
    files = write_template("kiln", tmp_path)
    assert [file.name for file in files] == ["kiln.py", "settings.yaml", "run.py"]
    assert not any("my_reactor" in file.read_text() for file in files)
    assert "from kiln import build" in files[2].read_text()


def test_untouched_template_passes_the_check(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", [*sys.path])
    problem, settings, _ = map(str, write_template("kiln", tmp_path))
    with pytest.raises(SystemExit) as stopped:
        main(["check", problem, "--settings", settings])
    assert stopped.value.code == 0
    assert "no errors, no warnings" in capsys.readouterr().out


def test_nothing_is_overwritten(tmp_path):
    write_template("kiln", tmp_path)
    (tmp_path / "kiln" / "kiln.py").write_text("mine")
    with pytest.raises(BadInput, match="already exists; nothing was written"):
        write_template("kiln", tmp_path)
    assert (tmp_path / "kiln" / "kiln.py").read_text() == "mine"
    (tmp_path / "file").write_text("a file")
    with pytest.raises(BadInput, match="already exists"):
        write_template("file", tmp_path)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="already exists"):
        write_template("dangling", tmp_path)


@pytest.mark.parametrize("name", ["", "2reactors", "my reactor", "my-reactor", "../x", "a/b", "class", "naïve", "x.py"])
def test_names_that_are_no_identifiers(name, tmp_path):
    with pytest.raises(BadInput, match="must be letters, digits and underscores"):
        write_template(name, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["numpy", "tcbo_pyomo", "run", "json"])
def test_names_that_would_hide_a_module(name, tmp_path):
    with pytest.raises(BadInput, match="choose another"):
        write_template(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written(tmp_path):
    with pytest.raises(DiskError, match="nothing was written"):
        write_template("kiln", tmp_path / "nowhere")


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(DiskError, match="No space left"):
        write_template("kiln", tmp_path)
    assert not list(tmp_path.iterdir())


def test_one_line_and_code_2_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["new", "my reactor"])
    captured = capsys.readouterr()
    assert stopped.value.code == 2
    assert captured.out == "" and captured.err.count("\n") == 1


def test_the_answers_about_the_output_are_written_into_the_template(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ["--range", "5", "100", "--measurement-sd", "unknown", "--changes-within", "temperature=20", "--positive"]
    with pytest.raises(SystemExit) as stopped:
        main(["new", "stove", *options])
    assert stopped.value.code == 0
    problem = tcbo_pyomo.load_problem(str(tmp_path / "stove" / "stove.py"))
    assert problem.prior == tcbo_pyomo.PlainPrior((5.0, 100.0), None, {"temperature": 20.0}, True)
    assert not problem.kernel_given
    said = tcbo(tmp_path, "run", "stove/stove.py", "--set", "episodes=1")
    assert "recommendation: temperature = " in said


def test_questions_are_asked_in_a_terminal_until_the_answers_can_be_used(tmp_path, monkeypatch, capsys):
    answers = iter(["0.5", "0.1", "90", "-1", "unknown", "25", "unknown", "high", "42"])
    monkeypatch.setattr("typer.prompt", lambda question, default: next(answers))
    monkeypatch.setattr("typer.confirm", lambda question, default: True)
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    found, goal = answers_from(None, None, None, False, None)
    assert found == tcbo_pyomo.PlainPrior((0.5, 90.0), None, {"temperature": 25.0}, True)
    assert goal.data == {"target": 42.0}
    said = capsys.readouterr().err
    assert "goal: got 'high'; use maximise, minimise, or the value" in said
    assert "0.1 must be larger than 0.5" in said and "-1 must be a positive number, or unknown" in said


@pytest.mark.parametrize(
    ("name", "given", "goal"),
    [("low", "minimise", "minimise"), ("middle", "0.4", {"target": 0.4}), ("cold", "target=-2", {"target": -2.0})],
)
def test_the_goal_is_written_into_the_template(tmp_path, monkeypatch, name, given, goal):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["new", name, "--goal", given])
    assert stopped.value.code == 0
    file = tmp_path / name / f"{name}.py"
    assert tcbo_pyomo.load_problem(str(file)).goal.data == goal
    assert "RANGE = (0.0, 1.2)" in file.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--goal", "up"], "goal: got 'up'; use maximise, minimise, or the value that the output is to be at"),
        (["--range", "3", "3"], "range (3.0, 3.0) must be two finite numbers, the lower one first"),
        (["--range", "0", "1", "--positive"], "of a positive output must start above zero"),
        (["--measurement-sd", "-2"], "-2 must be a positive number, or unknown"),
        (["--measurement-sd", "soon"], "'soon'"),
        (["--changes-within", "pressure=3"], "unknown input 'pressure'; known: temperature, flow_rate"),
        (["--changes-within", "temperature=0"], "changes_within of 'temperature': 0.0 must be a positive distance"),
    ],
)
def test_answers_that_cannot_be_used_are_one_line_and_nothing_is_written(tmp_path, monkeypatch, capsys, options, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["new", "oven", *options])
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())
