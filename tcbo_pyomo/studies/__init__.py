"""Studies: problems x methods x feedback x settings x seeds, repeated on one machine or on a Dask cluster.

`read_study` reads a study file, `run_study` makes what is still missing of it and returns the tables.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tcbo_pyomo.studies.study import Study, read_study
    from tcbo_pyomo.studies.study_runner import run_study

_WHERE = {"Study": "study", "read_study": "study", "run_study": "study_runner"}

__all__ = ["Study", "read_study", "run_study"]


def __getattr__(name: str) -> Any:
    """Import on first use: what `tcbo study` sets for numerical libraries must be set before they are loaded."""
    if name in _WHERE:
        return getattr(_import_module(f"tcbo_pyomo.studies.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'tcbo_pyomo.studies' has no attribute '{name}'")
