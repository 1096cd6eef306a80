"""What every constraint of the plant can do: the base class of the library and of users' own constraints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.foundation.wording import spaced
from tcbo_pyomo.models.components import PyomoModel
from tcbo_pyomo.models.episode_path import EpisodePath, JudgedRow
from tcbo_pyomo.models.named_numbers import numbers_in, with_number

if TYPE_CHECKING:
    from tcbo_pyomo.models.regions.regions import Region
    from tcbo_pyomo.plant.process import Process


@dataclass(frozen=True)
class Violation:
    """A declared limit that an executed path breaks."""

    constraint: str
    step: int
    message: str


@dataclass(frozen=True)
class Usage:
    """How much of a limit has been used: what it allows, the most that was used, and that as a share of the limit."""

    limit: str
    used: str
    share: float | None = None


class TransitionConstraint:
    """A rule about moves, states or the whole episode. Override what your rule needs; the rest allows everything.

    A rule about single moves or single states overrides `allowed_transitions` or `allowed_states`: what it forbids is
    left out of the polytope, so it costs nothing. A rule that accumulates something over the episode overrides
    `add_to_polytope`. A rule for continuous plants overrides `add_to_trajectory`: smooth Pyomo constraints on the states
    of a path.

    Everything else follows: `violations`, `slack` and `usage` of an executed path come from what the rule forbids and from
    its Pyomo rows, evaluated at that path. Override them, and `describe`, if plain arithmetic on points in engineering
    units is clearer or faster.
    """

    couples_steps: ClassVar[bool] = False
    may_end_early: ClassVar[bool] = False
    """Whether an episode keeps it after any of its moves, so that it may end there. Of rules that do not say so, episodes are
    completed."""
    limits_are_steps: ClassVar[bool] = False
    """Whether its limits by coordinate are differences: a step of 8 K is one of 8 degrees Celsius."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        """A class that adds rows to the polytope couples the steps, unless it says that it does not."""
        super().__init_subclass__(**arguments)
        if "add_to_polytope" in vars(cls) and "couples_steps" not in vars(cls):
            cls.couples_steps = True

    @property
    def name(self) -> str:
        """The name used in messages and for Pyomo components."""
        return type(self).__name__

    @property
    def short_name(self) -> str:
        """The name under which its limits are changed: the file name of its class, `maximum_step`."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(self).__name__).lower()

    def allowed_transitions(self, process: Process) -> Mask | None:
        """Which entries of `process.transitions` this rule allows; a move needs all of its outcomes allowed."""
        return None

    def allowed_points(self, coordinates: Sequence[Coordinate], points: Array) -> Mask | None:
        """Which points (n x d, engineering units) this rule allows the plant to be in at any step."""
        return None

    def allowed_states(self, process: Process, step: int, horizon: int) -> Mask | None:
        """Which states this rule allows before step `step` (after the last move: `horizon`)."""
        return self.allowed_points(process.coordinates, process.states)

    def lets_return(self, coordinates: Sequence[Coordinate]) -> bool:
        """Whether later moves can take the plant back to where it was, at no cost but the moves.

        Not if it adds up something over the episode. Override it in a rule that forbids the way back.
        """
        return not self.couples_steps

    def add_to_polytope(self, model: PyomoModel) -> None:
        """Add linear components to the model of `build_state_action_polytope`."""

    def add_to_trajectory(self, model: PyomoModel) -> None:
        """Add smooth components to the model of `build_trajectory`."""
        raise BadInput(
            f"constraint '{self.name}' cannot constrain a trajectory; define add_to_trajectory(model) in its class, or "
            "leave it out of a continuous problem"
        )

    def describe(self, coordinates: Sequence[Coordinate]) -> str:
        """Its limit in words and units; its name where nothing more is known about it."""
        limit = getattr(self, "limit", None)
        return f"at most {limit:g} per episode" if self.couples_steps and isinstance(limit, (int, float)) else self.name

    def violations(self, path: EpisodePath) -> list[Violation]:
        """What is wrong with a path: moves that this rule forbids, and rows that can no longer hold.

        Nothing if the path has no judge: points alone do not give the value of the rows of a rule.
        """
        if path.judge is None:
            return []
        forbidden = [Violation(self.name, step, text) for step, text in path.judge.forbidden_moves(self, path)]
        broken = [
            Violation(self.name, row.broken_at, row.message) for row in self.rows(path) if row.broken_at is not None
        ]
        return forbidden + broken

    def allows_next(self, path: EpisodePath, points: Array, last: bool) -> Mask:
        """Which of n points (n x d, engineering units) the next move of a path may arrive at; `last` if the episode ends so.

        What `violations` says of each; a rule that can answer for all of them at once is faster.
        """
        longer = (EpisodePath(path.coordinates, np.vstack([path.points, point]), last) for point in points)
        broken = (any(found.step >= path.moves for found in self.violations(way)) for way in longer)
        return ~np.fromiter(broken, dtype=bool, count=len(points))

    def slack(self, path: EpisodePath) -> float | None:
        """How much room a path leaves, in the rule's own unit: of its rows the smallest; None where that is no number."""
        return min((row.room for row in self.rows(path) if row.room is not None), default=None)

    def room(self, coordinates: Sequence[Coordinate], left: Array, right: Array) -> float | None:
        """The smallest room of many moves (n x d points left and arrived at); None for rules that are no such measure."""
        return None

    def usage(self, paths: Sequence[EpisodePath], now: EpisodePath | None) -> list[Usage]:
        """How much of it executed paths have used, one line per limit; `now` is the current episode, if any.

        At least one path is given, `now` or another.
        """
        rows = [row for path in paths for row in self.rows(path)]
        here = (now or paths[0]).coordinates
        if not rows:
            broken = any(self.violations(path) for path in paths)
            own = type(self).violations is not TransitionConstraint.violations
            judged = own or all(path.judge is None or not path.judge.unjudged(self) for path in paths)
            kept = "kept by every move" if judged else "not checked"
            return [Usage(spaced(self.describe(here)), "broken" if broken else kept)]
        tightest: dict[str, JudgedRow] = {}
        for row in sorted(rows, key=lambda row: (row.is_open and row.broken_at is None, _room(row))):
            tightest.setdefault(row.component, row)
        present = {} if now is None else {row.name: row for row in self.rows(now)}
        return [_usage_of(row, present.get(row.name)) for row in tightest.values()]

    def rows(self, path: EpisodePath) -> list[JudgedRow]:
        """Its Pyomo rows at a path, as far as the path decides them."""
        return [] if path.judge is None else path.judge.rows(self, path)

    def looser(self, process: Process) -> Iterator[tuple[str, TransitionConstraint]]:
        """What the next larger limits would be that allow one more move, in words and as rules."""
        return iter(())

    @property
    def regions(self) -> tuple[Region, ...]:
        """Places to draw as forbidden."""
        return ()

    @property
    def end_point(self) -> Mapping[str, Any]:
        """Where the plant must be after the last move: coordinates and their values; empty where it may end anywhere."""
        return {}

    def arguments(self, coordinates: Sequence[Coordinate]) -> dict[str, Any] | None:
        """Its arguments as plain data in the units of the coordinates; None if they contain code of a user."""
        return None

    def named_limits(self) -> dict[str, Any]:
        """Its numbers by name, `limits.temperature`: attributes, and entries of mappings and regions inside them."""
        return {".".join(place): value for place, value in numbers_in(self)}

    def with_limit(self, name: str, value: Any) -> Self:
        """A copy with one of `named_limits` changed."""
        changed: Self = with_number(self, tuple(name.split(".")), value)
        return changed


