"""Names to classes: the file name is the registry; "my_study.limits:CoolingRate" loads a user's own class."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import sys
from types import ModuleType
from typing import Any

from tcbo_pyomo.errors import BadInput, suggestion

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_USER = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def names_in(package: str) -> list[str]:
    """Names of the files of a package."""
    module = importlib.import_module(package)
    return sorted(found.name for found in pkgutil.iter_modules(module.__path__) if not found.name.startswith("_"))


def class_name_of(name: str) -> str:
    """The class that the file `name` is expected to hold: SquaredExponential in squared_exponential."""
    return "".join(part.capitalize() for part in name.split("_"))


def load_module(package: str, kind: str, name: str) -> ModuleType:
    """The file `name` of a package; `kind` is the word used in messages."""
    if not _NAME.fullmatch(name) or name not in names_in(package):
        raise BadInput(f"unknown {kind} '{name}'; {suggestion(name, names_in(package))}; or 'my_module:MyClass'")
    return importlib.import_module(f"{package}.{name}")


def load_class(package: str, kind: str, name: str) -> Any:
    """The class of the file `name` (SquaredExponential in squared_exponential), or a user's 'module:Class'."""
    if _USER.fullmatch(name):
        module_name, _, class_name = name.partition(":")
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())  # Appended: what lies in the folder hides nothing installed.
        try:
            module = importlib.import_module(module_name)
        except Exception as error:  # Whatever the user's file does wrong while it runs.
            why = f"{type(error).__name__}: {error}"
            raise BadInput(f"{kind} '{name}': cannot import '{module_name}' ({why})") from error
    else:
        module = load_module(package, kind, name)
        class_name = class_name_of(name)
    if not hasattr(module, class_name):
        raise BadInput(f"{kind} '{name}': '{module.__name__}' has no '{class_name}'")
    return getattr(module, class_name)
