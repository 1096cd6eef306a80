"""What a user says about a Pyomo model: which variables are states of the plant, and which are its inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import NUMBERS

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

Where = str | Callable[["ConcreteModel"], Any]
"""A variable of the model: its name with * for time, such as 'conc[*,A]', or a function of the model that returns it."""


@dataclass(frozen=True)
class ModelState:
    """A state of the plant: what a step starts from and passes to the next one.

    Parameters
    ----------
    name
        The coordinate's name.
    variable
        Where it is in the model, over time: 'conc[*,A]', 'fs.tank.level', or a function such as `lambda m: m.conc[:, "A"]`. In
        a model of one step without a ContinuousSet it is the variable at the start of the step.
    lower, upper
        Limits in `unit`. Default: the variable's own bounds.
    unit
        The unit of the coordinate; values are converted to the variable's own unit. Default: the variable's unit.
    end
        In a model of one step without a ContinuousSet: the variable at the end of the step.
    """

    name: str
    variable: Where
    lower: float | None = None
    upper: float | None = None
    unit: str = ""
    end: Where | None = None

    kind = "state"

    def __post_init__(self) -> None:
        _check_name_and_limits(self)


@dataclass(frozen=True)
class ModelInput:
    """An input of the plant: what a plan decides for each step.

    An input without a rate limit that is held over a step is an action. An input that is ramped, or whose rate is limited,
    has a present value: it is a coordinate of the plant, and its change over a step is the action `<name>_change`.

    Parameters
    ----------
    name, variable, lower, upper, unit
        As for `ModelState`. A variable that is not indexed by time is held.
    rate
        The largest change per unit of the model's time, in `unit`.
    profile
        held: a new value applies from the start of the step; ramped: it is reached linearly at the end of the step.
    """

    name: str
    variable: Where
    lower: float | None = None
    upper: float | None = None
    unit: str = ""
    rate: float | None = None
    profile: Literal["held", "ramped"] = "held"

    kind = "input"

    def __post_init__(self) -> None:
        _check_name_and_limits(self)
        if self.profile not in ("held", "ramped"):
            raise BadInput(f"input '{self.name}': unknown profile {self.profile!r}; use 'held' or 'ramped'")
        if self.rate is not None and not (_is_finite(self.rate) and self.rate > 0):
            raise BadInput(f"input '{self.name}': rate {self.rate!r} must be a positive number per unit of time")

    @property
    def has_present_value(self) -> bool:
        """Whether the next step depends on the value that the input has now."""
        return self.rate is not None or self.profile == "ramped"


def _is_finite(value: Any) -> bool:
    return isinstance(value, NUMBERS) and not isinstance(value, bool) and math.isfinite(value)


def _check_name_and_limits(given: ModelState | ModelInput) -> None:
    if not isinstance(given.name, str) or not given.name:
        raise BadInput(f"{given.kind} {given.name!r}: the name must be a non-empty text")
    for which, limit in (("lower", given.lower), ("upper", given.upper)):
        if limit is not None and not _is_finite(limit):
            raise BadInput(f"{given.kind} '{given.name}': {which} {limit!r} must be a finite number")
    if not isinstance(given.variable, str) and not callable(given.variable):
        raise BadInput(
            f"{given.kind} '{given.name}': variable {given.variable!r} must be a name such as 'conc[*,A]', or a function of "
            "the model"
        )
