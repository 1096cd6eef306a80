"""tcbo_pyomo: Bayesian optimisation of experiments that cannot jump, planned over the whole horizon.

Start with `Problem` (the plant and its rules), `Settings`, and `Campaign` (ask and tell) or `run_campaign` (a simulation).
"""

import os as _os
from importlib import import_module as _import_module
from typing import Any as _Any

# In a checkout the Pyomo formulations stand in models/ beside this folder; an installed package has them inside.
if not _os.path.isdir(_os.path.join(__path__[0], "models")):
    __path__.append(_os.path.dirname(__path__[0]))

from tcbo_pyomo._version import __version__

_WHERE = {
    "Campaign": "campaign",
    "CampaignResult": "simulation",
    "ContinuousProblem": "continuous_problem",
    "Coordinate": "coordinates",
    "EpisodeSummary": "simulation",
    "Problem": "problem",
    "Process": "process",
    "Settings": "settings",
    "build_state_action_polytope": "models.state_action_polytope",
    "grid_process": "grid",
    "load_campaign": "saving",
    "load_problem": "problems",
    "open_campaign": "records",
    "replay_problem": "replay",
    "run_campaign": "simulation",
    "save_campaign": "saving",
    "settings_from": "settings",
    "start_campaign": "records",
}

__all__ = ["__version__", *_WHERE]


def __getattr__(name: str) -> _Any:
    """Import on first use: `tcbo --version` should not wait for Pyomo."""
    if name in _WHERE:
        return getattr(_import_module(f"tcbo_pyomo.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'tcbo_pyomo' has no attribute '{name}'")
