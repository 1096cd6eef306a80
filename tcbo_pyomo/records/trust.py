"""Whose code may run: campaigns that were started, or trusted, by this user on this machine.

One empty file per campaign and code in `$XDG_STATE_HOME/tcbo/trusted` (`~/.local/state` when not set). Its name is a digest of
the campaign's own random number and of everything the campaign would run: a file that comes back with another method in its
settings, or with the hash of another problem file, is not trusted any more; one that only moved is.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcbo_pyomo.foundation.registry import USER_NAME

SHIPPED_SOLVERS = ("auto", "highs", "appsi_highs", "dynamic_programming", "ipopt", "pounce", "glpk", "cbc")
"""Solver names that run nothing but the solver that everybody means by them."""


@dataclass(frozen=True)
class Code:
    """One thing that a campaign would run.

    Attributes
    ----------
    what
        What it is: "problem file", "method".
    name
        Its path, or 'my_module:MyMethod'.
    sha256
        The hash of the file that was recorded; empty where none was.
    """

    what: str
    name: str
    sha256: str = ""

    def in_words(self) -> str:
        """One line."""
        return f"{self.what} {self.name}" + (f" (SHA-256 {self.sha256})" if self.sha256 else "")


def code_of(
    origin: Mapping[str, Any], settings: Mapping[str, Any], kernel: Mapping[str, Any], sources: Mapping[str, str]
) -> list[Code]:
    """Everything of a user's that planning the next move of a campaign would run.

    Parameters
    ----------
    origin
        Where the problem comes from, as `origin_of` wrote it down.
    settings, kernel
        As they stand in the file.
    sources
        The user's modules behind them, with their hashes.
    """
    found = [Code("problem file", str(origin["file"]), str(origin["sha256"]))] if "file" in origin else []
    found += [Code("module", name, digest) for name, digest in sources.items() if digest != origin.get("sha256")]
    found += named_code(settings, "setting")
    found += named_code(kernel, "kernel")
    planner = settings.get("planner") or {}
    for part in ("linear", "nonlinear"):
        solver = planner.get(part) or {}
        if solver.get("solver") not in (None, *SHIPPED_SOLVERS):
            found.append(Code(f"{part} solver", str(solver["solver"])))
        if solver.get("options"):
            found.append(Code(f"options of the {part} solver", json.dumps(solver["options"], sort_keys=True)))
    return list(dict.fromkeys(found))


def named_code(data: Any, what: str) -> Iterator[Code]:
    """Every 'my_module:MyClass' anywhere in plain data."""
    if isinstance(data, Mapping):
        for name, inner in data.items():
            yield from named_code(inner, str(name) if what == "setting" else what)
    elif isinstance(data, (list, tuple)):
        for inner in data:
            yield from named_code(inner, what)
    elif isinstance(data, str) and USER_NAME.fullmatch(data):
        yield Code(what, data)


def remember(identity: str, code: list[Code]) -> bool:
    """Trust a campaign with this code from now on; False where that cannot be written down."""
    place = _place(identity, code)
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.touch(mode=0o600)
    except OSError:
        return False
    return True


def is_trusted(identity: str, code: list[Code]) -> bool:
    """Whether this user has started or trusted the campaign, with this code."""
    return _place(identity, code).is_file()


def trust_folder() -> Path:
    """Where it is remembered."""
    given = os.environ.get("XDG_STATE_HOME", "")
    state = Path(given) if os.path.isabs(given) else Path(os.path.expanduser("~/.local/state"))
    return state / "tcbo" / "trusted"


def _place(identity: str, code: list[Code]) -> Path:
    # Hashes say what a file is; where it lies may change.
    facts = sorted([one.what, one.sha256 or one.name] for one in code)
    return trust_folder() / hashlib.sha256(json.dumps([identity, facts]).encode()).hexdigest()
