"""Where a continuous plant can get to within an episode: maxima are sought there, and each comes with a route to it.

A point counts as reachable when a feasible episode from the start passes it: in the box, within the limits of the actions, and
with every rule kept to the end. Nothing is recommended without such an episode. Where the action is the move itself, maxima
are sought in the whole box and ways are laid to them; points without a way, and all points of other plants, are sought in a
cloud of simulated episodes and refined on the trajectory programme: the function's value at one of its points is the objective.
"""

from __future__ import annotations

from functools import cached_property, lru_cache, partial

import numpy as np
from scipy.spatial import cKDTree

from tcbo_pyomo.candidates.search.multi_start import global_maxima
from tcbo_pyomo.candidates.search.reachable_space import Maxima
from tcbo_pyomo.candidates.search.start_points import Functions
from tcbo_pyomo.candidates.search.uniform import uniform_points
from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.foundation.profiling import section
from tcbo_pyomo.planning.continuous.distance_objectives import DistanceObjective, Passing
from tcbo_pyomo.planning.continuous.point_objective import PointObjective
from tcbo_pyomo.planning.continuous.reachable_cloud import UNCOVERED, Cloud, build_cloud
from tcbo_pyomo.planning.continuous.simulated_episodes import Episodes
from tcbo_pyomo.plant.route import Route
from tcbo_pyomo.problem.continuous import ContinuousProblem

SAME_POINT = 1e-9
REFINED = 8
"""Solves for the maxima of many functions at once; those that share a point of the cloud share its refinement."""
STARTS, APART = 4, 0.08
"""Solves for the maximum of one function, at most, from points of the cloud so far apart."""
BEHIND = 0.05
"""Share of the range of a function's values by which a start may be behind the best maximum known."""
FLAT = 1e-3
"""Slope of a hill top, as a share of the same range per width of the box."""
KEPT_ROUTES = 2000


