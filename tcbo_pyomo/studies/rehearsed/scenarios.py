"""What is rehearsed: the campaign as it is declared, and with shorter or longer episodes, less or more noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Literal

from tcbo_pyomo.errors import TcboError
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.problem.with_settings import with_settings
from tcbo_pyomo.settings import Settings

Varied = Literal["horizon", "noise"]
FACTORS = (0.5, 2.0)
"""On the declared horizon, and on the declared standard deviation of a measurement."""


@dataclass(frozen=True)
class Scenario:
    """One campaign to be rehearsed.

    Attributes
    ----------
    varied
        What differs from the declared campaign; empty for that one.
    label
        In words: `as declared`, `horizon 20`, `noise sd x2`.
    problem
        The plant with its budget, as the settings want it.
    """

    varied: str
    label: str
    problem: ProblemProtocol

    @property
    def episodes(self) -> int:
        """Episodes of the campaign."""
        return self.problem.episodes

    @property
    def horizon(self) -> int:
        """Moves of an episode."""
        return self.problem.horizon


def scenarios_of(problem: ProblemProtocol, settings: Settings, vary: Sequence[Varied]) -> Iterator[Scenario]:
    """The declared campaign first; variations that the plant's rules do not allow are left out."""
    declared = with_settings(problem, settings)
    yield Scenario("", "as declared", declared)
    for varied in vary:
        for factor in FACTORS:
            changed = _varied(declared, varied, factor)
            if changed is not None:
                yield changed


@singledispatch
def _try(problem: ProblemProtocol) -> None:
    """Refuse a plant whose rules leave no episode, where that is known without a plan."""


@_try.register
def _(problem: Problem) -> None:
    _ = problem.search_space


def _varied(problem: ProblemProtocol, varied: Varied, factor: float) -> Scenario | None:
    if varied == "noise":
        return Scenario(varied, f"noise sd x{factor:g}", problem.with_noise(factor**2))
    horizon = round(factor * problem.horizon)
    if horizon < 1 or horizon == problem.horizon:
        return None
    try:
        changed = problem.changed(horizon=horizon)
        _try(changed)
    except TcboError:
        return None
    return Scenario(varied, f"horizon {horizon}", changed)
