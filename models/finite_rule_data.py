"""Rules of a finite process as plain data and back, and the judge that holds paths against them without any code of users."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np

from tcbo_pyomo.foundation.arrays import Integers
from tcbo_pyomo.foundation.packed_arrays import packed, unpacked
from tcbo_pyomo.models.components import new_rows
from tcbo_pyomo.models.constraints import ResourceBudget, VisitBudget
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint, transition_endpoints
from tcbo_pyomo.models.cost_data import TableOfMoves, TableOfPlaces
from tcbo_pyomo.models.declared_rule import (
    DeclaredRule,
    StoredRow,
    declared_words,
    library_data,
    library_rule,
    row_words,
)
from tcbo_pyomo.models.finite_judge import FiniteJudge, LinearRow
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.plant.process import Process

MOST_COEFFICIENTS = 5_000_000
"""Rows with more coefficients than these in all are not kept, and not judged."""


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
        return data | {"table": "moves", "limit": rule.limit, "label": rule.label,
                       "costs": packed(rule.transition_cost(process))}  # fmt: skip
    if type(rule) is VisitBudget:
        inside = rule.move_costs(process.coordinates, process.states, process.states) > 0
        return data | {"table": "places", "limit": rule.limit, "label": rule.label, "inside": packed(inside)}
    masks = [rule.allowed_states(process, step, horizon) for step in range(horizon + 1)]
    transitions, states = rule.allowed_transitions(process), None
    if any(mask is not None for mask in masks):
        states = packed([np.ones(process.number_of_states, bool) if mask is None else mask for mask in masks])
    rows = _linear_rows(rule, plant)
    return data | {
        "short_name": rule.short_name,
        "couples": bool(rule.couples_steps),
        "transitions": None if transitions is None else packed(transitions),
        "states": states,
        "rows": rows if sum(math.prod(row["body"]["shape"]) for row in rows) <= MOST_COEFFICIENTS else [],
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
    rows = [
        StoredRow(row["name"], row["component"], row["lower"], row["upper"], unpacked(row["body"]), row["constant"])
        for row in data["rows"]
    ]
    return DeclaredRule(data, transitions, states, rows)


def _linear_rows(rule: TransitionConstraint, plant: PlantOfRules) -> list[dict[str, Any]]:
    """The rows that a rule adds to the visits of all plans from the start, without those with variables of their own."""
    if type(rule).add_to_polytope is TransitionConstraint.add_to_polytope:
        return []
    from pyomo.repn import generate_standard_repn

    from tcbo_pyomo.models.state_action_polytope import visitation_model

    pairs = plant.sets.pairs_by_step(plant.start_state)
    model = visitation_model(plant.process, pairs, plant.start_state, plant.horizon)
    column = {id(variable): index for index, variable in enumerate(model.visitation.values())}
    found = []
    for row in new_rows(model, rule.add_to_polytope):
        form = generate_standard_repn(row.body)
        if not form.is_linear() or any(id(variable) not in column for variable in form.linear_vars):
            continue
        coefficients = np.zeros(len(column))
        coefficients[[column[id(variable)] for variable in form.linear_vars]] = form.linear_coefs
        found.append(row_words(row) | {"constant": float(form.constant), "body": packed(coefficients)})
    return found


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

    def _rows_of(self, rule: TransitionConstraint) -> list[LinearRow]:
        """The rows of a rule as they were stored; rules of the library judge by their own arithmetic."""
        stored: Sequence[StoredRow] = getattr(rule, "stored_rows", ())
        return [(row, row.body, row.constant) for row in stored]

    def _extra_moves(self, moves: set[tuple[int, int]]) -> None:
        """Moves that no plan would make have no coefficients here: a row leaves them out of account, and says so."""

    def _pairs(self, path: Any) -> list[list[int]]:
        model, known = self._built(), []
        first = np.searchsorted(model.move_step, np.arange(self.horizon + 1))
        for step, pairs in enumerate(super()._pairs(path)):
            planned = model.move_pair[first[step] : first[step + 1]]
            known.append([pair for pair in pairs if pair in planned])
        return known

    def _built(self) -> Any:
        return self._moves

    @cached_property
    def _moves(self) -> Any:
        """The moves that plans from the start may use, in the order of the coefficients."""
        pairs: list[Integers] = self.sets.pairs_by_step(self.start)
        steps = np.repeat(np.arange(len(pairs)), [len(some) for some in pairs])
        return SimpleNamespace(move_step=steps, move_pair=np.concatenate(pairs))
