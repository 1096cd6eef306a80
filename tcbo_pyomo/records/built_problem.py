"""The problem of a campaign as its code builds it: only where that may run, and only while it builds what the file says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.user_sources import user_sources
from tcbo_pyomo.problem.declaration import declaration_of, opaque_parts
from tcbo_pyomo.problem.declared_changes import Change, declared_changes
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.problem.with_settings import with_settings
from tcbo_pyomo.records.definition import Definition, named_sources
from tcbo_pyomo.records.file_format import plain
from tcbo_pyomo.records.problem_code import ProblemCode
from tcbo_pyomo.records.problem_source import (
    ProblemSource,
    built_problem,
    found_source,
    origin_of,
    problem_fingerprint,
)
from tcbo_pyomo.settings import Settings, stored_settings

SHOWN = 3
"""Differences that a refusal names."""


@dataclass(frozen=True)
class BuiltProblem:
    """A problem that was built, and what the file should know about it.

    Attributes
    ----------
    problem, settings, seed
        The problem without its settings, the settings and the seed that it was built with.
    facts
        `problem`, `declared` and `sources` as rows hold them.
    """

    problem: ProblemProtocol
    settings: Settings
    seed: int
    facts: dict[str, Any]


def build(path: Path, source: ProblemSource, settings: Settings, seed: int) -> BuiltProblem:
    """Build a problem and write down what it is; `path` is the campaign file."""
    problem = built_problem(source, settings.feedback.kind, seed)
    names = [name for name in _names_in(settings.model_dump(mode="json")) if ":" in name]
    file = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
    origin = origin_of(path, source)
    entries = [origin["file"], *names] if "file" in origin else names
    facts = {
        "problem": origin,
        "declared": plain(declaration_of(with_settings(problem, settings))),
        "sources": named_sources(user_sources(*entries), file if "file" in origin else None),
    }
    return BuiltProblem(problem, settings, seed, facts)


def as_recorded(code: ProblemCode, definition: Definition) -> BuiltProblem:
    """The problem of a definition, as it was; anything else is refused in one line that says what differs."""
    code.check_trust(definition)
    settings = stored_settings(dict(definition.settings))
    source = code.given if code.given is not None else found_source(code.path, dict(definition.origin))
    found = build(code.path, source, settings, definition.seed)
    if definition.declared is None:
        if problem_fingerprint(with_settings(found.problem, settings)) != definition.fingerprint:
            raise BadInput(
                f"{code.path}: was started with another problem than the present '{found.problem.name}'; continue with the "
                "problem and the version of tcbo_pyomo that started it; the file is unchanged"
            )
        return found
    changes = differences(definition, found, code.given is not None)
    if changes:
        listed = "; ".join(change.in_words() for change in changes[:SHOWN])
        more = f"; and {len(changes) - SHOWN} more" if len(changes) > SHOWN else ""
        raise BadInput(
            f"{code.path}: the problem differs from the recorded one: {listed}{more}; restore it, or record the change "
            f"with `tcbo amend {code.path}`"
        )
    return found


def differences(definition: Definition, found: BuiltProblem, named: bool = False) -> list[Change]:
    """What differs between a definition and what was built.

    Where the caller has named the file (`named`), an edit that changes none of the data is none, unless a part of the
    problem is known to its code alone.
    """
    assert definition.declared is not None
    changes = declared_changes(definition.declared, found.facts["declared"])
    if changes or (named and not opaque_parts(found.facts["declared"])):
        return changes
    return source_changes(definition.sources or {}, found.facts["sources"])


def source_changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    """Files of the user's that differ from what was recorded."""
    if not before or not after:  # A problem made in Python has no file.
        return []
    texts = {name: (before.get(name, ""), after.get(name, "")) for name in sorted({*before, *after})}
    return [
        Change(f"file {name}", f"SHA-256 {old[:8]}..." if old else "none", f"SHA-256 {new[:8]}..." if new else "none")
        for name, (old, new) in texts.items()
        if old != new
    ]


def _names_in(data: Any) -> list[str]:
    """Every text in plain data."""
    if isinstance(data, Mapping):
        return [name for inner in data.values() for name in _names_in(inner)]
    if isinstance(data, (list, tuple)):
        return [name for inner in data for name in _names_in(inner)]
    return [data] if isinstance(data, str) else []
