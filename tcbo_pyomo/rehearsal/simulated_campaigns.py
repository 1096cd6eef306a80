"""The rest of a campaign, simulated on many drawn functions at once: as `campaign/simulation.py`, draws side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.knowledge.feedback import DUE
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.rehearsal.batched_beliefs import BatchedBeliefs
from tcbo_pyomo.rehearsal.chances import Chances, regrets
from tcbo_pyomo.rehearsal.departed_visits import DepartedVisits, same_for_all
from tcbo_pyomo.rehearsal.plant_tables import PlantTables
from tcbo_pyomo.rehearsal.simulated_budgets import BudgetTables, SimulatedBudgets
from tcbo_pyomo.rehearsal.simulated_method import Scene, SimulatedMethod
from tcbo_pyomo.rehearsal.simulated_stop import SimulatedStop
from tcbo_pyomo.rehearsal.standpoint import Standpoint

ALL_ROWS = 600
"""States up to which plans look at all of them; of more, at those where drawn functions have their maxima."""


class FinitePlant:
    """A problem made ready for simulations; what does not change from decision to decision is computed once."""

    def __init__(self, problem: Problem, noise_variance: Array) -> None:
        self.problem, self.noise_variance = problem, noise_variance
        self.tables = PlantTables(problem, noise_variance)
        coupled = any(rule.couples_steps for rule in problem.rules)
        self.budgets = BudgetTables(problem) if coupled else None


@dataclass(frozen=True)
class Rehearsal:
    """D simulated campaigns of one method.

    Attributes
    ----------
    regret
        E x D: after each of the E episodes that were left, as far as results had come; after the last one all have.
    visited
        moves x D: where the plants went.
    enough_known
        E x D: whether the stop was reached after each episode; None where nobody asked.
    """

    regret: Array
    visited: Integers
    enough_known: Mask | None = None

    @property
    def final(self) -> Array:
        """The regret at the end (D)."""
        return np.asarray(self.regret[-1])


@timed("rehearsal")
def rehearse(
    method: SimulatedMethod,
    plant: FinitePlant,
    standpoint: Standpoint,
    chances: Chances,
    counts_pending: bool = True,
    stop: SimulatedStop | None = None,
) -> Rehearsal:
    """Make all moves that are left with one method, on every drawn function.

    Parameters
    ----------
    method
        Chooses the moves.
    plant
        The plant of the standpoint.
    standpoint
        Where the campaign stands.
    chances
        Functions, noise and luck.
    counts_pending
        Whether visits whose results are still to come shrink the variance that the method sees.
    stop
        Says after each episode which campaigns know enough; nobody asks where it is not given. They go on all the same.
    """
    campaigns = _Campaigns(method, plant, standpoint, chances, counts_pending)
    regret, visited, enough = [], [], []
    for move in range(standpoint.moves_left):
        visited.append(campaigns.make_move(move))
        if campaigns.step == 0:
            if move + 1 == standpoint.moves_left:
                campaigns.tell_up_to(campaigns.moves_made)
            regret.append(campaigns.regret())
            if stop is not None:
                enough.append(stop.reached(campaigns.beliefs))
    return Rehearsal(np.array(regret), np.array(visited), np.array(enough) if stop is not None else None)


@dataclass(frozen=True)
class _Visits:
    """A move of each campaign whose result is pending: where it arrived, and which state it left (D each)."""

    order: int
    states: Integers
    noise_variance: Array
    origins: Integers | None
    last: bool


class _Campaigns:
    """D campaigns between two moves."""

    def __init__(
        self,
        method: SimulatedMethod,
        plant: FinitePlant,
        standpoint: Standpoint,
        chances: Chances,
        counts_pending: bool,
    ) -> None:
        self.method, self.plant, self.standpoint, self.chances = method, plant, standpoint, chances
        draws, covariance = chances.draws, standpoint.covariance()
        visits = standpoint.moves_left + len(standpoint.pending)
        rows = _rows(standpoint, chances) if method.wants_covariance else None
        self.departed = DepartedVisits(standpoint, draws, counts_pending, rows) if method.departure else None
        self.beliefs = BatchedBeliefs(standpoint.mean, covariance, draws, visits, None if method.departure else rows)
        self.states = np.full(draws, standpoint.path[-1])
        self.step, self.moves_made = len(standpoint.path) - 1, standpoint.moves_made
        self.incumbent = np.full(draws, -np.inf if standpoint.incumbent is None else standpoint.incumbent)
        self.generator = np.random.default_rng(chances.seed)
        self._counts_pending = counts_pending
        self._waiting: list[_Visits] = []
        self._told = 0
        self.budgets: SimulatedBudgets | None = None
        if plant.budgets is not None:
            spent = [tail.spent(Situation(standpoint.path)) for tail in plant.budgets.tails]
            self.budgets = SimulatedBudgets(plant.budgets, spent, draws)
        for visit in standpoint.pending:
            states, noise_variance = np.full(draws, visit.state), np.full(draws, visit.noise_variance)
            origins = same_for_all(visit.origin, draws)
            self._visit(_Visits(visit.order, states, noise_variance, origins, visit.last), made_before=True)

    def make_move(self, move: int) -> Integers:
        """Choose, move, and tell what is due; where the plants have gone (D)."""
        tables, each = self.plant.tables, np.arange(len(self.states))
        pairs, usable = tables.moves_from(self.states, self.step)
        if self.budgets is not None:
            usable = self.budgets.affordable(pairs, usable, self.step)
        best = np.where(np.isfinite(self.incumbent), self.incumbent, self.standpoint.first_incumbent)
        design = self.beliefs if self.departed is None else self.departed.beliefs
        place = self.states, self.step, pairs, usable
        scene = Scene(tables, self.beliefs, design, *place, best, self.generator, self.budgets, self.standpoint.goal)
        pair = pairs[self.method.choose(scene), each]
        entries = tables.arrive(pair, self.chances.luck[:, move])
        arrived = tables.arrived_at(entries)
        if self.budgets is not None:
            self.budgets.move(entries)
        self.moves_made += 1
        last = self.step + 1 == self.plant.problem.horizon
        self._visit(_Visits(self.moves_made, arrived, tables.noise[entries], self.states, last))
        self.states, self.step = arrived, self.step + 1
        if last:
            self.step, self.states = 0, np.full(len(self.states), self.plant.problem.start_state)
            if self.budgets is not None:
                self.budgets.restart()
        feedback = self.standpoint.feedback
        self.tell_up_to(DUE[feedback.kind](self.moves_made, self.step, feedback))
        return arrived

    def _visit(self, visits: _Visits, made_before: bool = False) -> None:
        if self._counts_pending:
            self.beliefs.visit(visits.states, visits.noise_variance)
            if not made_before:  # Where departures count, the standpoint has the moves that were made.
                self._count_departures(visits)
        self._waiting.append(visits)

    def _count_departures(self, visits: _Visits) -> None:
        if self.departed is not None:
            self.departed.count(visits.origins, visits.states, visits.noise_variance, visits.last)

    def tell_up_to(self, due: int) -> None:
        """The results of the first so many moves come."""
        while self._waiting and self._waiting[0].order <= due:
            visits = self._waiting.pop(0)
            states = visits.states
            if not self._counts_pending:
                self.beliefs.visit(states, visits.noise_variance)
                self._count_departures(visits)
            true = self.chances.functions[np.arange(len(states)), states]
            results = true + np.sqrt(visits.noise_variance) * self.chances.noise[:, self._told]
            self._told += 1
            self.beliefs.tell(results)
            self.incumbent = np.maximum(self.incumbent, self.standpoint.goal.score(results))

    def regret(self) -> Array:
        """Of what each campaign recommends now (D)."""
        space = self.plant.tables.space
        recommended = self.beliefs.recommended(self.standpoint.goal, space)
        return regrets(self.standpoint, self.chances, recommended, space)


def _rows(standpoint: Standpoint, chances: Chances) -> Integers:
    """The states that plans look at as places of the best."""
    number = len(standpoint.mean)
    if number <= ALL_ROWS:
        return np.arange(number)
    generator = np.random.default_rng(chances.seed)
    normal = standpoint.goal.sign * generator.standard_normal((ALL_ROWS, standpoint.factor.shape[1]))
    drawn = standpoint.goal.score(standpoint.mean + normal @ standpoint.factor.T)
    space = standpoint.problem.places
    return np.unique(np.where(space, drawn, -np.inf).argmax(axis=1))
