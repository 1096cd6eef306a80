"""Every plan of a solver is re-checked by our own arithmetic before it is used: its word is only a hint."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.plant.situation import Situation

TOLERANCE = 1e-7


def check_visitation(visitation: Visitation, sets: EpisodeSets, situation: Situation, solver: str) -> None:
    """Refuse a visitation that is not a policy of the rest of the episode: one vectorised pass over its entries."""
    if _is_allowed_path(visitation, sets, situation):
        return
    process, first, steps = sets.process, situation.step, sets.horizon - situation.step
    probability, pair, row = visitation.probability, visitation.pair, visitation.step - first
    if not (np.isfinite(probability).all() and (probability >= 0.0).all()):
        raise SolverFailed(f"{solver} returned visits that are negative or not finite; the plan is not used")
    if len(row) == 0 or row.min() < 0 or row.max() >= steps or not sets.allowed_pairs[pair].all():
        raise SolverFailed(f"{solver} returned visits of moves that are not allowed; the plan is not used")
    worst, ends = _flow(visitation, process, situation, steps)
    if worst > TOLERANCE:
        raise SolverFailed(
            f"{solver} returned a plan that violates the balance of visits (error {worst:.1e}); the plan is not used"
        )
    if not sets.safe[-1, ends].all():
        state = process.labels[int(ends[~sets.safe[-1, ends]][0])]
        raise SolverFailed(f"{solver} returned a plan that may end in '{state}', which is not allowed; it is not used")


def _is_allowed_path(visitation: Visitation, sets: EpisodeSets, situation: Situation) -> bool:
    """Whether the visits are one unsplit, allowed path from here: what backward induction gives, and quick to see."""
    process, pair = sets.process, visitation.pair
    # As lists: an episode is so short that operations on arrays take longer to begin than to do.
    if not process.deterministic or visitation.step.tolist() != list(range(situation.step, sets.horizon)):
        return False
    left, arrived = process.pair_state[pair].tolist(), process.successor[pair].tolist()
    joined = left == [situation.state, *arrived[:-1]]
    sure = visitation.probability.tolist().count(1.0) == len(pair)
    allowed = all(sets.allowed_pairs[pair].tolist())
    return joined and sure and allowed and bool(sets.safe[-1, arrived[-1]])


def _flow(visitation: Visitation, process: Process, situation: Situation, steps: int) -> tuple[float, Integers]:
    """The largest difference between what arrives in a state and what leaves it, and where the plan may end.

    Only what the plan visits is looked at, never all states of all steps.
    """
    states, row = process.number_of_states, visitation.step - situation.step
    leaving = row * states + process.pair_state[visitation.pair]
    arriving, mass = _arrivals(visitation, process, row)
    met, place = np.unique(np.concatenate([[situation.state], arriving, leaving]), return_inverse=True)
    flow = np.bincount(place, np.concatenate([[1.0], mass, -visitation.probability]), minlength=len(met))
    last = int(np.searchsorted(met, steps * states))
    return float(np.abs(flow[:last]).max()), met[last:][flow[last:] > TOLERANCE] - steps * states


def _arrivals(visitation: Visitation, process: Process, row: Integers) -> tuple[Integers, Array]:
    """Place (step after the move x states + successor) and probability of every outcome of the visited moves."""
    moves = process.transitions[visitation.pair]
    entry = np.repeat(np.arange(len(row)), np.diff(moves.indptr))
    return (row[entry] + 1) * process.number_of_states + moves.indices, moves.data * visitation.probability[entry]
