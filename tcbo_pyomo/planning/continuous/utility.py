"""The utility of planned paths on a continuous plant (section 3.2): as `Utility`, with points in place of states.

A plan is a mixture of paths. A path with weight q counts as q measurements at each of its points still to come, which is one
measurement with noise variance sigma^2 / q there. The gradient at a point x is that of the maximising pair of candidates
(appendix, "Linearizing the objective"): - (Cov[f(z), f(x)] - Cov[f(z'), f(x)])^2 / sigma^2.

A plan from x_k informs at x_{k+1} .. x_H. When moves inform about the state they leave (`utility.information: departure`, as
in `planning/finite/move_information.py`) it informs at x_k .. x_H, and the history counts the states left before. No plan can
change where it is, so that this adds the same to the linear function of every path; what differs is the variance at which the
utility is linearised, which does not know yet that the plant has been at x_k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.planning.continuous.information_objective import InformationObjective
from tcbo_pyomo.planning.finite.farthest_pair import TIE
from tcbo_pyomo.planning.ties import one_of_the_largest
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal

OTHERS = 2
"""Candidates beside the pair to which shortest paths are tried as well."""
PathMixture = list[tuple[float, Array]]
"""Weighted paths, each k x d scaled points to come."""
Stage = Literal["blind", "exploring", "refining"]
"""Before the first result, before and after the results of half the budget are in."""


@dataclass(frozen=True)
class PathTangent:
    """The utility near one plan.

    Attributes
    ----------
    value
        The utility there.
    first, second
        The pair of candidate points (d) being separated; `second` is None for a single one.
    objective
        The gradient as a function of a path.
    others
        The few other candidates (k x d) where a measurement would teach most about the pair.
    """

    value: float
    first: Array
    second: Array | None
    objective: InformationObjective
    others: Array

    @property
    def separated(self) -> list[Array]:
        """The points being told apart."""
        return [self.first] if self.second is None else [self.first, self.second]

    @property
    def targets(self) -> Array:
        """Where the information is: points to aim at, those being told apart first."""
        return np.vstack([*self.separated, self.others])


class TrajectoryUtility:
    """U as a function of planned paths.

    Parameters
    ----------
    surrogate
        The belief in which pending visits count as made; only its variances matter.
    candidates
        K x d scaled points, Z.
    objective
        "differences" or "g_allocation".
    noise_variance
        Of one measurement.
    generator
        Breaks ties between equally uncertain pairs.
    stage
        How much is known, for the choice of a first move.
    present
        The scaled point (d) where the plant is, if every plan informs about it as well.
    measured
        The belief with means, and with visits where they were measured; `surrogate` when not given. The next measurement is
        judged by it.
    goal
        Which values are better, for the choice of a first move; U itself does not depend on it.
    """

    def __init__(
        self,
        surrogate: ContinuousBelief,
        candidates: Array,
        objective: str,
        noise_variance: float,
        generator: np.random.Generator,
        stage: Stage = "exploring",
        present: Array | None = None,
        measured: ContinuousBelief | None = None,
        goal: Goal = MAXIMISE,
    ) -> None:
        self.goal = goal
        self.measured = measured or surrogate
        self.surrogate, self.candidates, self.stage = surrogate, candidates, stage
        self.differences = objective == "differences" and len(candidates) > 1
        self.noise_variance, self.generator, self.present = noise_variance, generator, present

    @timed("utility")
    def value(self, plan: PathMixture | None = None) -> float:
        """U of a plan; None for the history alone."""
        return self._worst(self._given(plan))[2]

    @timed("utility")
    def linearise(self, plan: PathMixture | None = None) -> PathTangent:
        """U and its gradient near a plan; None for the history alone."""
        surrogate = self._given(plan)
        first, second, value = self._worst(surrogate)
        covariance = surrogate.covariance_with(first, second)
        objective = InformationObjective(
            covariance.kernel, covariance.centers, covariance.weights[:, 0], self.noise_variance
        )
        teaches = covariance.value(self.candidates)[:, 0] ** 2
        known = [(self.candidates == z).all(axis=1) for z in (first, second) if z is not None]
        order = [i for i in np.argsort(-teaches, kind="stable") if not any(same[i] for same in known)]
        return PathTangent(value, first, second, objective, self.candidates[order[:OTHERS]])

    def _given(self, plan: PathMixture | None) -> ContinuousBelief:
        if plan is None:
            return self.surrogate
        planned = self.surrogate.copy()
        if self.present is not None:
            planned.observe(self.present, None, self.noise_variance / sum(weight for weight, _ in plan))
        for weight, path in plan:
            for point in path:
                planned.observe(point, None, self.noise_variance / weight)
        return planned

    def _worst(self, surrogate: ContinuousBelief) -> tuple[Array, Array | None, float]:
        if not self.differences:
            variance = surrogate.variance(self.candidates)
            state = one_of_the_largest(variance, TIE, self.generator)
            return self.candidates[state], None, float(variance[state])
        # Candidates may coincide; then every difference is rounding, and any pair is as good. Only one of (i, j) and (j, i)
        # is looked at: the largest must not be one of the other half.
        left, right = np.triu_indices(len(self.candidates), 1)
        variances = surrogate.difference_variances(self.candidates)[left, right]
        pair = one_of_the_largest(variances, TIE, self.generator)
        return self.candidates[left[pair]], self.candidates[right[pair]], float(variances[pair])
