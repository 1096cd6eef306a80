"""Studies survive what happens to them: errors, dead workers, kills, interrupts, damaged files; the numbers stay the same."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from study_process import command, environment, process_of
from tiny_study import contents
from waiting import PATIENCE, until

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.studies import run_study
from tcbo_pyomo.studies.execution import execute
from tcbo_pyomo.studies.process_engine import by_processes
from tcbo_pyomo.studies.runs import runs_of
from tcbo_pyomo.studies.study_folder import StudyFolder
from tcbo_pyomo.studies.worker_pool import worker_pool


def test_the_tables_hold_every_run_and_move(study, undisturbed, tmp_path):
    tables = run_study(study, tmp_path / "out", workers=1)
    assert len(tables.runs) == 2 * 2 * 4 * 6
    first = tables.runs.iloc[:6]
    assert first["episode"].tolist() == [1, 1, 1, 2, 2, 2]
    assert first["step"].tolist() == [1, 2, 3, 1, 2, 3]
    assert first["move"].tolist() == [1, 2, 3, 4, 5, 6]
    assert tables.failures.empty
    # The same numbers as a campaign of its own.
    from tcbo_pyomo import load_problem, run_campaign

    problem = load_problem(study.problems[0].problem, "episodic", 2)
    own = run_campaign(problem, seed=2)
    of_study = tables.runs.query("feedback == 'episodic' and method == 'mdp_bo' and seed == 2")
    assert of_study["regret"].tolist() == [step.regret for step in own.steps]
    assert of_study["candidates"].tolist() == [step.candidates for step in own.steps]
    path = tables.paths.query("feedback == 'episodic' and method == 'mdp_bo' and seed == 2 and episode == 1")
    described = [problem.describe(place) for place in own.paths[0]]
    assert path["coordinate_1"].tolist() == [place["time"] for place in described]
    assert path["coordinate_2"].tolist() == [place["ratio"] for place in described]
    assert (tables.timings["seconds"] > 0).all()
    assert len(tables.timings) == len(tables.runs)
    assert contents(tmp_path / "out") == undisturbed


def test_two_workers_give_the_same_bytes(study, undisturbed, tmp_path):
    run_study(study, tmp_path / "out", workers=2)
    assert contents(tmp_path / "out") == undisturbed


def test_workers_that_are_copies_of_the_command_give_the_same_bytes(study, undisturbed, tmp_path):
    # Tests have threads of their own, so only a process of its own has copies for workers.
    subprocess.run(
        command(study, tmp_path / "out", "--workers", "2"), env=environment(), check=True, capture_output=True
    )
    assert contents(tmp_path / "out") == undisturbed


def test_the_command_and_its_workers_do_without_pandas(study, undisturbed, tmp_path):
    # It takes longer to load than a small study to run. An error that is no ImportError shows also those who only try it.
    without = """
import sys
from pathlib import Path
class WithoutPandas:
    def find_spec(self, name, path=None, target=None):
        assert name != "pandas", "somebody loads pandas"
sys.meta_path.insert(0, WithoutPandas())
from tcbo_pyomo.cli.main import main
main(sys.argv[1:])
"""
    given = command(study, tmp_path / "out", "--workers", "2")
    arguments = given[given.index("study") :]
    done = subprocess.run(
        [sys.executable, "-c", without, *arguments], env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "greedy_ucb" in done.stdout
    assert contents(tmp_path / "out") == undisturbed


def test_a_process_with_a_second_thread_is_not_copied():
    asked = """
