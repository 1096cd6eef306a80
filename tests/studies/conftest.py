"""A study that takes no time, and its tables when nothing happens to it."""

import shutil
from pathlib import Path

import pytest
from tiny_study import contents

from tcbo_pyomo.studies import read_study, run_study

HERE = Path(__file__).parent
STUDY = """
name: tiny
problems: [tiny_reactor.py]
methods: [mdp_bo, greedy_ucb]
feedback: [episodic, immediate]
seeds: 1..4
"""
ONE_CASE = """
name: one_case
problems: [tiny_reactor.py]
feedback: [immediate]
seeds: 1..4
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    shutil.copy(HERE / "tiny_reactor.py", folder)
    (folder / "tiny.yaml").write_text(STUDY)
    (folder / "one_case.yaml").write_text(ONE_CASE)
    return read_study(folder / "tiny.yaml")


@pytest.fixture(scope="module")
def undisturbed(study, tmp_path_factory):
    """The tables of a study that one worker ran in one go."""
    folder = tmp_path_factory.mktemp("undisturbed") / "out"
    run_study(study, folder, workers=1)
    return contents(folder)
