"""The judge of executed paths of a finite process: its moves, what a rule forbids, and the rows of a rule.

An executed path is a visitation of zeros and ones, so the rows that plans are made with judge it (`row_verdicts`). They are
read on all moves that a plan from the start may use, and on those that were made although no plan would. Where chance
decides where a move leads, `model.arrival` stands for where the plant really arrived.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.coordinates import scaled
from tcbo_pyomo.models.components import PyomoModel
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.episode_path import SAME_PLACE, EpisodePath, JudgedRow, point_text
from tcbo_pyomo.models.linear_rows import RuleRows, rows_added
from tcbo_pyomo.models.row_verdicts import PathOptions, judged_rows
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.states_of_path import connected_states


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
        self._rows: dict[int, tuple[TransitionConstraint, RuleRows]] = {}

    @property
    def horizon(self) -> int:
        """Moves of an episode."""
        return self.sets.horizon

    def states_at(self, points: Array) -> list[int | None]:
        """The state at each point of a path; None where there is none."""
        found: list[list[int]] = []
        for point in scaled(self.process.coordinates, points):
            distance = np.abs(point - self.process.scaled_states).max(axis=1)
            found.append(np.flatnonzero(distance <= max(distance.min(), 1e-3 * SAME_PLACE)).tolist())
            if distance.min() > SAME_PLACE:
                found[-1] = []
        if all(len(states) <= 1 for states in found):
            return [states[0] if states else None for states in found]
        return connected_states(found, lambda left, right: len(self._entries(left, right)) > 0)

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

    def misses(self, path: EpisodePath) -> list[tuple[int, str]]:
        """Moves that ended where the move asked for cannot lead."""
        found = []
        asked = list(path.decisions)
        for step, state in enumerate(self.states_at(path.points)[1 : len(asked) + 1]):
            pair = asked[step]
            if pair is not None and state is not None and state not in self.process.successors_of(pair):
                expected = self.process.states[self.process.successors_of(pair)]
                wanted = " or ".join(point_text(point) for point in expected[:2])
                found.append((step, f"arrived at {point_text(path.points[step + 1])}, the model predicts {wanted}"))
        return found

    def unjudged(self, rule: TransitionConstraint) -> list[str]:
        """Rows that are not linear; the rule itself where it removes nothing and has no rows."""
        masks = (rule.allowed_states(self.process, step, self.horizon) for step in (0, self.horizon))
        says = rule.allowed_transitions(self.process) is not None or any(mask is not None for mask in masks)
        rows = self._rows_of(rule)
        if rows.not_linear:
            return [f"{rule.name}: {name}" for name in rows.not_linear]
        return [] if says or rows.rows else [rule.name]

    def can_end(self, path: EpisodePath) -> bool:
        """Whether the episode can be completed, whatever chance does."""
        state = self.states_at(path.points)[-1]
        return state is not None and bool(self.sets.safe[min(path.moves, self.horizon), state])

    def rows(self, rule: TransitionConstraint, path: EpisodePath) -> list[JudgedRow]:
        """Each row of a rule at a path; where several pairs make the same move, at the most favourable of them."""
        used = self._pairs(path)
        self.know_moves({(step, pair) for step, pairs in enumerate(used) for pair in pairs})
        rows = self._rows_of(rule)
        return judged_rows(rows, self._options(path, used)) if rows.rows else []

    def _options(self, path: EpisodePath, used: Sequence[Sequence[int]]) -> PathOptions:
        """The columns of each step: of the move made, or of all that may come."""
        self._built()
        states, nothing = self.states_at(path.points), np.empty((0, 1), dtype=np.int64)
        made, columns = len(used), []
        for step, pairs in enumerate(used):
            at = np.isin(self._option_pair[step], pairs) & (self._option_state[step] == states[step + 1])
            columns.append(self._option_columns[step][at])
        possible = [nothing] * self.horizon if path.complete else self._option_columns
        unknown = sum(not pairs for pairs in used)
        before = [*self._option_columns[:made], *possible[made:]]
        return PathOptions([*columns, *possible[made:]], before, made, unknown)

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

    def know_moves(self, moves: set[tuple[int, int]]) -> None:
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
            self._columns: list[Any] = list(self._model.visitation.values())
            arrived = {} if self.process.deterministic else arrivals_as_variables(self._model)
            self._list_options(pairs, {key: len(self._columns) + i for i, key in enumerate(arrived)})
            self._columns += arrived.values()
        return self._model

    def _list_options(self, pairs_by_step: Sequence[Integers], arrival: dict[tuple[int, str], int]) -> None:
        """For each step every move with each of its outcomes: pair, state arrived at, and the columns it fills."""
        self._option_pair, self._option_state, self._option_columns = [], [], []
        first, process = 0, self.process
        for step, pairs in enumerate(pairs_by_step):
            moves = process.transitions[pairs]
            move = np.repeat(np.arange(len(pairs)), np.diff(moves.indptr))
            columns = [first + move]
            if arrival:
                columns.append(
                    np.array([arrival[step, process.labels[state]] for state in moves.indices], dtype=np.int64)
                )
            self._option_pair.append(pairs[move])
            self._option_state.append(moves.indices)
            self._option_columns.append(np.stack(columns, axis=1))
            first += len(pairs)

    def rows_as_numbers(self, rule: TransitionConstraint) -> tuple[RuleRows, list[tuple[int, str]]]:
        """The rows of a rule, and the arrivals (step, state) whose columns follow those of the moves."""
        found, model = self._rows_of(rule), self._built()
        return found, [] if self.process.deterministic else list(model.arrival)

    def _rows_of(self, rule: TransitionConstraint) -> RuleRows:
        if id(rule) not in self._rows:
            self._rows[id(rule)] = rule, rows_added(self._built(), self._columns, rule.add_to_polytope)
        return self._rows[id(rule)][1]


def arrivals_as_variables(model: PyomoModel) -> dict[tuple[int, str], Any]:
    """Let `model.arrival` stand for where the plant arrived, where chance decides it, instead of how likely that was."""
    from pyomo.environ import Var

    model.arrived = Var(list(model.arrival))
    for key, expression in model.arrival.items():
        expression.set_value(model.arrived[key])
    return dict(model.arrived.items())
