"""Small random plants under rules that add up over an episode, and all of their paths, for tests by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pyomo.environ as pyo
from random_processes import random_process

from tcbo_pyomo import Problem, TransitionConstraint
from tcbo_pyomo.models.constraints import ResourceBudget
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def problem_with(process, rules, horizon, start=0):
    return Problem("plant", process, start, horizon, 2, SquaredExponential(1.0, 0.3), rules, output="found")


def random_plant(seed, states, horizon, successors=1):
    """A random generator, a process and a horizon; everything about them follows from the seed."""
    rng = np.random.default_rng(seed)
    process = random_process(int(rng.integers(2**31)), int(rng.integers(3, states + 1)), 4, successors)
    return rng, process, int(rng.integers(2, horizon + 1))


class RandomCost(ResourceBudget):
    """A budget whose moves cost what a table of pairs of states says."""

    def __init__(self, label, table, limit):
        self.table = table
        super().__init__(label, self._cost, limit)

    def _cost(self, left, right):
        return self.table[_rank(left["x"], self.points), _rank(right["x"], self.points)]


def _rank(values, points):
    return np.abs(np.asarray(values)[:, None] - points[None]).argmin(axis=1)


def random_budgets(rng, process, number, whole):
    for index in range(number):
        size = process.number_of_states
        table = rng.integers(0, 3, (size, size)).astype(float) if whole else rng.random((size, size))
        budget = RandomCost(f"use{index}", table, round(float(rng.uniform(0.3, 4.0)), 2))
        budget.points = process.states[:, 0]
        yield budget


class OwnRows(TransitionConstraint):
    """Rows as a user writes them, in Pyomo only: by step, by state, from below and from above."""

    def __init__(self, table, lower, upper, own_variable=False):
        self.table, self.lower, self.upper, self.own_variable = table, lower, upper, own_variable

    def add_to_polytope(self, model):
        body = sum(
            float(self.table[step, pair]) * variable
            for step, pair, variable in zip(model.move_step, model.move_pair, model.visitation.values(), strict=True)
        )
        if self.own_variable:
            model.own = pyo.Var(bounds=(self.lower, self.upper))
            model.counted = pyo.Constraint(expr=body == model.own)
        else:
            model.own_rows = pyo.Constraint(expr=pyo.inequality(self.lower, body, self.upper))


def paths_of(process, horizon, start=0):
    """Every path, as pairs, with the states it arrives in."""
    for choices in itertools.product(range(max(np.diff(process.pair_offsets))), repeat=horizon):
        state, pairs = start, []
        for choice in choices:
            options = process.pairs_of(state)
            if choice >= len(options):
                break
            pairs.append(options[choice])
            state = int(process.successor[pairs[-1]])
        else:
            yield pairs, [start, *process.successor[pairs].tolist()]


def spent(budget, states):
    return sum(budget.table[one, other] for one, other in itertools.pairwise(states))
