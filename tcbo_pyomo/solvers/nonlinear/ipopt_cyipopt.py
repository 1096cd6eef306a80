"""IPOPT through cyipopt, for those who have their own IPOPT or linear solver; an extra package.

The same compiled constraints and the same closed-form objective as in `ipopt_casadi`, handed over as
callbacks.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.profiling import section
from tcbo_pyomo.solvers.bounds import Bounds
from tcbo_pyomo.solvers.nonlinear.called_back import CalledBack
from tcbo_pyomo.solvers.nonlinear.ipopt_options import in_words, ipopt_options
from tcbo_pyomo.solvers.nonlinear.path_objective import PathTerms, ScaledObjective
from tcbo_pyomo.solvers.nonlinear.programme import NonlinearProgramme
from tcbo_pyomo.solvers.nonlinear.solver import Answer, NonlinearSolver


class IpoptCyipopt(NonlinearSolver):
    """IPOPT through cyipopt; options and limits as in `IpoptCasadi`."""

    name = "ipopt (cyipopt)"

    def prepare(self) -> None:
        """Find the package and check the options."""
        try:
            import cyipopt
        except ImportError as error:
            raise BadInput(
                "interface 'cyipopt' needs the package cyipopt: pip install 'tcbo_pyomo[cyipopt]' (or conda install -c "
                f"conda-forge cyipopt), or use interface 'casadi' ({error})"
            ) from error
        self._cyipopt = cyipopt
        self._options = ipopt_options(self.options, self.time_limit, self.max_iterations)

    def optimise(self, objective: ScaledObjective, x0: Array, bounds: Bounds) -> Answer:
        """Run IPOPT on the callbacks of this solve."""
        with CalledBack(objective) as called_back:
            callbacks = _Callbacks(self.programme, self.terms, called_back)
            problem = self._cyipopt.Problem(len(x0), len(bounds.row_lower), callbacks, *bounds)
            for name, value in self._options.items():
                try:
                    problem.add_option(name, value)
                except TypeError as error:
                    raise BadInput(f"nonlinear option '{name}': IPOPT refuses {value!r} ({error})") from None
            with section("NLP solve"):
                values, information = problem.solve(x0)
            problem.close()
        return Answer(np.asarray(values, dtype=float), in_words(int(information["status"])), callbacks.iterations)


class _Callbacks:
    """What cyipopt asks for."""

    def __init__(self, programme: NonlinearProgramme, terms: PathTerms, objective: CalledBack) -> None:
        self._programme, self._objective = programme, objective
        self._parameters = programme.parameter_values()
        self.iterations = 0
        rows, columns = terms.hessian_pattern
        own_rows, own_columns = _triplets(programme.hess)
        # Entries that occur twice are added up by IPOPT; the lower triangle is wanted.
        self._hessian_structure = np.concatenate([columns, own_columns]), np.concatenate([rows, own_rows])

    def objective(self, x: Array) -> float:
        return float(self._objective.evaluate(ScaledObjective.value, x, np.nan))

    def gradient(self, x: Array) -> Array:
        return self._objective.evaluate(ScaledObjective.gradient, x, np.full(len(x), np.nan))

    def constraints(self, x: Array) -> Array:
        return np.array(self._programme.g(x, self._parameters)).ravel()

    def jacobianstructure(self) -> tuple[Integers, Integers]:
        return _triplets(self._programme.jac)

    def jacobian(self, x: Array) -> Array:
        return np.array(self._programme.jac(x, self._parameters).nonzeros())

    def hessianstructure(self) -> tuple[Integers, Integers]:
        return self._hessian_structure

    def hessian(self, x: Array, multipliers: Array, factor: float) -> Array:
        own = np.array(self._programme.hess(x, self._parameters, multipliers).nonzeros())
        unknown = np.full(len(self._hessian_structure[0]) - len(own), np.nan)
        return np.concatenate([factor * self._objective.evaluate(ScaledObjective.hessian, x, unknown), own])

    def intermediate(self, mode: int, iteration: int, *_: Any) -> bool:
        self.iterations = int(iteration)
        return not self._objective.stopped


def _triplets(function: casadi.Function) -> tuple[Integers, Integers]:
    """Rows and columns of a CasADi function's sparse result, in the order of its non-zeros."""
    rows, columns = function.sparsity_out(0).get_triplet()
    return np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)
