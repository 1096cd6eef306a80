"""Backward induction: the Frank-Wolfe subproblem solved exactly when no constraint couples the steps (section 4.1).

    V_H(x) = 0 where an episode may end, else infinite
    V_h(x) = min over feasible a of  gradient(x, a) + sum_x' P(x'|x, a) V_{h+1}(x')

Infinite values carry "cannot be completed" backwards, so the end of the episode needs no extra care.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.coordinates import Array
from tcbo_pyomo.planning.situation import Situation
from tcbo_pyomo.planning.visitation import Visitation
from tcbo_pyomo.reachability import EpisodeSets

TIE = 1e-12
"""Two moves are equally good when their values differ by less than this share of the value."""


class DynamicProgramming:
    """The linear oracle of a process without coupling constraints; cost linear in pairs x steps."""

    name = "dynamic_programming"

    def __init__(self, sets: EpisodeSets) -> None:
        self.process, self.horizon, self.sets = sets.process, sets.horizon, sets
        self._forbidden = np.flatnonzero(~sets.allowed_pairs)
        self._end = np.where(sets.safe[-1], 0.0, np.inf)
        self._first_pair = self.process.pair_offsets[:-1]
        self._closed = [np.flatnonzero(~safe) for safe in sets.safe]
        # Equal numbers of moves in every state allow a plain reshape, twice as fast as a segmented minimum.
        moves = np.diff(self.process.pair_offsets)
        self._width = int(moves[0]) if (moves == moves[0]).all() else 0

    def values(self, gradient: Array, first_step: int = 0) -> Array:
        """V_h for h = first_step .. H, as an array (H - first_step + 1) x n."""
        cost = gradient.copy()
        cost[self._forbidden] = np.inf
        process = self.process
        steps = self.horizon - first_step
        values = np.empty((steps + 1, process.number_of_states))
        values[steps] = self._end
        for row in range(steps - 1, -1, -1):
            ahead = values[row + 1]
            to_go = cost + (ahead[process.successor] if process.deterministic else process.transitions @ ahead)
            if self._width:
                to_go.reshape(-1, self._width).min(axis=1, out=values[row])
            else:
                np.minimum.reduceat(to_go, self._first_pair, out=values[row])
            if len(self._closed[first_step + row]):
                values[row, self._closed[first_step + row]] = np.inf
        return values

    def extreme_point(self, gradient: Array, situation: Situation, generator: np.random.Generator) -> Visitation:
        """An optimal visitation of the rest of the episode, ties broken at random."""
        state, first_step = situation.state, situation.step
        self.sets.require_safe(state, first_step)
        values = self.values(gradient, first_step)
        follow = self._follow_path if self.process.deterministic else self._follow_distribution
        return follow(gradient, values, state, first_step, generator)

    def _follow_path(
        self, gradient: Array, values: Array, state: int, first_step: int, generator: np.random.Generator
    ) -> Visitation:
        process, path = self.process, []
        offsets, allowed = process.pair_offsets, self.sets.allowed_pairs
        for row in range(len(values) - 1):
            pairs = slice(offsets[state], offsets[state + 1])
            to_go = gradient[pairs] + values[row + 1][process.successor[pairs]]
            to_go[~allowed[pairs]] = np.inf
            best = to_go.min()
            ties = np.flatnonzero(to_go <= best + TIE * abs(best))
            chosen = int(ties[0]) if len(ties) == 1 else int(generator.choice(ties))
            path.append(int(offsets[state]) + chosen)
            state = int(process.successor[path[-1]])
        steps = np.arange(first_step, first_step + len(path))
        return Visitation(steps, np.array(path, dtype=np.int64), np.ones(len(path)))

    def _follow_distribution(
        self, gradient: Array, values: Array, state: int, first_step: int, generator: np.random.Generator
    ) -> Visitation:
        process = self.process
        mass = np.zeros(process.number_of_states)
        mass[state] = 1.0
        cost = np.where(self.sets.allowed_pairs, gradient, np.inf)
        steps, pairs, probabilities = [], [], []
        for row in range(len(values) - 1):
            here = np.flatnonzero(mass)
            candidates = np.flatnonzero(mass[process.pair_state] > 0.0)
            to_go = cost[candidates] + process.transitions[candidates] @ values[row + 1]
            best = values[row][process.pair_state[candidates]]
            # A random key for each equally good move; the largest key of a state wins.
            key = np.where(to_go <= best + TIE * np.abs(best), generator.random(len(candidates)), -1.0)
            order = np.lexsort((key, process.pair_state[candidates]))
            last = np.flatnonzero(np.diff(process.pair_state[candidates[order]], append=-1))
            chosen = candidates[order[last]]
            steps.append(np.full(len(chosen), first_step + row))
            pairs.append(chosen)
            probabilities.append(mass[here])
            mass = np.asarray(process.transitions[chosen].T @ mass[here]).ravel()
        return Visitation(np.concatenate(steps), np.concatenate(pairs), np.concatenate(probabilities))
