"""Who simulates: many draws at once on a finite process, whole campaigns one by one where that cannot be done.

A draw is a function of the prior with the noise and the luck of one campaign. It is the same for all methods, so that two of
them are compared draw by draw, and the same in all scenarios as far as it can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Protocol

import numpy as np

from tcbo_pyomo.campaign.assembly import with_reachable_maximum
from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.campaign.simulation import Simulation
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.blas_threads import one_blas_thread
from tcbo_pyomo.knowledge.finite import FiniteKnowledge
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.rehearsal.compared_methods import Simulator
from tcbo_pyomo.rehearsal.members import members_of
from tcbo_pyomo.rehearsal.simulated_budgets import refuse_other_couplings
from tcbo_pyomo.rehearsal.simulated_stop import SimulatedStop
from tcbo_pyomo.rehearsal.standpoint import standpoint_of
from tcbo_pyomo.settings import Settings, merged, settings_from
from tcbo_pyomo.studies.rehearsed.scenarios import Scenario, Varied

STREAM = 6
"""Of the random numbers that follow from the seed."""
ONE_MOVE = {"local_ucb": {"method": "local_ucb"}}
"""What planning is compared with."""


@dataclass(frozen=True)
class Outcome:
    """Campaigns of one method.

    Attributes
    ----------
    regret
        E x D: after each episode, in the unit of the output.
    enough_known
        E x D: whether the stop was reached.
    """

    regret: Array
    enough_known: Mask

    def joined(self, other: Outcome) -> Outcome:
        """With more draws."""
        regret = np.concatenate([self.regret, other.regret], axis=1)
        return Outcome(regret, np.concatenate([self.enough_known, other.enough_known], axis=1))


class Engine(Protocol):
    """Simulates campaigns, some draws at a time."""

    usual_draws: int
    """Draws where nobody says how many."""
    usually_varied: tuple[Varied, ...]
    """What is varied where nobody says it."""

    def names(self, scenario: Scenario) -> list[str]:
        """The methods of a scenario, that of the campaign first."""

    def batches(self, scenario: Scenario, draws: int) -> Iterator[dict[str, Outcome]]:
        """The outcome of each method on some draws, until all are made."""


class ManyAtOnce:
    """The simulator of finite processes; every member of a rollout, and for variations the first one and `local_ucb`.

    Parameters
    ----------
    settings
        Of the campaign.
    seed
        Draws and ties follow from it.
    tolerance
        Of the stop.
    """

    usual_draws, together = 64, 16
    usually_varied: tuple[Varied, ...] = ("horizon", "noise")

    def __init__(self, settings: Settings, seed: int, tolerance: float) -> None:
        self.settings, self.seed, self.tolerance = settings, seed, tolerance
        self.members = _own_first(settings)

    def names(self, scenario: Scenario) -> list[str]:
        """The methods of a scenario."""
        names = [member.name for member in self.members]
        return names if not scenario.varied else [name for name in names if name in (names[0], *ONE_MOVE)]

    def batches(self, scenario: Scenario, draws: int) -> Iterator[dict[str, Outcome]]:
        """Sixteen draws at a time."""
        names = self.names(scenario)
        members = [member for member in self.members if member.name in names]
        campaign = Campaign(scenario.problem, _planned_quickly(self.settings), self.seed)
        knowledge = campaign.knowledge
        assert isinstance(knowledge, FiniteKnowledge)
        standpoint, simulator = standpoint_of(knowledge), Simulator(knowledge.problem)
        stop = SimulatedStop(standpoint, self.tolerance, self.settings.stop.probability)
        for first in range(0, draws, self.together):
            seed = np.random.SeedSequence([self.seed, STREAM, first])
            number = min(self.together, draws - first)
            found = simulator.rehearse(members, standpoint, number, seed, stop)
            yield {name: Outcome(made.regret, np.asarray(made.enough_known)) for name, made in found.items()}


class OneByOne:
    """The campaign's own code on one drawn function after another: the campaign's method, and `local_ucb`."""

    usual_draws = 8
    usually_varied: tuple[Varied, ...] = ()

    def __init__(self, settings: Settings, seed: int, tolerance: float) -> None:
        self.settings, self.seed, self.tolerance = settings, seed, tolerance
        own = settings.method
        self._changes: dict[str, Mapping[str, Any]] = {"default" if own == "mdp_bo" else own: {}}
        self._changes |= {} if own in ONE_MOVE else ONE_MOVE

    def names(self, scenario: Scenario) -> list[str]:
        """The methods of a scenario."""
        return list(self._changes)

    def batches(self, scenario: Scenario, draws: int) -> Iterator[dict[str, Outcome]]:
        """One draw at a time."""
        for draw in range(draws):
            generator = np.random.default_rng(np.random.SeedSequence([self.seed, STREAM, draw]))
            drawn = with_reachable_maximum(scenario.problem.with_drawn_truth(generator))
            yield {name: self._made(drawn, dict(own), draw) for name, own in self._changes.items()}

    def _made(self, problem: ProblemProtocol, own: dict[str, Any], draw: int) -> Outcome:
        """A whole campaign; what it would have said about its stop is asked after each episode."""
        # The scenario has the budget, the start and the rules of the settings already.
        done = {"start": None, "episodes": None, "constraints": ()}
        stop = {"stop": {"regret": self.tolerance, "identified": False}}
        settings = settings_from(merged(self.settings.model_dump(), done, own, stop))
        simulation = WithoutStop(Campaign(problem, settings, self.seed + draw))
        enough: list[bool] = []
        with one_blas_thread():
            result = simulation.run(on_episode=lambda _: enough.append(simulation.knows_enough()))
        regret = np.array([[episode.regret] for episode in result.episodes], dtype=float)
        return Outcome(regret, np.array(enough)[:, None])


class WithoutStop(Simulation):
    """A simulation that goes on when enough is known."""

    def __init__(self, campaign: Campaign) -> None:
        super().__init__(campaign)
        self._stopping = campaign.settings.stop
        campaign.knowledge.settings = campaign.settings.model_copy(update={"stop": type(self._stopping)()})

    def knows_enough(self) -> bool:
        """Whether the campaign would have stopped by now."""
        from tcbo_pyomo.knowledge.drawn_regrets import certainty_of  # Loads SciPy.

        knowledge = self.campaign.knowledge
        found = certainty_of(knowledge.under(knowledge.settings.model_copy(update={"stop": self._stopping})))
        return found is not None and found.enough_known


@singledispatch
def engine_for(problem: ProblemProtocol, settings: Settings, seed: int, tolerance: float) -> Engine:
    """Many draws at once where the plant and the settings can be simulated so, else whole campaigns."""
    return OneByOne(settings, seed, tolerance)


@engine_for.register
def _(problem: Problem, settings: Settings, seed: int, tolerance: float) -> Engine:
    if problem.passed:  # Measured on the way, too: the simulator has one measurement per move.
        return OneByOne(settings, seed, tolerance)
    try:
        refuse_other_couplings(problem)
        return ManyAtOnce(settings, seed, tolerance)
    except BadInput:
        return OneByOne(settings, seed, tolerance)


def _own_first(settings: Settings) -> list[Any]:
    """The members of a rollout, with the method of the campaign first where it is one of them."""
    members = members_of(settings)
    own = [member for member in members if member.settings.method == settings.method]
    return members if not own else [own[0], *(member for member in members if member is not own[0])]


def _planned_quickly(settings: Settings) -> Settings:
    """Nothing is planned with the campaign that only gives the prior; it must not start a linear solver."""
    update = {"method": "local_ucb", "start": None, "episodes": None, "constraints": ()}
    return settings.model_copy(update=update)
