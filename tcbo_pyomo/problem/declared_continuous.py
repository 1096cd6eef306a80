"""A problem on a continuous plant, read from a campaign file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.continuous_rule_data import DeclaredContinuousJudge, continuous_rule, stored_step
from tcbo_pyomo.plant.dynamics import Dynamics
from tcbo_pyomo.plant.dynamics_data import stored_dynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.problem.derived_values import stored_values
from tcbo_pyomo.problem.with_belief import with_other_belief
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.kernels import kernel_from_dict
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.named_goal import goal_from
from tcbo_pyomo.surrogate.plain_prior import PlainPrior

if TYPE_CHECKING:
    from tcbo_pyomo.solvers.nonlinear.stored_equations import StoredEquations


def declared_continuous(data: Mapping[str, Any]) -> DeclaredContinuousProblem:
    """The problem that data describe."""
    problem = object.__new__(DeclaredContinuousProblem)
    plant = data["plant"]
    given = {name: data[name] for name in ("name", "description", "output", "output_unit", "output_title")}
    given |= {name: data[name] for name in ("horizon", "episodes")}
    given |= {"start": tuple(data["start"]), "noise": plant["noise"], "measure_start": plant["measure_start"]}
    given |= {"truth": None, "maximum": None, "settings": {}, "_data": data}
    given["goal"] = goal_from(data.get("goal", MAXIMISE))
    given["prior"] = None if data.get("prior") is None else PlainPrior(**data["prior"])
    given["inputs"] = plant.get("inputs")
    given["measured_at"] = plant.get("measured_at", 1)
    given["coordinates"] = tuple(Coordinate(*axis) for axis in data["coordinates"])
    for name, value in given.items():
        object.__setattr__(problem, name, value)
    return problem


class DeclaredContinuousProblem(ContinuousProblem):
    """A problem as a campaign file has it."""

    only_described = True
    _data: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Nothing: it was checked when it was declared."""

    @cached_property
    def dynamics(self) -> Dynamics:  # type: ignore[override]
        """The dynamics."""
        return stored_dynamics(self._data["plant"]["dynamics"], self.coordinates)

    @property
    def step_duration(self) -> float | None:
        """How long a move takes."""
        found: float | None = self._data["plant"].get("duration")
        return found

    @cached_property
    def kernel(self) -> Kernel:  # type: ignore[override]
        """The prior."""
        return kernel_from_dict(self._data["kernel"])

    @cached_property
    def constraints(self) -> tuple[TransitionConstraint, ...]:  # type: ignore[override]
        """The rules."""
        return tuple(continuous_rule(rule) for rule in self._data["plant"]["rules"])

    def derived_values(self, states: Mapping[str, float], actions: Mapping[str, float]) -> dict[str, float]:
        """The inputs that are expressions, from their formulas."""
        return stored_values(self._data["plant"].get("derived", ()), states, actions)

    def changed(self, **fields: Any) -> Self:
        """A copy with another belief; what else might change is not in the file."""
        return with_other_belief(self, fields)

    def plant_data(self) -> dict[str, Any]:
        """As it was declared."""
        return dict(self._data["plant"])

    @cached_property
    def judge(self) -> DeclaredContinuousJudge:
        """Who holds executed paths against the dynamics and the rules."""
        stored, start = self._data["plant"]["dynamics"], np.asarray(self.start_state)
        step, limit = None, None
        if stored.get("arithmetic") is not None:
            step = stored_step(stored["arithmetic"])
        elif stored.get("step") is not None:
            step, limit = self._stored_step, self._stored_limit
        facts = (self.coordinates, self.dynamics, start, self.horizon)
        return DeclaredContinuousJudge(*facts, step, self.has_hidden, limit)

    def _stored_step(self, state: Array, action: Array) -> Array:
        return self._equations.next_state(state, action)

    def _stored_limit(self, state: Array, action: Array) -> str:
        return self._equations.broken_limit(state, action)

    @cached_property
    def _equations(self) -> StoredEquations:
        from tcbo_pyomo.solvers.nonlinear.stored_equations import StoredEquations  # Only judging moves needs it.

        step = self._data["plant"]["dynamics"]["step"]
        return StoredEquations(step, np.asarray(self.start_state), self.dynamics.actions)
