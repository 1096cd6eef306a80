"""The command line: what a newcomer sees, and one clear line with the right exit code for everything that is wrong."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from waiting import PATIENCE, until

import tcbo_pyomo
from tcbo_pyomo.cli.main import main

QUICK = ["--set", "planner.linear.solver=dynamic_programming"]


@pytest.fixture
def tcbo(capsys, tmp_path, monkeypatch):
    """Run a command in an empty folder; returns exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def called(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main(list(arguments))
        captured = capsys.readouterr()
        return stopped.value.code, captured.out, captured.err

    return called


def start_process(*arguments, cwd, **options):
    environment = {**os.environ, "PYTHONPATH": str(Path(tcbo_pyomo.__file__).parents[1])}
    command = [sys.executable, "-m", "tcbo_pyomo", *arguments]
    return subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def test_run_shows_a_table_and_writes_the_run(tcbo, tmp_path):
    code, out, err = tcbo("run", "knorr_pyrazole", "--output", "here", "--episodes", "3", *QUICK)
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if line.split() and line.split()[0] in {"1", "2", "3"}]
    data = json.loads((tmp_path / "here" / "result.json").read_text())
    assert len(rows) == len(data["episodes"]) == 3
    for row, episode in zip(rows, data["episodes"], strict=True):
        assert float(row[1]) == episode["recommendation"]["residence_time"]
        assert float(row[2]) == episode["recommendation"]["ratio"]
        assert int(row[3]) == episode["candidates"]
        assert float(row[4]) == pytest.approx(episode["regret"], rel=1e-3)
        assert row[5] == ("yes" if episode["identified"] else "no")
    assert "residence_time (min)" in out
    assert out.splitlines()[-2] == "planned with dynamic_programming (named in the settings)"
    assert out.splitlines()[-1].startswith("recommendation: residence_time = ")
    assert out.splitlines()[-1].endswith("; files are in here")
    assert data["settings"]["feedback"]["kind"] == "episodic"
    table = pd.read_csv(tmp_path / "here" / "experiments.csv")
    assert len(table) == 30
    assert (table.groupby("episode")["residence_time"].diff().dropna() >= 0).all()
    assert (table.groupby("episode")["ratio"].diff().dropna().abs() < 0.1001).all()


def test_run_says_which_solver_auto_takes_and_nothing_where_nothing_is_planned(tcbo):
    out = tcbo("run", "knorr_pyrazole", "--episodes", "1")[1]
    assert out.splitlines()[-2] == "planned with highs (auto: the linear programme has 2,200 variables)"
    assert "planned with" not in tcbo("run", "knorr_pyrazole", "--episodes", "1", "--method", "random_walk")[1]


def test_the_same_seed_gives_the_same_files(tcbo, tmp_path):
    for folder, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        assert tcbo("run", "knorr_pyrazole", "--seed", seed, "--output", folder, "--episodes", "2", *QUICK)[0] == 0
    first, again, other = ((tmp_path / f / "experiments.csv").read_bytes() for f in "abc")
    assert first == again != other
    assert (tmp_path / "a" / "result.json").read_bytes() == (tmp_path / "b" / "result.json").read_bytes()


def test_without_output_nothing_is_written(tcbo, tmp_path):
    code, out, _ = tcbo("run", "knorr_pyrazole", "--episodes", "1", *QUICK)
    assert code == 0
    assert "files" not in out
    assert not list(tmp_path.iterdir())


def test_settings_file_set_and_options_in_this_order(tcbo, tmp_path):
    text = "feedback: {kind: immediate}\nepisodes: 4\nplanner: {components: 2, linear: {solver: dynamic_programming}}\n"
    (tmp_path / "my.yaml").write_text(text)
    code, _, err = tcbo(
        *("run", "knorr_pyrazole", "--settings", "my.yaml", "--output", "o", "--episodes", "1"),
        *("--set", "planner.components=3", "--set", "episodes=3"),
    )
    assert (code, err) == (0, "")
    settings = json.loads((tmp_path / "o" / "result.json").read_text())["settings"]
    assert settings["feedback"]["kind"] == "immediate"
    assert settings["planner"]["components"] == 3
    assert settings["episodes"] == 1


