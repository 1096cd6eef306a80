"""What results teach about the model itself: from which of them it learns, which are doubted, and what was learned."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import section
from tcbo_pyomo.knowledge.doubts import doubts
from tcbo_pyomo.knowledge.past_knowledge import PastKnowledge
from tcbo_pyomo.knowledge.what_learns import learner_for
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.settings import Settings
from tcbo_pyomo.surrogate.kernel_factors import Learned
from tcbo_pyomo.surrogate.learner import Learner, learned_from


class TaughtKnowledge(PastKnowledge):
    """The part of `Knowledge` that learns."""

    results_per_input: ClassVar[int] = 0
    """So many results are needed for each input before a lengthscale may become longer than declared."""

    settings: Settings
    _learned: Learned | None

    @cached_property
    def learner(self) -> Learner | None:
        """What learns around the declared prior; None where the prior stays as it was declared."""
        past = len(self.history.past)
        return learner_for(self.problem, self.settings.surrogate.fit, past, self.results_per_input)

    @property
    def learned(self) -> Learned | None:
        """What was learned from the results; None where nothing learns."""
        if self.learner is not None and self._learned is None:
            with section("surrogate"):
                self._learned = self.learner(*self._taught())
        return self._learned

    @property
    def noise_factor(self) -> float:
        """On every declared noise variance: what was learned about it, on the scale that is modelled."""
        learned = 1.0 if self.learned is None else self.learned.factors.noise
        return self.scale.noise_factor * learned

    @abstractmethod
    def scaled_points(self, locations: Sequence[Location]) -> Array:
        """Locations as scaled points, n x d."""

    def results(self) -> tuple[Array, Array, Array]:
        """All results as they are modelled: scaled points (n x d), values and declared noise variances.

        Past experiments come first, then what was told, in the order told: so what follows from them depends on neither when
        past experiments were added nor what was removed since.
        """
        told = self.history.measurements
        points = self.scaled_points([move.arrived for move, _ in told])
        values = np.array([self.scale.modelled(value) for _, value in told], dtype=float)
        declared = [self.problem.noise_variance(move.decision, move.arrived) for move, _ in told]
        found = points, values, self.scale.noise_factor * np.array(declared, dtype=float)
        if not self.history.past:
            return found
        both = zip(self.past_results(), found, strict=True)
        first, second, third = (np.concatenate(parts) for parts in both)
        return first, second, third

    def believed_results(self) -> tuple[Array, Array, Array]:
        """All results with the noise variances that are believed now."""
        points, values, noise = self.results()
        return points, values, noise * (self.noise_factor / self.scale.noise_factor)

    def _doubted(self) -> Array:
        """What is added to the noise of each result told; nothing where nothing learns."""
        return np.zeros(len(self.history.told)) if self.learner is None else self._doubts_of(len(self.history.told))

    def _doubts_of(self, first: int) -> Array:
        """The doubts after so many results were told."""
        found = self.history.surprises[:first]
        if not any(found):
            return np.zeros(first)
        return doubts([value for _, value in self.history.measurements[:first]], found, self.scale)

    @property
    def left_out_of_learning(self) -> int:
        """How many of the results that the model was learned from are doubted, so that nothing was learned from them."""
        return 0 if self.learner is None else int(np.isinf(self._taught()[2]).sum())

    def past_doubts(self) -> Array:
        """What is added to the noise of each past experiment."""
        rows = [result for _, result in self.history.past.rows]
        if self.learner is None or not rows:
            return np.zeros(len(rows))
        return doubts([result.value for result in rows], [result.surprise for result in rows], self.scale)

    def _taught(self) -> tuple[Array, Array, Array]:
        """The results that are learned from; those that are doubted have infinite noise: they teach nothing."""
        points, values, noise = self.results()
        used, past = learned_from(len(values)), self.past_doubts()
        added = np.concatenate([past, self._doubts_of(max(0, used - len(past)))])[:used]
        return points[:used], values[:used], np.where(added > 0.0, np.inf, noise[:used])
