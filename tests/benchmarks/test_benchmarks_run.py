"""The benchmarks run and every row is a sane comparison; their figures are not judged here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_quick_form_runs(tmp_path):
    script = Path(__file__).with_name("run.py")
    done = subprocess.run(
        [sys.executable, str(script), "--quick", "--output", str(tmp_path / "benchmarks.json")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "benchmarks.json").read_text())
    rows = document["comparisons"]
    assert len(rows) >= 15 and all(row["ratio"] > 0 and row["reference_seconds"] > 0 for row in rows)
    assert {"processor", "cores", "python", "numpy", "blas", "highspy", "casadi"} <= set(document["machine"])


@pytest.mark.slow
def test_the_quick_form_of_growth_runs_and_the_programme_is_pruned(tmp_path):
    script = Path(__file__).with_name("growth.py")
    done = subprocess.run(
        [sys.executable, str(script), "--quick", "--output", str(tmp_path / "growth.json")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "growth.json").read_text())
    assert all(len(series["sizes"]) >= 2 for series in document["series"])
    # Exactly what can be reached from the state and can still meet the end.
    columns = document["columns"]
    assert columns["columns"] == columns["reachable and able to end"] < columns["every pair at every step"]
    assert (tmp_path / "growth.svg").stat().st_size > 0


@pytest.mark.slow
def test_a_smaller_large_lake_comes_back_to_port(tmp_path):
    script = Path(__file__).parents[2] / "examples" / "large_lake" / "large_lake.py"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, str(script), "--side", "50", "--horizon", "40", "--episodes", "2"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("back at the port: True") == 2
    assert "80 plans" in done.stdout and "peak memory" in done.stdout