def test_delayed_feedback_and_back(tcbo, tmp_path):
    run = ("run", "knorr_pyrazole", "--episodes", "1", *QUICK, "--force", "--output", "o")
    assert tcbo(*run, "--feedback", "delayed", "--delay", "4")[0] == 0
    assert json.loads((tmp_path / "o" / "result.json").read_text())["settings"]["feedback"]["delay"] == 4
    (tmp_path / "late.yaml").write_text("feedback: {kind: delayed, delay: 4}\n")
    assert tcbo(*run, "--settings", "late.yaml", "--feedback", "immediate")[0] == 0
    assert json.loads((tmp_path / "o" / "result.json").read_text())["settings"]["feedback"]["delay"] == 0


def test_own_problem_file(tcbo, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from tcbo_pyomo.library import load_problem\n"
        "def build(feedback=None, seed=0):\n"
        "    return load_problem('knorr_pyrazole', feedback).changed(name='mine', episodes=1)\n"
    )
    code, out, err = tcbo("run", "mine.py", *QUICK)
    assert (code, err) == (0, "")
    assert "recommendation" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["knorr_pyrazol"], "unknown problem 'knorr_pyrazol'; did you mean 'knorr_pyrazole'"),
        (["missing.py"], "problem file 'missing.py' does not exist"),
        (["broken.py"], "problem file 'broken.py', line 1: ZeroDivisionError"),
        ([], "Missing argument"),
        (["knorr_pyrazole", "--episods", "3"], "No such option"),
        (["knorr_pyrazole", "--seed", "one"], "--seed"),
        (["knorr_pyrazole", "--seed", "-1"], "--seed"),
        (["knorr_pyrazole", "--seed", "1.5"], "--seed"),
        (["knorr_pyrazole", "--episodes", "0"], "--episodes"),
        (["knorr_pyrazole", "--episodes", "ten"], "--episodes"),
        (["knorr_pyrazole", "--delay", "3"], "kind 'delayed' needs a positive delay"),
        (["knorr_pyrazole", "--feedback", "delayed"], "kind 'delayed' needs a positive delay"),
        (["knorr_pyrazole", "--feedback", "late"], "unknown feedback 'late'"),
        (["knorr_pyrazole", "--method", "magic"], "unknown method 'magic'"),
        (["knorr_pyrazole", "--set", "planer.components=3"], "unknown setting 'planer'; did you mean 'planner'"),
        (["knorr_pyrazole", "--set", "planner.components=three"], "setting 'planner.components': got 'three'"),
        (["knorr_pyrazole", "--set", "planner.components"], "--set 'planner.components'"),
        (["knorr_pyrazole", "--set", "planner.linear.options.tim_limit=3"], "tim_limit"),
        (["knorr_pyrazole", "--set", "planner.linear.options.time_limit=soon"], "time_limit"),
        (["knorr_pyrazole", "--set", "planner.linear.solver=no_such_solver"], "no_such_solver"),
        (["knorr_pyrazole", "--set", "candidates.rule=no_such_rule"], "no_such_rule"),
        (["knorr_pyrazole", "--set", "start={residence_time: 50, ratio: 0}"], "no state at residence_time=50"),
        (["knorr_pyrazole", "--set", "start=nowhere"], "unknown state 'nowhere'"),
        (["knorr_pyrazole", "--set", "start={ratio: 0}"], "missing coordinate(s) residence_time"),
        (["knorr_pyrazole", "--set", "constraints=[{use: no_such_rule}]"], "no_such_rule"),
        (["knorr_pyrazole", "--set", "constraints=[{use: maximum_step, limit: 3}]"], "maximum_step"),
        (["knorr_pyrazole", "--settings", "missing.yaml"], "settings file 'missing.yaml': No such file"),
        (["knorr_pyrazole", "--settings", "twice.yaml"], "settings file 'twice.yaml', line 2: 'episodes' is given"),
        (["knorr_pyrazole", "--settings", "binary.yaml"], "settings file 'binary.yaml', line 1: not UTF-8"),
        (["knorr_pyrazole", "--settings", "empty.yaml"], "settings file 'empty.yaml' is empty"),
        (["knorr_pyrazole", "--output", "occupied"], "output folder 'occupied' holds a run"),
        (["knorr_pyrazole", "--output", "empty.yaml"], "'empty.yaml' is a file"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tcbo, tmp_path, arguments, message):
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "twice.yaml").write_text("episodes: 1\nepisodes: 2\n")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe")
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "occupied").mkdir()
    (tmp_path / "occupied" / "result.json").write_text("{}")
    before = sorted(tmp_path.rglob("*"))
    output = () if "--output" in arguments else ("--output", "new")
    code, out, err = tcbo("run", *arguments, *output)
    assert code == 2
    assert out == ""
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1
    assert [path for path in sorted(tmp_path.rglob("*")) if "__pycache__" not in path.parts] == before
    assert (tmp_path / "occupied" / "result.json").read_text() == "{}"


