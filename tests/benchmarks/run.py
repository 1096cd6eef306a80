"""Speed, side by side: `python tests/benchmarks/run.py` prints a table and writes benchmarks.json.

Every figure is a ratio inside one run (median and 10 % to 90 % range of alternating repeats), since absolute times of a
shared machine mean little. `--only planning_step first_plan` runs some of the files.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

# One BLAS thread: matrices of a few hundred rows are slower with more.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[2]))

FILES = (
    "planning_step",
    "where_the_time_goes",
    "backward_induction",
    "surrogate_update",
    "learning",
    "linear_replan",
    "first_plan",
    "coupled_plan",
    "nonlinear_replan",
    "model_replan",
    "local_search",
)


def main() -> None:
    """Run all comparisons."""
    import local_search
    from machine import described

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats, to see that everything runs")
    parser.add_argument(
        "--repeats", type=int, default=40, help="of the quick things; slow ones are repeated less often"
    )
    parser.add_argument("--only", nargs="+", choices=FILES, default=FILES, metavar="FILE")
    parser.add_argument("--output", type=Path, default=Path("benchmarks.json"))
    arguments = parser.parse_args()
    repeats = 3 if arguments.quick else arguments.repeats
    machine = described()
    print("; ".join(f"{name}: {value}" for name, value in machine.items()))
    rows = []
    for name in arguments.only:
        for row in importlib.import_module(name).comparisons(repeats, arguments.quick):
            rows.append(row)
            print(row.text, flush=True)
    for package in local_search.missing():
        print(f"SKIPPED: {package} is not installed; its local-search step was not compared")
    document = {
        "machine": machine,
        "repeats": repeats,
        "skipped": local_search.missing(),
        "comparisons": [asdict(row) for row in rows],
    }
    arguments.output.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
