"""One whole planning step by dynamic programming, against the same algebra as bare numpy."""

from __future__ import annotations

import numpy as np
from timing import Comparison, compare

from tcbo_pyomo import Campaign, load_problem, settings_from
from tcbo_pyomo.plant.situation import Situation


def comparisons(repeats: int, quick: bool = False) -> list[Comparison]:
    """All rows of this file."""
    repeats *= 10  # A step takes a millisecond or less.
    return [_row("Knorr", "knorr_pyrazole", repeats), _row("lake", "lake_ypacarai", repeats)]


def _row(label: str, name: str, repeats: int) -> Comparison:
    problem = load_problem(name, feedback="immediate")
    settings = settings_from(dict(problem.settings), {"planner": {"linear": {"solver": "dynamic_programming"}}})
    campaign = Campaign(problem, settings, seed=1)
    knowledge, process = campaign.knowledge, problem.process
    situation, generator = Situation((problem.start_state,)), np.random.default_rng(0)
    states = np.random.default_rng(1).integers(0, process.number_of_states, repeats + 1)
    values, noise = problem.truth[states], float(process.noise_variance[0])

    def ours(number: int) -> None:
        # What a step does: condition on the last result, find the candidates, define the utility, plan.
        knowledge.belief.observe(int(states[number]), float(values[number]), noise)
        knowledge.forget()
        campaign.method.next_decision(situation, knowledge, generator)

    bare = BareStep(problem)

    def reference(number: int) -> None:
        bare.step(int(states[number]), float(values[number]), noise)

    return compare(
        f"planning step, {label}, DP", ours, "the same algebra as bare numpy", reference, repeats, "at most 3"
    )


class BareStep:
    """Posterior, candidates, utility, gradient, backward induction and first move on plain arrays, without any check."""

    def __init__(self, problem) -> None:
        process = problem.process
        points = process.scaled_states
        eigenvalues, vectors = np.linalg.eigh(problem.kernel(points, points))
        keep = eigenvalues > 1e-14 * eigenvalues[-1]
        self.factor = vectors[:, keep] * np.sqrt(eigenvalues[keep])
        self.mean = problem.kernel.mean(points)
        self.width = problem.confidence_width
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
        spread = self.width * np.sqrt((self.factor**2).sum(axis=1))
        candidates = np.flatnonzero(self.mean + spread >= (self.mean - spread).max())
        rows = self.factor[candidates]
        gram = rows @ rows.T
        norms = gram.diagonal()
        first, second = np.unravel_index((norms[:, None] + norms - 2 * gram).argmax(), gram.shape)
        squares = (self.factor @ (rows[first] - rows[second])) ** 2
        cost = -squares[self.successor] / noise
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
                arrived = self.successor[pairs][good]
                chosen = good[(squares[arrived] / ((self.factor[arrived] ** 2).sum(axis=1) + noise)).argmax()]
            path.append(self.ends[here] + chosen)
            here = self.successor[path[-1]]
        return int(path[0])
