"""Rules of a finite process as plain data and back, and the judge that holds paths against them without any code of users."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from tcbo_pyomo.foundation.arrays import Integers
from tcbo_pyomo.foundation.packed_arrays import packed, unpacked
from tcbo_pyomo.models.constraints import ResourceBudget, VisitBudget
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.cost_data import TableOfMoves, TableOfPlaces
from tcbo_pyomo.models.declared_rule import (
    DeclaredRule,
    declared_words,
    library_data,
    library_rule,
    limit_data,
    limits_of,
)
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.models.finite_judge import FiniteJudge
from tcbo_pyomo.models.linear_rows import LinearRow, OwnVariable, RuleRows
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.plant.process import Process

MOST_COEFFICIENTS = 5_000_000
"""Rows with more coefficients than these in all are not kept, and not judged."""
MOST_MOVES = 50_000
"""Moves of all steps up to which rows have coefficients for each, also for moves that no plan would make."""
FEW_STATES = 300
"""States up to which the cost of every move between two of them is kept, whether the plant can make it or not."""
NO_ROWS = RuleRows(())


class PlantOfRules(Protocol):
    """What the judge has to know; each is worked out when it is asked for."""

    @property
    def process(self) -> Process:
        """The process."""

    @property
    def sets(self) -> EpisodeSets:
        """What the rules leave of it."""

    @property
    def horizon(self) -> int:
        """Moves of an episode."""

    @property
    def start_state(self) -> int:
        """Where episodes start."""


def finite_rule_data(rule: TransitionConstraint, plant: PlantOfRules) -> dict[str, Any]:
    """A rule with what it allows of a process and with its rows."""
    process, horizon = plant.process, plant.horizon
    data = declared_words(rule, process.coordinates)
    known = library_data(rule, process.coordinates)
    if known is not None:
        return data | known
    if type(rule) is ResourceBudget:
        left, right = _ends(process)
        costs = rule.move_costs(process.coordinates, process.states[left], process.states[right])
        return data | {"table": "moves", "limit": rule.limit, "label": rule.label, "costs": packed(costs)}
    if type(rule) is VisitBudget:
        inside = rule.move_costs(process.coordinates, process.states, process.states) > 0
        return data | {"table": "places", "limit": rule.limit, "label": rule.label, "inside": packed(inside)}
    masks = [rule.allowed_states(process, step, horizon) for step in range(horizon + 1)]
    transitions, states = rule.allowed_transitions(process), None
    if any(mask is not None for mask in masks):
        states = packed([np.ones(process.number_of_states, bool) if mask is None else mask for mask in masks])
    return data | {
        "short_name": rule.short_name,
        "couples": bool(rule.couples_steps),
        "transitions": None if transitions is None else packed(transitions),
        "states": states,
        **_rows_data(rule, plant),
    }


def _ends(process: Process) -> tuple[Integers, Integers]:
    """The states at both ends of the moves whose cost is kept: of all between few states, else of those that there are."""
    number = process.number_of_states
    if number <= FEW_STATES:
        left, right = np.divmod(np.arange(number**2), number)
        return left, right
    return process.pair_state[process.transition_pair], np.asarray(process.transitions.indices)


def _rows_data(rule: TransitionConstraint, plant: PlantOfRules) -> dict[str, Any]:
    """The rows: on all moves of the plant where these are few, else on those of plans from the start."""
    if type(rule).add_to_polytope is TransitionConstraint.add_to_polytope:
        return {"rows": []}
    # A judge of its own: one that has judged paths knows moves that no plan makes.
    judge, process = FiniteJudge(plant.sets, plant.start_state), plant.process
    every = process.number_of_pairs * plant.horizon <= MOST_MOVES
    if every:
        judge.know_moves({(step, pair) for step in range(plant.horizon) for pair in range(process.number_of_pairs)})
    found, arrivals = judge.rows_as_numbers(rule)
    size = sum(len(row.coefficients) for row in found.rows)
    if size > MOST_COEFFICIENTS:
        return {"rows": [], "not_linear": [f"{row.name} (too long to store)" for row in found.rows[:1]]}
    position = {label: index for index, label in enumerate(process.labels)}
    return {
        "every_move": every,
        "rows": [
            {
                "name": row.name,
                "component": row.component,
                **limit_data(row.lower, row.upper),
                "constant": row.constant,
                "body": packed(row.coefficients),
                "own": [list(term) for term in row.own],
            }
            for row in found.rows
        ],
        "own": [{"name": v.name, **limit_data(v.lower, v.upper), "whole": bool(v.whole)} for v in found.own],
        "not_linear": list(found.not_linear),
        "arrivals": packed(np.array([(step, position[label]) for step, label in arrivals], dtype=int).reshape(-1, 2)),
    }


def finite_rule(data: Mapping[str, Any], process: Process) -> TransitionConstraint:
    """The rule that `finite_rule_data` described."""
    if "use" in data:
        return library_rule(data)
    if data.get("table") == "moves":
        table = TableOfMoves(process.states, *_ends(process), unpacked(data["costs"]))
        return ResourceBudget(data["label"], table, data["limit"])
    if data.get("table") == "places":
        return VisitBudget(TableOfPlaces(process.states[unpacked(data["inside"])]), data["limit"], data["label"])
    transitions, states = (None if data[name] is None else unpacked(data[name]) for name in ("transitions", "states"))
    return DeclaredRule(data, transitions, states)


def _stored_rows(data: Mapping[str, Any]) -> RuleRows:
    """The rows of a rule as `_rows_data` wrote them down."""
    rows = [
        LinearRow(
            row["name"],
            row["component"],
            *limits_of(row),
            row["constant"],
            unpacked(row["body"]),
            tuple((int(index), float(number)) for index, number in row["own"]),
        )
        for row in data["rows"]
    ]
    own = [OwnVariable(v["name"], *limits_of(v), v["whole"]) for v in data.get("own", ())]
    return RuleRows(tuple(rows), tuple(own), tuple(data.get("not_linear", ())))


class DeclaredFiniteJudge(FiniteJudge):
    """Judges paths by the rows in a campaign file; nothing is imported and nothing built before it is needed."""

    def __init__(self, plant: PlantOfRules) -> None:
        self._plant, self.process, self.start = plant, plant.process, plant.start_state
        self._extra, self._rows = set(), {}
        self._pairs_known: list[Integers] | None = None

    @property
    def sets(self) -> EpisodeSets:  # type: ignore[override]
        """What the rules leave of the process."""
        return self._plant.sets

    @property
    def horizon(self) -> int:
        """Moves of an episode."""
        return self._plant.horizon

    def _rows_of(self, rule: TransitionConstraint) -> RuleRows:
        """The rows of a rule as they were stored; rules of the library judge by their own arithmetic."""
        if not isinstance(rule, DeclaredRule):
            return NO_ROWS
        if id(rule) not in self._rows:
            self._rows[id(rule)] = rule, _stored_rows(rule.data)
        return self._rows[id(rule)][1]

    def know_moves(self, moves: set[tuple[int, int]]) -> None:
        """Moves that no plan would make; where rows have no coefficients for them, a row leaves them out, and says so."""
        planned = self._built()
        missing = {(step, pair) for step, pair in moves if pair not in planned[step]} if self._every_move else set()
        if missing:
            self._extra |= missing
            self._pairs_known = None

    def _pairs(self, path: EpisodePath) -> list[list[int]]:
        found, planned = super()._pairs(path), self._built()
        if self._every_move:
            return found
        return [[pair for pair in pairs if pair in planned[step]] for step, pairs in enumerate(found)]

    @cached_property
    def _stored(self) -> Mapping[str, Any]:
        """What a rule with rows says about the columns, which are the same for all."""
        rules = (rule.data for rule in self.sets.constraints if isinstance(rule, DeclaredRule))
        return next((data for data in rules if data["rows"]), {})

    @property
    def _every_move(self) -> bool:
        return bool(self._stored.get("every_move"))

    def _built(self) -> Any:
        """The moves of each step that a path may use, with the columns that they fill."""
        if self._pairs_known is None:
            planned: list[Integers] = self.sets.pairs_by_step(self.start)
            extra = [[pair for at, pair in self._extra if at == step] for step in range(self.horizon)]
            pairs = [np.union1d(a, np.array(b, dtype=np.int64)) for a, b in zip(planned, extra, strict=True)]
            every, labels = self.process.number_of_pairs, self.process.labels
            moves = every * self.horizon if self._every_move else sum(map(len, pairs))
            arrivals = unpacked(self._stored["arrivals"]).tolist() if self._stored else []
            self._list_options(pairs, {(step, labels[state]): moves + i for i, (step, state) in enumerate(arrivals)})
            if self._every_move:
                for step, (columns, chosen) in enumerate(zip(self._option_columns, self._option_pair, strict=True)):
                    columns[:, 0] = step * every + chosen
            self._pairs_known = pairs
        return self._pairs_known
