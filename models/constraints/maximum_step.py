"""Maximum step: how far a coordinate may change in one move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate, coordinate_index
from tcbo_pyomo.foundation.wording import spaced, with_unit
from tcbo_pyomo.models.components import PyomoModel, add_component
from tcbo_pyomo.models.constraints.transition_constraint import (
    TransitionConstraint,
    Usage,
    Violation,
    share_of,
    transition_endpoints,
)
from tcbo_pyomo.models.episode_path import EpisodePath

if TYPE_CHECKING:
    from tcbo_pyomo.plant.process import Process


class MaximumStep(TransitionConstraint):
    """|x_{h+1} - x_h| <= limit for each coordinate named, in its own unit.

    Parameters
    ----------
    limits
        `{"temperature": 5}` or, where falling and rising differ, `{"temperature": (2, 5)}`; numbers or
        Pyomo quantities.
    """

    may_end_early: ClassVar[bool] = True
    limits_are_steps: ClassVar[bool] = True

    def __init__(self, limits: Mapping[str, Any]) -> None:
        if not isinstance(limits, Mapping) or not limits:
            raise BadInput(f"maximum_step: limits {limits!r} must give at least one coordinate and its limit")
        self.limits = dict(limits)

    def allowed_transitions(self, process: Process) -> Mask:
        """Moves whose every outcome stays within the limits."""
        left, right = transition_endpoints(process)
        allowed = np.ones(len(left), dtype=bool)
        for axis, c, down, up in self._numbers(process.coordinates):
            change = right[:, axis] - left[:, axis]
            slack = 1e-9 * c.width
            allowed &= (change >= -down - slack) & (change <= up + slack)
        return allowed

    def lets_return(self, coordinates: Sequence[Coordinate]) -> bool:
        """Unless a coordinate may only rise or only fall."""
        return all(min(down, up) > 0.0 for _, _, down, up in self._numbers(coordinates))

    def add_to_trajectory(self, model: PyomoModel) -> None:
        """-down <= x_{h+1} - x_h <= up for each step, as shares of the axis."""
        from pyomo.environ import Constraint

        numbers = self._numbers(model.coordinates)
        limits = {c.name: (-down / c.width, up / c.width) for _, c, down, up in numbers}

        def rule(_: Any, step: int, name: str) -> Any:
            low, high = limits[name]
            return low, model.state[step + 1, name] - model.state[step, name], high

        add_component(model, "maximum_step", Constraint(model.STEPS, list(limits), rule=rule))

    def describe(self, coordinates: Sequence[Coordinate]) -> str:
        """`temperature -2 to +5 K; ratio -0.1 to +0.1 per move`."""
        limits = (f"{c.name} {_interval(c, down, up)}" for _, c, down, up in self._numbers(coordinates))
        return "; ".join(limits) + " per move"

    def arguments(self, coordinates: Sequence[Coordinate]) -> dict[str, Any]:
        """One limit per coordinate; two where falling and rising differ."""
        numbers = self._numbers(coordinates)
        return {"limits": {c.name: up if down == up else (down, up) for _, c, down, up in numbers}}

    def violations(self, path: EpisodePath) -> list[Violation]:
        """Each step that is larger than its limit."""
        found = []
        for axis, c, down, up in self._numbers(path.coordinates):
            slack = 1e-6 * c.width
            for step, change in enumerate(np.diff(path.points[:, axis])):
                if not -down - slack <= change <= up + slack:
                    text = f"{c.title} changed by {change:g}, allowed is {-down:g} to {up:g}"
                    found.append(Violation(self.name, step, text))
        return found

    def slack(self, path: EpisodePath) -> float | None:
        """By how much the tightest move could have been larger, in the unit of its coordinate."""
        return self.room(path.coordinates, path.left, path.right)

    def room(self, coordinates: Sequence[Coordinate], left: Array, right: Array) -> float | None:
        """By how much the tightest of many moves could be larger, in the unit of its coordinate; None for no moves."""
        if len(left) == 0:
            return None
        changes = right - left
        limits = self._numbers(coordinates)
        return float(min(min(up - changes[:, a].max(), down + changes[:, a].min()) for a, _, down, up in limits))

    def usage(self, paths: Sequence[EpisodePath], now: EpisodePath | None) -> list[Usage]:
        """The largest rise and fall of each coordinate."""
        lines = []
        for axis, c, down, up in self._numbers((now or paths[0]).coordinates):
            changes = np.concatenate([[0.0], *(np.diff(path.points[:, axis]) for path in paths)])
            rise, fall = float(changes.max()), max(0.0, float(-changes.min()))
            used = f"at most {with_unit(rise, c.unit)} up, {with_unit(fall, c.unit)} down"
            limit = f"{spaced(c.name)}: {_interval(c, down, up)} per move"
            lines.append(Usage(limit, used, max(share_of(rise, up), share_of(fall, down))))
        return lines

    def looser(self, process: Process) -> Iterator[tuple[str, TransitionConstraint]]:
        """The next larger step of each coordinate that some move of the process would use.

        Below it a larger limit is worth nothing. Where falling and rising have limits of their own, each has a next one.
        """
        left, right = transition_endpoints(process)
        for axis, c, down, up in self._numbers(process.coordinates):
            change = right[:, axis] - left[:, axis]
            if isinstance(self.limits[c.name], (tuple, list)):
                ways = [("downwards ", -change, down), ("upwards ", change, up)]
            else:
                ways = [("", np.abs(change), up)]
            for way, sizes, present in ways:
                larger = sizes[sizes > present + 1e-9 * c.width]
                if len(larger):
                    new = float(larger.min())
                    limit = {"": new, "downwards ": (new, up), "upwards ": (down, new)}[way]
                    text = f"{way}{c.in_words(new)} instead of {present:g}"
                    yield text, MaximumStep({**self.limits, c.name: limit})

    def _numbers(self, coordinates: Sequence[Coordinate]) -> list[tuple[int, Coordinate, float, float]]:
        """(axis, coordinate, largest fall, largest rise), in the coordinate's unit."""
        numbers = []
        for name, limit in self.limits.items():
            axis = coordinate_index(coordinates, name)
            down, up = limit if isinstance(limit, (tuple, list)) else (limit, limit)
            values = coordinates[axis].value_of(down), coordinates[axis].value_of(up)
            if min(values) < 0:
                raise BadInput(f"maximum_step: limit of '{name}' is {limit!r}; it must not be negative")
            numbers.append((axis, coordinates[axis], *values))
        return numbers


def _interval(coordinate: Coordinate, down: float, up: float) -> str:
    """`-2 to +5 K`."""
    return f"{-down:g} to {up:+g} {coordinate.unit}".rstrip()
