"""tcbo_pyomo: Bayesian optimisation of experiments that cannot jump, planned over the whole horizon.

Start with `Problem` (the plant and its rules), `Settings`, and `Campaign` (ask and tell) or `run_campaign` (a simulation).
Everything else that a user needs can be imported from here too; it is loaded on first use.
"""

import ast as _ast
import os as _os
import pkgutil as _pkgutil
import sys as _sys
from importlib import import_module as _import_module
from importlib import util as _import_util
from typing import Any as _Any


class _ModelsOfTheCheckout:
    """Finds `tcbo_pyomo.models` beside the package folder."""

    @staticmethod
    def find_spec(name: str, path: _Any = None, target: _Any = None) -> _Any:
        """Where the package of formulations stands; nothing for any other name."""
        if name != "tcbo_pyomo.models":
            return None
        folder = _os.path.join(_os.path.dirname(__path__[0]), "models")
        return _import_util.spec_from_file_location(
            name, _os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )


# In a checkout the Pyomo formulations stand in models/ beside this folder; an installed package has them inside.
# Only that one name is looked up there: nothing else of a checkout becomes part of the package. It is asked first, so that
# another checkout that is installed does not lend its models to this one.
if not _os.path.isdir(_os.path.join(__path__[0], "models")):
    _sys.meta_path.insert(0, _ModelsOfTheCheckout)

# Every name with the module it is loaded from, as the stub beside this file has it for type checkers.
_STUB = _ast.parse(_pkgutil.get_data(__name__, "__init__.pyi") or b"")
_WHERE = {name.name: line.module for line in _STUB.body if isinstance(line, _ast.ImportFrom) for name in line.names}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> _Any:
    """Import on first use: `tcbo --version` should not wait for Pyomo."""
    if name in _WHERE:
        return getattr(_import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'tcbo_pyomo' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
