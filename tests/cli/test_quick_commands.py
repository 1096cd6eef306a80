"""Commands that do not plan answer at once: what takes long to load is not loaded.

Their processor time is measured by tests/benchmarks/quick_commands.py.
"""

import json
import os
import subprocess
import sys

import pytest
from waiting import PATIENCE

from tcbo_pyomo.records import start_campaign
from tcbo_pyomo.settings import settings_from

SLOW = ("pyomo", "pandas", "scipy.stats", "scipy.integrate", "scipy.optimize", "casadi", "highspy", "matplotlib")
MODEL = ("scipy.linalg", "scipy.special", "scipy.spatial", "tcbo_pyomo.knowledge.knowledge")
"""What the surrogate loads: only `tell` and `best` ask it, and `status` after a result was taken back."""
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
FEW = {"candidates": {"count": 4}}
PROBLEMS = {"knorr_pyrazole": {}, "fuel_lake": {}, "branin2d": FEW, "tank_cascade": FEW}
COMMANDS = (
    ["status", "c.db"],
    ["export", "c.db", "out.csv"],
    ["audit", "c.db"],
    ["trust", "c.db"],
    ["best", "c.db"],
    ["tell", "c.db", "0.4"],
    ["undo", "c.db"],
    ["arrive", "c.db"],
    ["undo", "c.db"],
    ["skip", "c.db"],
    ["undo", "c.db", "--move", "1"],
)


PROGRAM = f"""
import json, os, sys
from tcbo_pyomo.cli.main import main

for arguments in json.loads(sys.argv[1]):
    reader, writer = os.pipe()
    if os.fork() == 0:
        sys.stdout = open(os.devnull, "w")
        try:
            main(arguments)
        except SystemExit as end:
            found = [end.code, [name for name in {SLOW + MODEL!r} if name in sys.modules]]
        os.write(writer, json.dumps(found).encode())
        os._exit(0)
    os.close(writer)
    print(os.read(reader, 4096).decode(), flush=True)
    os.wait()
"""


def loaded_by(commands):
    """Which slow modules each command loads, one after another: each a copy of a process that has loaded the command line."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(commands)], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [code for code, _ in found] == [0] * len(commands), done
    return [modules for _, modules in found]


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_command_that_only_looks_or_records_loads_what_plans(tmp_path, monkeypatch, name):
    from tcbo_pyomo.library import load_problem

    monkeypatch.chdir(tmp_path)
    settings = settings_from(dict(load_problem(name).settings), PROBLEMS[name])
    campaign = start_campaign("c.db", name, settings, 1)
    for _ in range(2):
        campaign.tell(campaign.ask().number, 0.3)
    campaign.ask()
    found = list(zip(COMMANDS, loaded_by(COMMANDS), strict=True))
    quick = [(arguments, modules) for arguments, modules in found if arguments[0] not in ("best", "tell")]
    assert quick == [(arguments, []) for arguments, _ in quick]
    # Where the plant does not get everywhere in its box, a feasible episode is planned to what is recommended.
    allowed = {*MODEL, *(SLOW if name == "tank_cascade" else ())}
    for arguments, modules in found:
        assert set(modules) <= (allowed if arguments[0] == "best" else set(MODEL)), arguments
