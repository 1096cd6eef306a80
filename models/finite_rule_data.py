"""Rules of a finite process as plain data and back, and the judge that holds paths against them without any code of users."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np

from tcbo_pyomo.foundation.arrays import Integers
from tcbo_pyomo.foundation.packed_arrays import packed, unpacked
from tcbo_pyomo.models.constraints import ResourceBudget, VisitBudget
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint, transition_endpoints
from tcbo_pyomo.models.cost_data import TableOfMoves, TableOfPlaces
from tcbo_pyomo.models.declared_rule import (
    DeclaredRule,
    declared_words,
    library_data,
    library_rule,
    limit_data,
    limits_of,
)
from tcbo_pyomo.models.finite_judge import FiniteJudge
from tcbo_pyomo.models.linear_rows import LinearRow, OwnVariable, RuleRows
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.plant.process import Process

MOST_COEFFICIENTS = 5_000_000
"""Rows with more coefficients than these in all are not kept, and not judged."""
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
        costs = packed(rule.transition_cost(process))
        return data | {"table": "moves", "limit": rule.limit, "label": rule.label, "costs": costs}
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


def _rows_data(rule: TransitionConstraint, plant: PlantOfRules) -> dict[str, Any]:
    """The rows on all moves of plans from the start."""
    if type(rule).add_to_polytope is TransitionConstraint.add_to_polytope:
        return {"rows": []}
    # A judge of its own: one that has judged paths knows moves that no plan makes.
    found, arrivals = FiniteJudge(plant.sets, plant.start_state).rows_as_numbers(rule)
    size = sum(len(row.coefficients) for row in found.rows)
    if size > MOST_COEFFICIENTS:
        return {"rows": [], "not_linear": [f"{row.name} (too long to be kept)" for row in found.rows[:1]]}
    position = {label: index for index, label in enumerate(plant.process.labels)}
    return {
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
        left, right = transition_endpoints(process)
        return ResourceBudget(data["label"], TableOfMoves(left, right, unpacked(data["costs"])), data["limit"])
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
        self._rows = {}

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

    def _extra_moves(self, moves: set[tuple[int, int]]) -> None:
        """Moves that no plan would make have no coefficients here: a row leaves them out of account, and says so."""

    def _pairs(self, path: Any) -> list[list[int]]:
        planned = self._built().pairs
        return [[pair for pair in pairs if pair in planned[step]] for step, pairs in enumerate(super()._pairs(path))]

    def _built(self) -> Any:
        return self._moves

    @cached_property
    def _moves(self) -> Any:
        """The moves that plans from the start may use, in the order of the coefficients."""
        pairs: list[Integers] = self.sets.pairs_by_step(self.start)
        first, labels = sum(map(len, pairs)), self.process.labels
        stored = (rule.data.get("arrivals") for rule in self.sets.constraints if isinstance(rule, DeclaredRule))
        arrivals = next((unpacked(data).tolist() for data in stored if data and math.prod(data["shape"])), [])
        self._list_options(pairs, {(step, labels[state]): first + i for i, (step, state) in enumerate(arrivals)})
        return SimpleNamespace(pairs=pairs)
