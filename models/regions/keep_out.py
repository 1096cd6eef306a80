"""Staying out of a region, in smooth form: separating planes as variables.

A straight move and a convex region do not meet exactly when a plane stands between them. For a piece {y : A y
<= b} the plane is a mixture of its faces,

    w >= 0,  sum w = 1,   w'(A x_h - b) >= clearance,   w'(A x_{h+1} - b) >= clearance,

and for a disc of radius one around zero it is given by its normal n,

    n'n <= 1,   n'x_h >= 1 + clearance,   n'x_{h+1} >= 1 + clearance.

So the whole move is kept out, not only its ends, with products of two variables as the only nonlinearity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import Any

import numpy as np
import pyomo.environ as pyo

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import physical
from tcbo_pyomo.models.components import add_component
from tcbo_pyomo.models.regions.convex_pieces import Piece, convex_pieces
from tcbo_pyomo.models.regions.regions import Circle, Region

CLEARANCE = 1e-5
"""Distance kept from a region, scaled (for a disc in radii): ten times the tolerance of a plan."""


@singledispatch
def keep_out(region: Region, model: pyo.ConcreteModel, crossing: bool) -> None:
    """Add what keeps the points of a trajectory, and unless `crossing` its moves, out of a region."""
    for piece in convex_pieces(region, model.coordinates):
        _keep_out_of_piece(piece, model, crossing)


def _keep_out_of_piece(piece: Piece, model: pyo.ConcreteModel, crossing: bool) -> None:
    block = add_component(model, "outside_region", pyo.Block())
    block.FACES = pyo.RangeSet(0, len(piece.offsets) - 1)
    block.weight = pyo.Var(model.STEPS, block.FACES, bounds=(0.0, 1.0), initialize=1.0 / len(piece.offsets))

    def gap(step: int, point: int) -> Any:
        position = [model.state[point, name] for name in piece.names]
        return sum(
            block.weight[step, face]
            * (sum(float(a) * x for a, x in zip(normal, position, strict=True) if a) - float(offset))
            for face, (normal, offset) in enumerate(zip(piece.normals, piece.offsets, strict=True))
        )

    block.mixture = pyo.Constraint(
        model.STEPS, rule=lambda _, step: sum(block.weight[step, face] for face in block.FACES) == 1.0
    )
    block.arrival = pyo.Constraint(model.STEPS, rule=lambda _, step: gap(step, step + 1) >= CLEARANCE)
    if not crossing:
        # Half of it where a move begins: the end of the last move, with its own rounding, is the start of the
        # next.
        block.departure = pyo.Constraint(model.STEPS, rule=lambda _, step: gap(step, step) >= 0.5 * CLEARANCE)

    def starts(path: Array) -> Iterator[tuple[Any, float]]:
        columns = [list(model.COORDINATES).index(name) for name in piece.names]
        gaps = path[:, columns] @ piece.normals.T - piece.offsets
        weights = best_mixtures(gaps[1:] if crossing else gaps[:-1], gaps[1:])
        for step in model.STEPS:
            for face in block.FACES:
                yield block.weight[step, face], float(weights[step, face])

    model.auxiliary_starts.append(starts)


@keep_out.register
def _(region: Circle, model: pyo.ConcreteModel, crossing: bool) -> None:
    """A disc, or an ellipse along the axes: in units of its radii it is the unit disc."""
    axes, center, radius = region.numbers(model.coordinates)
    names = [model.coordinates[axis].name for axis in axes]

    def offset(point: int) -> list[Any]:
        return [(model.physical[point, n] - float(c)) / float(r) for n, c, r in zip(names, center, radius, strict=True)]

    block = add_component(model, "outside_circle", pyo.Block())
    if crossing:
        block.arrival = pyo.Constraint(
            model.STEPS, rule=lambda _, step: sum(u**2 for u in offset(step + 1)) >= (1.0 + CLEARANCE) ** 2
        )
        return
    block.normal = pyo.Var(model.STEPS, names, bounds=(-1.0, 1.0), initialize=0.0)
    normals = {step: [block.normal[step, name] for name in names] for step in model.STEPS}
    block.length = pyo.Constraint(model.STEPS, rule=lambda _, step: sum(n**2 for n in normals[step]) <= 1.0)
    block.departure = pyo.Constraint(
        model.STEPS, rule=lambda _, step: _dot(normals[step], offset(step)) >= 1.0 + 0.5 * CLEARANCE
    )
    block.arrival = pyo.Constraint(
        model.STEPS, rule=lambda _, step: _dot(normals[step], offset(step + 1)) >= 1.0 + CLEARANCE
    )

    def starts(path: Array) -> Iterator[tuple[Any, float]]:
        points = (physical(model.coordinates, path)[:, axes] - center) / radius
        directions = nearest_directions(points[:-1], points[1:])
        for step in model.STEPS:
            for name, value in zip(names, directions[step], strict=True):
                yield block.normal[step, name], float(value)

    model.auxiliary_starts.append(starts)


def _dot(left: Sequence[Any], right: Sequence[Any]) -> Any:
    return sum(a * b for a, b in zip(left, right, strict=True))


def best_mixtures(left: Array, right: Array) -> Array:
    """Weights of the faces (n x faces) that keep both ends of each move as far outside as possible.

    A game with two rows: its optimum is one face, or the mixture of two at which both ends are equally far
    outside.
    `left` and `right` hold A x - b of the two ends, n x faces.
    """
    faces = left.shape[1]
    weights = np.eye(faces)[np.minimum(left, right).argmax(axis=1)]
    best = np.minimum(left, right).max(axis=1)
    for i in range(faces):
        for j in range(i + 1, faces):
            slope = (left - right)[:, i] - (left - right)[:, j]
            with np.errstate(divide="ignore", invalid="ignore"):
                share = np.nan_to_num((right - left)[:, j] / slope, nan=0.0, posinf=0.0, neginf=0.0).clip(0.0, 1.0)
            value = np.minimum(*(share * end[:, i] + (1.0 - share) * end[:, j] for end in (left, right)))
            better = value > best
            weights[better] = 0.0
            weights[better, i], weights[better, j] = share[better], 1.0 - share[better]
            best = np.maximum(best, value)
    return weights


def nearest_directions(left: Array, right: Array) -> Array:
    """Unit vectors (n x k) from zero to the nearest point of each segment, or across it if that is zero."""
    move = right - left
    length = np.maximum((move**2).sum(axis=1), 1e-300)
    nearest = left + np.clip(-(left * move).sum(axis=1) / length, 0.0, 1.0)[:, None] * move
    size = np.linalg.norm(nearest, axis=1)
    if move.shape[1] > 1:
        across = np.zeros_like(move)
        across[:, 0], across[:, 1] = -move[:, 1], move[:, 0]
        nearest = np.where((size < 1e-9)[:, None], across, nearest)
        size = np.linalg.norm(nearest, axis=1)
    return np.where((size > 0)[:, None], nearest / np.maximum(size, 1e-300)[:, None], np.eye(move.shape[1])[0])
