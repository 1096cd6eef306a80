"""The visitation d of a policy: how often it is expected to use each state-action pair at each step (section 2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Integers

SHORT = 200
"""Up to about so many entries are searched faster as a list than as an array."""


@dataclass(frozen=True, eq=False)
class Visitation:
    """Non-zero entries of d_h(x, a): parallel arrays of step, pair and probability."""

    step: Integers
    pair: Integers
    probability: Array

    def expected_counts(self, number_of_pairs: int) -> Array:
        """Expected number of visits of each pair over all steps."""
        return np.bincount(self.pair, self.probability, minlength=number_of_pairs).astype(float)

    def at_step(self, step: int) -> tuple[Integers, Array]:
        """Pairs used at one step and their probabilities."""
        if len(self.step) <= SHORT:
            steps = self.step.tolist()
            if steps.count(step) == 1:
                first = steps.index(step)
                return self.pair[first : first + 1], self.probability[first : first + 1]
        here = self.step == step
        return self.pair[here], self.probability[here]

    @property
    def is_path(self) -> bool:
        """Whether the visitation is one unsplit path."""
        return len(np.unique(self.step)) == len(self.step)


def mix(components: Sequence[tuple[float, Visitation]]) -> Visitation:
    """The convex combination of visitations, with equal (step, pair) entries merged."""
    if len(components) == 1:
        return components[0][1]
    step = np.concatenate([d.step for _, d in components])
    pair = np.concatenate([d.pair for _, d in components])
    probability = np.concatenate([weight * d.probability for weight, d in components])
    (step, pair), position = np.unique(np.stack([step, pair]), axis=1, return_inverse=True)
    return Visitation(step, pair, np.bincount(position.ravel(), probability).astype(float))
