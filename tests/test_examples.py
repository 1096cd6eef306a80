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
    assert same_output(*(without_times(text) for text in (shown, done.stdout))), f"docs/printed is old; now:\n{done.stdout}"


def without_times(text):
    return re.sub(r"[\d.]+ (ms|s)\b", "some \\1", text)
