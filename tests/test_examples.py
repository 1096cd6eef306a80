"""Every example runs as a user would run it: in an empty folder, as a script of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from page_blocks import same_output

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
LOCAL_OPTIMA = ("06_no_go_zone", "08_pyomo_cstr", "09_idaes_reactor", "10_tclab")
"""Plans of nonlinear plants: which of several nearly equal local optima IPOPT finds depends on the processor."""


def test_there_are_examples():
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_prints_what_the_site_shows(example, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, str(example)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() and not done.stderr.strip()
    shown = (ROOT / "docs" / "printed" / f"{example.stem}.txt").read_text(encoding="utf-8")
    kept = without_numbers if example.stem in LOCAL_OPTIMA else without_times
    assert same_output(*(kept(text) for text in (shown, done.stdout))), f"docs/printed is old; now:\n{done.stdout}"


def without_times(text):
    return re.sub(r"[\d.]+ (ms|s)\b", "some \\1", text)


def without_numbers(text):
    return re.sub(r"-?\b\d[\d.]*(e[-+]?\d+)?\b", "some", text)
