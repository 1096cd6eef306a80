"""Names to classes: the file name is the registry; "my_study.limits:CoolingRate" loads a user's own class.

A registry lists exactly the files whose class has the right interface (`Registry.face`), and refuses the rest in one line.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.user_code import require_trust
from tcbo_pyomo.foundation.user_sources import noted_imports

_NAME = re.compile(r"[a-z][a-z0-9_]*")
USER_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
"""How a user's own class is named, 'my_module:MyClass'."""

Face = TypeVar("Face")


def files_of(package: str) -> list[str]:
    """The files of a package, without those that begin with an underscore."""
    found = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return sorted(file.name for file in found if not file.ispkg and not file.name.startswith("_"))


def class_name_of(name: str) -> str:
    """The class that the file `name` is expected to hold: SquaredExponential in squared_exponential."""
    return "".join(part.capitalize() for part in name.split("_"))


def find_beside_user(folder: str | None = None) -> None:
    """Let modules in a folder (the present one) be found; appended: what lies there hides nothing installed."""
    place = os.getcwd() if folder is None else folder
    if place not in sys.path:
        sys.path.append(place)


def user_names(data: Any) -> list[str]:
    """Every name such as "my_module:MyRule" in plain data, however deep."""
    if isinstance(data, dict):
        return [name for value in data.values() for name in user_names(value)]
    if isinstance(data, list | tuple):
        return [name for value in data for name in user_names(value)]
    return [data] if isinstance(data, str) and USER_NAME.fullmatch(data) else []


def load_user_object(kind: str, name: str) -> Any:
    """What a user means by "my_module:Name"; `kind` is the word used in messages."""
    require_trust(f"{kind} '{name}'")
    module_name, _, attribute = name.partition(":")
    find_beside_user()
    try:
        with noted_imports(name):
            module = importlib.import_module(module_name)
    except Exception as error:  # Whatever the user's file does wrong while it runs.
        why = f"{type(error).__name__}: {error}"
        raise BadInput(f"{kind} '{name}': cannot import '{module_name}' ({why})") from error
    if not hasattr(module, attribute):
        raise BadInput(f"{kind} '{name}': '{module_name}' has no '{attribute}'")
    return getattr(module, attribute)


@dataclass(frozen=True)
class Registry(Generic[Face]):
    """The classes of one kind: a package with one file each, and users' own.

    Parameters
    ----------
    package
        Where the files are.
    kind
        The word used in messages.
    face
        The base class or protocol that a class must satisfy.
    hidden
        Files whose class has the interface but is not offered, such as a base class.
    """

    package: str
    kind: str
    face: Any
    hidden: frozenset[str] = frozenset()

    def names(self) -> list[str]:
        """The names that come with the package, each the file of a class with the right interface."""
        return [name for name in self._files() if not self._fault_of(self._class_in(name))]

    def load(self, name: str) -> Callable[..., Face]:
        """The class with a name: of a file here, or a user's "my_module:MyClass"."""
        if isinstance(name, str) and USER_NAME.fullmatch(name):
            found: Any = load_user_object(self.kind, name)
            if fault := self._fault_of(found):
                raise BadInput(f"{self.kind} '{name}' is {fault}")
            return found
        found = self._class_in(name) if isinstance(name, str) and name in self._files() else None
        if self._fault_of(found):
            known = suggestion(str(name), self.names())
            raise BadInput(f"unknown {self.kind} {name!r}; {known}; or 'my_module:MyClass'")
        return found

    def _files(self) -> list[str]:
        return [name for name in files_of(self.package) if name not in self.hidden]

    def _class_in(self, name: str) -> Any:
        module = importlib.import_module(f"{self.package}.{name}")
        return getattr(module, class_name_of(name), None)

    def _fault_of(self, found: Any) -> str:
        """Why something is not a class with the right interface, in words; empty if it is one."""
        if not isinstance(found, type):
            return f"not a class; it must be a class like {self.face.__module__}.{self.face.__name__}"
        if inspect.isabstract(found):
            return f"not complete: {', '.join(sorted(getattr(found, '__abstractmethods__', ())))} missing"
        if not getattr(self.face, "_is_protocol", False):
            return "" if issubclass(found, self.face) else f"not a subclass of {self.face.__name__}"
        asked = {name for kind in self.face.__mro__[:-2] for name in _members(kind)}
        own = {name for kind in found.__mro__[:-1] for name in (*vars(kind), *getattr(kind, "__annotations__", ()))}
        if asked <= own:
            return ""
        missing = ", ".join(sorted(asked - own))
        return f"not a {self.kind}: it has no {missing} (see {self.face.__module__}.{self.face.__name__})"


MEMBERS: Any = (Callable, property, classmethod)
"""What a class body may hold that a protocol asks for, besides annotations."""


def _members(protocol: type) -> list[str]:
    """The methods and attributes that a protocol names."""
    declared = [name for name, value in vars(protocol).items() if isinstance(value, MEMBERS)]
    names = [*declared, *getattr(protocol, "__annotations__", ())]
    return [name for name in names if name == "__call__" or not name.startswith("_")]
