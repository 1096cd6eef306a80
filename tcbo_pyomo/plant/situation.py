"""Where the plant is within its episode: what every planner is asked from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Location = Any
"""Where the plant is: the index of a state of a finite process (int), or a scaled point (tuple of float)."""
Decision = Any
"""What the plant is asked to do: the index of a state-action pair (int), or an action (tuple of float)."""


@dataclass(frozen=True)
class Situation:
    """The path of the current episode.

    Attributes
    ----------
    path
        Where the plant has been, x_0 .. x_h, the present state last.
    decisions
        What it was asked to do, one fewer than states; where it went elsewhere, what it was asked all the same.
    """

    path: tuple[Location, ...]
    decisions: tuple[Decision, ...] = ()

    @property
    def state(self) -> Location:
        """Where the plant is now."""
        return self.path[-1]

    @property
    def step(self) -> int:
        """The step of the next move."""
        return len(self.decisions)
