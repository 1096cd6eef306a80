"""Variables of a step that a row defines: they are written as formulas, and the plan has neither the variable nor the row.

Models of process engineers are mostly such rows (an outlet equals what is in the tank, a rate is k times c). With them
written as formulas the programme of a plan is a fraction of the size, and the same plan is found much sooner. The Pyomo model
keeps them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pyomo.environ as pyo
from pyomo.contrib.fbbt.fbbt import compute_bounds_on_expr
from pyomo.core.expr.visitor import replace_expressions
from pyomo.repn import generate_standard_repn

from tcbo_pyomo.plant.pyomo_model.structure import free_variables

Definition = tuple[Any, Any]
"""A variable and the row that gives it."""
LONGEST = 8
"""Variables in a row that is written as a formula."""
MOST_USED = 12
"""Rows that a formula may be written into."""
FAINTEST = 1e-6
"""A variable defined by a row must not have a coefficient smaller than this share of the largest."""
SLACK = 1e-9


def definitions(rows: Sequence[Any], kept: Iterable[Any], given: Iterable[Any]) -> list[Definition]:
    """The variables that rows define, in an order in which each formula needs only those before it.

    Parameters
    ----------
    rows
        The active rows of a step.
    kept
        Variables that stay variables: the states at the end and what is differentiated.
    given
        The states at the start and the inputs, which the ends of the step give.
    """
    ends = {id(v) for v in given}
    stays = {id(v) for v in kept} | ends
    members = {id(row): free_variables(row) for row in rows}
    used: dict[int, int] = {}
    for inside in members.values():
        for variable in inside:
            used[id(variable)] = used.get(id(variable), 0) + 1
    chosen: dict[int, Definition] = {}
    needs: dict[int, list[int]] = {}
    for row in sorted((row for row in rows if row.equality), key=lambda row: len(members[id(row)])):
        if len(members[id(row)]) > LONGEST:
            break
        for variable in sorted(_linear(row), key=lambda v: used[id(v)]):
            others = [v for v in members[id(row)] if v is not variable]
            if id(variable) in stays or id(variable) in chosen or used[id(variable)] > MOST_USED:
                continue
            if _reaches(others, id(variable), needs) or not _bounds_are_kept(row, variable, others, ends | set(chosen)):
                continue
            chosen[id(variable)] = variable, row
            needs[id(variable)] = [id(v) for v in others]
            break
    return _ordered(chosen, needs)


def _linear(row: Any) -> list[Any]:
    """The variables of a row that occur in it with a constant factor, and nowhere else in it."""
    parts = generate_standard_repn(row.body, compute_values=True, quadratic=False)
    curved = {id(v) for v in parts.nonlinear_vars}
    factors = [abs(pyo.value(c)) for c in parts.linear_coefs]
    least = FAINTEST * max(factors, default=0.0)
    pairs = zip(parts.linear_vars, factors, strict=True)
    return [v for v, factor in pairs if id(v) not in curved and factor > 0.0 and factor >= least]


def _reaches(variables: Iterable[Any], target: int, needs: dict[int, list[int]]) -> bool:
    """Whether a formula in these variables would, through other formulas, need the target itself."""
    waiting, seen = [id(v) for v in variables], set[int]()
    while waiting:
        here = waiting.pop()
        if here == target:
            return True
        if here not in seen:
            seen.add(here)
            waiting.extend(needs.get(here, ()))
    return False


def _bounds_are_kept(row: Any, variable: Any, others: Sequence[Any], settled: set[int]) -> bool:
    """Whether the bounds of a variable follow from those of the others; an alias hands its bounds on."""
    low, high = variable.bounds
    if low is None and high is None:
        return True
    parts = generate_standard_repn(row.body, compute_values=True, quadratic=False)
    factors = {id(v): float(pyo.value(c)) for v, c in zip(parts.linear_vars, parts.linear_coefs, strict=True)}
    factor, target = factors[id(variable)], float(pyo.value(row.upper))
    least, most = compute_bounds_on_expr(replace_expressions(row.body, {id(variable): 0.0}))
    rest = -math.inf if least is None else least, math.inf if most is None else most
    smallest, largest = sorted((target - bound) / factor for bound in rest)
    if (low is None or smallest >= low - SLACK) and (high is None or largest <= high + SLACK):
        return True
    if len(others) != 1 or parts.nonlinear_vars or id(others[0]) in settled:
        return False
    slope = factors[id(others[0])]
    ends = [None if b is None else (target - parts.constant - factor * b) / slope for b in (low, high)]
    _tighten(others[0], *(ends if factor * slope < 0 else ends[::-1]))
    return True


def _tighten(variable: Any, lower: float | None, upper: float | None) -> None:
    low, high = variable.bounds
    if lower is not None:
        variable.setlb(lower if low is None else max(low, lower))
    if upper is not None:
        variable.setub(upper if high is None else min(high, upper))


def _ordered(chosen: dict[int, Definition], needs: dict[int, list[int]]) -> list[Definition]:
    """Each definition after those it needs."""
    found: list[Definition] = []
    done: set[int] = set()

    def visit(key: int) -> None:
        if key in done or key not in chosen:
            return
        done.add(key)
        for other in needs[key]:
            visit(other)
        found.append(chosen[key])

    for key in list(chosen):
        visit(key)
    return found
