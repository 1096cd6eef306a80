"""Commands that do not plan answer at once: what takes long to load is not loaded.

Their processor time is measured by tests/benchmarks/quick_commands.py.
"""

import json
import subprocess
import sys

import pytest

from tcbo_pyomo.records import start_campaign
from tcbo_pyomo.settings import settings_from

SLOW = ("pyomo", "pandas", "scipy.stats", "scipy.integrate", "scipy.optimize", "casadi", "highspy", "matplotlib")
MODEL = ("scipy.linalg", "scipy.special", "scipy.spatial", "tcbo_pyomo.knowledge.knowledge")
"""What the surrogate loads: only `tell` and `best` ask it, and `status` after a result was taken back."""
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


def loaded_by(arguments):
    """Which slow modules a command loads, in a process of its own."""
    program = (
        "import json, sys\n"
        "from tcbo_pyomo.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\n"
        "except SystemExit as end:\n    code = end.code\n"
        f"print(json.dumps([code, [name for name in {SLOW + MODEL!r} if name in sys.modules]]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    code, modules = json.loads(done.stdout.strip().splitlines()[-1])
    assert code == 0, done
    return modules


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_command_that_only_looks_or_records_loads_what_plans(tmp_path, monkeypatch, name):
    from tcbo_pyomo.library import load_problem

    monkeypatch.chdir(tmp_path)
    settings = settings_from(dict(load_problem(name).settings), PROBLEMS[name])
    campaign = start_campaign("c.db", name, settings, 1)
    for _ in range(2):
        campaign.tell(campaign.ask().number, 0.3)
    campaign.ask()
    found = [(arguments, loaded_by(arguments)) for arguments in COMMANDS]
    quick = [(arguments, modules) for arguments, modules in found if arguments[0] not in ("best", "tell")]
    assert quick == [(arguments, []) for arguments, _ in quick]
    # Where the plant does not get everywhere in its box, a feasible episode is planned to what is recommended.
    allowed = {*MODEL, *(SLOW if name == "tank_cascade" else ())}
    for arguments, modules in found:
        assert set(modules) <= (allowed if arguments[0] == "best" else set(MODEL)), arguments
