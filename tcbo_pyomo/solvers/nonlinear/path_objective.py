"""What a trajectory can be planned for: a sum over the points of a path, with exact derivatives, and its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


class PathObjective(Protocol):
    """sum_h cost(x_h), to be minimised; `points` are n x d scaled points of a path."""

    def value(self, points: Array) -> float:
        """The sum over the points."""

    def gradient(self, points: Array) -> Array:
        """Derivatives with respect to the points, n x d."""

    def hessian(self, points: Array) -> Array:
        """Second derivatives of each point's term, n x d x d; the terms of different points do not mix."""

    def expression(self, model: ConcreteModel, steps: Sequence[int]) -> Any:
        """The same sum as a Pyomo expression over `model.state[step, :]`, for solvers that read formulas."""


@dataclass(frozen=True, eq=False)
class PathTerms:
    """Columns of the points x_1 .. x_H.

    Parameters
    ----------
    columns
        H x d positions of the points among the columns.
    number
        Columns of the programme.
    """

    columns: Integers
    number: int

    @cached_property
    def hessian_pattern(self) -> tuple[Integers, Integers]:
        """Rows and columns of the upper triangle of a block-diagonal Hessian, by column, then row."""
        rows, columns = self._triangle
        return rows[self._order], columns[self._order]

    @cached_property
    def _triangle(self) -> tuple[Integers, Integers]:
        first, second = np.triu_indices(self.columns.shape[1])
        rows, columns = self.columns[:, first].ravel(), self.columns[:, second].ravel()
        return np.minimum(rows, columns), np.maximum(rows, columns)

    @cached_property
    def _order(self) -> Integers:
        rows, columns = self._triangle
        return np.lexsort((rows, columns))

    @cached_property
    def upper_triangle(self) -> Integers:
        """Where the entries of `hessian_pattern` are among the points' blocks, n x d x d, one after the other."""
        number, dimension = self.columns.shape
        first, second = np.triu_indices(dimension)
        blocks = dimension**2 * np.arange(number)[:, None]
        return (blocks + first * dimension + second).ravel()[self._order]

    def given(self, column_lower: Array, column_upper: Array) -> int:
        """How many leading points are given by equal bounds: they add a constant and are left out."""
        held = (column_lower[self.columns] == column_upper[self.columns]).all(axis=1)
        return int(held.argmin()) if not held.all() else len(held)

    def points(self, values: Array, given: int) -> Array:
        """The points that are not given, n x d."""
        return values[self.columns[given:]]


@dataclass(eq=False)
class ScaledObjective:
    """An objective of the points, as a function of all columns, times `factor`.

    IPOPT's tolerances are absolute; at an objective of 1e-8 it "succeeds" below its start. So the objective
    is divided by its value at the start.
    """

    terms: PathTerms
    objective: PathObjective
    given: int
    factor: float = 1.0
    _last: tuple[bytes | None, dict[str, Any]] = field(default=(None, {}), init=False)

    @classmethod
    def at_start(cls, terms: PathTerms, objective: PathObjective, given: int, x0: Array) -> ScaledObjective:
        """The objective scaled to one in modulus at x0."""
        size = abs(float(objective.value(terms.points(x0, given))))
        return cls(terms, objective, given, 1.0 / size if 1e-300 < size < 1e300 else 1.0)

    def value(self, values: Array) -> float:
        """The scaled objective."""
        known = self._known_at(values)
        if "value" not in known:
            known["value"] = self.factor * self.objective.value(self.terms.points(values, self.given))
        return known["value"]

    def gradient(self, values: Array) -> Array:
        """Its gradient, one entry per column."""
        known = self._known_at(values)
        if "gradient" not in known:
            gradient = known["gradient"] = np.zeros(self.terms.number)
            columns = self.terms.columns[self.given :]
            gradient[columns] = self.factor * self.objective.gradient(values[columns])
        return known["gradient"]

    def _known_at(self, values: Array) -> dict[str, Any]:
        """What was worked out at these columns: CasADi asks two or three times for the value and gradient of an iterate."""
        key = values.tobytes()
        if self._last[0] != key:
            self._last = key, {}
        return self._last[1]

    def hessian(self, values: Array) -> Array:
        """The entries of its Hessian in the order of `terms.hessian_pattern`."""
        number, dimension = self.terms.columns.shape
        blocks = np.zeros((number, dimension, dimension))
        blocks[self.given :] = self.factor * self.objective.hessian(self.terms.points(values, self.given))
        return blocks.ravel()[self.terms.upper_triangle]
