"""Backward induction: the Frank-Wolfe subproblem solved exactly when no constraint couples the steps (section 4.1).

V_h(x) = min over feasible a of  gradient(x, a) + sum_x' P(x'|x, a) V_{h+1}(x')
"""

from __future__ import annotations

import math

import numpy as np

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.models.backward_recursion import BackwardRecursion, StepBack
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.planning.finite.step_gradient import of_step
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.plant.situation import Situation

TIE = 1e-12
"""Two moves are equally good when their values differ by less than this share of the value."""


class DynamicProgramming:
    """The linear oracle of a process without coupling constraints; cost linear in pairs x steps."""

    name = "dynamic_programming"

    def __init__(self, sets: EpisodeSets) -> None:
        self.process, self.horizon, self.sets = sets.process, sets.horizon, sets
        self._forbids = not sets.allowed_pairs.all()
        self._recursion = BackwardRecursion(sets)
        table = _move_table(self.process)
        self._rectangle = None if table is None else (table, self.process.successor[table])
        self._last: tuple[Array, int, Array] | None = None

    def values(self, gradient: Array, first_step: int = 0) -> Array:
        """V_h for h = first_step .. H, as an array (H - first_step + 1) x n."""
        if self._rectangle is None:
            # Where chance moves the plant, or a few states have many moves.
            best_move = self._recursion.best_of(
                lambda step, ahead: of_step(gradient, step == self.horizon - 1) + self.process.expected(ahead)
            )
        else:
            cost = np.where(self.sets.allowed_pairs, gradient, np.inf)
            best_move = self._best_of_table(cost, *self._rectangle)
        return self._recursion.values(first_step, best_move)

    def _best_of_table(self, cost: Array, table: Integers, arrivals: Integers) -> StepBack:
        """One step back over a rectangle of moves and where they lead: whole rows, in place."""
        usual = of_step(cost, False)[table]
        last = usual if cost.ndim == 1 else of_step(cost, True)[table]
        to_go = np.empty_like(usual)

        def best_move(step: int, ahead: Array, here: Array) -> None:
            # "clip" lets numpy write into the array at once; every index is in range.
            np.take(ahead, arrivals, out=to_go, mode="clip")
            np.add(to_go, usual if step < self.horizon - 1 else last, out=to_go)
            np.minimum.reduce(to_go, axis=0, out=here)

        return best_move

    @timed("backward induction")
    def move_values(self, gradient: Array, situation: Situation) -> Array:
        """What each pair of the present state leads to: its gradient and the best rest; infinite where it may not be used."""
        values = self._values_from(gradient, situation)
        first, last = self.process.pair_offsets[situation.state : situation.state + 2]
        ahead = self.process.expected(values[1])[first:last]
        cost = of_step(gradient, situation.step == self.horizon - 1)[first:last]
        return np.where(self.sets.allowed_pairs[first:last], cost + ahead, np.inf)

    @timed("backward induction")
    def extreme_point(
        self, gradient: Array, situation: Situation, generator: np.random.Generator, first_pair: int | None = None
    ) -> Visitation:
        """An optimal visitation of the rest of the episode, ties broken at random.

        With `first_pair`, which has to be usable, the best of those that begin with it.
        """
        values = self._values_from(gradient, situation)
        follow = self._follow_path if self.process.deterministic else self._follow_distribution
        return follow(gradient, values, situation, generator, first_pair)

    def _values_from(self, gradient: Array, situation: Situation) -> Array:
        """The values from the present step on; those of the last gradient are kept, since a plan may ask twice."""
        self.sets.require_safe(situation.state, situation.step)
        if self._last is None or self._last[0] is not gradient or self._last[1] != situation.step:
            self._last = None  # Frees its memory before the next one is needed.
            values = self.values(gradient, situation.step)
            if not math.isfinite(values[0, situation.state]):
                raise SolverFailed(f"{self.name}: the gradient of the utility is not finite; nothing was planned")
            self._last = gradient, situation.step, values
        return self._last[2]

    def _follow_path(
        self, gradient: Array, values: Array, situation: Situation, generator: np.random.Generator, first: int | None
    ) -> Visitation:
        process, path, state = self.process, [], situation.state
        offsets, allowed, successor = process.pair_offsets, self.sets.allowed_pairs, process.successor
        if first is not None:
            path.append(first)
            state = int(successor[first])
        for row in range(len(path), len(values) - 1):
            pairs = slice(offsets[state], offsets[state + 1])
            to_go = of_step(gradient, row == len(values) - 2)[pairs] + values[row + 1][successor[pairs]]
            if self._forbids:
                to_go[~allowed[pairs]] = np.inf
            chosen = to_go.argmin()
            best = to_go[chosen]
            equal = to_go <= best + TIE * abs(best)
            if np.count_nonzero(equal) > 1:
                chosen = generator.choice(np.flatnonzero(equal))
            path.append(int(offsets[state]) + int(chosen))
            state = int(successor[path[-1]])
        steps = np.arange(situation.step, situation.step + len(path))
        return Visitation(steps, np.array(path, dtype=np.int64), np.ones(len(path)))

    def _follow_distribution(
        self, gradient: Array, values: Array, situation: Situation, generator: np.random.Generator, first: int | None
    ) -> Visitation:
        process = self.process
        mass = np.zeros(process.number_of_states)
        mass[situation.state] = 1.0
        cost = np.where(self.sets.allowed_pairs, gradient, np.inf)
        steps, pairs, probabilities = [], [], []
        for row in range(len(values) - 1):
            here = np.flatnonzero(mass)
            candidates = np.flatnonzero(mass[process.pair_state] > 0.0)
            to_go = of_step(cost, row == len(values) - 2)[candidates] + process.transitions[candidates] @ values[row + 1]
            best = values[row][process.pair_state[candidates]]
            # A random key for each equally good move; the largest key of a state wins.
            key = np.where(to_go <= best + TIE * np.abs(best), generator.random(len(candidates)), -1.0)
            order = np.lexsort((key, process.pair_state[candidates]))
            last = np.flatnonzero(np.diff(process.pair_state[candidates[order]], append=-1))
            chosen = candidates[order[last]] if row or first is None else np.array([first])
            steps.append(np.full(len(chosen), situation.step + row))
            pairs.append(chosen)
            probabilities.append(mass[here])
            mass = np.asarray(process.transitions[chosen].T @ mass[here]).ravel()
        return Visitation(np.concatenate(steps), np.concatenate(pairs), np.concatenate(probabilities))


def _move_table(process: Process) -> Integers | None:
    """The pairs of every state as a rectangle (most moves of a state x n), the last one of a state repeated.

    A minimum over its rows is one pass over contiguous memory, three times as fast as one over segments of unequal
    length. None for a random process, and where repetition would more than double the work.
    """
    moves = np.diff(process.pair_offsets)
    if not process.deterministic or moves.max() * len(moves) > 2 * process.number_of_pairs:
        return None
    return process.pair_offsets[:-1] + np.minimum(np.arange(moves.max())[:, None], moves - 1)
