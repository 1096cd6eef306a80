"""Costs with abs() or a root in them, for solvers that need derivatives everywhere.

    |e|  becomes  sqrt(e^2 + rounding^2),   e^p (0 < p < 1)  becomes  (e + rounding^2)^p

Both lie above what they replace, by at most `rounding` at e = 0 (for p = 1/2) and less elsewhere.
"""

from __future__ import annotations

from typing import Any

from pyomo.core.expr import numeric_expr as nodes
from pyomo.core.expr.visitor import ExpressionReplacementVisitor
from pyomo.environ import sqrt


def smooth_upper_bound(expression: Any, rounding: float) -> Any:
    """A smooth expression that is nowhere below a cost that grows with its abs() and root terms."""
    return _Smoothing(rounding).walk_expression(expression)


class _Smoothing(ExpressionReplacementVisitor):
    def __init__(self, rounding: float) -> None:
        super().__init__()
        self._squared = rounding**2

    def exitNode(self, node: Any, data: Any) -> Any:  # noqa: N802 (Pyomo's name)
        new = super().exitNode(node, data)
        if isinstance(node, nodes.AbsExpression):
            return sqrt(new.arg(0) ** 2 + self._squared)
        if isinstance(node, nodes.UnaryFunctionExpression) and node.getname() == "sqrt":
            return sqrt(new.arg(0) + self._squared)
        if isinstance(node, nodes.PowExpression):
            exponent = new.arg(1)
            if exponent.__class__ in nodes.native_types and 0 < exponent < 1:
                return (new.arg(0) + self._squared) ** exponent
        return new
