"""IPOPT from the casadi wheel: the default, with nothing to install but pip packages.

The constraints are CasADi expressions with exact sparse derivatives; the objective is numpy in closed form,
called back for its value, gradient and block-diagonal Hessian. The solver is built once and re-solved with
new objectives, starts and bounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import casadi
import numpy as np

from tcbo_pyomo.errors import BadInput, SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.solvers.bounds import Bounds
from tcbo_pyomo.solvers.nonlinear.called_back import CalledBack
from tcbo_pyomo.solvers.nonlinear.ipopt_options import DEFAULTS, FOR_MODELS, in_words, ipopt_options
from tcbo_pyomo.solvers.nonlinear.path_objective import ScaledObjective
from tcbo_pyomo.solvers.nonlinear.solver import Answer, NonlinearSolver


class IpoptCasadi(NonlinearSolver):
    """IPOPT through CasADi; its `linear_solver` is mumps or spral, and 300 iterations are allowed when not told otherwise."""

    name = "ipopt (casadi)"

    def prepare(self) -> None:
        """Compile the programme."""
        self._objective: CalledBack | None = None
        self._solver = self._build(ipopt_options(self.options, self.time_limit, self.max_iterations))
        # Arrays are handed over as they are: CasADi's own matrices would take a sixth of a short solve.
        # Any: the type stubs of CasADi want two arguments for one buffer.
        buffer: Any = self._solver.buffer()
        self._buffer, self._run = buffer

    def optimise(self, objective: ScaledObjective, x0: Array, bounds: Bounds) -> Answer:
        """Run IPOPT; the callbacks find the objective of this solve in `_objective`."""
        with CalledBack(objective) as self._objective:
            values = self._call(x0, bounds)
        statistics = self._buffer.stats()
        iterations = int(statistics.get("iter_count", 0))
        if values is None:
            return Answer(x0, "failed", iterations)
        return Answer(values, in_words(statistics["return_status"]), iterations)

    @timed("NLP solve")
    def _call(self, x0: Array, bounds: Bounds) -> Array | None:
        given = [x0, self.programme.parameter_values(), *bounds]
        # Kept until the solve is over: CasADi reads them where they are.
        arguments = [np.ascontiguousarray(array, dtype=float) for array in given]
        values = np.empty(len(x0))
        for place, array in enumerate(arguments):
            self._buffer.set_arg(place, array.data)
        self._buffer.set_res(0, values.data)
        try:
            self._run()
        except RuntimeError as error:
            # CasADi raises where a callback has failed at the very first point; what was kept says more.
            if self._objective is None or not self._objective.stopped:
                raise SolverFailed(f"solver {self.name} failed: {_reason(error)}") from error
            return None
        return values

    def _build(self, options: dict[str, Any]) -> casadi.Function:
        programme, terms = self.programme, self.terms
        number, rows = len(programme.columns), len(programme.rows)
        pattern = casadi.Sparsity.triplet(number, number, *(p.tolist() for p in terms.hessian_pattern))
        dense = casadi.Sparsity.dense(number, 1)
        scalar = casadi.Sparsity.dense(1, 1)
        value = _Evaluation(self, "objective", [dense], scalar, lambda o, x: o.value(x))
        gradient = _Evaluation(self, "objective_gradient", [dense], dense, lambda o, x: o.gradient(x))
        hessian = _Evaluation(self, "objective_hessian", [dense], pattern, lambda o, x: o.hessian(x))
        outputs = [number, 1, rows, number, rows, programme.parameter_symbols.numel()]
        stop = _Evaluation(self, "stop", [casadi.Sparsity.dense(n, 1) for n in outputs], scalar, lambda o, x: 0.0)
        # CasADi keeps no reference to Python callbacks.
        self._callbacks = (value, gradient, hessian, stop)

        x = casadi.MX.sym("x", number)
        p = casadi.MX.sym("p", programme.parameter_symbols.numel())
        lam_f, lam_g = casadi.MX.sym("lam_f"), casadi.MX.sym("lam_g", rows)
        g = programme.g(x, p)
        lagrangian = lam_f * hessian(x) + programme.hess(x, p, lam_g)
        # IPOPT's interface takes the gradient alone from here. Were the value ever used, NaN would end the solve at once.
        unused = casadi.MX(np.nan)
        settings: dict[str, Any] = {
            "grad_f": casadi.Function("nlp_grad_f", [x, p], [unused, gradient(x)], ["x", "p"], ["f", "grad_f_x"]),
            "jac_g": casadi.Function("nlp_jac_g", [x, p], [g, programme.jac(x, p)], ["x", "p"], ["g", "jac_g_x"]),
            "hess_lag": casadi.Function(
                "nlp_hess_l", [x, p, lam_f, lam_g], [lagrangian], ["x", "p", "lam_f", "lam_g"], ["triu_hess_gamma_x_x"]
            ),
            "iteration_callback": stop,
            # Derivatives with respect to the parameters would need derivatives of the callbacks.
            "no_nlp_grad": True,
            "calc_lam_p": False,
            "print_time": False,
            "show_eval_warnings": False,
            "ipopt": options,
        }
        try:
            problem: Any = {"x": x, "p": p, "f": value(x), "g": g}
            return casadi.nlpsol("ipopt", "ipopt", problem, settings)
        except RuntimeError as error:
            raise BadInput(f"nonlinear options: IPOPT refuses one of {_text(options)} ({_reason(error)})") from None


class _Evaluation(casadi.Callback):
    """One number or array of the current objective, or the question whether to go on."""

    def __init__(
        self,
        owner: IpoptCasadi,
        name: str,
        inputs: list[casadi.Sparsity],
        output: casadi.Sparsity,
        function: Callable[[Any, Array], Any],
    ) -> None:
        casadi.Callback.__init__(self)
        self._owner, self._inputs, self._output, self._function = owner, inputs, output, function
        self.construct(name, {})

    def get_n_in(self) -> int:
        return len(self._inputs)

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, index: int) -> casadi.Sparsity:
        return self._inputs[index]

    def get_sparsity_out(self, index: int) -> casadi.Sparsity:
        return self._output

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, arguments: Any, results: Any) -> int:
        """Fill the result in place: NaN makes IPOPT give up a point, one from the iteration callback ends the solve."""
        answer = np.frombuffer(results[0], dtype=np.float64)
        columns = np.frombuffer(arguments[0], dtype=np.float64)
        assert self._owner._objective is not None
        otherwise = 1.0 if len(self._inputs) > 1 else np.nan
        answer[:] = self._owner._objective.evaluate(self._function, columns, otherwise)
        return 0


def _text(options: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name}={value}" for name, value in options.items() if value not in (DEFAULTS.get(name), FOR_MODELS.get(name))
    )


def _reason(error: Exception) -> str:
    """The last line of CasADi's message, without the source file it came from."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return re.sub(r"^\S+\.cpp:\d+: ", "", lines[-1]) if lines else "no reason given"
