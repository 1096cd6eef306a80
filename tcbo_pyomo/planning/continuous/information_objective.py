"""The linearised utility of a path in closed form (remark in the appendix "Linearizing the objective").

    - sum_h (Cov[f(z), f(x_h)] - Cov[f(z'), f(x_h)])^2 / sigma^2  =  - sum_h s(x_h)^2 / sigma^2,   s(x) =
    sum_j w_j k(x, c_j)

Every posterior covariance with fixed data is such a weighted sum over centres c_j: the pair z, z' and the
points measured or visited.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.kernel_sums import Jet, sections
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


class InformationObjective:
    """- sum_h s(x_h)^2 / noise_variance.

    Parameters
    ----------
    kernel
        Prior covariance on scaled points.
    centers
        m x d scaled points c_j.
    weights
        m weights w_j.
    noise_variance
        sigma^2 of the planned measurements.
    """

    counts_every_measurement = True

    def __init__(self, kernel: Kernel, centers: Array, weights: Array, noise_variance: float) -> None:
        self.kernel = kernel
        self.centers = np.array(centers, dtype=float)
        self.weights = np.array(weights, dtype=float)
        if self.centers.ndim != 2 or self.weights.shape != (len(self.centers),):
            raise BadInput(
                f"information objective: centers {self.centers.shape} and weights {self.weights.shape} must be m x d and m"
            )
        if not (np.isfinite(self.centers).all() and np.isfinite(self.weights).all()):
            raise BadInput("information objective: centers and weights must be finite")
        if not (math.isfinite(noise_variance) and noise_variance > 0):
            raise BadInput(f"information objective: noise_variance {noise_variance!r} must be positive and finite")
        self.noise_variance = float(noise_variance)
        self._sections = sections(kernel, self.centers)
        self._last: tuple[bytes, Jet] | None = None

    def value(self, points: Array) -> float:
        """The sum over n points."""
        return -float((self._jet(points).value ** 2).sum()) / self.noise_variance

    def gradient(self, points: Array) -> Array:
        """-2 s grad s / sigma^2, n x d."""
        jet = self._jet(points)
        return (-2.0 / self.noise_variance) * jet.value[:, None] * jet.gradient

    def hessian(self, points: Array) -> Array:
        """-2 (grad s grad s^T + s Hess s) / sigma^2, n x d x d."""
        jet = self._jet(points)
        outer = jet.gradient[:, :, None] * jet.gradient[:, None, :]
        return (-2.0 / self.noise_variance) * (outer + jet.value[:, None, None] * jet.hessian)

    def expression(self, model: ConcreteModel, steps: Sequence[int]) -> Any:
        """The same sum as an explicit Pyomo expression."""
        from tcbo_pyomo.models.information_expression import information_expression

        def covariance(point: Sequence[Any]) -> Any:
            return self.kernel.expression(point, self.centers, self.weights)

        return information_expression(model, covariance, self.noise_variance, steps)

    def _jet(self, points: Array) -> Jet:
        """s and its derivatives; a solver asks for value, gradient and Hessian at the same points in turn."""
        key = points.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self._sections.jet(points, self.weights)
        return self._last[1]
