"""A roadmap of a plant whose action is the move itself: ways round obstacles to any point and on to the end of the episode.

Points spread over the box are joined with their neighbours by straight segments, wherever no rule forbids a move along them
(a probabilistic roadmap, Kavraki et al. 1996). A way to a point is the shortest one through this graph, and from there on to
where the episode must end; the plant waits at the point while there is time.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.models.episode_path import EpisodePath
from tcbo_pyomo.planning.continuous.round_trip import scaled_end
from tcbo_pyomo.problem.continuous import ContinuousProblem

NEIGHBOURS = 16
"""Points of the map that each is joined with."""
TRIED_AT_ONCE = 4
BARELY = 1e-9
"""Share of a move by which a segment may pass the longest one."""


class Roadmap:
    """Ways of one plant from its start.

    Parameters
    ----------
    problem
        A problem whose action is the move itself.
    points
        n x d scaled points to join, all of them allowed.
    finer
        How many times as many moves a segment is made in as the limits of the actions need.
    """

    def __init__(self, problem: ContinuousProblem, points: Array, finer: int = 1) -> None:
        self.problem, self.limits, self.horizon = problem, problem.dynamics.actions, problem.horizon
        self._finer = finer
        start = np.asarray(problem.start_state, dtype=float)[None, :]
        ends = self._ends(np.vstack([start, points[::4]]))
        self.nodes = np.unique(np.vstack([start, ends, points]), axis=0)
        self.start = int(np.abs(self.nodes - start).max(axis=1).argmin())
        self.ends = np.array([int(np.abs(self.nodes - end).max(axis=1).argmin()) for end in ends], dtype=int)
        self._tree = cKDTree(self.nodes)
        self._to_node, self._to_end = self._distances()

    @property
    def coverage(self) -> float:
        """The share of the points of the map to which there is a way, and from there to an end."""
        return float((np.isfinite(self._to_node[0]) & np.isfinite(self._to_end[0])).mean())

    def way(self, target: Array) -> Array | None:
        """Scaled states of an episode (H + 1 x d) that comes to a point, waits there and ends; None where none is found.

        Rules that add something up over the episode are for the caller to check.
        """
        near = self._neighbours(target)
        there = np.tile(target, (len(near), 1))
        before = self._first_free(near, self._to_node[0][near], self.nodes[near], there)
        if before is None:
            return None
        stops = self._joined([*self._back_from(before), target])
        if not len(self.ends):
            return self._episode(stops, np.empty((0, len(target))))
        after = self._first_free(near, self._to_end[0][near], there, self.nodes[near])
        return None if after is None else self._episode(stops, self._joined([target, *self._on_from(after)])[1:])

    def _episode(self, out: Array, back: Array) -> Array | None:
        waiting = self.horizon + 1 - len(out) - len(back)
        return None if waiting < 0 else np.vstack([out, np.tile(out[-1], (waiting, 1)), back])

    def _first_free(self, near: Integers, known: Array, left: Array, right: Array) -> int | None:
        """Of the nodes beside a point the one with the shortest way whose segment is free."""
        total = known + np.linalg.norm(right - left, axis=1)
        order = np.argsort(total, kind="stable")[: int(np.isfinite(total).sum())]
        for first in range(0, len(order), TRIED_AT_ONCE):
            some = order[first : first + TRIED_AT_ONCE]
            free = some[self._are_free(left[some], right[some])]
            if len(free):
                return int(near[free[0]])
        return None

    def _back_from(self, node: int) -> list[Array]:
        ways, stops = self._to_node[1], [node]
        while stops[-1] != self.start:
            stops.append(int(ways[stops[-1]]))
        return [self.nodes[stop] for stop in reversed(stops)]

    def _on_from(self, node: int) -> list[Array]:
        ways, stops = self._to_end[1], [node]
        while ways[stops[-1]] >= 0:
            stops.append(int(ways[stops[-1]]))
        return [self.nodes[stop] for stop in stops]

    def _joined(self, stops: list[Array]) -> Array:
        """The moves from stop to stop, each segment in equal ones."""
        pieces = self._moves(np.array(stops[:-1]), np.array(stops[1:]))
        return np.vstack([stops[0][None, :], *(piece[1:] for piece in pieces)])

    def _moves(self, left: Array, right: Array) -> list[Array]:
        """Each of n segments in as few equal moves as the limits allow; no move where its ends are one."""
        steps, numbers = right - left, self._finer * np.arange(1, self.horizon // self._finer + 1)
        shares = (steps[:, None, :] * self._finer / numbers[None, :, None]).reshape(-1, steps.shape[1])
        size = np.abs(steps).max(axis=1)
        missed = np.abs(self.limits.clip(shares) - shares).max(axis=1).reshape(len(steps), -1)
        allowed = missed <= BARELY * size[:, None]
        number = np.where(allowed.any(axis=1), numbers[allowed.argmax(axis=1)], self.horizon + 1)
        number[size == 0.0] = 0
        return [a + np.linspace(0.0, 1.0, n + 1)[:, None] * s for a, s, n in zip(left, steps, number, strict=True)]

    def _are_free(self, left: Array, right: Array) -> Mask:
        """Which of n segments no rule about single moves forbids: one path along all of them is held against each rule."""
        if not len(left):
            return np.zeros(0, dtype=bool)
        pieces = self._moves(left, right)
        owner = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces])
        path = EpisodePath(self.problem.coordinates, self.problem.points(np.vstack(pieces)), False)
        free = np.array([len(piece) - 1 <= self.horizon for piece in pieces])
        for rule in self.problem.rules:
            if rule.couples_steps or rule.end_point:
                continue
            for broken in rule.violations(path):
                # What lies between the end of one segment and the start of the next is no move.
                if owner[broken.step] == owner[broken.step + 1]:
                    free[owner[broken.step]] = False
        return free

    def _neighbours(self, point: Array) -> Integers:
        near = self._tree.query(point, k=min(NEIGHBOURS, len(self.nodes)))[1]
        return np.unique(np.concatenate([np.atleast_1d(near), [self.start], self.ends[:1]])).astype(int)

    def _ends(self, points: Array) -> Array:
        """Where episodes may have to end, one place for each point: the point itself in what the rules leave open."""
        rules = [rule for rule in self.problem.rules if rule.end_point]
        ends = points.copy() if rules else np.empty((0, points.shape[1]))
        for rule in rules:
            axes, values = scaled_end(self.problem.coordinates, rule)
            ends[:, axes] = values
        return ends[self.problem.allowed(ends)] if len(ends) else ends

    def _distances(self) -> tuple[tuple[Array, Integers], tuple[Array, Integers]]:
        """Shortest lengths from the start to every node and from there to an end, each with the next stop on the way."""
        rows = [(i, int(j)) for i, node in enumerate(self.nodes) for j in self._neighbours(node) if i != j]
        left, right = np.array(sorted({*rows, *((j, i) for i, j in rows)})).reshape(-1, 2).T
        free = self._are_free(self.nodes[left], self.nodes[right])
        left, right = left[free], right[free]
        number, length = len(self.nodes), np.linalg.norm(self.nodes[left] - self.nodes[right], axis=1)
        there = csr_matrix((length, (left, right)), shape=(number, number))
        out = dijkstra(there, indices=self.start, return_predecessors=True)
        if not len(self.ends):
            return out, (np.zeros(number), np.full(number, -1))
        back = dijkstra(there.T, indices=np.unique(self.ends), return_predecessors=True, min_only=True)
        return out, back[:2]
