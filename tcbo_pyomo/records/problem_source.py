"""Which problem a record belongs to: built from a name or a file, known again by its fingerprint.

A campaign file keeps a problem by name, or by the path and SHA-256 of the user's own Python file. That file was named on the
command line when the campaign was started; whether it may run again is for `problem_code.py` to say.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.library import load_problem, problem_names
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.records.trust import Code
from tcbo_pyomo.surrogate.extremes import MAXIMISE

ProblemSource = ProblemProtocol | str | os.PathLike[str]
"""What a user may give as a problem: one made in Python, a name from `tcbo problems`, or the path of a .py file."""


def built_problem(source: ProblemSource, feedback: str | None = None, seed: int = 0) -> ProblemProtocol:
    """The problem that a source means; feedback and seed as in `load_problem`."""
    if isinstance(source, (str, os.PathLike)):
        return load_problem(os.fspath(source), feedback, seed)
    return source


def problem_fingerprint(problem: ProblemProtocol) -> str:
    """A digest of everything about a problem that decides which moves are made."""
    facts, arrays = problem.identity()
    coordinates = [(c.name, float(c.lower), float(c.upper), c.unit) for c in problem.coordinates]
    rules = [rule.name for rule in problem.rules]
    facts = facts if problem.prior is None else [*facts, problem.prior.to_dict()]
    facts = facts if problem.goal == MAXIMISE else [*facts, {"goal": problem.goal.data}]
    digest = hashlib.sha256()
    description = (problem.name, coordinates, int(problem.horizon), rules, problem.kernel.to_dict(), facts)
    digest.update(json.dumps(description, sort_keys=True).encode())
    for array in arrays:
        digest.update(array.tobytes())
    return digest.hexdigest()


def origin_of(path: Path, source: ProblemSource) -> dict[str, str]:
    """Where the problem of the campaign file `path` comes from, as plain data."""
    if not isinstance(source, (str, os.PathLike)):
        return {"name": source.name, "made": "in Python"}
    name = os.fspath(source)
    if name in problem_names():
        return {"name": name}
    file = Path(name).absolute()
    return {
        "file": os.fspath(file),
        "beside": os.path.relpath(file, path.absolute().parent),
        "sha256": _digest(file),
    }


def found_source(path: Path, origin: dict[str, str]) -> str:
    """The name or file that `origin_of` wrote down: beside the campaign file while it is the same, else where it was."""
    if "file" not in origin:
        if "made" in origin and origin["name"] not in problem_names():
            name = origin["name"]
            raise BadInput(f"{path}: its problem '{name}' was built in Python; pass it to open_campaign(path, problem)")
        return origin["name"]
    beside = path.absolute().parent / origin["beside"]
    if beside.is_file() and _digest(beside) == origin["sha256"]:
        return os.fspath(beside)
    # A changed file runs only where this user has put it, not because it lies beside a campaign.
    if Path(origin["file"]).is_file():
        return origin["file"]
    raise BadInput(
        f"{path}: its problem file {origin['file']} is missing; restore it, or name it with --problem if it moved"
    )


def compared(path: Path, origin: Mapping[str, str], code: Code) -> str:
    """Whether the file that a campaign names is still what was recorded, and what happens if not, in words.

    Empty where no hash was recorded. Nothing is run: the file is only read.
    """
    if not code.sha256:
        return ""
    source = Path(found_source(path, dict(origin))) if _is_there(path, origin) else None
    if code.what == "problem file":
        file = source
    else:  # Modules are named from the folder of the problem file.
        file = (Path.cwd() if source is None or "file" not in origin else source.parent) / code.name
    if file is None or not file.is_file():
        return "is missing: restore it, or name the problem with --problem, before you `ask`"
    now = _digest(file)
    if now == code.sha256:
        return f"{file} is unchanged"
    return (
        f"{file} has changed (SHA-256 {now}): read it, because `ask` runs it as it is; restore it, or record the change "
        "with `tcbo amend`, before `ask` plans again"
    )


def _is_there(path: Path, origin: Mapping[str, str]) -> bool:
    try:
        return bool(found_source(path, dict(origin)))
    except BadInput:
        return False


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
