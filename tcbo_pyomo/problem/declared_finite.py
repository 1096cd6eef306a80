"""A problem on a finite process, read from a campaign file: every part of it is unpacked when somebody looks at it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.foundation.packed_arrays import unpacked
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.finite_rule_data import DeclaredFiniteJudge, finite_rule
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.plant.process_data import stored_process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.passed_states import stored_passed
from tcbo_pyomo.problem.visitable_states import VisitableStates
from tcbo_pyomo.problem.with_belief import with_other_belief
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.kernels import kernel_from_dict
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.named_goal import goal_from
from tcbo_pyomo.surrogate.plain_prior import PlainPrior


def declared_finite(data: Mapping[str, Any]) -> DeclaredProblem:
    """The problem that data describe."""
    problem = object.__new__(DeclaredProblem)
    given = {name: data[name] for name in ("name", "description", "output", "output_unit", "output_title")}
    given |= {name: data[name] for name in ("start", "horizon", "episodes")}
    given |= {"confidence_width": data["plant"]["confidence_width"], "truth": None, "settings": {}, "_data": data}
    given["goal"] = goal_from(data.get("goal", MAXIMISE))
    given["prior"] = None if data.get("prior") is None else PlainPrior(**data["prior"])
    given["inputs"], given["on_the_way"] = data["plant"].get("inputs"), None
    given["coordinates"] = tuple(Coordinate(*axis) for axis in data["coordinates"])
    for name, value in given.items():
        object.__setattr__(problem, name, value)
    return problem


class DeclaredProblem(Problem):
    """A problem as a campaign file has it."""

    _data: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Nothing: it was checked when it was declared."""
        object.__setattr__(self, "coordinates", self.process.coordinates)

    @cached_property
    def process(self) -> Process:  # type: ignore[override]
        """The process."""
        return stored_process(self._data["plant"]["process"], self.coordinates)

    @cached_property
    def passed(self) -> dict[int, tuple[int, ...]]:
        """The states that each pair passes."""
        return stored_passed(self._data["plant"], unpacked)

    @cached_property
    def kernel(self) -> Kernel:  # type: ignore[override]
        """The prior."""
        return kernel_from_dict(self._data["kernel"])

    @cached_property
    def constraints(self) -> tuple[TransitionConstraint, ...]:  # type: ignore[override]
        """The rules."""
        return tuple(finite_rule(rule, self.process) for rule in self._data["plant"]["rules"])

    @cached_property
    def visitable(self) -> VisitableStates:
        """States that an episode can visit."""
        data = self._data["plant"]["visitable"]
        return VisitableStates(unpacked(data["states"]), data["exact"])

    def changed(self, **fields: Any) -> Self:
        """A copy with another belief; what else might change is not in the file."""
        return with_other_belief(self, fields)

    def plant_data(self) -> dict[str, Any]:
        """As it was declared."""
        return dict(self._data["plant"])

    @cached_property
    def judge(self) -> DeclaredFiniteJudge:
        """Who holds executed paths against the process and its rules."""
        return DeclaredFiniteJudge(self)
