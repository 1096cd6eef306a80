"""The user's own source files behind a problem or a method, each with its SHA-256: what a record must know to see a change.

Own is what belongs neither to Python, nor to installed packages, nor to us. The files are found without running anything: the
import statements of a file are followed, those inside functions too. Modules that a file imports under a name it computes
are found if they were loaded within `noted_imports`.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from tcbo_pyomo.foundation.user_lines import is_users

OURS = __name__.partition(".")[0]

_noted: dict[str, set[str]] = {}
"""Modules that were loaded while an entry was loaded, by that entry."""


def user_sources(*entries: str | os.PathLike[str]) -> dict[str, str]:
    """{path: SHA-256} of the user's files among some entries and all that these import, in the order of the paths.

    Parameters
    ----------
    entries
        Paths that end in ".py", and names such as 'my_module' or 'my_module:MyMethod'. What is not the user's own, such
        as the name of a shipped problem or method, adds nothing.
    """
    found: dict[str, str] = {}
    waiting: list[tuple[str, str]] = []
    for entry in (os.fspath(given) for given in entries):
        names = [] if entry.endswith(".py") else [entry.partition(":")[0]]
        if entry.endswith(".py") and Path(entry).is_file():
            waiting.append(("", os.path.realpath(entry)))
        for name in [*names, *sorted(_noted.get(_known_as(entry), ()))]:
            waiting += _own_files(name)
    while waiting:
        module, path = waiting.pop()
        if path in found:
            continue
        content = Path(path).read_bytes()
        found[path] = hashlib.sha256(content).hexdigest()
        for name in _imported_names(content, module, path):
            waiting += _own_files(name)
    return dict(sorted(found.items()))


@contextmanager
def noted_imports(entry: str | os.PathLike[str]) -> Iterator[None]:
    """Note which modules are loaded now, for the sake of those whose names no import statement says."""
    before = set(sys.modules)
    try:
        yield
    finally:
        new = (name for name in set(sys.modules) - before if _own_file(getattr(sys.modules[name], "__spec__", None)))
        _noted.setdefault(_known_as(os.fspath(entry)), set()).update(new)


@contextmanager
def loaded_afresh(*entries: str | os.PathLike[str]) -> Iterator[None]:
    """Let the user's modules behind some entries be loaded anew, as in another process; afterwards all is as it was."""
    files = set(user_sources(*entries))

    def loaded() -> dict[str, ModuleType]:
        modules = dict(sys.modules)
        return {name: one for name, one in modules.items() if _own_file(getattr(one, "__spec__", None)) in files}

    before = loaded()
    for name in before:
        del sys.modules[name]
    try:
        yield
    finally:
        for name in loaded():
            del sys.modules[name]
        sys.modules.update(before)


def _known_as(entry: str) -> str:
    return os.path.realpath(entry) if entry.endswith(".py") else entry.partition(":")[0]


def _imported_names(content: bytes, module: str, path: str) -> set[str]:
    """The modules that a file may import, wherever in it; those that it takes names from, and the names, too."""
    if not path.endswith(".py"):
        return set()
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    package = module if path.endswith("__init__.py") else module.rpartition(".")[0]
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                kept = parents[: len(parents) - node.level + 1]
                base = ".".join([*kept, *filter(None, [base])])
            names.add(base)
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return names


def _own_files(name: str) -> list[tuple[str, str]]:
    """(module, file) of the user's modules that importing a name loads: the packages around it first."""
    found: list[tuple[str, str]] = []
    folders: list[str] | None = None
    parts = name.split(".")
    if parts[0] == OURS or parts[0] in sys.stdlib_module_names:
        return found
    for number in range(1, len(parts) + 1):
        module = ".".join(parts[:number])
        specification = _specification(module, folders)
        if specification is None:
            break
        if file := _own_file(specification):
            found.append((module, file))
        folders = list(specification.submodule_search_locations or ())
    return found


def _specification(module: str, folders: list[str] | None) -> ModuleSpec | None:
    """What is known about a module: as it was loaded, or where it would be loaded from."""
    loaded = getattr(sys.modules.get(module), "__spec__", None)
    if loaded is not None or (not module.isidentifier() and folders is None):
        return loaded
    try:
        return importlib.util.find_spec(module) if folders is None else PathFinder.find_spec(module, folders)
    except (ImportError, ValueError, AttributeError):
        return None


def _own_file(specification: ModuleSpec | None) -> str:
    """The file of a module if it is the user's own, else nothing."""
    origin = getattr(specification, "origin", None)
    return os.path.realpath(origin) if origin and is_users(origin) else ""
