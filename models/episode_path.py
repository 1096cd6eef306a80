"""The path of an episode, executed or planned, and what can be said about it.

Points alone are enough for rules that speak in plain arithmetic. A path that a plant has really gone also has a judge, which
knows the plant: it holds the path against what the plant can do and against the Pyomo rows of any rule. An executed path is a
visitation of zeros and ones (or a sequence of states), so the rows that are planned with judge it, too; nothing is solved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.situation import Decision

if TYPE_CHECKING:
    from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint

SAME_PLACE = 1e-6
"""Distance that still counts as the same place, as a share of each axis."""
TOLERANCE = 1e-6
"""By how much a row may be missed, as a share of its limit (of 1 for smaller limits)."""


@dataclass(frozen=True)
class JudgedRow:
    """One row of a rule at a path.

    Attributes
    ----------
    name, component
        The row in the Pyomo model, and the component it belongs to.
    value
        What the path so far makes of it.
    lower, upper
        Its limits; infinite where there is none.
    room
        How far the row stays within its limits at best, in its own unit; negative where it is broken, None where that is no
        number.
    broken_at
        The first step after which it cannot be kept any more; None where it is kept.
    unknown
        Moves that it leaves out of account, for the plant's model does not have them.
    words
        What is wrong, where a value and its limits do not say it.
    is_open
        Whether steps to come decide it: then `value` is what it comes to at best.
    """

    name: str
    component: str
    value: float
    lower: float
    upper: float
    room: float | None
    broken_at: int | None
    unknown: int = 0
    words: str = ""
    is_open: bool = False

    @property
    def limits(self) -> str:
        """`at most 4`, `at least 2`, `exactly 1` or `2 to 4`."""
        return limits_text(self.lower, self.upper)

    @property
    def message(self) -> str:
        """What the path makes of the row, and what is allowed."""
        if self.words:
            return self.words
        left_out = f" without {self.unknown} move(s) that the model lacks" if self.unknown else ""
        return f"{self.name} is {self.value:g}{left_out}, allowed is {self.limits}"


class PathJudge(Protocol):
    """What a plant says about the paths of its episodes."""

    @property
    def horizon(self) -> int:
        """Moves of an episode."""

    @property
    def judges_moves(self) -> bool:
        """Whether every move can be held against what the plant can do."""

    def misses(self, path: EpisodePath) -> list[tuple[int, str]]:
        """(step, in words) of every move that ended elsewhere than the model says its decision leads to."""

    def impossible_moves(self, path: EpisodePath) -> list[tuple[int, str, str]]:
        """(step, limit, value) of every move that the plant cannot make."""

    def forbidden_moves(self, rule: TransitionConstraint, path: EpisodePath) -> list[tuple[int, str]]:
        """(step, what was done) of every move to a place, or of a kind, that a rule does not allow."""

    def rows(self, rule: TransitionConstraint, path: EpisodePath) -> list[JudgedRow]:
        """The rows of a rule that the path decides."""

    def unjudged(self, rule: TransitionConstraint) -> list[str]:
        """What of a rule no path is held against: names of rows, or the rule itself where it says nothing about paths."""

    def can_end(self, path: EpisodePath) -> bool | None:
        """Whether the episode can be completed for sure from where the path has come to; None where a plan must tell."""


@dataclass(frozen=True, eq=False)
class EpisodePath:
    """A path.

    Attributes
    ----------
    coordinates
        The d axes.
    points
        (k + 1) x d points in engineering units, the start first.
    complete
        Whether the episode has ended.
    decisions
        What the plant was asked to do, one per move; empty where only the points are known.
    judge
        Who knows the plant that went this path; None for points alone.
    """

    coordinates: Sequence[Coordinate]
    points: Array
    complete: bool
    decisions: Sequence[Decision] = ()
    judge: PathJudge | None = None

    @property
    def left(self) -> Array:
        """The points that the moves leave from."""
        return self.points[:-1]

    @property
    def right(self) -> Array:
        """The points that the moves arrive at."""
        return self.points[1:]

    @property
    def moves(self) -> int:
        """How many moves were made."""
        return len(self.points) - 1


def limits_text(lower: float, upper: float) -> str:
    """Two limits in words, infinite ones left out."""
    if lower == upper:
        return f"exactly {upper:g}"
    if lower == float("-inf"):
        return f"at most {upper:g}"
    return f"at least {lower:g}" if upper == float("inf") else f"{lower:g} to {upper:g}"


def allowance(limit: float) -> float:
    """By how much a row may miss a limit."""
    return TOLERANCE * max(1.0, abs(limit)) if math.isfinite(limit) else 0.0


def point_text(point: Array) -> str:
    """A place by its values, `(5, 0.2)`."""
    return "(" + ", ".join(f"{value:.6g}" for value in point) + ")"
