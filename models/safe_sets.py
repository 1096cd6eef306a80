"""Which moves exist at which step: reachable from where the plant is, and sure to meet the end of the episode.

A state is safe before step h when some move leads only to states that are safe before step h + 1; after the last move
the safe states are those where an episode may end. Only moves between safe states ever enter a plan, so no re-plan can
run into a dead end, whatever a random transition does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from tcbo_pyomo.errors import InfeasiblePlan
from tcbo_pyomo.foundation.arrays import Integers, Mask
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.plant.process import Process


class EpisodeSets:
    """The safe states of every step of an episode.

    Attributes
    ----------
    allowed_pairs
        P values: pairs that every constraint on single moves allows.
    safe
        (H + 1) x n values: from which states the rest of the episode can be completed, whatever chance does.
    """

    def __init__(self, process: Process, constraints: Sequence[TransitionConstraint], horizon: int) -> None:
        self.process, self.horizon = process, horizon
        self.constraints = tuple(constraints)
        self.allowed_pairs = allowed_pairs(process, self.constraints)
        self.safe = np.empty((horizon + 1, process.number_of_states), dtype=bool)
        self.safe[horizon] = self.allowed_states(horizon)
        for step in range(horizon - 1, -1, -1):
            self.safe[step] = self.allowed_states(step) & self.sure_to_reach(self.safe[step + 1])

    def allowed_states(self, step: int) -> Mask:
        """Which states every constraint allows before a step."""
        masks = (c.allowed_states(self.process, step, self.horizon) for c in self.constraints)
        return _all_of(masks, self.process.number_of_states)

    def sure_to_reach(self, states: Mask) -> Mask:
        """In which states some allowed move leads only to the given ones."""
        usable = self.allowed_pairs & leads_only_to(self.process, states)
        return np.logical_or.reduceat(usable, self.process.pair_offsets[:-1])

    def usable_pairs(self, step: int, states: Mask) -> Integers:
        """Pairs of the given states that lead only to safe states after step `step`."""
        usable = self.allowed_pairs & states[self.process.pair_state] & leads_only_to(self.process, self.safe[step + 1])
        return np.flatnonzero(usable)

    def pairs_by_step(self, state: int, first_step: int = 0) -> list[Integers]:
        """Usable pairs of steps first_step .. H - 1 that can be met when the plant is in `state` before first_step."""
        return [pairs for pairs, _ in self._onward(state, first_step)]

    def states_met(self, state: int) -> Mask:
        """Where an episode that starts in `state` may come by, the start included."""
        met = np.arange(self.process.number_of_states) == state
        for _, arrived in self._onward(state, 0):
            met |= arrived
        return met

    def first_met(self, state: int) -> Integers:
        """After how many moves from `state` an episode can first be in each state (n); more than the horizon for never."""
        first = np.full(self.process.number_of_states, self.horizon + 1, dtype=np.int64)
        first[state] = 0
        for step, (_, arrived) in enumerate(self._onward(state, 0), start=1):
            first[arrived] = np.minimum(first[arrived], step)
        return first

    def shortest_path(self, state: int, goal: int) -> list[int] | None:
        """The pairs of a shortest way to a state from which the episode can be completed, in a deterministic process.

        None where no episode from `state` comes by. Rules that add up over an episode are not looked at.
        """
        steps: list[Integers] = []
        met = state == goal
        for pairs, arrived in self._onward(state, 0):
            if met:
                break
            steps.append(pairs)
            met = bool(arrived[goal])
        way: list[int] = []
        for pairs in reversed(steps if met else []):
            way.append(int(pairs[self.process.successor[pairs] == goal][0]))
            goal = int(self.process.pair_state[way[-1]])
        return way[::-1] if met else None

    def _onward(self, state: int, first_step: int) -> Iterator[tuple[Integers, Mask]]:
        """The usable pairs of every step from first_step on, and the states that they may lead to."""
        self.require_safe(state, first_step)
        here = np.arange(self.process.number_of_states) == state
        known: dict[tuple[bytes, bytes], tuple[Integers, Mask]] = {}
        for step in range(first_step, self.horizon):
            # A step like an earlier one leads where that one led; most steps of a long episode are alike.
            alike = here.tobytes(), self.safe[step + 1].tobytes()
            if alike not in known:
                pairs = self.usable_pairs(step, here)
                known[alike] = pairs, may_lead_to(self.process, pairs)
            yield known[alike]
            here = known[alike][1]

    def require_safe(self, state: int, step: int) -> None:
        """Refuse to plan from a state from which the episode cannot be completed, and say why."""
        if self.safe[step, state]:
            return
        label, left = self.process.labels[state], self.horizon - step
        why = self._why_unsafe(state, step)
        raise InfeasiblePlan(f"no plan of {left} moves from state '{label}' (step {step}) meets the constraints: {why}")

    def _why_unsafe(self, state: int, step: int) -> str:
        """The constraints in conflict and the first step that cannot be made."""
        masks = ((c.name, c.allowed_states(self.process, step, self.horizon)) for c in self.constraints)
        forbidding = [name for name, mask in masks if mask is not None and not mask[state]]
        if forbidding:
            return f"the state itself is forbidden by {', '.join(forbidding)}"
        conflict = self._conflict(state, step)
        names = ", ".join(constraint.name for constraint in conflict.constraints)
        surely = "" if self.process.deterministic else " with certainty"
        impossible = conflict._first_impossible_step(state, step)
        return (
            f"under {names} no allowed state can be reached{surely} at step {impossible} "
            "(the first impossible step); loosen one of them or change the horizon"
        )

    def _conflict(self, state: int, step: int) -> EpisodeSets:
        """The sets of constraints that together leave no plan; without any one of them there is one."""
        conflict = self
        for constraint in self.constraints:
            others = [other for other in conflict.constraints if other is not constraint]
            without = EpisodeSets(self.process, others, self.horizon)
            if not without.safe[step, state]:
                conflict = without
        return conflict

    def _first_impossible_step(self, state: int, step: int) -> int:
        """The first step whose move cannot be sure to arrive in an allowed state, by trying ever longer plans."""
        allowed = [self.allowed_states(at) for at in range(self.horizon + 1)]
        for last in range(step, self.horizon):
            safe = allowed[last + 1]
            for earlier in range(last, step - 1, -1):
                safe = allowed[earlier] & self.sure_to_reach(safe)
            if not safe[state]:
                return last
        return self.horizon - 1


def leads_only_to(process: Process, states: Mask) -> Mask:
    """Which pairs have all their successors in `states`."""
    if process.deterministic:
        return states[process.successor]
    return process.transitions @ (~states).astype(float) == 0.0


def may_lead_to(process: Process, pairs: Integers) -> Mask:
    """Which states some of the pairs lead to."""
    arrived = np.zeros(process.number_of_states, dtype=bool)
    arrived[process.successor[pairs] if process.deterministic else process.transitions[pairs].indices] = True
    return arrived


def allowed_pairs(process: Process, constraints: Sequence[TransitionConstraint]) -> Mask:
    """Which pairs the constraints on single moves allow: those whose every outcome is."""
    allowed = _all_of((c.allowed_transitions(process) for c in constraints), process.transitions.nnz)
    return np.logical_and.reduceat(allowed, process.transitions.indptr[:-1])


def _all_of(masks: Iterable[Mask | None], size: int) -> Mask:
    """What every mask allows; None allows everything."""
    allowed = np.ones(size, dtype=bool)
    for mask in masks:
        if mask is not None:
            allowed &= mask
    return allowed
