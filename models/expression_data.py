"""Arithmetic as plain data: a Pyomo expression becomes nested lists, which are evaluated without Pyomo and without its author.

    2 * x[1] + abs(y)   is   ["+", ["*", 2.0, ["x", 1]], ["abs", ["y"]]]

A leaf is whatever the caller calls a variable. So a limit that a user has written in Pyomo is kept in a campaign file, and
executed moves are judged by it where the user's code may not or need not run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput

Tree = Any
"""A number, or a list of an operation and its arguments, or a leaf."""
MOST_NODES = 100_000
"""A larger formula is not kept."""

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "-": np.negative,
    "/": np.divide,
    "**": np.power,
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "ceil": np.ceil,
    "floor": np.floor,
}
"""Operations with one argument or two; sums and products have any number."""


class NotData(Exception):
    """An expression has something in it that plain arithmetic on the leaves is not."""


def expression_data(
    expression: Any, leaves: Mapping[int, list[Any]], shared: Callable[[Any], Tree] | None = None
) -> Tree:
    """A Pyomo expression as nested lists.

    Parameters
    ----------
    expression
        A number or an expression.
    leaves
        For the `id` of each variable what it is called.
    shared
        What a named Expression is called. Default: it is written out wherever it occurs.
    """
    from pyomo.core.expr import numeric_expr as kinds
    from pyomo.environ import value

    named = {kinds.SumExpression: "+", kinds.ProductExpression: "*", kinds.DivisionExpression: "/"}
    named |= {kinds.PowExpression: "**", kinds.NegationExpression: "-", kinds.AbsExpression: "abs"}
    left = MOST_NODES

    def tree(node: Any) -> Tree:
        nonlocal left
        left -= 1
        if left < 0:
            raise NotData("it is too long")
        if not hasattr(node, "is_expression_type"):
            return _number(node)
        if node.is_variable_type():
            if id(node) in leaves:
                return leaves[id(node)]
            if node.fixed:
                return _number(value(node))
            raise NotData(f"it has a variable of its own, {node.name}")
        if not node.is_expression_type() or not node.is_potentially_variable():
            return _number(value(node))
        if node.is_named_expression_type():
            return tree(node.expr) if shared is None else shared(node)
        word = next((word for kind, word in named.items() if isinstance(node, kind)), None)
        if word is None and isinstance(node, kinds.UnaryFunctionExpression):
            word = node.getname()
        if word not in FUNCTIONS and word not in ("+", "*"):
            raise NotData(f"it has {type(node).__name__} in it")
        return [word, *(tree(argument) for argument in node.args)]

    try:
        return tree(expression)
    except RecursionError:
        raise NotData("it is nested too deeply") from None


def evaluated(tree: Tree, leaf: Callable[..., Any], functions: Mapping[str, Callable[..., Any]] = FUNCTIONS) -> Any:
    """What nested lists come to; `leaf` is called with the entries of each leaf, `functions` make something else of it."""
    if not isinstance(tree, list):
        return float(tree)
    word, *arguments = tree
    if word in ("+", "*"):
        values = [evaluated(argument, leaf, functions) for argument in arguments]
        total = 0.0 if word == "+" else 1.0
        for one in values:
            total = total + one if word == "+" else total * one
        return total
    if word in functions:
        with np.errstate(all="ignore"):
            return functions[word](*(evaluated(argument, leaf, functions) for argument in arguments))
    return leaf(word, *arguments)


def _number(node: Any) -> float:
    try:
        number = float(node)
    except (TypeError, ValueError):
        raise NotData(f"{node!r} is no number") from None
    if not np.isfinite(number):
        raise BadInput(f"a limit has the number {number} in it; numbers must be finite")
    return number
