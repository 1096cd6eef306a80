"""One move of a plant: where it was sent, where it went, and what was measured there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tcbo_pyomo.knowledge.plausibility import Surprise
from tcbo_pyomo.plant.measured_moments import Way
from tcbo_pyomo.plant.situation import Decision, Location

Words = Callable[[Location], str]
"""A place in engineering units."""


class _Worded:
    """How places are written when it is printed: kept apart from the data, and neither saved, compared nor copied."""

    __slots__ = ("words",)

    words: Words

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(repr=False)
class Move(_Worded):
    """One move of the plant.

    Attributes
    ----------
    number
        Counts all moves of the campaign from 1; the name under which its result is told.
    episode, step
        Both from 1, as in tables; step 0 is a measurement of the start, before the first move.
    origin
        Where the plant was: the index of a state of a finite process, or a point of a continuous one (scaled).
    decision
        What the plant was asked to do: the index of a state-action pair, or an action.
    expected
        Where the move leads; None when chance decides.
    arrived
        Where the plant really went; None until that is known.
    value
        The measurement; None until it is told.
    scheduled
        Asked for as part of a whole schedule, and nothing was reported of it: `arrived` is assumed.
    cancelled
        A move that will not be made: it could not be, or the plant left the schedule before it.
    replicates
        Further measurements of the same visit, in the order told.
    skipped
        The plant arrived, but no result will come.
    way
        Where the plant is at those moments before its end at which the move is measured, as the model has it; empty where it
        is measured at its end only.
    along
        The moment and the place of each of the `values` that was measured on the way, None for those at the end; empty where
        there is no such value.
    surprises
        What was expected of each of the `values` that the model finds unlikely, None for the others; empty where
        there is no such value.
    """

    number: int
    episode: int
    step: int
    origin: Location
    decision: Decision
    expected: Location
    arrived: Location = None
    value: float | None = None
    scheduled: bool = False
    cancelled: bool = False
    replicates: tuple[float, ...] = ()
    skipped: bool = False
    surprises: tuple[Surprise | None, ...] = ()
    way: Way = ()
    along: tuple[tuple[float, Location] | None, ...] = ()

    @property
    def values(self) -> tuple[float, ...]:
        """All measurements of this visit, the first one first."""
        return () if self.value is None else (self.value, *self.replicates)

    @property
    def made(self) -> bool:
        """Whether the plant's position after it is known (or assumed, in a schedule)."""
        return self.arrived is not None and not self.cancelled

    @property
    def reported(self) -> bool:
        """Whether somebody said what became of it: a move that was made, not one that a schedule assumes to be."""
        return self.made and (not self.scheduled or self.value is not None or self.skipped)

    def add_value(
        self, value: float, surprise: Surprise | None = None, along: tuple[float, Location] | None = None
    ) -> None:
        """One more measurement of this visit, the first one or a replicate; `along` says where on the way it was made."""
        if along is not None or self.along:
            self.along = (*(self.along or (None,) * len(self.values)), along)
        if surprise is not None or self.surprises:
            known = self.surprises or (None,) * len(self.values)
            self.surprises = (*known, surprise)
        if self.value is None:
            self.value = value
        else:
            self.replicates = (*self.replicates, value)

    @property
    def visits(self) -> list[Move]:
        """This move as it is for each of the `values`: arrived where that was measured."""
        places = self.along or (None,) * len(self.values)
        return [self if place is None else self.at(place[1]) for place in places]

    @property
    def moments(self) -> list[float]:
        """The share of the move that had passed when each of the `values` was measured."""
        return [1.0 if place is None else place[0] for place in self.along or (None,) * len(self.values)]

    def at(self, place: Location) -> Move:
        """This move as if it had ended at a place on its way."""
        return replace(self, arrived=place)

    @property
    def measured(self) -> list[tuple[float, Surprise | None]]:
        """Each of the `values` with the surprise that it was."""
        return list(zip(self.values, self.surprises or (None,) * len(self.values), strict=True))

    def __repr__(self) -> str:
        place = self.expected if self.arrived is None else self.arrived
        words: Words = getattr(self, "words", str)
        to = "random outcome" if place is None else words(place)
        told = "cancelled" if self.cancelled else "skipped" if self.skipped else ", ".join(map(str, self.values))
        now = told or ("asked for" if self.arrived is None else "pending")
        return f"Move({self.number}: episode {self.episode}, step {self.step}; {words(self.origin)} -> {to}; {now})"
