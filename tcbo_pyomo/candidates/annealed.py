"""Annealed candidates (ours): Thompson sampling while much of the budget is left, upper confidence bounds later, ever narrower.

Thompson candidates are spread over every hill that may still be the highest, so that plans made for them explore; with few
moves left such plans keep leaving the hill that was found. Upper-confidence candidates are nested around the best hill, so
that plans made for them refine it; early on there is nothing to refine. With a share s of the budget spent, a plan gets
Thompson candidates with probability

    p(s) = max(0, 1 - 2 s)

and upper-confidence candidates otherwise, with multipliers up to

    beta(s) = 2.5 min(1, 2 (1 - s)):

exploration alone at the start, none in the second half. There the widest bound narrows to nothing: a place that could only
pay off if it is far better than expected is worth a look while what is found there can still be used, and no longer. The
schedule has no constant of any problem in it: it is tied to the budget alone.
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.candidates.search.projected_ascent import Allowed
from tcbo_pyomo.candidates.thompson_sampling import ThompsonSampling
from tcbo_pyomo.candidates.upper_confidence import LARGEST_MULTIPLIER, UpperConfidence
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal

EXPLORING_SHARE = 0.5
"""Share of the budget after which nothing is left to chance, and the bounds begin to narrow."""
NARROWEST = 0.02
"""Of the full width: what is left at the end, so that candidates are still a little apart."""


class Annealed(ThompsonSampling):
    """`count` Thompson candidates or a quarter as many upper-confidence ones, as in the paper (100 and 25)."""

    def __call__(
        self,
        belief: ContinuousBelief,
        space: Allowed | None,
        generator: np.random.Generator,
        share_spent: float = 0.0,
        goal: Goal = MAXIMISE,
    ) -> Array:
        """The candidates of one plan."""
        if generator.random() < 1.0 - share_spent / EXPLORING_SHARE:
            return super().__call__(belief, space, generator, goal=goal)
        left = (1.0 - share_spent) / (1.0 - EXPLORING_SHARE)
        largest = LARGEST_MULTIPLIER * min(1.0, max(NARROWEST, left))
        return UpperConfidence(max(2, self.count // 4), largest)(belief, space, generator, goal=goal)
