"""What a mechanism says: m(x, theta) with its derivatives by the parameters theta and the coordinates x.

A user writes one function of `x` and `theta`, both mappings by name, in engineering units. Written with Pyomo's functions (or
with + - * / ** alone) it is asked once, with Pyomo variables, and CasADi differentiates the formula. Where there is no formula
(an integrator, a table) a class gives `value` and `theta_gradient` for many points at once; derivatives by x are central
differences of these.

All derivatives are those of the stack (m, dm/dtheta_1, ..., dm/dtheta_p): a mean and p features.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.registry import load_user_object

FIRST_STEP, SECOND_STEP = 1e-5, 1e-4
"""Of an axis, for central differences of first and second order: where rounding and curvature err alike."""


class Response:
    """A user's function of x and theta, named as "my_module:function".

    Parameters
    ----------
    source
        The function or class, or its name; a name is imported when the response is first asked for.
    """

    def __init__(self, source: Callable[..., Any] | str) -> None:
        self.name = source if isinstance(source, str) else f"{source.__module__}:{source.__qualname__}"
        self._given = None if isinstance(source, str) else source
        self._compiled: dict[tuple[tuple[str, ...], tuple[str, ...]], Any] = {}

    def __repr__(self) -> str:
        return f"Response({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Response) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "_given": self._given, "_compiled": {}}

    @cached_property
    def _user(self) -> Any:
        found = load_user_object("response", self.name) if self._given is None else self._given
        if not callable(found):
            raise BadInput(f"response '{self.name}' is a {type(found).__name__}; it must be a function of x and theta")
        return found

    def stack(self, points: Array, theta: Mapping[str, float], widths: Mapping[str, float], order: int) -> Array:
        """The derivatives of some order by x of m and of dm/dtheta: n x (1 + p), x d for each order.

        Parameters
        ----------
        points
            n x d, in engineering units.
        theta
            The parameters by name.
        widths
            The length of each axis by name, in the order of the columns.
        order
            0, 1 or 2.
        """
        if hasattr(self._user, "theta_gradient"):
            found = self._differences(points, theta, widths, order)
        else:
            size = points.shape[1]
            row = np.array(self._formula(tuple(widths), tuple(theta))[order](points.T, np.array(list(theta.values()))))
            # CasADi puts the points side by side, and each derivative is a matrix stored by columns.
            shape = (1 + len(theta),) + (size,) * order
            found = row.reshape(-1, len(points), order="F").T.reshape(len(points), *shape[::-1])
            found = found.transpose(0, *range(found.ndim - 1, 0, -1))
        if not np.isfinite(found).all():
            values = ", ".join(f"{name} {number:.6g}" for name, number in theta.items())
            raise BadInput(f"response '{self.name}' gives numbers that are not finite at {values}; check its range")
        return found

    def expressions(self, x: Mapping[str, Any], theta: Mapping[str, float]) -> list[Any]:
        """dm/dtheta as Pyomo expressions of x, at parameters that are numbers."""
        from pyomo.core.expr.calculus.derivatives import Modes, differentiate
        from pyomo.core.expr.visitor import replace_expressions

        variables = self._variables(theta)
        formula = self._written(x, variables)
        rates = differentiate(formula, wrt_list=list(variables.values()), mode=Modes.reverse_symbolic)
        numbers = {id(variables[name]): number for name, number in theta.items()}
        return [replace_expressions(rate, numbers) for rate in rates]

    def _written(self, x: Mapping[str, Any], theta: Mapping[str, Any]) -> Any:
        """The user's formula of some Pyomo expressions."""
        if hasattr(self._user, "theta_gradient"):
            raise BadInput(f"response '{self.name}' has no Pyomo formula; write a function, or use the interface 'casadi'")
        try:
            return self._user(x, theta)
        except BadInput:
            raise
        except Exception as error:  # Whatever the user's function does wrong.
            why = f"{type(error).__name__}: {error}"
            names = f"x ({', '.join(x)}) and theta ({', '.join(theta)})"
            raise BadInput(f"response '{self.name}' fails for Pyomo variables {names}: {why}") from error

    @staticmethod
    def _variables(names: Any) -> dict[str, Any]:
        from pyomo.core.base.var import ScalarVar

        found = {name: ScalarVar(name=name) for name in names}
        for variable in found.values():
            variable.construct()
        return found

    def _formula(self, coordinates: tuple[str, ...], parameters: tuple[str, ...]) -> list[Any]:
        """CasADi functions of x (d) and theta (p): the stack, and its first and second derivatives by x."""
        if (coordinates, parameters) not in self._compiled:
            self._compiled[coordinates, parameters] = self._compile(coordinates, parameters)
        found: list[Any] = self._compiled[coordinates, parameters]
        return found

    def _compile(self, coordinates: tuple[str, ...], parameters: tuple[str, ...]) -> list[Any]:
        import casadi

        from tcbo_pyomo.models.casadi_expressions import CasadiWriter

        x, theta = casadi.SX.sym("x", len(coordinates)), casadi.SX.sym("theta", len(parameters))
        points, weights = self._variables(coordinates), self._variables(parameters)
        symbols = {id(points[name]): x[i] for i, name in enumerate(coordinates)}
        symbols |= {id(weights[name]): theta[i] for i, name in enumerate(parameters)}

        def leaf(component: Any) -> Any:
            if id(component) in symbols:
                return symbols[id(component)]
            if component.is_fixed() and component.value is not None:
                return float(component.value)
            raise BadInput(f"response '{self.name}': '{component}' is neither a coordinate nor a parameter nor fixed")

        value = CasadiWriter(leaf).write(self._written(points, weights), f"response '{self.name}'")
        stack = [casadi.vertcat(value, casadi.jacobian(value, theta).T)]
        stack += [casadi.vec(casadi.jacobian(stack[0], x))]
        stack += [casadi.vec(casadi.jacobian(stack[1], x))]
        return [casadi.Function("response", [x, theta], [casadi.densify(part)]) for part in stack]

    def _differences(self, points: Array, theta: Mapping[str, float], widths: Mapping[str, float], order: int) -> Array:
        """Central differences of what the user's class gives; n x (1 + p), x d for each order."""
        if order == 0:
            return self._given_stack(points, theta, tuple(widths))
        share = FIRST_STEP if order == 1 else SECOND_STEP
        steps = np.diag([share * width for width in widths.values()])
        if order == 1:
            columns = [
                (self._differences(points + s, theta, widths, 0) - self._differences(points - s, theta, widths, 0))
                / (2.0 * s.sum())
                for s in steps
            ]
            return np.stack(columns, axis=-1)
        found = np.empty((len(points), 1 + len(theta), len(steps), len(steps)))
        for i, one in enumerate(steps):
            for j, two in enumerate(steps):
                corners = [
                    sign * self._differences(points + shift, theta, widths, 0)
                    for sign, shift in ((1, one + two), (-1, one - two), (-1, two - one), (1, -one - two))
                ]
                found[:, :, i, j] = sum(corners) / (4.0 * one.sum() * two.sum())
        return found

    def _given_stack(self, points: Array, theta: Mapping[str, float], names: tuple[str, ...]) -> Array:
        user = self._user() if isinstance(self._user, type) else self._user
        x = {name: points[:, i] for i, name in enumerate(names)}
        rates = user.theta_gradient(x, dict(theta))
        missing = [name for name in theta if name not in rates]
        if missing:
            raise BadInput(f"response '{self.name}': theta_gradient gives nothing for {', '.join(missing)}")
        columns = [user.value(x, dict(theta)), *(rates[name] for name in theta)]
        return np.column_stack([np.broadcast_to(np.asarray(c, dtype=float), len(points)) for c in columns])
