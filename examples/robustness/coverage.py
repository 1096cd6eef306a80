"""Do the candidates and the stated uncertainty hold the truth? `python coverage.py [FUNCTIONS]`

Functions are drawn from priors that the user did not declare exactly: lengthscales within a factor 3 of what is guessed (0.3 of
an axis), a declared range within a factor 2 of the range of the function, its middle off by up to a quarter of it. A campaign
of 10 episodes of 10 moves on the grid of the Knorr reactor looks for the maximum; then: is the best state among the
candidates, and is the truth at the recommendation within two standard deviations of what is stated?
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from tcbo_pyomo import PlainPrior, SquaredExponential, load_problem, run_campaign, settings_from
from tcbo_pyomo.problem.drawn_truth import drawn_values

NOISE_SHARE = 0.02
"""Standard deviation of a measurement, as a share of the range of the function."""
WIDTH = 2.0


def main(functions: int, first: int = 1) -> tuple[float, float]:
    """Print both shares; the share of campaigns whose candidates hold the maximum, and whose statement holds the truth."""
    held, covered = [], []
    for seed in range(first, first + functions):
        generator = np.random.default_rng(seed)
        problem = load_problem("knorr_pyrazole", "immediate", seed)
        lengths = tuple(0.3 * 3.0 ** generator.uniform(-1.0, 1.0, 2))
        truth = drawn_values(SquaredExponential(1.0, lengths), problem.process.scaled_states, generator)
        width, middle = np.ptp(truth), 0.5 * (truth.min() + truth.max())
        declared, off = width * 2.0 ** generator.uniform(-1.0, 1.0), 0.25 * width * generator.uniform(-1.0, 1.0)
        noise = np.full_like(problem.process.noise_variance, (NOISE_SHARE * width) ** 2)
        process = replace(problem.process, noise_variance=noise)
        ends = middle + off - 0.5 * declared, middle + off + 0.5 * declared
        prior = PlainPrior((float(ends[0]), float(ends[1])), NOISE_SHARE * float(width))
        plant = replace(problem, process=process, truth=truth, kernel=None, prior=prior)
        settings = settings_from(dict(problem.settings), {"planner": {"linear": {"solver": "dynamic_programming"}}})
        campaign = run_campaign(plant, settings, seed).campaign
        where = campaign.recommendation
        mean, deviation = campaign.knowledge.predict([where])
        held.append(plant.best_state in campaign.candidates)
        covered.append(abs(mean[0] - truth[where]) <= WIDTH * deviation[0])
    shares = float(np.mean(held)), float(np.mean(covered))
    print(f"of {functions} campaigns: maximum among the candidates {shares[0]:.1%}, truth within 2 sd {shares[1]:.1%}")
    return shares


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
