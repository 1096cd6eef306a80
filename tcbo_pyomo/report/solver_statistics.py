"""How the moves were found: the records of the plans in a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from tcbo_pyomo.planning.fall_backs import fall_backs
from tcbo_pyomo.rehearsal.choice import RECORD


def solver_statistics(plans: Sequence[dict[str, Any] | None]) -> list[tuple[str, str]]:
    """(what, value) pairs; empty where no plan was recorded."""
    acting = Counter(str(plan[RECORD]["chosen"]) for plan in plans if plan and RECORD in plan)
    chosen = [("moves by chosen method", ", ".join(f"{name} ({number})" for name, number in acting.most_common()))]
    known = [plan for plan in plans if plan and set(plan) != {RECORD}]
    if not known:
        return chosen if acting else []
    solvers = Counter(str(plan.get("solver", "unknown")) for plan in known)
    facts = [
        *(chosen if acting else []),
        ("recorded plans", str(len(known))),
        ("solver", ", ".join(f"{name} ({number})" for name, number in solvers.most_common())),
    ]
    if utilities := _numbers(known, "utility"):
        ends = f"{utilities[0]:.4g} and {utilities[-1]:.4g}"
        facts.append(("utility (what plans minimise), first and last plan", ends))
    if components := _numbers(known, "components"):
        facts.append(("trajectories or policies mixed in a plan, maximum", str(max(components))))
    facts += _trajectories(known)
    if seconds := _numbers(known, "seconds"):
        facts.append(("seconds per plan, median and maximum", f"{np.median(seconds):.3g} and {max(seconds):.3g}"))
    return facts


def _numbers(plans: Sequence[dict[str, Any]], name: str) -> list[float]:
    return [plan[name] for plan in plans if isinstance(plan.get(name), (int, float))]


def _trajectories(plans: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Continuous plants: every attempt to solve is on record."""
    paths = [path for plan in plans for path in plan.get("trajectories", ()) if isinstance(path, dict)]
    solves = [solve for path in paths for solve in path.get("solves", ()) if isinstance(solve, dict)]
    if not solves:
        return []
    iterations = np.array([solve.get("iterations", 0) for solve in solves], dtype=float)
    refused = sum(not solve.get("feasible") for solve in solves)
    kept = sum(path.get("used") != "solver" for path in paths)
    fallen = fall_backs(plans)
    statuses = Counter(str(solve.get("status")) for solve in solves)
    return [
        ("solves", f"{len(solves)}, of which {refused} gave no path that passes our own check"),
        ("solver status", ", ".join(f"{status} ({number})" for status, number in statuses.most_common(4))),
        ("iterations per solve, median and maximum", f"{np.median(iterations):g} and {iterations.max():g}"),
        ("plans that kept their warm start", str(kept)),
        *([("warning", str(fallen))] if fallen.number else []),
    ]
