"""What determines the numbers of a run, part by part: by it a study or an interrupted run sees what has changed.

The fingerprint of a campaign file says whether the same moves are possible; the parts say more: the values of the truth, the
number of episodes, the limits of every rule, and the content of each source file of the user's.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import physical
from tcbo_pyomo.foundation.csv_table import LARGEST_FILE
from tcbo_pyomo.foundation.limited_read import read_limited
from tcbo_pyomo.foundation.registry import user_names
from tcbo_pyomo.foundation.user_answers import real_numbers
from tcbo_pyomo.foundation.user_sources import user_sources
from tcbo_pyomo.library import problem_names
from tcbo_pyomo.models.step_equations import facts_of
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.surrogate.extremes import MAXIMISE

Parts = dict[str, str]
"""A digest by the name of the part, as messages call it."""
FILE = "file "
"""How the names of source files begin among the parts."""
NUMBERS = "numbers of rules and dynamics"
"""A part of problems that are not shipped."""
PROBES = 8
"""Points at which a truth that is a function is evaluated."""
DIGITS = 9
"""Significant digits of a truth: another machine may differ in the last ones."""


def problem_parts(problem: ProblemProtocol, shipped: bool = False) -> Parts:
    """The parts of a problem itself; of one that is `shipped` our version says what its functions are."""
    facts, arrays = problem.identity()
    coordinates = [(c.name, float(c.lower), float(c.upper), c.unit) for c in problem.coordinates]
    rules = [(rule.name, rule.describe(problem.coordinates), rule.named_limits()) for rule in problem.rules]
    return {
        "plant": _digest([problem.name, coordinates, facts, problem.measure_start], arrays),
        "prior": _digest(problem.kernel.to_dict()),
        "limits": _digest(rules),
        "horizon": str(int(problem.horizon)),
        "episodes": str(int(problem.episodes)),
        "truth": _truth_digest(problem),
        **({} if problem.goal == MAXIMISE else {"goal": _digest(problem.goal.data)}),
        **({} if shipped else _numbers_part(problem)),
    }


def is_shipped(source: Any) -> bool:
    """Whether a problem was named by a name from `tcbo problems`, so that its code is ours."""
    return isinstance(source, str) and source in problem_names()


def source_parts(*entries: Any) -> Parts:
    """The user's source files behind a problem file and behind names such as 'my_module:MyRule' inside plain data.

    Known by their names and contents, not by their place: a folder may be moved.
    """
    names = [name for entry in entries for name in _named_in(entry)]
    found: dict[str, list[str]] = {}
    for path, digest in user_sources(*names).items():
        found.setdefault(FILE + Path(path).name, []).append(digest)
    return {name: "+".join(sorted(digests)) for name, digests in sorted(found.items())}


def file_part(path: str) -> Parts:
    """A table, by its name and its content; nothing where none is named."""
    if not path:
        return {}
    content = read_limited(path, f"data '{path}'", LARGEST_FILE)
    return {FILE + Path(path).name: hashlib.sha256(content).hexdigest()[:32]}


def changed_parts(before: Parts, now: Parts) -> list[str]:
    """The names of the parts that differ, files first; limits in words say more than their numbers."""
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    names = [name for name in names if name != NUMBERS or "limits" not in names]
    return sorted(names, key=lambda name: not name.startswith(FILE))


def _named_in(entry: Any) -> Iterable[str]:
    if isinstance(entry, os.PathLike):
        entry = os.fspath(entry)
    return [entry] if isinstance(entry, str) and entry.endswith(".py") else user_names(entry)


def _numbers_part(problem: ProblemProtocol) -> Parts:
    """Dynamics and rules as the numbers that they come to: these may stand in a file that is no source.

    Of a finite plant only rules of the user's own: the part `plant` has the moves that all others leave, and their costs.
    """
    plant = problem.plant_data()
    if plant["kind"] == "finite":
        found = [rule for rule in plant["rules"] if "use" not in rule and "table" not in rule]
    else:
        dynamics = plant["dynamics"]
        found = [*plant["rules"], *filter(None, [dynamics.get("arithmetic"), facts_of(dynamics.get("step"))])]
    return {NUMBERS: _digest(found)} if found else {}


def _truth_digest(problem: ProblemProtocol) -> str:
    """The true values: of all states, or of some points where the truth is a function, and its best one."""
    if problem.truth is None:
        return "unknown"
    if not callable(problem.truth):
        return _digest([], [_rounded(problem.truth)])
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (PROBES, len(problem.input_axes)))
    values = real_numbers(
        problem.truth(physical(problem.input_axes, points)), (PROBES,), f"problem '{problem.name}': truth", problem.truth
    )
    return _digest(getattr(problem, "maximum", None), [_rounded(values)])


def _rounded(values: Any) -> Array:
    numbers = np.asarray(values, dtype=float)
    return np.array([float(f"{number:.{DIGITS}g}") for number in numbers.ravel()])


def _digest(facts: Any, arrays: Iterable[Array] = ()) -> str:
    # What is no plain data counts by its kind: its text may hold an address, which differs from process to process.
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True, default=_plain).encode())
    for array in arrays:
        digest.update(array.tobytes())
    return digest.hexdigest()[:32]


def _plain(thing: Any) -> Any:
    if isinstance(thing, np.generic):
        return thing.item()
    if isinstance(thing, np.ndarray):
        return thing.tolist()
    return str(thing) if hasattr(thing, "is_expression_type") else type(thing).__name__
