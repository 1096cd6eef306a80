"""Costs of moves and sets of places as plain data: arithmetic where they are written as such, else a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate, physical
from tcbo_pyomo.models.expression_data import NotData, Tree, evaluated, expression_data

TRIED = 50
"""Moves at which the arithmetic must give what the function gives."""


def cost_data(cost: Callable[..., Any], coordinates: Sequence[Coordinate]) -> Tree | None:
    """A function of the values left and arrived at as arithmetic; None where Pyomo cannot follow it."""
    if isinstance(cost, StoredCost):
        return cost.tree
    from pyomo.environ import ConcreteModel, Var

    names = [c.name for c in coordinates]
    model = ConcreteModel()
    model.left, model.right = Var(names), Var(names)
    leaves = {id(model.left[name]): ["left", name] for name in names}
    leaves |= {id(model.right[name]): ["right", name] for name in names}
    try:
        tree = expression_data(cost(dict(model.left), dict(model.right)), leaves)
        stream = np.random.default_rng(0)
        moves = [dict(zip(names, physical(coordinates, stream.random((TRIED, len(names))) - 0.5).T, strict=True))
                 for _ in range(2)]  # fmt: skip
        said = np.broadcast_to(np.asarray(cost(*moves), dtype=float), TRIED)
        same = np.allclose(StoredCost(tree)(*moves), said, rtol=1e-9, atol=1e-12, equal_nan=True)
    except NotData:
        return None
    except Exception:  # Whatever a function of arrays does with symbols; on arrays it has been tried elsewhere.
        return None
    return tree if same else None


@dataclass(frozen=True)
class StoredCost:
    """What a move costs, by arithmetic."""

    tree: Tree

    def __call__(self, left: Mapping[str, Array], right: Mapping[str, Array]) -> Any:
        """The cost of many moves at once, from `{coordinate: array}`."""
        sides = {"left": left, "right": right}
        return evaluated(self.tree, lambda side, name: sides[side][name])


@dataclass(frozen=True, eq=False)
class TableOfMoves:
    """What the moves between n states cost, by a table; NaN for a move that is not in it.

    Parameters
    ----------
    left, right
        k x d points of the moves.
    costs
        k numbers.
    """

    left: Array
    right: Array
    costs: Array

    def __call__(self, left: Mapping[str, Array], right: Mapping[str, Array]) -> Array:
        """The cost of many moves at once."""
        moves = np.hstack([self.left, self.right])
        known = dict(zip(map(bytes, np.ascontiguousarray(moves)), self.costs.tolist(), strict=True))
        asked = np.column_stack([*left.values(), *right.values()]).astype(float)
        return np.array([known.get(bytes(row), np.nan) for row in np.ascontiguousarray(asked)])


@dataclass(frozen=True, eq=False)
class TableOfPlaces:
    """Which places count, by a list of them."""

    places: Array

    def __call__(self, values: Mapping[str, Array]) -> Array:
        """Whether each of many places is listed."""
        known = set(map(bytes, np.ascontiguousarray(self.places)))
        asked = np.ascontiguousarray(np.column_stack(list(values.values())).astype(float))
        return np.array([bytes(row) in known for row in asked], dtype=bool)
