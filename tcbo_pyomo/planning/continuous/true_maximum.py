"""The best true value that an episode can reach: what regret refers to in simulations."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.candidates.search.multi_start import global_maxima
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.coordinates import physical
from tcbo_pyomo.planning.continuous.reachable_set import reachable_set
from tcbo_pyomo.problem.continuous import ContinuousProblem

DIFFERENCE = 1e-5
"""Half the distance of the values whose difference gives a slope, as a share of each axis."""


class TrueSurface:
    """The truth of a problem as a function of its inputs, in the order of its goal; one of the `Functions` to maximise.

    Its slopes are differences.
    """

    count = 1

    def __init__(self, problem: ContinuousProblem) -> None:
        self.problem, self.truth = problem, problem.known_truth

    def rough(self) -> TrueSurface:
        """Itself."""
        return self

    def value(self, points: Array) -> Array:
        """How good the truth is at n scaled points, n x 1; those outside the box count as at its edge."""
        return self.problem.goal.smooth_score(self.output(points))[0]

    def output(self, points: Array) -> Array:
        """The true output itself, n x 1."""
        places = physical(self.problem.input_axes, np.clip(points, -0.5, 0.5))
        return np.asarray(self.truth(places), dtype=float).reshape(-1, 1)

    def value_and_gradient(self, points: Array, owner: Integers) -> tuple[Array, Array]:
        """How good the truth is (n), and its slopes (n x d)."""
        number, dimension = points.shape
        aside = DIFFERENCE * np.eye(dimension)
        up, down = (np.clip(points[:, None, :] + side, -0.5, 0.5) for side in (aside, -aside))
        every = self.value(np.vstack([points, up.reshape(-1, dimension), down.reshape(-1, dimension)]))[:, 0]
        above, below = (part.reshape(number, dimension) for part in np.split(every[number:], 2))
        width = np.einsum("nii->ni", up - down)
        return every[:number], (above - below) / np.maximum(width, DIFFERENCE)


def best_true_value(problem: ContinuousProblem) -> float:
    """The best true value among the points that an episode can reach: the largest, the smallest or the closest to a target."""
    return float(TrueSurface(problem).output(best_true_point(problem))[0, 0])


def best_true_point(problem: ContinuousProblem) -> Array:
    """The scaled inputs (1 x p) of the best true value that an episode can reach."""
    surface, dimension = TrueSurface(problem), len(problem.input_axes)
    space = problem.allowed if problem.reaches_everything else reachable_set(problem)
    return global_maxima(surface, dimension, space, along_edges=True).points