def test_a_proven_infeasible_plan_exits_with_7(tcbo):
    rules = "constraints=[{use: end_at, point: {ratio: 1}}, {use: maximum_step, limits: {ratio: 0}}]"
    code, _, err = tcbo("run", "knorr_pyrazole", "--set", rules)
    assert code == 7
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_lists_problems_settings_and_help(tcbo):
    code, out, err = tcbo("problems")
    assert (code, err) == (0, "")
    (row,) = [line for line in out.splitlines() if "knorr_pyrazole" in line]
    assert row.split()[-4:] == ["121", "states", "10", "10"]
    code, out, err = tcbo("settings")
    assert (code, err) == (0, "")
    assert "planner:\n" in out
    assert tcbo("--version")[:2] == (0, f"tcbo_pyomo {tcbo_pyomo.__version__}\n")
    for arguments in ([], ["--help"], ["run", "--help"]):
        code, out, err = tcbo(*arguments)
        assert (code, err) == (0, "")
        assert "Usage: tcbo" in out


def test_solvers_are_probed(tcbo):
    code, out, _ = tcbo("solvers")
    assert code == 0
    (row,) = [line for line in out.splitlines() if line.split()[:1] == ["highs"]]
    assert "yes" in row.split()


def test_unknown_commands(tcbo):
    code, _, err = tcbo("runn")
    assert (code, err.count("\n")) == (2, 1)


def test_interrupt_shows_the_finished_episodes_and_the_run_can_be_resumed(tcbo, monkeypatch):
    from tcbo_pyomo.campaign.simulation import Simulation

    whole = tcbo("run", "knorr_pyrazole", *QUICK, "--output", "whole")
    original = Simulation.run

    def interrupted_at_episode_3(self, on_step=None, on_episode=None):
        def stop(episode, step):
            if episode == 3:
                raise KeyboardInterrupt
            on_step(episode, step)

        return original(self, stop, on_episode)

    with monkeypatch.context() as patched:
        patched.setattr(Simulation, "run", interrupted_at_episode_3)
        code, out, err = tcbo("run", "knorr_pyrazole", *QUICK, "--output", "o")
    assert code == 130 and err.endswith("interrupted\n") and "--output o --resume" in err
    assert [line.split()[0] for line in out.splitlines() if line.strip()][2:] == ["1", "2"]
    assert [path.name for path in Path("o").iterdir()] == ["unfinished.json"]
    code, out, err = tcbo("run", "knorr_pyrazole", "--output", "o", "--resume")
    assert (code, err) == (0, "") and out.replace("in o", "in whole") == whole[1]
    for name in ("result.json", "experiments.csv"):
        assert Path("o", name).read_bytes() == Path("whole", name).read_bytes()
    assert not Path("o", "unfinished.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--resume",), "needs --output"),
        (("--output", "nothing", "--resume"), "cannot be read"),
        (("--output", "nothing", "--resume", "--episodes", "2"), "leave out other options"),
    ],
)
def test_resume_says_what_is_missing(tcbo, arguments, message):
    code, _, err = tcbo("run", "knorr_pyrazole", *arguments)
    assert code == 2 and message in err and err.count("\n") == 1


def test_control_c_on_a_real_process(tmp_path):
    (tmp_path / "long.py").write_text(
        "from pathlib import Path\n"
        "from tcbo_pyomo.library import load_problem\n"
        "def build(feedback=None, seed=0):\n"
        "    problem = load_problem('knorr_pyrazole').changed(episodes=100_000)\n"
        "    Path('started').touch()\n"
        "    return problem\n"
    )
    process = start_process("run", "long.py", *QUICK, cwd=tmp_path)
    try:
        until((tmp_path / "started").exists, PATIENCE)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err == "interrupted\n"


def test_a_closed_pipe_is_quiet(tmp_path):
    process = start_process("settings", cwd=tmp_path)
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=PATIENCE) in (0, 1)


def test_start_up_does_not_load_heavy_modules(tmp_path):
    code = (
        "import sys\nfrom tcbo_pyomo.cli.main import main\n"
        "try:\n    main(['--version'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'pyomo', 'matplotlib', 'pandas', 'scipy', 'numpy'} & set(sys.modules)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(tcbo_pyomo.__file__).parents[1])}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
