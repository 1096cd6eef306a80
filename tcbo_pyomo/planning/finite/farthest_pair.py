"""The two rows of a matrix that are farthest apart: the pair of candidates we can tell apart least.

Exact, without an array of all pairs: rows are visited in blocks from the outside inwards, and a block stops the search
once twice its distance from the centre cannot beat the best pair found.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers

TIE = 1e-9
"""Pairs whose squared distances differ by less than this share are equally far."""
BLOCK = 512


def farthest_pair(rows: Array, generator: np.random.Generator) -> tuple[int, int, float]:
    """Positions of the farthest pair of rows (K x M, K >= 2), ties broken at random, and their squared distance."""
    if len(rows) <= BLOCK:
        gram = rows @ rows.T
        norms = gram.diagonal()
        distance = norms[:, None] + norms - 2.0 * gram
        best = distance.max()
        left, right = np.nonzero(np.triu(distance >= best - TIE * abs(best), 1))
        return _chosen(rows, left, right, generator)
    return _farthest_of_many(rows, generator)


def _farthest_of_many(rows: Array, generator: np.random.Generator) -> tuple[int, int, float]:
    centred = rows - rows.mean(axis=0)
    norms = np.einsum("ij,ij->i", centred, centred)
    order = np.argsort(-norms, kind="stable")
    radius = np.sqrt(norms[order])
    centred, norms = centred[order], norms[order]
    # A double sweep gives a good lower bound at the cost of two rows.
    best, anchor = 0.0, 0
    for _ in range(2):
        distance = norms + norms[anchor] - 2.0 * (centred @ centred[anchor])
        anchor = int(distance.argmax())
        best = max(best, float(distance[anchor]))
    far: list[tuple[float, int, int]] = []
    for first in range(0, len(rows), BLOCK):
        # |a - b| <= |a| + |b|: with b no farther out than a, pairs from here on span at most twice this radius.
        if (2.0 * radius[first]) ** 2 < best * (1.0 - TIE):
            break
        reach = int(np.searchsorted(-radius, -(np.sqrt(best * (1.0 - TIE)) - radius[first]), side="right"))
        for start in range(first, max(reach, min(first + BLOCK, len(rows))), BLOCK):
            farthest = float(_distances(centred, norms, first, start).max())
            if farthest >= best * (1.0 - TIE):
                best = max(best, farthest)
                far.append((farthest, first, start))
    # There may be as many ties as pairs: they are counted block by block, and only the one drawn is looked up.
    bar = best * (1.0 - TIE)
    blocks = [(first, start) for farthest, first, start in far if farthest >= bar]
    counts = np.cumsum([len(_ties(centred, norms, *block, bar)[0]) for block in blocks])
    if not len(counts) or not counts[-1]:
        return _chosen(rows, order[:0], order[:0], generator)
    drawn = 0 if counts[-1] == 1 else int(generator.integers(counts[-1]))
    where = int(np.searchsorted(counts, drawn, side="right"))
    left, right = _ties(centred, norms, *blocks[where], bar)
    entry = drawn - (int(counts[where - 1]) if where else 0)
    return _chosen(rows, order[left[entry : entry + 1]], order[right[entry : entry + 1]], generator)


def _distances(centred: Array, norms: Array, first: int, start: int) -> Array:
    """Squared distances between the rows of two blocks."""
    block, others = slice(first, first + BLOCK), slice(start, start + BLOCK)
    distance = centred[block] @ centred[others].T
    distance *= -2.0
    distance += norms[block, None]
    distance += norms[others]
    return distance


def _ties(centred: Array, norms: Array, first: int, start: int, bar: float) -> tuple[Integers, Integers]:
    """Pairs of two blocks that are at least so far apart, each pair once."""
    left, right = np.nonzero(_distances(centred, norms, first, start) >= bar)
    left, right = left + first, right + start
    return left[left < right], right[left < right]


def _chosen(rows: Array, left: Integers, right: Integers, generator: np.random.Generator) -> tuple[int, int, float]:
    if len(left) == 0:  # All rows are equal: any pair is as good.
        return 0, 1, 0.0
    position = 0 if len(left) == 1 else int(generator.integers(len(left)))
    first, second = sorted((int(left[position]), int(right[position])))
    # The distance once more without cancellation: this is the value users see.
    difference = rows[first] - rows[second]
    return first, second, float(difference @ difference)
