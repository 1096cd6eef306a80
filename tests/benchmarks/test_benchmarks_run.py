"""The benchmarks run and every row is a sane comparison; their figures are not judged here."""

import json
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
    rows = json.loads((tmp_path / "benchmarks.json").read_text())["comparisons"]
    assert len(rows) >= 5 and all(row["ratio"] > 0 and row["reference_seconds"] > 0 for row in rows)
