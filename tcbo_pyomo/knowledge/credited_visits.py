"""Where the moves that were made count in the utility's history; the counterpart of `move_information` for plans.

- "arrival": where they were measured, so that the history is the posterior of the belief.
- "departure": at the state they left, with the noise of the move, as in V = sum of Phi(x) Phi(x)^T / sigma^2(x, a) over the
  pairs that were visited (sections 2.2 and 4.1). The last move of an episode counts where it arrived as well, as in a plan.

With departure the present state does not count yet: the next move leaves it, and every plan counts it. The belief does not
depend on this: means, candidates and the recommendation follow from the results, where they were measured.
"""

from __future__ import annotations

from collections.abc import Iterator

from tcbo_pyomo.knowledge.history import History, Move
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.settings import UtilitySettings


def planned_visits(move: Move) -> list[Move]:
    """A move as it is for each measurement that it gives: on its way, and where it arrived."""
    return [*(move.at(place) for _, place in move.way), move]


def credited_visits(history: History, settings: UtilitySettings) -> Iterator[tuple[Location, Move, int]]:
    """Every place that counts in the utility, with the move that it counts for, and how many measurements."""
    departs, pending = settings.information == "departure", settings.pending == "counted"
    for move in history.made:
        if move.skipped or (move.value is None and not pending):
            continue
        visits = planned_visits(move) if move.value is None else move.visits
        measurements = sum(visit is move for visit in visits)
        for visit in visits:
            if visit is not move:  # On the way it counts where it was measured, by both conventions.
                yield visit.arrived, visit, 1
        if not measurements:
            continue
        leaves = departs and move.step > 0  # Step 0 measures the start, and leaves nothing.
        if leaves:
            yield move.origin, move, measurements
        if not leaves or move.step == history.length(move.episode):
            yield move.arrived, move, measurements
