"""Processor time of the commands that do not plan, beside that of loading NumPy and SQLite.

    python tests/benchmarks/quick_commands.py [repetitions]

Each command runs on a copy of a campaign of a few moves, in a process of its own; the least of the repetitions counts, and the
bare import is measured in between. Goals: at most 4 times that import, 6 times for those that ask the surrogate: `tell` (is
the result a surprise?), `status` (what is believed, and what speaks against it) and, on finite plants, `best`.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tcbo_pyomo.library import load_problem
from tcbo_pyomo.records import start_campaign
from tcbo_pyomo.settings import settings_from

COMMANDS = {
    "status": [],
    "export": ["out.csv", "--force"],
    "audit": [],
    "arrive": [],
    "skip": [],
    "undo": [],
    "tell": ["0.31"],
    "best": [],
}
BARE = [sys.executable, "-c", "import numpy, sqlite3"]


def processor_time(command: list[str], folder: Path) -> float:
    """Seconds of processor time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(problem: str, folder: Path, repetitions: int) -> None:
    """Print a line per command."""
    path = folder / "begun.db"
    preferred = dict(load_problem(problem).settings)
    quick = {} if hasattr(load_problem(problem), "process") else {"candidates": {"count": 4}}
    campaign = start_campaign(path, problem, settings_from(preferred, quick), 1)
    for value in (0.3, 0.35):
        campaign.tell(campaign.ask().number, value)
    campaign.ask()
    times: dict[str, list[float]] = {name: [] for name in ("bare", *COMMANDS)}
    for _ in range(repetitions):
        times["bare"].append(processor_time(BARE, folder))
        for name, arguments in COMMANDS.items():
            shutil.copy(path, folder / "c.db")
            times[name].append(processor_time([sys.executable, "-m", "tcbo_pyomo", name, "c.db", *arguments], folder))
    bare = min(times["bare"])
    print(f"{problem}: import numpy, sqlite3 {bare:.3f} s; least of {repetitions}")
    for name in COMMANDS:
        print(f"  {name:8} {min(times[name]):.3f} s  {min(times[name]) / bare:4.1f} x")
    path.unlink()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_STATE_HOME"] = place
        for name in ("knorr_pyrazole", "lake_ypacarai", "branin2d"):
            measure(name, Path(place), int(sys.argv[1]) if len(sys.argv) > 1 else 7)
