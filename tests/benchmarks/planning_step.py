"""One whole planning step by dynamic programming: against the same algebra as bare numpy, and against the default of before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr
from timing import Comparison, compare

from tcbo_pyomo import Campaign, Problem, load_problem, settings_from
from tcbo_pyomo.foundation.arrays import Integers
from tcbo_pyomo.plant.situation import Situation


def comparisons(repeats: int, quick: bool = False) -> list[Comparison]:
    """All rows of this file."""
    repeats *= 10  # A step takes a millisecond or less.
    systems = {"Knorr": "knorr_pyrazole", "lake": "lake_ypacarai", "two ridges": "two_ridge_reactor", "dosing": "dosing"}
    bare = [_against_bare(label, systems[label], repeats) for label in ("Knorr", "lake")]
    return bare + [_against_differences(label, name, repeats) for label, name in systems.items()]


def _against_bare(label: str, name: str, repeats: int) -> Comparison:
    ours, problem, states = _steps(name, repeats)
    bare, values, noise = BareStep(problem), problem.truth[states], float(problem.process.noise_variance[0])

    def reference(number: int) -> None:
        bare.step(int(states[number]), float(values[number]), noise)

    return compare(
        f"planning step, {label}, DP", ours, "the same algebra as bare numpy", reference, repeats, "at most 3"
    )


def _against_differences(label: str, name: str, repeats: int) -> Comparison:
    """The default against the default of before, on the same results."""
    ours, reference = (_steps(name, repeats, objective)[0] for objective in ("auto", "differences"))
    title = f"planning step, {label}, expected regret"
    return compare(title, ours, "utility.objective: differences", reference, repeats, "at most 1.2")


def _steps(name: str, repeats: int, objective: str = "auto") -> tuple[Callable[[int], None], Problem, Integers]:
    """A function that makes one step, given its number; the problem, and the states where results come from."""
    problem = load_problem(name, feedback="immediate")
    chosen = {"planner": {"linear": {"solver": "dynamic_programming"}}, "utility": {"objective": objective}}
    campaign = Campaign(problem, settings_from(dict(problem.settings), chosen), seed=1)
    knowledge, process = campaign.knowledge, problem.process
    situation, generator = Situation((problem.start_state,)), np.random.default_rng(0)
    states = np.random.default_rng(1).integers(0, process.number_of_states, repeats + 1)
    values, noise = problem.truth[states], float(process.noise_variance[0])

    def step(number: int) -> None:
        # What a step does: condition on the last result, define the utility, plan.
        knowledge.belief.observe(int(states[number]), float(values[number]), noise)
        knowledge.forget()
        campaign.method.next_decision(situation, knowledge, generator)

    return step, problem, states


class BareStep:
    """Posterior, expected regret, gains, backward induction and first move on plain arrays, without any check."""

    def __init__(self, problem) -> None:
        process = problem.process
        points = process.scaled_states
        eigenvalues, vectors = np.linalg.eigh(problem.kernel(points, points))
        keep = eigenvalues > 1e-14 * eigenvalues[-1]
        self.factor = vectors[:, keep] * np.sqrt(eigenvalues[keep])
        self.mean = problem.kernel.mean(points)
        self.places = problem.search_space
        self.successor, self.offsets = process.successor, process.pair_offsets[:-1]
        self.ends, self.start, self.horizon = process.pair_offsets, problem.start_state, problem.horizon
        # What the rules of the plant forbid; nothing on Knorr, walls and the way back to the port on the lake.
        self.forbidden = np.flatnonzero(~problem.sets.allowed_pairs)
        self.last = np.where(problem.sets.safe[-1], 0.0, np.inf)

    def step(self, state: int, value: float, noise: float) -> int:
        """One step; the pair to use."""
        loading = self.factor[state]
        covariance = self.factor @ loading
        total = loading @ loading + noise
        self.mean = self.mean + covariance * ((value - self.mean[state]) / total)
        self.factor = self.factor - np.outer(covariance / (total + (total * noise) ** 0.5), loading)
        variance = (self.factor**2).sum(axis=1)
        best = int(np.where(self.places, self.mean, -np.inf).argmax())
        shared = self.factor @ self.factor[best]
        rivals = np.flatnonzero(self.places & (np.arange(len(self.mean)) != best))
        deviation = np.sqrt(variance[rivals] + variance[best] - 2.0 * shared[rivals])
        below = self.mean[rivals] - self.mean[best]
        slope = np.exp(-0.5 * (below / deviation) ** 2) / np.sqrt(2.0 * np.pi)
        regret = below * ndtr(below / deviation) + deviation * slope
        counts = regret > 1e-5 * regret.max()
        gap = self.factor[rivals[counts]] @ self.factor.T - shared
        gain = (slope[counts] / (2.0 * deviation[counts]) @ gap**2) / (variance + noise)
        cost = -gain[self.successor]
        cost[self.forbidden] = np.inf
        values = np.empty((self.horizon + 1, len(self.mean)))
        values[-1] = self.last
        for step in range(self.horizon - 1, -1, -1):
            values[step] = np.minimum.reduceat(cost + values[step + 1][self.successor], self.offsets)
        here, path = self.start, []
        for step in range(self.horizon):
            pairs = slice(self.ends[here], self.ends[here + 1])
            to_go = cost[pairs] + values[step + 1][self.successor[pairs]]
            chosen = to_go.argmin()
            if step == 0:  # The eager first move.
                good = np.flatnonzero(to_go <= to_go[chosen] * (1.0 - 1.0 / self.horizon))
                chosen = good[gain[self.successor[pairs][good]].argmax()]
            path.append(self.ends[here] + chosen)
            here = self.successor[path[-1]]
        return int(path[0])
