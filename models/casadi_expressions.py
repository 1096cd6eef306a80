"""Pyomo expressions as CasADi expressions: the same formula, with exact sparse derivatives.

Anything that is not smooth, or that CasADi cannot write, is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi
from pyomo.core.expr import numeric_expr as nodes
from pyomo.core.expr.visitor import StreamBasedExpressionVisitor

from tcbo_pyomo.errors import BadInput

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    name: getattr(casadi, name)
    for name in (
        *("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    )
}

OPERATORS: dict[type, Callable[..., Any]] = {
    nodes.NegationExpression: lambda node, a: -a,
    nodes.ProductExpression: lambda node, a, b: a * b,
    nodes.MonomialTermExpression: lambda node, a, b: a * b,
    nodes.DivisionExpression: lambda node, a, b: a / b,
    nodes.PowExpression: lambda node, a, b: a**b,
    nodes.SumExpression: lambda node, *terms: sum(terms),
    nodes.UnaryFunctionExpression: lambda node, a: FUNCTIONS[node.getname()](a),
}
REASONS = {
    "abs": "abs() is not smooth; write (x**2 + 1e-8)**0.5",
    "Expr_ifExpression": "Expr_if is not smooth; write a smooth transition such as tanh",
    "ExternalFunctionExpression": "an external function has no formula; write the expression, or use interface 'pyomo'",
    "MaxExpression": "max() is not smooth; write it as two constraints",
    "MinExpression": "min() is not smooth; write it as two constraints",
}


class CasadiWriter(StreamBasedExpressionVisitor):
    """Walks one Pyomo expression at a time; `leaf` gives the CasADi symbol of a variable or parameter."""

    def __init__(self, leaf: Callable[[Any], Any]) -> None:
        super().__init__()
        self.leaf = leaf
        self._named: dict[int, Any] = {}
        self._where = ""

    def write(self, expression: Any, where: str) -> Any:
        """The expression as CasADi SX; `where` names the constraint in error messages."""
        self._where = where
        return casadi.SX(self.walk_expression(expression))

    def initializeWalker(self, expression: Any) -> tuple[bool, Any]:
        """Start at the root, which may be a leaf itself."""
        walk, answer = self.beforeChild(None, expression, 0)
        return walk, expression if walk else answer

    def beforeChild(self, node: Any, child: Any, index: int) -> tuple[bool, Any]:
        """Leaves and named Expressions that were met before need no walk."""
        if child.__class__ in nodes.native_types:
            return False, float(child)
        if not child.is_expression_type():
            return False, self.leaf(child)
        if id(child) in self._named:
            return False, self._named[id(child)]
        return True, None

    def enterNode(self, node: Any) -> tuple[Any, list[Any]]:
        """Refuse a node that cannot be written, before anything inside it is looked at."""
        function = isinstance(node, nodes.UnaryFunctionExpression)
        known = node.getname() in FUNCTIONS if function else _kind(node) in OPERATORS
        if not known and not node.is_named_expression_type():
            name = node.getname() if function else type(node).__name__
            reason = REASONS.get(name, "it cannot be compiled; write it with + - * / ** exp log sqrt sin ...")
            raise BadInput(f"{self._where}: unsupported '{name}': {reason}")
        return node.args, []

    def exitNode(self, node: Any, data: list[Any]) -> Any:
        """The node's operator on what its arguments became."""
        if node.is_named_expression_type():
            # A named Expression is often shared by many constraints: written once, used by all.
            self._named[id(node)] = data[0]
            return data[0]
        return OPERATORS[_kind(node)](node, *data)


def _kind(node: Any) -> type:
    """The operator of a node; linear sums, sums of Params and so on are subclasses of the general one."""
    return next((kind for kind in type(node).__mro__ if kind in OPERATORS), object)
