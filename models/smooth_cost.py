"""Costs with abs() or a root in them, for solvers that need derivatives everywhere.

    |e|      becomes a variable t with  t >= e,  t >= -e
    sqrt(e)  becomes a variable t with  e / t <= t

A cost that grows with t is then bounded from above: a plan that keeps the budget with t keeps it with the
true cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyomo.environ as pyo
from pyomo.core.expr import numeric_expr as nodes
from pyomo.core.expr.visitor import ExpressionReplacementVisitor

from tcbo_pyomo.foundation.arrays import Array

SMALLEST_ROOT = 1e-3
"""Lower bound of a root, as a share of `size`; a plan may leave this share of its budget unused.

The quotient is convex and keeps its digits near zero, where t^2 >= e would let t miss the root by the square
root of the solver's tolerance.
"""


class SmoothCost(ExpressionReplacementVisitor):
    """Replaces abs() and square roots by variables of a Block: `walk_expression(cost)` is the cost from above.

    Parameters
    ----------
    block
        Gets Var above[i] in units of `size`, and ConstraintList bound.
    size
        The order of magnitude of the terms.
    """

    def __init__(self, block: pyo.Block, size: float) -> None:
        super().__init__()
        self._block, self._size = block, size
        block.above = pyo.VarList(bounds=(0.0, None), initialize=1.0)
        block.bound = pyo.ConstraintList()
        self._true_terms: list[tuple[Any, Callable[[], float]]] = []

    def exitNode(self, node: Any, data: Any) -> Any:
        """Rebuild a node from its replaced arguments, or replace it."""
        new = super().exitNode(node, data)
        if isinstance(node, nodes.AbsExpression):
            return self._absolute(new.arg(0))
        if isinstance(node, nodes.UnaryFunctionExpression) and node.getname() == "sqrt":
            return self._root(new.arg(0))
        if isinstance(node, nodes.PowExpression) and new.arg(1).__class__ in nodes.native_types and new.arg(1) == 0.5:
            return self._root(new.arg(0))
        return new

    def starts(self, model: pyo.ConcreteModel) -> Callable[[Array], Iterator[tuple[Any, float]]]:
        """The values of the new variables on a scaled path, where each is equal to the term it stands for."""

        def values(path: Array) -> Iterator[tuple[Any, float]]:
            for variable, value in zip(model.state.values(), path.ravel().tolist(), strict=True):
                variable.set_value(value, skip_validation=True)
            for variable, term in self._true_terms:
                # A hair above, for a strict inequality is easier to keep; inner terms come before outer ones.
                variable.set_value(max(term() / self._size * (1.0 + 1e-7), variable.lb), skip_validation=True)
                yield variable, variable.value

        return values

    def _absolute(self, term: Any) -> Any:
        above = self._block.above.add()
        self._block.bound.add(above >= term / self._size)
        self._block.bound.add(above >= -term / self._size)
        self._true_terms.append((above, lambda: abs(pyo.value(term))))
        return self._size * above

    def _root(self, term: Any) -> Any:
        above = self._block.above.add()
        above.setlb(SMALLEST_ROOT)
        self._block.bound.add(term / self._size**2 / above <= above)
        self._true_terms.append((above, lambda: max(pyo.value(term), 0.0) ** 0.5))
        return self._size * above
