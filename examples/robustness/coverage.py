"""Do the candidates and the stated ± hold the truth? `python coverage.py [finite|continuous] [FUNCTIONS] [FIRST SEED]`

Functions are drawn from priors that the user did not declare exactly: lengthscales within a factor 3 of what is guessed (0.3 of
an axis), a declared range within a factor 2 of the range of the function, its middle off by up to a quarter of it. A campaign
looks for the maximum: 10 episodes of 10 moves on the grid of the Knorr reactor, or 40 moves of at most 0.15 per coordinate in
the unit square. Then: is the best state among the candidates (in the square: does the credible band hold a point within 1 % of
the range of the best value), and is the truth at the recommendation within two standard deviations of what is stated?
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np

from tcbo_pyomo import (
    BoxActions,
    ContinuousProblem,
    Coordinate,
    LinearDynamics,
    PlainPrior,
    SquaredExponential,
    load_problem,
    run_campaign,
    settings_from,
)
from tcbo_pyomo.problem.drawn_truth import drawn_function, drawn_values

NOISE_SHARE = 0.02
"""Standard deviation of a measurement, as a share of the range of the function."""
WIDTH = 2.0
NEAR = 0.01
"""Share of the range by which a place may be worse than the best one and still count as it."""
MOVES, BOX = 40, 0.15
AXES = (Coordinate("u0", 0.0, 1.0), Coordinate("u1", 0.0, 1.0))
FINE = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 101)] * 2), axis=-1).reshape(-1, 2)
"""Where a continuous plant is looked at afterwards."""


def main(functions: int, first: int = 1, kind: str = "finite") -> tuple[float, float]:
    """Print both shares; the share of campaigns whose candidates hold the maximum, and whose statement holds the truth."""
    found = []
    for seed in range(first, first + functions):
        found.append((on_a_grid if kind == "finite" else in_a_square)(seed))
        if len(found) % 20 == 0 or len(found) == functions:
            held, covered = np.mean(found, axis=0).tolist()
            sure = [1.96 * math.sqrt(share * (1.0 - share) / len(found)) for share in (held, covered)]
            print(
                f"of {len(found)} {kind} campaigns: maximum among the candidates {held:.1%} ± {sure[0]:.1%}, "
                f"truth within 2 sd {covered:.1%} ± {sure[1]:.1%}",
                flush=True,
            )
    return held, covered


def on_a_grid(seed: int) -> tuple[bool, bool]:
    """One campaign on a finite plant: are the candidates right, and is the statement?"""
    generator = np.random.default_rng(seed)
    problem = load_problem("knorr_pyrazole", "immediate", seed)
    lengths = tuple(0.3 * 3.0 ** generator.uniform(-1.0, 1.0, 2))
    truth = drawn_values(SquaredExponential(1.0, lengths), problem.process.scaled_states, generator)
    noise = np.full_like(problem.process.noise_variance, (NOISE_SHARE * np.ptp(truth)) ** 2)
    process = replace(problem.process, noise_variance=noise)
    plant = replace(problem, process=process, truth=truth, kernel=None, prior=_declared(truth, generator))
    settings = settings_from(dict(problem.settings), {"planner": {"linear": {"solver": "dynamic_programming"}}})
    campaign = run_campaign(plant, settings, seed).campaign
    where = campaign.recommendation
    mean, deviation = campaign.knowledge.predict([where])
    return plant.best_state in campaign.candidates, abs(mean[0] - truth[where]) <= WIDTH * deviation[0]


def in_a_square(seed: int) -> tuple[bool, bool]:
    """One campaign on a continuous plant: does the band hold a place as good as the best, and is the statement right?"""
    generator = np.random.default_rng(seed)
    lengths = tuple(0.3 * 3.0 ** generator.uniform(-1.0, 1.0, 2))
    dynamics = LinearDynamics.free_moves(2, BoxActions(BOX))
    start = {axis.name: axis.lower for axis in AXES}
    function, maximum = drawn_function(SquaredExponential(1.0, lengths), AXES, None, generator)
    truth = function(FINE)
    declared = _declared(truth, generator)
    told = {"prior": declared, "truth": function, "maximum": maximum}
    plant = ContinuousProblem("square", AXES, dynamics, start, MOVES, 1, **told)
    campaign = run_campaign(plant, seed=seed).campaign
    mean, deviation = campaign.knowledge.predict(FINE - 0.5)
    good = truth >= maximum - NEAR * np.ptp(truth)
    held = (mean + WIDTH * deviation)[good].max() >= (mean - WIDTH * deviation).max()
    where = campaign.recommendation
    (stated,), (sd,) = campaign.knowledge.predict([where])
    return bool(held), bool(abs(stated - plant.true_value(where)) <= WIDTH * sd)


def _declared(truth: np.ndarray, generator: np.random.Generator) -> PlainPrior:
    """A range within a factor 2 of the true one, somewhat off; the noise of a measurement is known."""
    width, middle = float(np.ptp(truth)), 0.5 * float(truth.min() + truth.max())
    declared, off = width * 2.0 ** generator.uniform(-1.0, 1.0), 0.25 * width * generator.uniform(-1.0, 1.0)
    return PlainPrior((middle + off - 0.5 * declared, middle + off + 0.5 * declared), NOISE_SHARE * width)


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word not in ("finite", "continuous")]
    chosen = "continuous" if "continuous" in sys.argv[1:] else "finite"
    main(int(given[0]) if given else 200, int(given[1]) if len(given) > 1 else 1, chosen)
