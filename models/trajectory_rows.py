"""The rows of a rule at a path of a continuous plant: evaluated where the path decides them, bounded where it does not.

What is known of states and actions is fixed in the trajectory model. A row with nothing unknown in it has a value. A row
about steps to come lies in an interval, from the bounds of its unknowns; when even its best end is beyond the limit, it is
broken already. Rows with variables of the rule's own, for which it gives no values, are kept when some values keep them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.components import PyomoModel, new_rows, row_limits
from tcbo_pyomo.models.episode_path import TOLERANCE, JudgedRow, allowance
from tcbo_pyomo.models.linear_rows import own_variable
from tcbo_pyomo.models.own_variables import smallest_miss

PROBE = 0.123
"""A value of the states at which it is seen in which variables a row is linear; no rule singles it out."""


class TrajectoryRows:
    """What one rule adds to a trajectory model.

    Attributes
    ----------
    undecidable
        Names of rows that no path decides: they are not linear in variables that nobody gives a value.
    number
        How many rows can be judged.
    """

    def __init__(self, model: PyomoModel, add: Callable[[PyomoModel], None]) -> None:
        from pyomo.core.expr import identify_variables

        self._model, known = model, len(model.auxiliary_starts)
        rows = new_rows(model, add)
        self._starts = list(model.auxiliary_starts[known:])
        step_of = {id(v): max(point - 1, 0) for (point, _), v in model.state.items()}
        step_of |= {id(v): step for (step, _), v in model.action.items()}
        shape = len(model.POINTS), len(model.COORDINATES)
        given = {id(v): v for start in self._starts for v, _ in start(np.zeros(shape))}
        defining = {id(row) for row in model.defining_rows}
        self._plain: list[tuple[Any, int]] = []
        self._own_rows: list[Any] = []
        self._own: dict[int, Any] = {}
        for row in (row for row in rows if id(row) not in defining):
            variables = {id(v): v for v in identify_variables(row.body, include_fixed=False)}
            own = {key: v for key, v in variables.items() if key not in step_of and key not in given}
            if own:
                self._own |= own
                self._own_rows.append(row)
            else:
                self._plain.append((row, max((step_of.get(v, 0) for v in variables), default=0)))
        self.undecidable = self._not_linear()
        self.number = len(self._plain) + len(self._own_rows)

    def _not_linear(self) -> list[str]:
        """Rows that are not linear in variables of the rule's own."""
        from pyomo.repn import generate_standard_repn

        self._hold(list(self._model.state.values()), [PROBE] * len(self._model.state))
        self._hold(list(self._model.action.values()), [PROBE] * len(self._model.action))
        return [row.name for row in self._own_rows if not generate_standard_repn(row.body).is_linear()]

    def judged(self, points: Array, actions: Array, complete: bool) -> list[JudgedRow]:
        """Each row at scaled points ((k + 1) x d) and actions (k x q, not a number where not known).

        Before the first move only the rows that the start itself breaks.
        """
        self._set_values(points, actions)
        last = len(points) - 2
        found = [self._judged(row, max(min(step, last), 0)) for row, step in self._plain]
        if last < 0:
            return [row for row in found if row.broken_at is not None]
        if self._own_rows and not self.undecidable:
            found.append(self._judged_together(last, complete))
        return found

    def _judged(self, row: Any, step: int) -> JudgedRow:
        (low, high), (lower, upper) = _interval(row.body), row_limits(row)
        is_open = not high - low <= TOLERANCE * max(1.0, abs(low))
        over, under = low > upper + allowance(upper), high < lower - allowance(lower)
        room = min(upper - low, high - lower)
        value = low if over or (math.isfinite(upper) and not under) else high
        component, broken_at = row.parent_component().local_name, step if over or under else None
        return JudgedRow(row.name, component, value, lower, upper, room, broken_at, is_open=is_open)

    def _judged_together(self, last: int, complete: bool) -> JudgedRow:
        """One verdict on all rows with variables of the rule's own, at the end of the episode."""
        from pyomo.repn import generate_standard_repn

        names = ", ".join(row.name for row in self._own_rows[:3]) + (", ..." if len(self._own_rows) > 3 else "")
        component = self._own_rows[0].parent_component().local_name
        forms = [generate_standard_repn(row.body) for row in self._own_rows]
        column = {key: index for index, key in enumerate(self._own)}
        if not complete or any(id(v) not in column for form in forms for v in form.linear_vars):
            return JudgedRow(names, component, 0.0, -math.inf, 0.0, None, None, is_open=True)
        matrix = np.zeros((len(forms), len(column)))
        for index, form in enumerate(forms):
            for variable, number in zip(form.linear_vars, form.linear_coefs, strict=True):
                matrix[index, column[id(variable)]] += number
        constants = np.array([float(form.constant) for form in forms])
        lower, upper = (np.array(limits) - constants for limits in zip(*map(row_limits, self._own_rows), strict=True))
        own = [own_variable(variable) for variable in self._own.values()]
        bounds = np.array([v.lower for v in own]), np.array([v.upper for v in own])
        miss = smallest_miss(matrix, lower, upper, *bounds, np.array([v.whole for v in own]))
        broken = miss > TOLERANCE
        words = f"no value of {', '.join(v.name for v in own[:3])} keeps {names}" if broken else ""
        room, broken_at = (-miss, last) if broken else (None, None)
        return JudgedRow(names, component, miss, -math.inf, 0.0, room, broken_at, words=words)

    def _set_values(self, points: Array, actions: Array) -> None:
        """Fix what is known on the path; what lies ahead is free."""
        model = self._model
        whole = len(points) == len(model.POINTS)
        for start in self._starts:
            full = np.vstack([points, np.tile(points[-1], (len(model.POINTS) - len(points), 1))])
            values = list(start(full))
            self._hold([v for v, _ in values], [number if whole else math.nan for _, number in values])
        self._hold(list(model.state.values()), points.ravel().tolist())
        self._hold(list(model.action.values()), actions.ravel().tolist())

    def _hold(self, variables: Sequence[Any], values: Sequence[float]) -> None:
        """Fix variables to values; those without one are set free."""
        for variable, number in zip(variables, [*values, *[math.nan] * (len(variables) - len(values))], strict=True):
            if math.isnan(number):
                variable.unfix()
                variable.set_value(None, skip_validation=True)
            else:
                variable.fix(number, skip_validation=True)


def _interval(body: Any) -> tuple[float, float]:
    """The smallest and largest value of an expression over its unknowns; the value twice where there are none."""
    from pyomo.contrib.fbbt.fbbt import compute_bounds_on_expr
    from pyomo.environ import value

    exact = value(body, exception=False)
    if exact is not None:
        return float(exact), float(exact)
    try:
        lower, upper = compute_bounds_on_expr(body)
    except Exception:
        return -math.inf, math.inf
    return -math.inf if lower is None else float(lower), math.inf if upper is None else float(upper)
