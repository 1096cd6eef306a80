"""Every plan is re-checked by our own arithmetic before it is used: a solver's word is only a hint."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.coordinates import Array
from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.planning.situation import Situation
from tcbo_pyomo.planning.visitation import Visitation
from tcbo_pyomo.process import Integers, Process
from tcbo_pyomo.reachability import EpisodeSets

TOLERANCE = 1e-7


def check_visitation(visitation: Visitation, sets: EpisodeSets, situation: Situation, solver: str) -> None:
    """Refuse a visitation that is not a policy of the rest of the episode: one vectorised pass over its entries."""
    process, first, steps = sets.process, situation.step, sets.horizon - situation.step
    probability, pair, row = visitation.probability, visitation.pair, visitation.step - first
    if not (np.isfinite(probability).all() and (probability >= 0.0).all()):
        raise SolverFailed(f"{solver} returned visits that are negative or not finite; the plan is not used")
    if len(row) == 0 or row.min() < 0 or row.max() >= steps or not sets.allowed_pairs[pair].all():
        raise SolverFailed(f"{solver} returned visits of moves that are not allowed; the plan is not used")
    states = process.number_of_states
    leaving = row * states + process.pair_state[pair]
    arriving, mass = _arrivals(visitation, process, row)
    # Only what the plan visits is looked at, never all states of all steps: a plan is a path, or a few.
    met, place = np.unique(np.concatenate([[situation.state], arriving, leaving]), return_inverse=True)
    flow = np.bincount(place, np.concatenate([[1.0], mass, -probability]), minlength=len(met))
    last = int(np.searchsorted(met, steps * states))
    worst = np.abs(flow[:last]).max()
    if worst > TOLERANCE:
        raise SolverFailed(
            f"{solver} returned a plan whose visits do not flow (error {worst:.1e}); the plan is not used"
        )
    ends = met[last:][flow[last:] > TOLERANCE] - steps * states
    if not sets.safe[-1, ends].all():
        state = process.labels[int(ends[~sets.safe[-1, ends]][0])]
        raise SolverFailed(f"{solver} returned a plan that may end in '{state}', which is not allowed; it is not used")


def _arrivals(visitation: Visitation, process: Process, row: Integers) -> tuple[Integers, Array]:
    """Place (step after the move x states + successor) and probability of every outcome of the visited moves."""
    states = process.number_of_states
    if process.deterministic:
        return (row + 1) * states + process.successor[visitation.pair], visitation.probability
    moves = process.transitions[visitation.pair]
    entry = np.repeat(np.arange(len(row)), np.diff(moves.indptr))
    return (row[entry] + 1) * states + moves.indices, moves.data * visitation.probability[entry]
