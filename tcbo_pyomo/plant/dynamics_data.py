"""Dynamics and limits of actions as plain data and back; of a user's own function only what it acts on is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.actions import ActionLimits, BoxActions, NormActions
from tcbo_pyomo.plant.dynamics import Dynamics, LinearDynamics

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


def dynamics_data(dynamics: Dynamics) -> dict[str, Any]:
    """Matrices where the dynamics are linear; for a user's own function its name."""
    actions = _actions_data(dynamics.actions)
    if type(dynamics) is LinearDynamics and actions["kind"] != "other":
        matrices = {"state": dynamics.state_matrix.tolist(), "input": dynamics.input_matrix.tolist()}
        return {"kind": "linear", **matrices, "actions": actions}
    function = getattr(dynamics, "function", dynamics)
    name = getattr(function, "__name__", type(function).__name__)
    free = bool(dynamics.is_free_move)
    return {"kind": "code", "name": name, "free": free, "actions": actions}


def stored_dynamics(data: Mapping[str, Any], coordinates: Sequence[Coordinate]) -> Dynamics:
    """The dynamics that `dynamics_data` described."""
    actions = _actions_from(data["actions"])
    if data["kind"] == "linear":
        return LinearDynamics(np.array(data["state"]), np.array(data["input"]), actions)
    return UnknownDynamics(tuple(coordinates), actions, str(data["name"]), bool(data["free"]))


@dataclass(frozen=True, eq=False)
class UnknownDynamics:
    """Dynamics that are known to their own code only: their actions have names and limits, and nothing is planned."""

    coordinates: tuple[Coordinate, ...]
    actions: ActionLimits
    name: str
    is_free_move: bool = False

    def check_dimension(self, coordinates: Sequence[Coordinate]) -> None:
        """Checked when the campaign was started."""

    def next_values(self, model: ConcreteModel, step: int) -> dict[str, Any]:
        """Refused."""
        raise BadInput(f"dynamics '{self.name}': planning needs their own code")


def _actions_data(actions: ActionLimits) -> dict[str, Any]:
    lower, upper = actions.bounds()
    names = list(actions.names or ())
    if type(actions) is NormActions:
        return {"kind": "norm", "names": names, "maximum": float(actions.maximum)}
    kind = "box" if type(actions) is BoxActions else "other"
    return {"kind": kind, "names": names, "lower": lower.tolist(), "upper": upper.tolist()}


def _actions_from(data: Mapping[str, Any]) -> ActionLimits:
    if data["kind"] == "norm":
        return NormActions(data["maximum"], tuple(data["names"]))
    limits = zip(data["names"], zip(data["lower"], data["upper"], strict=True), strict=True)
    return BoxActions(dict(limits))
