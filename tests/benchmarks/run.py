"""Speed, side by side: `python tests/benchmarks/run.py` prints a table and writes benchmarks.json.

Every figure is a ratio inside one run (median and 10 % to 90 % range of alternating repeats), since absolute times of a
shared machine mean little.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path

# One BLAS thread: matrices of a few hundred rows are slower with more.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[2]))

import linear_replan
import nonlinear_replan
import planning_step


def main() -> None:
    """Run all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats, to see that everything runs")
    parser.add_argument("--output", type=Path, default=Path("benchmarks.json"))
    arguments = parser.parse_args()
    repeats = 3 if arguments.quick else 40
    rows = [
        *planning_step.comparisons(repeats * 10),
        *linear_replan.comparisons(repeats),
        *nonlinear_replan.comparisons(repeats),
    ]
    for row in rows:
        print(row.text)
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    document = {"machine": machine, "repeats": repeats, "comparisons": [asdict(row) for row in rows]}
    arguments.output.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
