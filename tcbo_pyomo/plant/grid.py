"""Build a process on a regular grid: axes in engineering units, moves in grid cells."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import scipy.sparse as sparse

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.coordinates import NUMBERS, Coordinate
from tcbo_pyomo.plant.process import NoiseVariance, Process


def grid_process(
    axes: Mapping[str, Sequence[float]],
    moves: Mapping[str, Sequence[int]],
    noise_variance: NoiseVariance,
    units: Mapping[str, str] | None = None,
) -> Process:
    """All points of a grid, and from each the moves that stay on it.

    Parameters
    ----------
    axes
        Values of each coordinate, increasing.
    moves
        Allowed changes of each coordinate in grid cells per step, for example `{"ratio": [-1, 0, 1]}`.
    noise_variance
        As in `Process`.
    units
        Unit of each coordinate, where it has one.

    Returns
    -------
    Process
        States labelled like "residence_time=4, ratio=0.3", actions like "residence_time+1, ratio-1" or "stay".
    """
    _check_axes(axes, moves, units or {})
    names = list(axes)
    shape = tuple(len(axes[name]) for name in names)
    points = np.array(list(itertools.product(*(axes[name] for name in names))), dtype=float)
    cells = np.array(list(np.ndindex(*shape)))
    sources, chosen, targets = [], [], []
    offsets = list(itertools.product(*([int(step) for step in moves[name]] for name in names)))
    for action, offset in enumerate(offsets):
        target = cells + np.array(offset)
        inside = ((target >= 0) & (target < np.array(shape))).all(axis=1)
        sources.append(np.flatnonzero(inside))
        chosen.append(np.full(int(inside.sum()), action))
        targets.append(np.ravel_multi_index(tuple(target[inside].T), shape))
    pair_state, pair_action, successor = map(np.concatenate, (sources, chosen, targets))
    texts = itertools.product(*(_distinct_texts(axes[name]) for name in names))
    order = np.lexsort((pair_action, pair_state))
    number = len(order)
    return Process.from_arrays(
        [Coordinate(n, float(min(axes[n])), float(max(axes[n])), (units or {}).get(n, "")) for n in names],
        points,
        pair_state[order],
        pair_action[order],
        sparse.csr_matrix((np.ones(number), successor[order], np.arange(number + 1)), shape=(number, len(points))),
        noise_variance,
        labels=[", ".join(f"{n}={v}" for n, v in zip(names, point, strict=True)) for point in texts],
        actions=[action_name(names, offset) for offset in offsets],
    )


def action_name(names: Sequence[str], offset: Sequence[int]) -> str:
    """`residence_time+1, ratio-1`, or `stay`."""
    changes = [f"{name}{change:+d}" for name, change in zip(names, offset, strict=True) if change]
    return ", ".join(changes) or "stay"


def _distinct_texts(values: Sequence[float]) -> list[str]:
    """Values as text, with as many digits as it takes to tell them apart."""
    texts: list[str] = []
    for digits in range(6, 18):
        texts = [f"{value:.{digits}g}" for value in values]
        if len(set(texts)) == len(texts):
            break
    return texts


def _check_axes(
    axes: Mapping[str, Sequence[float]], moves: Mapping[str, Sequence[int]], units: Mapping[str, str]
) -> None:
    if not axes:
        raise BadInput("a grid needs at least one axis, such as {'ratio': [0.1, 0.2, 0.3]}")
    for name, values in axes.items():
        numbers = all(isinstance(value, NUMBERS) for value in values)
        if len(values) < 2 or not numbers or not (np.diff(np.asarray(values, dtype=float)) > 0).all():
            raise BadInput(f"axis '{name}': give at least two increasing values, got {list(values)[:5]}")
    if set(moves) != set(axes):
        raise BadInput(f"moves are given for {sorted(moves)}, axes are {sorted(axes)}; name the same coordinates")
    for name, steps in moves.items():
        whole = all(isinstance(step, NUMBERS) and float(step).is_integer() for step in steps)
        if len(steps) == 0 or not whole or len(set(steps)) != len(steps):
            raise BadInput(f"moves of '{name}': give distinct whole numbers of cells, got {list(steps)}")
    for name in units:
        if name not in axes:
            raise BadInput(f"units: unknown coordinate '{name}'; {suggestion(name, axes)}")
