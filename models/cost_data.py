"""Costs of moves and sets of places as plain data: arithmetic where they are written as such, else a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers
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
    """What moves between states cost, by a table; nothing for a move that is not in it, which the plant cannot make.

    Parameters
    ----------
    states
        n x d points.
    left, right, costs
        k moves: the states that they leave and arrive at, and numbers.
    """

    states: Array
    left: Integers
    right: Integers
    costs: Array

    def __call__(self, left: Mapping[str, Array], right: Mapping[str, Array]) -> Array:
        """The cost of many moves at once."""
        ends = zip(
            _rows(np.column_stack(list(left.values()))), _rows(np.column_stack(list(right.values()))), strict=True
        )
        return np.array([self._known.get((self._state.get(a), self._state.get(b)), 0.0) for a, b in ends])

    @cached_property
    def _state(self) -> dict[bytes, int]:
        return {row: index for index, row in enumerate(_rows(self.states))}

    @cached_property
    def _known(self) -> dict[tuple[int | None, int | None], float]:
        ends = zip(self.left.tolist(), self.right.tolist(), strict=True)
        return dict(zip(ends, self.costs.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class TableOfPlaces:
    """Which places count, by a list of them."""

    places: Array

    def __call__(self, values: Mapping[str, Array]) -> Array:
        """Whether each of many places is listed."""
        known = set(_rows(self.places))
        return np.array([row in known for row in _rows(np.column_stack(list(values.values())))], dtype=bool)


def _rows(points: Array) -> list[bytes]:
    """Each point as something to look up."""
    return [bytes(row) for row in np.ascontiguousarray(points, dtype=float)]
