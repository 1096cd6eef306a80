"""What `import tcbo_pyomo` offers, once and for all: type checkers read this file, and so does `__init__.py`."""

from tcbo_pyomo._version import __version__
from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.campaign.simulation import CampaignResult, EpisodeSummary, run_campaign
from tcbo_pyomo.errors import (
    BadInput,
    Busy,
    DamagedFile,
    DiskError,
    EnoughKnown,
    InfeasiblePlan,
    NoWorkers,
    SolverFailed,
    TcboError,
)
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
from tcbo_pyomo.plant.black_box_inputs import BlackBoxInput
from tcbo_pyomo.plant.dynamics import LinearDynamics, NonlinearDynamics
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.plant.pyomo_model.from_model import dynamics_from_model
from tcbo_pyomo.plant.pyomo_model.states_and_inputs import ModelInput, ModelState
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.replay import replay_problem
from tcbo_pyomo.records import open_campaign, start_campaign
from tcbo_pyomo.records.json_file import save_campaign
from tcbo_pyomo.report.figures.campaign_figure import campaign_figure
from tcbo_pyomo.report.figures.move_graph_figure import move_graph_figure
from tcbo_pyomo.report.page import write_report
from tcbo_pyomo.settings import Settings, settings_from
from tcbo_pyomo.solvers.handed_over import hand_over_solver
from tcbo_pyomo.studies.rehearsed.rehearse import rehearse
from tcbo_pyomo.studies.study import Study, read_study
from tcbo_pyomo.studies.study_runner import run_study
from tcbo_pyomo.surrogate.kernels.constant import Constant
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves
from tcbo_pyomo.surrogate.kernels.matern_three_halves import MaternThreeHalves
from tcbo_pyomo.surrogate.kernels.mechanism import Mechanism
from tcbo_pyomo.surrogate.kernels.reaction_kinetics import ReactionKinetics
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.single_feature import SingleFeature
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.stationary import Stationary
from tcbo_pyomo.surrogate.kernels.sum import Sum
from tcbo_pyomo.surrogate.plain_prior import PlainPrior

__all__ = ["__version__"]
__all__ += ["Campaign", "CampaignResult", "EpisodeSummary", "run_campaign"]
__all__ += [
    "BadInput",
    "Busy",
    "DamagedFile",
    "DiskError",
    "EnoughKnown",
    "InfeasiblePlan",
    "NoWorkers",
    "SolverFailed",
    "TcboError",
]
__all__ += ["Settings", "profile", "read_settings", "settings_from"]
__all__ += ["EndAt", "FromFunction", "MaximumStep", "NonDecreasing", "NonIncreasing", "ResourceBudget", "VisitBudget"]
__all__ += ["Box", "Circle", "ForbiddenRegion", "Points", "Polygon", "TransitionConstraint", "Violation", "Wall"]
__all__ += ["build_state_action_polytope", "build_trajectory"]
__all__ += ["BoxActions", "Coordinate", "LinearDynamics", "NonlinearDynamics", "NormActions", "Process", "grid_process"]
__all__ += ["BlackBoxInput", "ModelInput", "ModelState", "dynamics_from_model", "hand_over_solver"]
__all__ += ["ContinuousProblem", "Problem", "load_problem", "replay_problem"]
__all__ += ["open_campaign", "save_campaign", "start_campaign"]
__all__ += ["campaign_figure", "move_graph_figure", "write_report"]
__all__ += ["Study", "read_study", "rehearse", "run_study"]
__all__ += ["Constant", "Kernel", "MaternFiveHalves", "MaternThreeHalves", "Mechanism", "ReactionKinetics", "Scaled"]
__all__ += ["PlainPrior", "SingleFeature", "SquaredExponential", "Stationary", "Sum"]
