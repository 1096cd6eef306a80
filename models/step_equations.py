"""One step of dynamics with variables of their own, as plain data: a user's Pyomo model, a discretised differential equation.

The equations of a step determine its unknowns, the next state first among them, from the state and the action. They are kept
in a campaign file, so that executed moves are held against the model where its code may not or need not run; so are the
model's own limits, the inequalities and the bounds of its variables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tcbo_pyomo.models.components import PyomoModel, row_limits
from tcbo_pyomo.models.declared_rule import limit_data
from tcbo_pyomo.models.expression_data import NotData, Tree, expression_data

MOST_NUMBERS = 300_000
"""Entries of all formulas together; a larger model is not kept. Some three megabytes."""
DIGITS = 9
SAME_NUMBER = 1e-9
"""Relative difference that another processor or library may make in a number of a discretisation."""


def step_equations(model: PyomoModel, scaled: bool) -> dict[str, Any] | None:
    """The equations and limits of a trajectory of one step; None where they are no plain arithmetic, or too long.

    Leaves are `["state", axis]`, `["action", axis]`, `["unknown", number]`, and `["shared", number]` for a named Expression.

    Parameters
    ----------
    model
        The trajectory.
    scaled
        Whether its equations are scaled to one, as those of a user's whole model are.
    """
    from pyomo.environ import Constraint

    rows = [row for row in model.component_data_objects(Constraint, active=True, descend_into=True)]
    rows = [row for row in rows if row.parent_component().local_name != "move_limit"]
    names = list(model.COORDINATES)
    given = {id(model.state[0, name]): ["state", axis] for axis, name in enumerate(names)}
    given |= {id(variable): ["action", axis] for axis, variable in enumerate(model.action.values())}
    unknowns = list(_unknowns(rows, given, [model.state[1, name] for name in names]))
    writer = _Writer(given | {id(variable): ["unknown", number] for number, variable in enumerate(unknowns)})
    try:
        equations = [["+", writer.tree(row.body), -float(row.ub)] for row in rows if row.equality]
        limits = [
            {"name": _own_name(row), **limit_data(*row_limits(row)), "body": writer.tree(row.body)}
            for row in rows
            if not row.equality
        ]
    except NotData:
        return None
    if len(equations) != len(unknowns):
        return None
    return {
        # The box of the states holds for every plant, whatever its model.
        "unknowns": [_unknown(variable, number >= len(names)) for number, variable in enumerate(unknowns)],
        "scaled": bool(scaled),
        "shared": writer.shared,
        "equations": equations,
        "limits": limits,
    }


def same_equations(one: Any, other: Any) -> bool:
    """Whether two descriptions of a step are the same but for rounding; where a search begins is none of their facts."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_equations(one[k], other[k]) for k in one if k != "guess")
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_equations, one, other))
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other) <= SAME_NUMBER * max(abs(one), abs(other))
    return bool(one == other)


def facts_of(step: Any) -> Any:
    """A description of a step without where searches begin, and with the digits that every processor agrees on."""
    if isinstance(step, Mapping):
        return {name: facts_of(value) for name, value in step.items() if name != "guess"}
    if isinstance(step, list):
        return [facts_of(part) for part in step]
    return f"{step:.{DIGITS}g}" if isinstance(step, float) else step


class _Writer:
    """Writes formulas; named Expressions once, each after those it needs."""

    def __init__(self, leaves: Mapping[int, list[Any]]) -> None:
        self.leaves, self._left = leaves, MOST_NUMBERS
        self.shared: list[Tree] = []
        self._known: dict[int, list[Any]] = {}

    def tree(self, expression: Any) -> Tree:
        found = expression_data(expression, self.leaves, self._named)
        self._left -= sum(1 for _ in _entries(found))
        if self._left < 0:
            raise NotData("the model is too large")
        return found

    def _named(self, node: Any) -> Tree:
        if id(node) not in self._known:
            formula = self.tree(node.expr)
            self.shared.append(formula)
            self._known[id(node)] = ["shared", len(self.shared) - 1]
        return self._known[id(node)]


def _entries(tree: Tree) -> Iterator[Any]:
    if isinstance(tree, list):
        for argument in tree:
            yield from _entries(argument)
    else:
        yield tree


def _unknowns(rows: Sequence[Any], given: Mapping[int, Any], first: Sequence[Any]) -> Iterator[Any]:
    """The variables that a step determines: the next state, then the others as they occur."""
    from pyomo.core.expr.visitor import identify_variables

    known = {*given, *map(id, first)}
    yield from first
    for row in rows:
        for variable in identify_variables(row.body, include_fixed=False):
            if id(variable) not in known:
                known.add(id(variable))
                yield variable


def _unknown(variable: Any, limited: bool) -> dict[str, Any]:
    """Where the search for it begins, and its bounds where the model limits it."""
    low, high = variable.bounds if limited else (None, None)
    guess = 0.0 if variable.value is None else float(variable.value)
    bounds = limit_data(-math.inf if low is None else float(low), math.inf if high is None else float(high))
    return {"name": _own_name(variable), "guess": guess, **bounds}


def _own_name(component: Any) -> str:
    """The name in the user's model, without that of the copy for the step."""
    whole = str(component.name)
    return whole.partition(".")[2] or whole
