"""tcbo_pyomo: Bayesian optimisation of experiments that cannot jump, planned over the whole horizon.

Start with `Problem` (the plant and its rules), `Settings`, and `Campaign` (ask and tell) or `run_campaign` (a simulation).
Everything else that a user needs can be imported from here too; it is loaded on first use.
"""

import os as _os
import sys as _sys
from importlib import import_module as _import_module
from importlib import util as _import_util
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from tcbo_pyomo._version import __version__


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

# For type checkers; what is loaded is in _OFFERED, and a test keeps the two the same.
if _TYPE_CHECKING:
    from tcbo_pyomo.campaign.campaign import Campaign
    from tcbo_pyomo.campaign.simulation import CampaignResult, EpisodeSummary, run_campaign
    from tcbo_pyomo.errors import BadInput, Busy, DamagedFile, DiskError, InfeasiblePlan, SolverFailed, TcboError
    from tcbo_pyomo.foundation.coordinates import Coordinate
    from tcbo_pyomo.foundation.profiling import profile
    from tcbo_pyomo.foundation.settings_file import read_settings
    from tcbo_pyomo.library import load_problem
    from tcbo_pyomo.models.constraints import (
        Box,
        Circle,
        EndAt,
        ForbiddenRegion,
        FromFunction,
        MaximumStep,
        NonDecreasing,
        NonIncreasing,
        Points,
        Polygon,
        ResourceBudget,
        TransitionConstraint,
        Violation,
        VisitBudget,
        Wall,
    )
    from tcbo_pyomo.models.state_action_polytope import build_state_action_polytope
    from tcbo_pyomo.models.trajectory import build_trajectory
    from tcbo_pyomo.plant.actions import BoxActions, NormActions
    from tcbo_pyomo.plant.dynamics import LinearDynamics, NonlinearDynamics
    from tcbo_pyomo.plant.grid import grid_process
    from tcbo_pyomo.plant.process import Process
    from tcbo_pyomo.problem.continuous import ContinuousProblem
    from tcbo_pyomo.problem.finite import Problem
    from tcbo_pyomo.problem.replay import replay_problem
    from tcbo_pyomo.records import open_campaign, start_campaign
    from tcbo_pyomo.records.json_file import save_campaign
    from tcbo_pyomo.report.figures.campaign_figure import campaign_figure
    from tcbo_pyomo.report.figures.move_graph_figure import move_graph_figure
    from tcbo_pyomo.report.page import write_report
    from tcbo_pyomo.settings import Settings, settings_from
    from tcbo_pyomo.studies.run_study import run_study
    from tcbo_pyomo.studies.study import Study, read_study
    from tcbo_pyomo.surrogate.kernels.kernel import Kernel
    from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves
    from tcbo_pyomo.surrogate.kernels.matern_three_halves import MaternThreeHalves
    from tcbo_pyomo.surrogate.kernels.reaction_kinetics import ReactionKinetics
    from tcbo_pyomo.surrogate.kernels.scaled import Scaled
    from tcbo_pyomo.surrogate.kernels.single_feature import SingleFeature
    from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
    from tcbo_pyomo.surrogate.kernels.stationary import Stationary
    from tcbo_pyomo.surrogate.kernels.sum import Sum

_OFFERED = {
    "campaign.campaign": "Campaign",
    "campaign.simulation": "CampaignResult EpisodeSummary run_campaign",
    "errors": "BadInput Busy DamagedFile DiskError InfeasiblePlan SolverFailed TcboError",
    "foundation.coordinates": "Coordinate",
    "foundation.profiling": "profile",
    "foundation.settings_file": "read_settings",
    "library": "load_problem",
    "models.constraints": (
        "Box Circle EndAt ForbiddenRegion FromFunction MaximumStep NonDecreasing NonIncreasing Points Polygon "
        "ResourceBudget TransitionConstraint Violation VisitBudget Wall "
    ),
    "models.state_action_polytope": "build_state_action_polytope",
    "models.trajectory": "build_trajectory",
    "plant.actions": "BoxActions NormActions",
    "plant.dynamics": "LinearDynamics NonlinearDynamics",
    "plant.grid": "grid_process",
    "plant.process": "Process",
    "problem.continuous": "ContinuousProblem",
    "problem.finite": "Problem",
    "problem.replay": "replay_problem",
    "records": "open_campaign start_campaign",
    "records.json_file": "save_campaign",
    "report.figures.campaign_figure": "campaign_figure",
    "report.figures.move_graph_figure": "move_graph_figure",
    "report.page": "write_report",
    "settings": "Settings settings_from",
    "studies.run_study": "run_study",
    "studies.study": "Study read_study",
    "surrogate.kernels.kernel": "Kernel",
    "surrogate.kernels.matern_five_halves": "MaternFiveHalves",
    "surrogate.kernels.matern_three_halves": "MaternThreeHalves",
    "surrogate.kernels.reaction_kinetics": "ReactionKinetics",
    "surrogate.kernels.scaled": "Scaled",
    "surrogate.kernels.single_feature": "SingleFeature",
    "surrogate.kernels.squared_exponential": "SquaredExponential",
    "surrogate.kernels.stationary": "Stationary",
    "surrogate.kernels.sum": "Sum",
}
_WHERE = {name: module for module, names in _OFFERED.items() for name in names.split()}

__all__ = [
    "BadInput",
    "Box",
    "BoxActions",
    "Busy",
    "Campaign",
    "CampaignResult",
    "Circle",
    "ContinuousProblem",
    "Coordinate",
    "DamagedFile",
    "DiskError",
    "EndAt",
    "EpisodeSummary",
    "ForbiddenRegion",
    "FromFunction",
    "InfeasiblePlan",
    "Kernel",
    "LinearDynamics",
    "MaternFiveHalves",
    "MaternThreeHalves",
    "MaximumStep",
    "NonDecreasing",
    "NonIncreasing",
    "NonlinearDynamics",
    "NormActions",
    "Points",
    "Polygon",
    "Problem",
    "Process",
    "ReactionKinetics",
    "ResourceBudget",
    "Scaled",
    "Settings",
    "SingleFeature",
    "SolverFailed",
    "SquaredExponential",
    "Stationary",
    "Study",
    "Sum",
    "TcboError",
    "TransitionConstraint",
    "Violation",
    "VisitBudget",
    "Wall",
    "__version__",
    "build_state_action_polytope",
    "build_trajectory",
    "campaign_figure",
    "grid_process",
    "load_problem",
    "move_graph_figure",
    "open_campaign",
    "profile",
    "read_settings",
    "read_study",
    "replay_problem",
    "run_campaign",
    "run_study",
    "save_campaign",
    "settings_from",
    "start_campaign",
    "write_report",
]


def __getattr__(name: str) -> _Any:
    """Import on first use: `tcbo --version` should not wait for Pyomo."""
    if name in _WHERE:
        return getattr(_import_module(f"tcbo_pyomo.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'tcbo_pyomo' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
