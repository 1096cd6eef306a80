"""tcbo_pyomo: Bayesian optimisation of experiments that cannot jump, planned over the whole horizon.

Start with `Problem` (the plant and its rules), `Settings`, and `Campaign` (ask and tell) or `run_campaign` (a simulation).
"""

import os as _os
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
# Only that one name is looked up there: nothing else of a checkout becomes part of the package.
if not _os.path.isdir(_os.path.join(__path__[0], "models")):
    _sys.meta_path.append(_ModelsOfTheCheckout)

from tcbo_pyomo._version import __version__  # noqa: E402

_WHERE = {
    "Campaign": "campaign.campaign",
    "CampaignResult": "campaign.simulation",
    "ContinuousProblem": "problem.continuous",
    "Coordinate": "foundation.coordinates",
    "EpisodeSummary": "campaign.simulation",
    "Problem": "problem.finite",
    "Process": "plant.process",
    "Settings": "settings",
    "build_state_action_polytope": "models.state_action_polytope",
    "grid_process": "plant.grid",
    "load_problem": "library",
    "open_campaign": "records",
    "replay_problem": "library.replay",
    "run_campaign": "campaign.simulation",
    "save_campaign": "records.json_file",
    "settings_from": "settings",
    "start_campaign": "records",
}

__all__ = ["__version__", *_WHERE]


def __getattr__(name: str) -> _Any:
    """Import on first use: `tcbo --version` should not wait for Pyomo."""
    if name in _WHERE:
        return getattr(_import_module(f"tcbo_pyomo.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'tcbo_pyomo' has no attribute '{name}'")