class ReachableSet:
    """The points of one plant that an episode can pass."""

    def __init__(self, problem: ContinuousProblem) -> None:
        self.problem, self.episodes = problem, Episodes(problem)
        self._routes: dict[bytes, Route] = {}

    @cached_property
    def cloud(self) -> Cloud:
        """Points spread over the set, with their routes."""
        with section("search space"):
            return build_cloud(self.episodes)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.cloud.points)

    def __call__(self, points: Array) -> Mask:
        """Which of n scaled points may be reachable: every rule allows them, and a way or the cloud comes close."""
        if self.episodes.has_ways:
            return self.episodes.within_range(points)
        near = self._tree.query(points, p=np.inf)[0] <= max(self.cloud.resolution, UNCOVERED)
        # Rules speak of whole states; where some of these are hidden, the episodes of the cloud keep them.
        return near if self.problem.has_hidden else self.problem.allowed(points) & near

    def holds(self, points: Array) -> Mask:
        """As calling it, but with a way to each point where the action is the move itself."""
        inside = self(points)
        if self.episodes.has_ways:
            inside[inside] = [self._way(point) is not None for point in points[inside]]
        return inside

    def point(self, route: Route) -> Array:
        """What the black box sees where a route leads (p)."""
        return self.problem.observed(route.state)

    def route(self, point: Array) -> Route | None:
        """The route to a point that a search has returned; None for any other point."""
        return self._routes.get(np.asarray(point, dtype=float).tobytes())

    def draw(self, count: int, generator: np.random.Generator) -> Array:
        """`count` reachable points (count x d)."""
        if not self.episodes.has_ways:
            return self._kept([self.cloud.route(i) for i in self._any(count, generator)])
        drawn = uniform_points(count, len(self.episodes.start), generator, self.episodes.within_range)
        routes = [self._way(point) or self.cloud.route(int(self._any(1, generator)[0])) for point in drawn]
        return self._kept(routes)

    def maxima(self, functions: Functions, extra: Array | None = None, exact: bool = False) -> Maxima:
        """The best reachable point of each function; with `exact` by several solves each."""
        routes: dict[int, Route] = {}
        aims: dict[int, Array] = {}
        if self.episodes.has_ways:
            best = global_maxima(functions, len(self.episodes.start), self.episodes.within_range, extra, exact).points
            aims = dict(enumerate(best))
            routes = {i: way for i, point in aims.items() if (way := self._way(point)) is not None}
        left = np.array([i for i in range(functions.count) if i not in routes], dtype=int)
        if len(left):
            seek = self._best if exact else self._refined
            routes |= seek(functions, left, aims, extra)
        points = self._kept([routes[i] for i in range(functions.count)])
        return Maxima(points, functions.value(points).diagonal().copy())

    def routes(self, points: Array) -> tuple[Route, ...]:
        """A route to each of n points; those that no search has returned are moved to a reachable point that is near."""
        return tuple(self.route(point) or self._projected(point) for point in points)

    def shortened(self, route: Route) -> Route:
        """A route to the same point in fewer moves, as far as the programme finds one: for those who have to go there."""
        if self.episodes.has_ways:
            return route
        best, fewest = route, 1
        while fewest < best.step:
            middle = (fewest + best.step) // 2
            found = self.episodes.through(self.point(route), middle, best)
            best, fewest = (best, middle + 1) if found is None else (found, fewest)
        return best

    def _refined(
        self, functions: Functions, wanted: Integers, aims: dict[int, Array], _extra: Array | None
    ) -> dict[int, Route]:
        """For each function wanted the best of the cloud and of some refined points."""
        cloud, values = self.cloud, functions.rough().value(self.cloud.points)[:, wanted]
        tops = values.argmax(axis=0)
        refined = []
        for owner, top in ((int(wanted[i]), int(tops[i])) for i in _chosen(tops, REFINED)):
            refined.append(self._climbed(functions, owner, cloud.route(top)))
            if owner in aims:
                refined.append(self._climbed(functions, owner, self._projected(aims[owner])))
        routes = [cloud.route(int(top)) for top in tops] + refined
        offered = functions.value(np.array([self.point(route) for route in routes]))[:, wanted]
        # Each function has its own point of the cloud, and all the refined ones.
        offered[: len(tops)][~np.eye(len(tops), dtype=bool)] = -np.inf
        return {int(owner): routes[best] for owner, best in zip(wanted, offered.argmax(axis=0), strict=True)}

    def _best(
        self, functions: Functions, wanted: Integers, aims: dict[int, Array], extra: Array | None
    ) -> dict[int, Route]:
        """For each function wanted the best of several refinements of its own."""
        return {int(owner): self._best_of_one(functions, int(owner), aims, extra) for owner in wanted}

    def _best_of_one(self, functions: Functions, owner: int, aims: dict[int, Array], extra: Array | None) -> Route:
        """The best route from several points of the cloud and from near those known to be good, at other steps too."""
        cloud, values = self.cloud, functions.value(self.cloud.points)[:, owner]
        points, spread = cloud.points, float(np.ptp(values))
        good = [aims[owner]] if owner in aims else []
        if extra is not None and len(extra):
            good.append(extra[int(functions.value(extra)[:, owner].argmax())])
        height = partial(self._value, functions, owner)
        best = max((self._projected(point) for point in good), key=height, default=None)
        best = None if best is None else self._climbed(functions, owner, best)
        for _ in range(STARTS):
            top = int(values.argmax())
            if best is not None and not values[top] > height(best) - BEHIND * spread:
                break
            climbed = self._climbed(functions, owner, cloud.route(top))
            best = climbed if best is None else max(best, climbed, key=height)
            values[np.abs(points - points[top]).max(axis=1) <= APART] = -np.inf
        assert best is not None
        slope = functions.value_and_gradient(self.point(best)[None], np.array([owner]))[1]
        if np.abs(slope).max() <= FLAT * spread:
            return best  # A hill top, and no edge of what can be reached by this step.
        horizon, steps = self.episodes.horizon, [best.step]
        steps += [horizon, (best.step + horizon) // 2, max(1, best.step // 2)]
        others = [Route(best.states, best.actions, step) for step in dict.fromkeys(steps)][1:]
        found = [best, *(self._climbed(functions, owner, other) for other in others)]
        return max(found, key=height)

    def _climbed(self, functions: Functions, owner: int, begun: Route) -> Route:
        """A route to a higher point, or the one it began from."""
        if begun.step == 0:
            return begun
        better = self.episodes.solved(PointObjective(functions, owner, begun.step - 1), begun, begun.step)
        return max((route for route in (begun, better) if route), key=partial(self._value, functions, owner))

    def _projected(self, point: Array) -> Route:
        """A route to a point, or to the nearest that the programme finds."""
        way = self._way(point) if self.episodes.has_ways else None
        if way is not None:
            return way
        begun = self.cloud.route(int(self._tree.query(point, p=np.inf)[1]))
        if begun.step == 0 or np.abs(self.point(begun) - point).max() <= SAME_POINT:
            return begun
        objective = DistanceObjective(Passing(begun.step - 1, np.asarray(point, dtype=float)))
        return self.episodes.solved(objective, begun, begun.step) or begun

    def _way(self, point: Array) -> Route | None:
        """A route to a point where the action is the move itself; None where none is found without a solver."""
        route = self.episodes.way(point)
        return route if route is not None and np.abs(self.point(route) - point).max() <= SAME_POINT else None

    def _any(self, count: int, generator: np.random.Generator) -> Integers:
        number = len(self.cloud.episode)
        return generator.choice(number, count, replace=number < count)

    def _kept(self, routes: list[Route]) -> Array:
        """The points of some routes, which `route` then knows."""
        if len(self._routes) > KEPT_ROUTES:
            self._routes.clear()
        points = np.array([self.point(route) for route in routes])
        self._routes.update({point.tobytes(): route for point, route in zip(points, routes, strict=True)})
        return points

    def _value(self, functions: Functions, owner: int, route: Route) -> float:
        return float(functions.value(self.point(route)[None])[0, owner])


@lru_cache(maxsize=8)
def reachable_set(problem: ContinuousProblem) -> ReachableSet:
    """The reachable set of a problem: one for all who ask, since its cloud takes a while."""
    return ReachableSet(problem)


def _chosen(tops: Integers, number: int) -> list[int]:
    """Which functions to refine: of those that share a top first the last, then the first, and so on."""
    groups = sorted((np.flatnonzero(tops == top).tolist() for top in np.unique(tops)), key=len, reverse=True)
    ends = [[group.pop(-1 if turn % 2 == 0 else 0) for turn in range(len(group))] for group in groups]
    rounds = [group[turn] for turn in range(number) for group in ends if turn < len(group)]
    return rounds[:number]

