"""The policy of a visitation, by marginalisation: pi_h(a|x) = d_h(x, a) / sum_a d_h(x, a) (section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.plant.process import Process


@dataclass(frozen=True)
class Policy:
    """A (possibly random) Markov policy that depends on the step."""

    process: Process
    visitation: Visitation

    def action_probabilities(self, step: int, state: int) -> tuple[Integers, Array]:
        """The pairs the policy may choose in a state before a step, and their probabilities."""
        pair, probability = self.visitation.at_step(step)
        if len(pair) == 1 and probability[0] == 1.0 and self.process.pair_state[pair[0]] == state:
            # One unsplit path, the usual plan: there is nothing to select and to add up.
            return pair, probability
        here = self.process.pair_state[pair] == state
        total = probability[here].sum()
        if not total > 0.0:
            raise BadInput(f"the policy never meets state '{self.process.labels[state]}' at step {step}")
        return pair[here], probability[here] / total

    def sample(self, step: int, state: int, generator: np.random.Generator) -> int:
        """Draw one pair."""
        pair, probability = self.action_probabilities(step, state)
        return int(pair[0]) if len(pair) == 1 else int(generator.choice(pair, p=probability))
