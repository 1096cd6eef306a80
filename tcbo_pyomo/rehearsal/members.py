"""The methods that a rollout chooses among: their settings, and how each is simulated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.rehearsal.bounds_in_reach import HighestBound
from tcbo_pyomo.rehearsal.planned_improvement import PlannedImprovement
from tcbo_pyomo.rehearsal.planned_information import PlannedInformation
from tcbo_pyomo.rehearsal.simulated_method import SimulatedMethod
from tcbo_pyomo.settings import Settings, settings_from

DRAWN = {"planner": {"first_move": "drawn"}, "utility": {"objective": "differences"}}
MEMBERS: dict[str, dict[str, Any]] = {
    "default": {},
    "MDP-BO": DRAWN,
    "MDP-EI": {"method": "mdp_expected_improvement"},
    "local_ucb": {"method": "local_ucb"},
    "greedy_ucb": {"method": "greedy_ucb"},
}
"""The members where the settings name none. MDP-BO: the paper's method, which makes the first move of its plan."""

CONTINUOUS: dict[str, dict[str, Any]] = {
    "default": {},
    "MDP-BO": {"preset": "paper"},
    "local_ucb": {"method": "local_ucb"},
}
"""The same on a continuous plant; `local_search_region` where results come at once, `truncated_snake` where they are late."""
LEAN = {"candidates": {"count": 8}, "planner": {"nonlinear": {"solves": 1}}}
"""How members of continuous plants plan in simulations; where they act, they plan as their settings say."""

OWN = ("method", "planner", "utility", "candidates", "preset")
"""What a member may have of its own; the rest belongs to the campaign."""
SIMULATED = ("mdp_bo", "mdp_expected_improvement", "local_ucb", "greedy_ucb")
WIDTHS = {"local_ucb": 2.0, "greedy_ucb": 2.0**0.5}
"""Standard deviations above the mean; the files of these methods have the same."""
BANDS = (None, "credible_band", "by_feedback")
"""Rules for candidates that are a credible band on a finite plant."""


@dataclass(frozen=True)
class Member:
    """A method by the name it has in a rollout, with all its settings."""

    name: str
    settings: Settings

    @property
    def counts_pending(self) -> bool:
        """Whether visits whose results are still to come shrink the variance that it sees."""
        return self.settings.utility.pending == "counted"

    def lean(self) -> Member:
        """As simulations of a continuous plant have it: with few candidates and one solve per plan."""
        return Member(self.name, settings_from(self.settings.model_dump(), LEAN))

    def simulated(self, band_width: float) -> SimulatedMethod:
        """The method as simulations have it: plans have one component, and candidates are those of a credible band."""
        settings = self.settings
        if settings.method in WIDTHS:
            return HighestBound(WIDTHS[settings.method])
        if settings.method == "mdp_expected_improvement":
            return PlannedImprovement()
        utility = settings.utility
        return PlannedInformation(
            objective=settings.finite_objective,
            eager=settings.planner.finite_first_move == "eager",
            departure=utility.information == "departure",
            width=settings.candidates.width or band_width,
        )


def members_of(settings: Settings) -> list[Member]:
    """The members of a rollout on a finite plant, the first one first; what cannot be simulated is refused."""
    members = [_member(name, own, settings) for name, own in _named(settings, MEMBERS).items()]
    for member in members:
        _refuse_what_is_not_simulated(member)
    return members


def continuous_members(settings: Settings, moves_freely: bool) -> list[Member]:
    """The members of a rollout on a continuous plant, the first one first.

    Parameters
    ----------
    settings
        Of the campaign.
    moves_freely
        Whether the action is the move itself.
    """
    others = {"local_search_region": {"method": "local_search_region"}}
    if settings.feedback.kind != "immediate":
        others = {"truncated_snake": {"method": "truncated_snake"}} if moves_freely else {}
    members = [_member(name, own, settings) for name, own in _named(settings, CONTINUOUS | others).items()]
    for member in members:
        if member.settings.method == "rollout":
            raise BadInput(f"setting 'rollout.methods.{member.name}': method 'rollout' cannot be a member of itself")
    return members


def _named(settings: Settings, usual: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    given = settings.rollout.methods
    if given is not None and not given:
        raise BadInput("setting 'rollout.methods': got {}; name at least one, such as {default: {}}")
    return usual if given is None else given


def _member(name: str, own: dict[str, Any], settings: Settings) -> Member:
    where = f"setting 'rollout.methods.{name}'"
    if foreign := [key for key in own if key not in OWN]:
        raise BadInput(
            f"{where}: '{foreign[0]}' belongs to the whole campaign; a member may have its own {', '.join(OWN)}"
        )
    base = settings.model_dump(exclude={"method", "rollout"})
    try:
        found = settings_from(base, own)
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None
    return Member(name, found)


def _refuse_what_is_not_simulated(member: Member) -> None:
    where, found = f"setting 'rollout.methods.{member.name}'", member.settings
    if found.method not in SIMULATED:
        raise BadInput(f"{where}: method '{found.method}' cannot be simulated; use {', '.join(SIMULATED)}")
    if found.candidates.rule not in BANDS:
        raise BadInput(f"{where}: candidates.rule '{found.candidates.rule}' cannot be simulated; use credible_band")
