"""Random planning problems for tests: a process, features of a smooth function on its states, candidates within reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from random_processes import random_process

from tcbo_pyomo import Problem
from tcbo_pyomo.models.constraints import ResourceBudget
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.visitation import mix
from tcbo_pyomo.models.worst_case_budget import WorstCaseTail
from tcbo_pyomo.planning.finite.certified_frank_wolfe import certified_frank_wolfe
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.planning.finite.planned_posterior import FeaturePosterior
from tcbo_pyomo.planning.finite.utility import Utility
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

START = Situation((0,))


def distance(left, right):
    """Cost of a move: how far it goes in x, and a little for every move."""
    return 0.1 + abs(right["x"] - left["x"])


@dataclass
class SmallPlan:
    """One planning problem, with or without a budget."""

    process: Process
    features: np.ndarray
    candidates: np.ndarray
    sets: EpisodeSets
    budget: ResourceBudget | None

    def utility(self, objective="differences", seed=0):
        rng = np.random.default_rng(seed)
        return Utility(self.process, lambda w: FeaturePosterior(self.features, w), self.candidates, objective, rng)

    def oracle(self):
        if self.budget is None:
            return DynamicProgramming(self.sets)
        return LinearProgramming(self.sets, (self.budget,))

    def extreme_point(self):
        oracle, rng = self.oracle(), np.random.default_rng(1)
        return lambda gradient: oracle.extreme_point(gradient, START, rng)

    @property
    def tail(self):
        return WorstCaseTail(self.budget, self.sets)

    @property
    def barred(self):
        """First moves after which the budget could not be kept for sure."""
        return np.array(self.process.pairs_of(0))[~self.tail.affordable(START)]


def small_plan(seed, states, horizon=10, budget=None, features=6, lengthscale=0.3, successors=2):
    """A random process whose every state within reach is a candidate; `budget` is the limit on `distance`."""
    process = random_process(seed, states, 4, successors)
    points = process.scaled_states
    kernel = np.exp(-0.5 * ((points[:, None] - points[None]) ** 2).sum(axis=2) / lengthscale**2)
    values, vectors = np.linalg.eigh(kernel)
    leading = np.argsort(-values)[:features]
    factor = vectors[:, leading] * np.sqrt(values[leading])
    rule = None if budget is None else ResourceBudget("distance", distance, budget)
    sets = EpisodeSets(process, () if rule is None else (rule,), horizon)
    reached = [process.transitions[pairs].indices for pairs in sets.pairs_by_step(0)]
    return SmallPlan(process, factor, np.unique(np.concatenate([[0], *reached])), sets, rule)


def binding_limit(seed, states, horizon=10, share=0.5, **others):
    """A budget between what staying costs and what the plan without a budget uses."""
    case = small_plan(seed, states, horizon, budget=1e6, **others)
    plan = mix(certified_frank_wolfe(case.utility(), case.extreme_point(), 0.05).components)
    used = case.tail.pair_cost @ plan.expected_counts(case.process.number_of_pairs)
    return float(0.1 * horizon + share * (used - 0.1 * horizon))


def problem_of(case, constraints=(), horizon=10):
    kernel = SquaredExponential(1.0, 0.3)
    return Problem("small", case.process, 0, horizon, 2, kernel, constraints, output="found")


def compare_flow_duals(linear, values, met, situation=START):
    """Equal to 1e-7 wherever the optimal plan goes; elsewhere duals are not unique, and never above the value."""
    polytope, _ = linear.compiled(situation)
    duals = linear.last_solution.row_dual
    row_of = {id(row): index for index, row in enumerate(polytope.programme.rows)}
    process = linear.sets.process
    visited = {(int(h), int(process.pair_state[p])) for h, p in zip(met.step, met.pair, strict=True)}
    assert visited
    for (step, label), row in polytope.model.flow.items():
        dual, value = duals[row_of[id(row)]], values[step, process.state_index(label)]
        assert dual <= value + 1e-7
        if (step, process.state_index(label)) in visited:
            assert dual == pytest.approx(value, abs=1e-7)
