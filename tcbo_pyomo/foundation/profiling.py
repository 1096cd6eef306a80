"""Where the time goes: named, nested sections of a run, timed only while someone is looking.

    with profile() as timings:
        run_campaign(problem)
    for row in timings.rows():
        print(row)

The code marks its sections with `@timed("utility")` or `with section("LP build"):`. Without a profiler a mark costs one look
at a variable, and it never touches a number: results are the same, bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from typing import NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

BUILDS = ("set-up", "search space", "LP build", "NLP build")
"""Made once, before the first plan."""
WORK = (
    "surrogate",
    "candidates",
    "first move",
    "recommendation",
    "utility",
    *BUILDS,
    "LP solve",
    "backward induction",
    "certified Frank-Wolfe",
    "NLP solve",
    "NLP objective",
    "one step",
)
"""Sections that are built once, linear algebra, or a solver; the time of a run that is in none of them is overhead."""
STEP = "step"
"""One move of a simulated campaign: everything from the question to the summary of its answer."""
ANSWERS = ("ask", "arrive", "tell")
"""What a campaign does for its user; a simulation adds the plant and the summaries."""


@dataclass
class Section:
    """The time spent under one name within one other section."""

    name: str
    seconds: float = 0.0
    calls: int = 0
    parts: dict[str, Section] = field(default_factory=dict)
    began: float = 0.0

    @property
    def own_seconds(self) -> float:
        """Time that is in none of its parts."""
        return self.seconds - sum(part.seconds for part in self.parts.values())

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Section]]:
        """This section and all below it, with their depth."""
        yield depth, self
        for part in self.parts.values():
            yield from part.walk(depth + 1)

    def outermost(self, names: tuple[str, ...]) -> list[Section]:
        """Sections below with one of these names that are in no other such section."""
        found = []
        for part in self.parts.values():
            found += [part] if part.name in names else part.outermost(names)
        return found

    def spent_on(self, names: tuple[str, ...]) -> float:
        """Own time of all sections with one of these names, here and below."""
        return sum(section.own_seconds for _, section in self.walk() if section.name in names)


class Row(NamedTuple):
    """One line of the table: indentation, name, seconds with and without its parts, share of the whole, calls."""

    depth: int
    name: str
    seconds: float
    own_seconds: float
    share: float
    calls: int


class _Visit:
    """One visit of a section; a class, since a generator would take longer than what it times."""

    __slots__ = ("name", "timings")

    def __init__(self, timings: Timings, name: str) -> None:
        self.timings, self.name = timings, name

    def __enter__(self) -> None:
        self.timings.enter(self.name)

    def __exit__(self, *_: object) -> None:
        self.timings.leave()


class Timings:
    """What a profiler has seen: a tree of sections, its root the whole."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock = clock
        self.root = Section("total", calls=1)
        self._open = [self.root]

    def enter(self, name: str) -> None:
        """Open a part of the section that is open now."""
        parts = self._open[-1].parts
        if name not in parts:
            parts[name] = Section(name)
        here = parts[name]
        self._open.append(here)
        here.began = self.clock()

    def leave(self) -> None:
        """Close the section that is open now."""
        ended = self.clock()
        here = self._open.pop()
        here.seconds += ended - here.began
        here.calls += 1

    @property
    def total(self) -> float:
        """Seconds from the beginning to the end."""
        return self.root.seconds

    @property
    def overhead(self) -> float:
        """Seconds that are neither linear algebra nor a solver."""
        return self.total - self.root.spent_on(WORK)

    @property
    def planner_seconds(self) -> tuple[float, float]:
        """The planner's own overhead, and the time of all steps.

        A step is what `ask`, `arrive` and `tell` do, and the algebra that the summary of a step asks for and the next
        step finds done. The first build, the simulated plant and the bookkeeping of a simulation are left out.
        """
        overhead = sum(answer.seconds - answer.spent_on(WORK) for answer in self.root.outermost(ANSWERS))
        steps = self.root.outermost((STEP, *ANSWERS))
        return overhead, overhead + sum(step.spent_on(WORK) - step.spent_on(BUILDS) for step in steps)

    @property
    def overhead_of_a_step(self) -> float | None:
        """The planner's own overhead as a share of a step; None where no step was made."""
        overhead, whole = self.planner_seconds
        return overhead / whole if whole > 0.0 else None

    def by_name(self) -> dict[str, float]:
        """Own seconds of every name, added up over the tree; they sum to the total."""
        found: dict[str, float] = {}
        for _, section in self.root.walk():
            found[section.name] = found.get(section.name, 0.0) + section.own_seconds
        return found

    def rows(self) -> list[Row]:
        """The tree as lines, parts below the section they belong to."""
        whole = self.total or 1.0
        return [
            Row(depth, section.name, section.seconds, section.own_seconds, section.seconds / whole, section.calls)
            for depth, section in self.root.walk()
        ]


_looking: Timings | None = None
_NOTHING = nullcontext()


@contextmanager
def profile(clock: Callable[[], float] = time.perf_counter) -> Iterator[Timings]:
    """Time the sections of everything that runs inside; the timings are complete when it ends."""
    global _looking
    before, timings = _looking, Timings(clock)
    began = clock()
    _looking = timings
    try:
        yield timings
    finally:
        _looking = before
        timings.root.seconds = clock() - began


def section(name: str) -> AbstractContextManager[None]:
    """A section of the run, where someone is looking; else nothing."""
    return _NOTHING if _looking is None else _Visit(_looking, name)


def timed(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make every call of a function a section."""

    def mark(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if _looking is None:
                return function(*args, **kwargs)
            with _Visit(_looking, name):
                return function(*args, **kwargs)

        return call

    return mark
