"""Whether a problem file builds the same problem each time: nothing that is recorded would hold for a problem that varies.

It is built once more with its modules loaded anew. A file whose source uses sets or hash values may also differ from process
to process, since Python gives each process another order of them; such a file is built in other processes, too.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcbo_pyomo.errors import BadInput, TcboError
from tcbo_pyomo.foundation.parent_process import end_with_parent
from tcbo_pyomo.foundation.user_sources import loaded_afresh, user_sources
from tcbo_pyomo.problem.declared_changes import declared_changes
from tcbo_pyomo.records.built_problem import build
from tcbo_pyomo.settings import stored_settings

if TYPE_CHECKING:
    from tcbo_pyomo.records.built_problem import BuiltProblem

HASH_SEEDS = (1, 2, 3, 4, 5)
"""One process for each. Two names keep their order in all five once in 32 times, more names far less often."""
PATIENCE = 600.0
"""Seconds after which a build in another process is given up."""
PROCESS_DEPENDENT = {"set", "frozenset", "hash", "getpid"}
KEYS = {"keys", "items"}
"""What dictionaries return; `-`, `&`, `|` and `^` of these make a set."""
CHILD = (
    "import json, sys; given = json.load(sys.stdin); sys.path[:] = given['import_path']; "
    "from tcbo_pyomo.records.repeatable_build import answer; answer(given)"
)


def refuse_another(path: Path, source: Any, built: BuiltProblem) -> None:
    """Refuse a problem file that builds another problem than `built` next time; `path` is the campaign file to be."""
    if "file" not in built.facts["problem"]:
        return
    file = built.facts["problem"]["file"]
    with loaded_afresh(file):
        again = build(path, source, built.settings, built.seed).facts["declared"]
    _compare(file, built, again, "; derive every random number from `seed`")
    if sys.executable and _depends_on_process(user_sources(file)):  # An embedded Python may have no program to start.
        for declared in _built_elsewhere(path, source, built):
            _compare(file, built, declared, " in another process; sort what you take from a set")


def _compare(file: str, built: BuiltProblem, again: Mapping[str, Any], advice: str) -> None:
    changes = declared_changes(built.facts["declared"], again)
    if changes:
        raise BadInput(
            f"problem file '{file}' builds a different problem each time: {changes[0].in_words()}{advice}; "
            "no campaign was started"
        )


def _depends_on_process(files: Mapping[str, str]) -> bool:
    """Whether a source file uses something whose order or value Python chooses anew in each process."""
    for file in files:
        try:
            nodes = list(ast.walk(ast.parse(Path(file).read_bytes())))
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        if any(map(_varies, nodes)):
            return True
    return False


def _varies(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        calls = [side.func for side in (node.left, node.right) if isinstance(side, ast.Call)]
        return any(isinstance(called, ast.Attribute) and called.attr in KEYS for called in calls)
    named = getattr(node, "id", None) if isinstance(node, ast.Name) else getattr(node, "attr", None)
    return isinstance(node, (ast.Set, ast.SetComp)) or named in PROCESS_DEPENDENT


def _built_elsewhere(path: Path, source: Any, built: BuiltProblem) -> Iterator[dict[str, Any]]:
    """What the problem file builds in other processes, each with another order of sets."""
    file = built.facts["problem"]["file"]
    given = {
        "path": os.fspath(path),
        "source": os.fspath(source),
        "settings": built.settings.model_dump(mode="json"),
        "seed": int(built.seed),
        "import_path": [os.fspath(place) for place in sys.path],
        "parent": os.getpid(),
    }
    for seed in HASH_SEEDS:
        try:
            ended = subprocess.run(
                [sys.executable, "-c", CHILD],
                input=json.dumps(given),
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                env={**os.environ, "PYTHONHASHSEED": str(seed)},
            )
        except subprocess.TimeoutExpired:
            raise BadInput(f"problem file '{file}' was not built within {PATIENCE:g} s in another process") from None
        failed = {"error": _last_line(ended.stderr)}
        found: dict[str, Any] = json.loads(ended.stdout) if ended.returncode == 0 else failed
        if "error" in found:
            raise BadInput(f"problem file '{file}' cannot be built in another process: {found['error']}")
        yield found["declared"]


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it ended without a message"])[-1]


def answer(given: Mapping[str, Any]) -> None:
    """In another process: build, and write what was built to standard output, which is for nothing else."""
    end_with_parent(given["parent"])
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        built = build(Path(given["path"]), given["source"], stored_settings(given["settings"]), given["seed"])
        found = {"declared": built.facts["declared"]}
    except TcboError as error:
        found = {"error": str(error)}
    with results:
        json.dump(found, results)
