"""A mechanism with uncertain parameters as prior: f(x) = m(x, theta), theta ~ N(estimate, covariance), linearised in theta.

At theta0 the prior mean is m(x, theta0) + J(x) (estimate - theta0) and the covariance J(x) S J(x')^T, J = dm/dtheta: Gaussian
weights are the parameters. Add a stationary kernel for what the mechanism does not explain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.surrogate.kernels.known_features import KnownFeatures
from tcbo_pyomo.surrogate.response import Response


@dataclass(frozen=True)
class Mechanism(KnownFeatures):
    """A user's mechanism; `Mechanism.from_estimate` takes what `parmest` returns.

    Parameters
    ----------
    response
        m(x, theta): a function of two mappings by name, in engineering units, or its name "my_module:function".
    theta_names, theta, covariance
        The parameters, their estimate, and its covariance (p x p).
    coordinate_names, lower, upper
        The coordinates of the plant in their order, with their bounds.
    linearised_at
        Where the mechanism is linearised; empty for the estimate. A campaign changes it as results come in.
    """

    response: Any
    theta_names: tuple[str, ...]
    theta: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    coordinate_names: tuple[str, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    linearised_at: tuple[float, ...] = ()

    vectors: ClassVar[tuple[str, ...]] = ("theta", "lower", "upper", "linearised_at")

    def __post_init__(self) -> None:
        if not isinstance(self.response, Response):
            object.__setattr__(self, "response", Response(self.response))
        numbers = ["theta", "lower", "upper", *(["linearised_at"] if self.linearised_at else [])]
        self._check_numbers(numbers, "finite numbers", lambda number: True)
        size = len(self.theta_names)
        for name, wanted in (("theta", size), ("lower", len(self.coordinate_names)), ("upper", len(self.coordinate_names))):
            if np.shape(getattr(self, name)) != (wanted,):
                raise self._refused(name, f"{wanted} numbers, one per name")
        if len(self.linearised_at) not in (0, size):
            raise self._refused("linearised_at", f"empty or {size} numbers")
        matrix = np.array(self.covariance, dtype=float)
        largest = np.abs(matrix).max(initial=0.0)
        if matrix.shape != (size, size) or not np.isfinite(matrix).all() or largest <= 0:
            raise self._refused("covariance", f"{size} x {size} finite numbers that are not all zero")
        if np.abs(matrix - matrix.T).max() > 1e-8 * largest or np.linalg.eigvalsh(matrix)[0] < -1e-8 * largest:
            raise self._refused("covariance", "symmetric and positive semi-definite")
        object.__setattr__(self, "covariance", tuple(tuple(row) for row in (0.5 * (matrix + matrix.T)).tolist()))

    @classmethod
    def from_estimate(
        cls,
        response: Callable[..., Any] | str,
        theta: Mapping[str, float],
        covariance: Any,
        coordinates: Sequence[Coordinate],
    ) -> Mechanism:
        """From an estimate such as `parmest` returns it.

        Parameters
        ----------
        response
            m(x, theta).
        theta
            By name: a mapping or a pandas Series (`theta_est`).
        covariance
            A pandas DataFrame with the same names (`cov_est`), or rows in the order of `theta`.
        coordinates
            Those of the plant.
        """
        estimate = {str(name): float(number) for name, number in dict(theta).items()}
        if hasattr(covariance, "loc"):
            missing = [name for name in estimate if name not in covariance.index or name not in covariance.columns]
            if missing:
                raise BadInput(f"covariance has no row and column for {', '.join(missing)}; it needs one per entry of theta")
            covariance = covariance.loc[list(estimate), list(estimate)].to_numpy()
        rows = tuple(tuple(float(entry) for entry in row) for row in np.asarray(covariance, dtype=float))
        names, lower, upper = zip(*((c.name, float(c.lower), float(c.upper)) for c in coordinates), strict=True)
        return cls(response, tuple(estimate), tuple(estimate.values()), rows, names, lower, upper)

    def at(self, theta: Sequence[float]) -> Mechanism:
        """The same prior, linearised at other parameters."""
        return replace(self, linearised_at=tuple(float(number) for number in theta))

    @property
    def linearisation(self) -> Array:
        """Where the mechanism is linearised (p)."""
        return np.array(self.linearised_at or self.theta)

    @property
    def weights(self) -> dict[str, float]:
        """The estimate by name."""
        return dict(zip(self.theta_names, self.theta, strict=True))

    @property
    def weight_covariance(self) -> Array:
        """S, p x p."""
        return np.array(self.covariance)

    def features(self, points: Array) -> Array:
        """dm/dtheta of n points, n x p."""
        return self._stack(points, 0)[:, 1:]

    def features_gradient(self, points: Array) -> Array:
        """First derivatives of the features, n x p x d."""
        return self._stack(points, 1)[:, 1:]

    def features_hessian(self, points: Array) -> Array:
        """Second derivatives of the features, n x p x d x d."""
        return self._stack(points, 2)[:, 1:]

    def features_expression(self, point: Sequence[Any]) -> list[Any]:
        """dm/dtheta of one point, from d Pyomo expressions."""
        bounds = zip(self.coordinate_names, point, self.lower, self.upper, strict=True)
        x = {name: low + (scaled + 0.5) * (high - low) for name, scaled, low, high in bounds}
        return self.response.expressions(x, dict(zip(self.theta_names, self.linearisation.tolist(), strict=True)))

    def mean(self, points: Array) -> Array:
        """Prior mean of n points."""
        return self._stack(points, 0) @ self._mean_weights

    def mean_gradient(self, points: Array) -> Array:
        """First derivatives of the prior mean, n x d."""
        return np.einsum("npd,p->nd", self._stack(points, 1), self._mean_weights)

    def to_dict(self) -> dict[str, Any]:
        """Plain data; the response by its name."""
        named: dict[str, Any] = {**super().to_dict(), "response": self.response.name}
        return named

    @property
    def _mean_weights(self) -> Array:
        return np.append(1.0, np.array(self.theta) - self.linearisation)

    def _stack(self, points: Array, order: int) -> Array:
        if points.shape[1] != len(self.lower):
            raise self._refused("coordinate_names", f"{points.shape[1]} names, one per coordinate of the plant")
        lower, width = np.array(self.lower), np.array(self.upper) - np.array(self.lower)
        theta = dict(zip(self.theta_names, self.linearisation.tolist(), strict=True))
        widths = dict(zip(self.coordinate_names, width.tolist(), strict=True))
        found: Array = self.response.stack(lower + (points + 0.5) * width, theta, widths, order)
        for axis in range(order):
            found = found * width.reshape((-1,) + (1,) * axis)
        return found