def _room(row: JudgedRow) -> float:
    return float("inf") if row.room is None else row.room


def _usage_of(row: JudgedRow, present: JudgedRow | None) -> Usage:
    """A line of the table about a row, at the path where it is tightest."""
    limit = f"{spaced(row.component)}: {row.limits}"
    if row.room is None or row.words:
        undecided = "open until the episode ends" if row.is_open else "kept in every episode"
        return Usage(spaced(row.component), row.words or undecided)
    if row.is_open and row.broken_at is None:
        return Usage(limit, _open_text(row))
    share = row.value / row.upper if 0 < row.upper < float("inf") and row.lower == float("-inf") else None
    used = f"{row.value:.4g} in the tightest episode"
    if row.name != row.component:
        used = f"{row.name} {used}"
    if present is not None:
        used += f", {_open_text(present)}" if present.is_open else f", {present.value:.4g} in this one"
    return Usage(limit, used, share)


def _open_text(row: JudgedRow) -> str:
    """What a row comes to at best, where steps to come decide it."""
    if row.room is None or abs(row.value) == float("inf"):
        return "open until this episode ends"
    side = "least" if row.upper < float("inf") else "most"
    return f"at {side} {row.value:.4g} when this episode ends"


def transition_endpoints(process: Process) -> tuple[Array, Array]:
    """The points left and arrived at of every stored transition, rows in engineering units."""
    return process.states[process.pair_state[process.transition_pair]], process.states[process.transitions.indices]


def share_of(used: float, limit: float) -> float:
    """What was used as a share of a limit; of no limit at all nothing, or infinitely much."""
    if limit > 0:
        return used / limit
    return 0.0 if used <= 0 else float("inf")
