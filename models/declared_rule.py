"""A user's own rule as plain data: its words and numbers, what it removes, and its rows; it judges, but nothing plans with it.

A rule of the library is made again of its arguments. Of any other rule a campaign file keeps what the plans were made with:
which moves and states of a finite process it allows, and the coefficients of its rows. What cannot be kept like that is not
judged, and said to be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import NUMBERS, Coordinate
from tcbo_pyomo.foundation.user_lines import defined_at
from tcbo_pyomo.foundation.wording import spaced
from tcbo_pyomo.models.components import PyomoModel
from tcbo_pyomo.models.constraints import (
    EndAt,
    ForbiddenRegion,
    MaximumStep,
    NonDecreasing,
    NonIncreasing,
    ResourceBudget,
    VisitBudget,
)
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint, Usage
from tcbo_pyomo.models.cost_data import StoredCost
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.models.regions.region_data import region_from
from tcbo_pyomo.plant.process import Process

LIBRARY: dict[str, type[TransitionConstraint]] = {
    "end_at": EndAt,
    "forbidden_region": ForbiddenRegion,
    "maximum_step": MaximumStep,
    "non_decreasing": NonDecreasing,
    "non_increasing": NonIncreasing,
    "resource_budget": ResourceBudget,
    "visit_budget": VisitBudget,
}
"""Rules that are made again of their arguments."""
NOT_JUDGED = "not checked: only its own code can"


class DeclaredRule(TransitionConstraint):
    """What a campaign file knows about a rule whose code is a user's.

    Parameters
    ----------
    data
        Its entry in the file: name, words, numbers.
    transitions, states
        Of a finite process: which stored transitions it allows, and which states before each step; None for all.

    Attributes
    ----------
    data
        As given; its rows are for the judge.
    """

    def __init__(self, data: Mapping[str, Any], transitions: Mask | None = None, states: Mask | None = None) -> None:
        self.data, self._transitions, self._states = data, transitions, states
        self.couples_steps = bool(data.get("couples", False))  # type: ignore[misc]

    @property
    def name(self) -> str:
        """As its class called it."""
        return str(self.data["name"])

    @property
    def short_name(self) -> str:
        """As its class called it."""
        return str(self.data.get("short_name", self.data["name"]))

    @property
    def judged(self) -> bool:
        """Whether anything of it can be held against a path."""
        return self._transitions is not None or self._states is not None or bool(self.data["rows"])

    def allowed_transitions(self, process: Process) -> Mask | None:
        """As it was when the limits were stored."""
        return self._transitions

    def allowed_states(self, process: Process, step: int, horizon: int) -> Mask | None:
        """As it was when the limits were stored."""
        return None if self._states is None else self._states[min(step, len(self._states) - 1)]

    def allowed_points(self, coordinates: Sequence[Coordinate], points: Array) -> None:
        """None: of a finite process `allowed_states` says it; elsewhere its code is needed."""
        if self.data.get("points"):
            raise BadInput(f"constraint '{self.name}': only its own code knows which points it allows")

    def add_to_polytope(self, model: PyomoModel) -> NoReturn:
        """Refused."""
        raise BadInput(f"constraint '{self.name}': planning needs its own code")

    add_to_trajectory = add_to_polytope

    def describe(self, coordinates: Sequence[Coordinate]) -> str:
        """Its words."""
        return str(self.data["words"])

    def usage(self, paths: Sequence[EpisodePath], now: EpisodePath | None) -> list[Usage]:
        """By its rows and what it removes; a rule that nothing is known of is not judged."""
        if not self.judged:
            return [Usage(spaced(str(self.data["words"])), NOT_JUDGED)]
        return super().usage(paths, now)

    def named_limits(self) -> dict[str, Any]:
        """Its numbers as they were stored."""
        return dict(self.data.get("numbers", {}))


def declared_words(rule: TransitionConstraint, coordinates: Sequence[Coordinate]) -> dict[str, Any]:
    """What every rule says about itself, whatever it is: its name, its limit in words, and its numbers."""
    numbers = {name: _plain(value) for name, value in rule.named_limits().items()}
    words = rule.describe(coordinates)
    if not isinstance(words, str):
        place = f" ({found})" if (found := defined_at(rule.describe)) else ""
        raise BadInput(f"constraint '{rule.name}': describe returned a {type(words).__name__}; it must return text{place}")
    return {"name": rule.name, "words": words, "numbers": numbers}


def library_data(rule: TransitionConstraint, coordinates: Sequence[Coordinate]) -> dict[str, Any] | None:
    """A rule of the library by its name and arguments; None for any other, and where an argument is code."""
    use = next((name for name, kind in LIBRARY.items() if type(rule) is kind), None)
    given = None if use is None else rule.arguments(coordinates)
    return None if given is None else {"use": use, "given": given}


def library_rule(data: Mapping[str, Any]) -> TransitionConstraint:
    """The rule that `library_data` described."""
    if data["use"] not in LIBRARY:
        raise BadInput(f"a stored rule of kind {data['use']!r} was not written by this version")
    given = dict(data["given"])
    if "region" in given:
        given["region"] = region_from(given["region"])
    if "cost" in given:
        given["cost"] = StoredCost(given["cost"])
    if "limits" in given:
        limits = given["limits"].items()
        given["limits"] = {name: tuple(limit) if isinstance(limit, list) else limit for name, limit in limits}
    return LIBRARY[data["use"]](**given)


def limit_data(lower: float, upper: float) -> dict[str, float | None]:
    """Two limits as plain data, which has no infinity."""
    return {"lower": lower if math.isfinite(lower) else None, "upper": upper if math.isfinite(upper) else None}


def limits_of(data: Mapping[str, Any]) -> tuple[float, float]:
    """The limits that `limit_data` wrote down."""
    lower, upper = data["lower"], data["upper"]
    return -math.inf if lower is None else float(lower), math.inf if upper is None else float(upper)


def _plain(value: Any) -> Any:
    """A number, a pair of them, or a quantity in words."""
    if isinstance(value, (tuple, list)):
        return [_plain(part) for part in value]
    return float(value) if isinstance(value, NUMBERS) else str(value)
