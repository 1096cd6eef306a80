"""Which move of a plan comes first (ours): of the moves that keep the plan alive, the one that learns most at once.

With one component the utility is linearised at the history, and a linear function has no diminishing returns: a plan is "go
where most can be learned, and stay there for good". Where moves inform about the place they arrive at (our default) and the
way there measures poorly, that poor measurement counts there, the next plan finds another such place, and the staying never
comes. The paper's V counts the state that is left (`utility.information: departure`): the place arrived at still looks
unknown, and the next move stays. On the laser that alone decides (`examples/reproduction`). The eager move is another cure,
which counts measurements where they are made.

A plan of L moves that begins one move later loses at most about the share 1 / L of what it teaches, which is less than the
linearisation is wrong by. So every move that gives up no more than that share is as good a beginning, and of these the eager
one is made, with the largest

    gain(x, a) = sum_x' P(x'|x, a) Cov[f(z) - f(z'), f(x')]^2 / (Var f(x') + sigma^2(x, a, x')),

by which one measurement reduces the variance of the pair z, z' being separated: exact, where the tangent promises a
multiple of it for a precise measurement. Late in an episode L is small, and the last move is made for its gain alone. Of a
mixture of several plans the eager move is the one with the largest gain among those the mixture may make: it does the rest
later.

Where every place of the search space is one move away, nothing is put off by any move, and the moves are those of ordinary
Bayesian optimisation. The eager one reduces the expected regret most per move, by one measurement or by going there and
staying (`go_and_stay.py`). For a utility that is a variance it has the largest upper confidence bound, mean + 2 sd (for
another goal its optimistic score), at the state arrived at, and of equal ones the largest gain.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.planning.finite.coupled_oracle import CoupledOracle
from tcbo_pyomo.planning.finite.dynamic_programming import TIE, DynamicProgramming
from tcbo_pyomo.planning.finite.feasible_moves import FeasibleMoves
from tcbo_pyomo.planning.finite.go_and_stay import PLAUSIBLE, gains_per_move, plausible, staying_noise
from tcbo_pyomo.planning.finite.step_gradient import of_moves
from tcbo_pyomo.planning.finite.utility import Linearisation
from tcbo_pyomo.planning.ties import one_of_the_largest
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.problem.finite import Problem

CLEARLY = 1e-6
"""A bound decides without a plan when it is below what is needed by this share: more than solvers are wrong by."""
WIDTH = 2.0
"""Standard deviations above the mean, as in `local_ucb`."""


@timed("utility")
def gains_of(process: Process, tangent: Linearisation, state: int) -> Array:
    """What one measurement after each pair of a state is worth: how much less of the utility it leaves."""
    if tangent.gains is not None:
        return tangent.gains[process.pair_offsets[state] : process.pair_offsets[state + 1]]
    assert tangent.covariance is not None and tangent.posterior is not None
    rows, moves = process.pair_offsets, process.transitions
    first, last = int(rows[state]), int(rows[state + 1])
    entries = slice(int(moves.indptr[first]), int(moves.indptr[last]))
    arrived = moves.indices[entries]
    noise = tangent.noise_factor * process.noise_variance[entries]
    gain = tangent.covariance[arrived] ** 2 / (tangent.posterior.variance_of(arrived) + noise)
    return np.add.reduceat(moves.data[entries] * gain, moves.indptr[first:last] - moves.indptr[first])


class EagerPlans:
    """Plans of one component whose first move is the eager one.

    Parameters
    ----------
    problem
        The plant and its rules.
    oracle
        Solves the linear subproblem. Where a constraint couples the steps, what a first move gives up is found by planning
        with it, the most promising move first; elsewhere backward induction tells it for all moves at once.
    """

    def __init__(self, problem: Problem, oracle: DynamicProgramming | CoupledOracle) -> None:
        self.problem, self.oracle = problem, oracle
        self._coupled = any(rule.couples_steps for rule in problem.rules)
        if isinstance(oracle, DynamicProgramming):
            self._induction = oracle
        elif self._coupled:
            self._moves = FeasibleMoves(problem, oracle)
        else:
            self._induction = DynamicProgramming(problem.sets)

    @cached_property
    def _everywhere_next(self) -> Mask:
        return leads_everywhere(self.problem)

    @cached_property
    def _staying_noise(self) -> Array:
        return staying_noise(self.problem, self.problem.process.noise_variance)

    def extreme_point(self, tangent: Linearisation, situation: Situation, generator: np.random.Generator) -> Visitation:
        """The plan that begins with the eager move and is optimal from there on."""
        if self._coupled:
            return self._by_planning(tangent, situation, generator)
        costs = self._induction.move_values(tangent.gradient, situation)
        process, state = self.problem.process, situation.state
        gain = None
        if not (self._everywhere_next[state] and tangent.mean is not None):
            (good_enough,) = (costs <= -self._least(-float(costs.min()), situation)).nonzero()
        elif tangent.gains is None:
            good_enough = _highest(_bounds_of(process, tangent, state, WIDTH), np.isfinite(costs))
        else:
            best = tangent.goal.score(tangent.mean[tangent.first])
            good_enough = plausible(_bounds_of(process, tangent, state, PLAUSIBLE), best, np.isfinite(costs))
            if situation.step < self.problem.horizon - 1:
                gain = gains_per_move(process, tangent, state, self._staying_noise)
        chosen = 0
        if len(good_enough) > 1:
            gain = gains_of(process, tangent, state) if gain is None else gain
            chosen = one_of_the_largest(gain[good_enough], TIE, generator)
        first = int(process.pair_offsets[state])
        return self.oracle.extreme_point(tangent.gradient, situation, generator, first + int(good_enough[chosen]))

    def _by_planning(self, tangent: Linearisation, situation: Situation, generator: np.random.Generator) -> Visitation:
        assert not isinstance(self.oracle, DynamicProgramming)
        best = self.oracle.extreme_point(tangent.gradient, situation, generator)
        least = self._least(self._learned(best, tangent), situation)
        gain = gains_of(self.problem.process, tangent, situation.state)
        offset = int(self.problem.process.pair_offsets[situation.state])
        own, share = best.at_step(situation.step)
        pairs = self._moves.affordable(situation)
        better = pairs[gain[pairs - offset] > (share @ gain[own - offset]) * (1.0 + TIE)]
        most = np.full(len(gain), np.inf)
        for pair in better[np.argsort(-gain[better - offset], kind="stable")].tolist():
            if np.isinf(most).all():
                most = np.minimum(most, self._most_learned(tangent.gradient, situation, len(gain)))
            if most[pair - offset] < least - CLEARLY * abs(least):
                continue  # By the prices of the plans so far it gives up too much: no plan of its own is needed.
            plan = self.oracle.beginning_with(tangent.gradient, situation, pair)
            if plan is not None and self._learned(plan, tangent) >= least and self._moves.completes(situation, pair):
                return plan
            most = np.minimum(most, self._most_learned(tangent.gradient, situation, len(gain)))
        return best

    def _most_learned(self, gradient: Array, situation: Situation, number: int) -> Array:
        """Bounds by the prices of the last plan, one for each move of the present state; infinite where it has none."""
        assert not isinstance(self.oracle, DynamicProgramming)
        bounds = self.oracle.most_learned(gradient, situation)
        return np.full(number, np.inf) if bounds is None else bounds

    def _learned(self, plan: Visitation, tangent: Linearisation) -> float:
        last = plan.step == self.problem.horizon - 1
        return -float(plan.probability @ of_moves(tangent.gradient, last, plan.pair))

    def _least(self, learned: float, situation: Situation) -> float:
        """What a plan has to teach when the best one teaches this much: all but the share of one move."""
        return learned * (1.0 - 1.0 / (self.problem.horizon - situation.step)) - TIE * abs(learned)


def leads_everywhere(problem: Problem) -> Mask:
    """From which states every place of the search space is one allowed move away; from none of a random process."""
    process = problem.process
    if not process.deterministic:
        return np.zeros(process.number_of_states, dtype=bool)
    places = problem.sets.allowed_pairs & problem.search_space[process.successor]
    arrived = problem.input_of[process.successor[places]]
    different = np.unique(process.pair_state[places] * process.number_of_states + arrived)
    met = np.bincount(different // process.number_of_states, minlength=process.number_of_states)
    return met == np.count_nonzero(problem.places)


@timed("utility")
def _bounds_of(process: Process, tangent: Linearisation, state: int, width: float) -> Array:
    """The upper confidence bound of where each pair of a state leads, in a deterministic process."""
    assert tangent.mean is not None and tangent.posterior is not None
    arrived = process.successor[process.pair_offsets[state] : process.pair_offsets[state + 1]]
    return tangent.goal.optimistic(tangent.mean[arrived], np.sqrt(tangent.posterior.variance_of(arrived)), width)


def _highest(bound: Array, usable: Mask) -> Integers:
    """Positions of the largest bound among usable moves; several before the first result, when all bounds are alike."""
    best = bound[usable].max()
    return np.flatnonzero(usable & (bound >= best - TIE * abs(best)))