import os, threading
os.environ["OPENBLAS_NUM_THREADS"] = "1"
from tcbo_pyomo.studies.worker_pool import may_be_copied
before, end = may_be_copied(), threading.Event()
thread = threading.Thread(target=end.wait)
thread.start()
print(before, may_be_copied())
end.set()
"""
    done = subprocess.run([sys.executable, "-c", asked], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(sys.platform == "linux"), "False"]


def test_the_death_of_one_of_joblibs_workers_costs_one_run(study, tmp_path, monkeypatch):
    monkeypatch.setattr("tcbo_pyomo.studies.worker_pool.may_be_copied", lambda: False)
    monkeypatch.setenv("TINY_KILLS", "2")
    one = study.model_copy(update={"methods": study.methods[:1], "feedback": study.feedback[:1]})
    tables = run_study(one, tmp_path / "out", workers=2)
    assert tables.failures["seed"].tolist() == [2]
    assert "died" in tables.failures["error"][0]
    assert sorted(tables.runs["seed"].unique()) == [1, 3, 4]


def test_only_what_is_missing_is_run(study, undisturbed, tmp_path):
    seen = []
    folder = tmp_path / "out"
    run_study(study.model_copy(update={"seeds": (1, 2)}), folder, workers=1)
    made = {path.name: path.stat().st_mtime_ns for path in (folder / "runs").iterdir()}
    # More seeds are the same study; damage to a run counts as missing.
    damaged = folder / "runs" / sorted(made)[0]
    damaged.write_bytes(damaged.read_bytes()[:-40])
    run_study(study, folder, workers=1, on_progress=seen.append)
    assert seen[0].done == 7
    assert (seen[-1].done, seen[-1].total, seen[-1].failed) == (16, 16, 0)
    kept = [name for name, when in made.items() if (folder / "runs" / name).stat().st_mtime_ns == when]
    assert len(kept) == 7
    assert contents(folder) == undisturbed


def test_a_run_that_raises_is_recorded_and_the_others_go_on(study, undisturbed, tmp_path, monkeypatch):
    folder = tmp_path / "out"
    monkeypatch.setenv("TINY_FAILS", "3")
    tables = run_study(study, folder, workers=1)
    assert len(tables.failures) == 4
    assert tables.failures["seed"].tolist() == [3] * 4
    assert tables.failures["error"].str.contains("the pump of seed 3 is broken").all()
    assert sorted(tables.runs["seed"].unique()) == [1, 2, 4]
    monkeypatch.delenv("TINY_FAILS")
    tables = run_study(study, folder, workers=1)
    assert tables.failures.empty
    assert contents(folder) == undisturbed


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_kills_its_process_is_found_and_the_others_go_on(study, tmp_path, workers):
    folder = tmp_path / "out"
    done = subprocess.run(
        command(study, folder, "--workers", str(workers), file="one_case.yaml"),
        env=environment(TINY_KILLS="2"),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 1, done.stderr
    assert "1 of the runs failed" in done.stderr
    failures = pd.read_csv(folder / "failures.csv")
    assert failures["seed"].tolist() == [2]
    assert "died" in failures["error"][0]
    assert sorted(pd.read_csv(folder / "runs.csv")["seed"].unique()) == [1, 3, 4]


def test_a_folder_that_was_killed_before_its_first_word_is_begun_again(study, tmp_path):
    folder = tmp_path / "out"
    for name in ("runs", "failures"):
        (folder / name).mkdir(parents=True)
    (folder / ".study.json.k2x").write_text("{")
    begun = StudyFolder(folder)
    begun.refuse_another(study)
    (folder / "runs" / "mine.txt").write_text("not a study's")
    with pytest.raises(BadInput, match="is not empty and holds no study"):
        begun.refuse_another(study)


@pytest.mark.slow
def test_killed_at_random_moments_it_goes_on_to_the_same_bytes(study, undisturbed, tmp_path):
    folder, chance = tmp_path / "out", random.Random(5)
    kills = 0
    while kills < 4:
        process = subprocess.Popen(
            command(study, folder, "--workers", "2"),
            env=environment(TINY_SECONDS="0.5"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(chance.uniform(1.0, 4.0))
            break  # It was through before it could be killed.
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
    assert kills > 0
    subprocess.run(command(study, folder, "--workers", "2"), env=environment(), check=True, capture_output=True)
    assert contents(folder) == undisturbed


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_made_and_leaves_no_process(study, tmp_path):
    folder = tmp_path / "out"
    process = process_of(study, folder, "--workers", "2", TINY_SECONDS="1")
    until(lambda: list(folder.glob("runs/*.json")), PATIENCE)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, errors
    assert errors.strip().endswith("interrupted")
    assert "Traceback" not in errors
    made = len(list(folder.glob("runs/*.json")))
    assert 0 < made < 16
    assert len(pd.read_csv(folder / "runs.csv")) == 6 * made


@pytest.mark.slow
def test_two_processes_on_one_folder_do_not_harm_it(study, undisturbed, tmp_path):
    folder = tmp_path / "out"
    both = [
        subprocess.Popen(command(study, folder, "--workers", "1"), env=environment(), stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    assert [process.wait(300) for process in both] == [0, 0]
    assert contents(folder) == undisturbed


def test_the_folder_of_another_study_or_of_something_else_is_refused(study, tmp_path):
    small = study.model_copy(update={"seeds": (1,), "feedback": study.feedback[:1]})
    folder = tmp_path / "out"
    run_study(small, folder, workers=1)
    before = contents(folder)
    other = small.model_copy(update={"methods": small.methods[:1], "name": "other"})
    with pytest.raises(BadInput, match=r"holds the study 'tiny', which differs in name, methods; .*--extend"):
        run_study(other, folder, workers=1)
    assert contents(folder) == before
    tables = run_study(other, folder, workers=1, extend=True)
    assert tables.runs["method"].unique().tolist() == ["mdp_bo"]
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").write_bytes(b"cat")
    with pytest.raises(BadInput, match="is not empty and holds no study"):
        run_study(study, tmp_path / "photos")
    with pytest.raises(BadInput, match="is a file"):
        run_study(study, tmp_path / "photos" / "cat.png")
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["cat.png"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"workers": 0}, "workers 0 must be"),
        ({"engine": "magic"}, "unknown engine 'magic'"),
        ({"address": "tcp://127.0.0.1:1"}, "is for engine dask"),
    ],
)
def test_bad_options_are_refused(study, tmp_path, options, words):
    with pytest.raises(BadInput, match=words):
        run_study(study, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_the_order_of_records_is_that_of_their_end_and_each_comes_once(study):
    runs = runs_of(study)[:6]
    with worker_pool(2) as pool:
        records = list(by_processes(pool, runs, 2))
    assert sorted(record["key"] for record in records) == sorted(run.key for run in runs)
    again = execute(runs[0])
    (same,) = [record for record in records if record["key"] == runs[0].key]
    assert again["steps"] == same["steps"]


def test_dry_run_lists_the_cases_and_writes_nothing(study, tmp_path):
    done = subprocess.run(
        command(study, tmp_path / "out", "--dry-run", "--seeds", "1..3"),
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "12 runs" in done.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("copied", [True, False])
def test_what_a_problem_prints_does_not_mix_with_the_results(study, tmp_path, copied):
    file = Path(study.problems[0].problem)
    (tmp_path / "loud.py").write_text(
        file.read_text().replace('    axes = {"time"', '    print("hello")\n    axes = {"time"')
    )
    (tmp_path / "s.yaml").write_text("name: s\nproblems: [loud.py]\nseeds: [1, 2]\n")
    code = "import tcbo_pyomo.studies.worker_pool as w\n" + ("" if copied else "w.may_be_copied = lambda: False\n")
    code += "from tcbo_pyomo.cli.main import main\nmain(['study', 's.yaml', '--workers', '2'])\n"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "hello" not in done.stdout and done.stderr.count("hello") >= 3
