"""The judge of executed paths of a finite process: its moves, what a rule forbids, and the rows of a rule.

A path visits one pair per step, so a row of the polytope comes to the sum of its coefficients at those pairs. Steps still to
come add at least the smallest and at most the largest coefficient of their moves: what no continuation can repair is broken
already. The rows are those that plans are made with, on all moves that a plan from the start may use.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.coordinates import scaled
from tcbo_pyomo.models.components import PyomoModel, new_rows, row_limits
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.episode_path import SAME_PLACE, EpisodePath, JudgedRow, allowance, point_text
from tcbo_pyomo.models.safe_sets import EpisodeSets

LinearRow = tuple[Any, Array, float]
"""A Pyomo row whose body is the sum of coefficients of the moves (in the order of MOVES), and a constant."""


class FiniteJudge:
    """Judges paths of the episodes of a finite process.

    Parameters
    ----------
    sets
        The process and what its rules leave of it.
    start
        The state in which episodes start.
    """

    judges_moves = True

    def __init__(self, sets: EpisodeSets, start: int) -> None:
        self.sets, self.process, self.start = sets, sets.process, start
        self._extra: set[tuple[int, int]] = set()
        self._model: PyomoModel | None = None
        self._rows: dict[int, tuple[TransitionConstraint, list[LinearRow]]] = {}

    @property
    def horizon(self) -> int:
        """Moves of an episode."""
        return self.sets.horizon

    def states_at(self, points: Array) -> list[int | None]:
        """The state at each point; None where there is none."""
        found: list[int | None] = []
        for point in scaled(self.process.coordinates, points):
            distance = np.abs(point - self.process.scaled_states).max(axis=1)
            nearest = int(distance.argmin())
            found.append(nearest if distance[nearest] <= SAME_PLACE else None)
        return found

    def impossible_moves(self, path: EpisodePath) -> list[tuple[int, str, str]]:
        """Moves to no state, and moves that no action makes."""
        found = []
        for step, (left, right) in enumerate(pairwise(self.states_at(path.points))):
            if right is None:
                place = zip(path.coordinates, path.points[step + 1], strict=True)
                value = f"no state at {', '.join(f'{c.name}={v:g}' for c, v in place)}"
                found.append((step, "the states of the process", value))
            elif left is not None and len(self._entries(left, right)) == 0:
                value = f"no action leads from '{self.process.labels[left]}' to '{self.process.labels[right]}'"
                found.append((step, "the moves of the process", value))
        return found

    def forbidden_moves(self, rule: TransitionConstraint, path: EpisodePath) -> list[tuple[int, str]]:
        """Moves to places that a rule does not allow at that step, and moves of the process that it removes."""
        states, points = self.states_at(path.points), path.points
        allowed = rule.allowed_points(path.coordinates, path.right)
        wrong = set() if allowed is None else set(np.flatnonzero(~allowed).tolist())
        for step, state in enumerate(states[1 : self.horizon + 1]):
            mask = rule.allowed_states(self.process, step + 1, self.horizon)
            if mask is not None and state is not None and not mask[state]:
                wrong.add(step)
        found = [(step, f"the plant was at {point_text(points[step + 1])}") for step in sorted(wrong)]
        kept = rule.allowed_transitions(self.process)
        for step, (left, right) in enumerate(pairwise(states)):
            entries = self._entries(left, right)
            if kept is not None and len(entries) and not kept[entries].any():
                found.append((step, f"the move {point_text(points[step])} -> {point_text(points[step + 1])}"))
        return found

    def can_judge(self, rule: TransitionConstraint) -> bool:
        """Whether a rule removes anything, or has rows about visits alone."""
        masks = (rule.allowed_states(self.process, step, self.horizon) for step in (0, self.horizon))
        says = rule.allowed_transitions(self.process) is not None or any(mask is not None for mask in masks)
        return says or bool(self._rows_of(rule))

    def can_end(self, path: EpisodePath) -> bool:
        """Whether the episode can be completed, whatever chance does."""
        state = self.states_at(path.points[-1:])[0]
        return state is not None and bool(self.sets.safe[min(path.moves, self.horizon), state])

    def rows(self, rule: TransitionConstraint, path: EpisodePath) -> list[JudgedRow]:
        """Each row of a rule at a path; where several pairs make the same move, at the most favourable of them."""
        used = self._pairs(path)
        self._extra_moves({(step, pair) for step, pairs in enumerate(used) for pair in pairs})
        return [self._judged(row, used, path.complete) for row in self._rows_of(rule)]

    def _judged(self, linear: LinearRow, used: Sequence[Sequence[int]], complete: bool) -> JudgedRow:
        row, coefficients, constant = linear
        (lower, upper), model = row_limits(row), self._built()
        first, made = np.searchsorted(model.move_step, np.arange(self.horizon + 1)), len(used)
        # The least and the most that each step adds: by the move made, or by any that may come.
        adds = np.zeros((2, self.horizon))
        comes = np.zeros((2, self.horizon))
        for step, (begin, end) in enumerate(pairwise(first)):
            possible = coefficients[begin:end]
            if len(possible) and not (complete and step >= made):
                comes[:, step] = possible.min(), possible.max()
            if step < made and used[step]:
                at = possible[np.isin(model.move_pair[begin:end], used[step])]
                adds[:, step] = at.min(), at.max()
        so_far = constant + np.cumsum(adds[:, :made], axis=1)
        at_end = so_far + comes.sum(axis=1, keepdims=True) - np.cumsum(comes, axis=1)[:, :made]
        over, under = at_end[0] > upper + allowance(upper), at_end[1] < lower - allowance(lower)
        broken = np.flatnonzero(over | under)
        side = 0 if np.isfinite(upper) else 1
        value = so_far[side, -1] if made else constant
        if len(broken):
            value = at_end[0 if over[broken[0]] else 1, broken[0]]
        last = at_end[:, -1] if made else constant + comes.sum(axis=1)
        room, broken_at = min(upper - last[0], last[1] - lower), int(broken[0]) if len(broken) else None
        return JudgedRow.of(row, value, room, broken_at, sum(not pairs for pairs in used))

    def _pairs(self, path: EpisodePath) -> list[list[int]]:
        """For each move the pairs that can have made it: the one asked for, if it leads there, else any that does."""
        found = []
        for step, (left, right) in enumerate(pairwise(self.states_at(path.points))):
            pairs = np.unique(self.process.transition_pair[self._entries(left, right)]).tolist()
            asked = list(path.decisions[step : step + 1])
            found.append(asked if set(asked) & set(pairs) else pairs)
        return found[: self.horizon]

    def _entries(self, left: int | None, right: int | None) -> Integers:
        """Stored transitions from one state to another."""
        if left is None or right is None:
            return np.empty(0, dtype=np.int64)
        pairs, moves = self.process.pairs_of(left), self.process.transitions
        first, last = moves.indptr[pairs.start], moves.indptr[pairs.stop]
        return first + np.flatnonzero(moves.indices[first:last] == right)

    def _extra_moves(self, moves: set[tuple[int, int]]) -> None:
        """Moves that were made although no plan from the start would: they have to be in the model, too."""
        model = self._built()
        first = np.searchsorted(model.move_step, np.arange(self.horizon + 1))
        missing = {(at, pair) for at, pair in moves if pair not in model.move_pair[first[at] : first[at + 1]]}
        if missing:
            self._extra |= missing
            self._model, self._rows = None, {}

    def _built(self) -> PyomoModel:
        """The polytope without flow: paths are given, not sought."""
        if self._model is None:
            from tcbo_pyomo.models.state_action_polytope import visitation_model

            planned = self.sets.pairs_by_step(self.start)
            extra = [[pair for at, pair in self._extra if at == step] for step in range(self.horizon)]
            pairs = [np.union1d(a, np.array(b, dtype=np.int64)) for a, b in zip(planned, extra, strict=True)]
            self._model = visitation_model(self.process, pairs, self.start, self.horizon)
        return self._model

    def _rows_of(self, rule: TransitionConstraint) -> list[LinearRow]:
        if id(rule) not in self._rows:
            self._rows[id(rule)] = rule, _linear_rows(self._built(), rule)
        return self._rows[id(rule)][1]


def _linear_rows(model: PyomoModel, rule: TransitionConstraint) -> list[LinearRow]:
    """The rows that a rule adds to a model, without those that have variables of their own."""
    from pyomo.repn import generate_standard_repn

    column = {id(variable): index for index, variable in enumerate(model.visitation.values())}
    found = []
    for row in new_rows(model, rule.add_to_polytope):
        form = generate_standard_repn(row.body)
        if not form.is_linear() or any(id(variable) not in column for variable in form.linear_vars):
            continue
        coefficients = np.zeros(len(column))
        coefficients[[column[id(variable)] for variable in form.linear_vars]] = form.linear_coefs
        found.append((row, coefficients, float(form.constant)))
    return found
