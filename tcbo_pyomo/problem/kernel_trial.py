"""A kernel of the user's own is tried once, before it decides anything: its covariance must be one."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.user_answers import real_numbers
from tcbo_pyomo.foundation.user_lines import defined_at
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.surrogate.kernels.kernel import Kernel

PLACES = 40
ROUNDING = 1e-7
"""Of the largest variance: asymmetry and negative eigenvalues that arithmetic may leave."""


def try_kernel(problem: ProblemProtocol) -> None:
    """Refuse a kernel whose class, or one inside it, is the user's own and gives no covariance at some places."""
    kernel = problem.kernel
    own = next((part for part in _parts(kernel) if defined_at(type(part).__call__)), None)
    if own is None:
        return
    points = _places(problem)
    number, where = len(points), f"kernel {type(own).__name__}"
    matrix = real_numbers(kernel(points, points), (number, number), where, type(own).__call__)
    diagonal = real_numbers(kernel.diagonal(points), (number,), f"{where}: diagonal", type(own).diagonal)
    real_numbers(kernel.mean(points), (number,), f"{where}: mean", type(own).mean)
    scale = max(float(np.abs(matrix).max()), float(np.abs(diagonal).max()), 1e-300)
    fault = ""
    if np.abs(matrix - matrix.T).max() > ROUNDING * scale:
        fault = "is not symmetric: k(a, b) differs from k(b, a)"
    elif (lowest := float(np.linalg.eigvalsh((matrix + matrix.T) / 2.0)[0])) < -ROUNDING * number * scale:
        fault = f"is not positive semi-definite: at {number} places it has the eigenvalue {lowest:.3g}"
    elif np.abs(np.diag(matrix) - diagonal).max() > ROUNDING * scale:
        fault = "has variances that differ from its diagonal(points)"
    if fault:
        raise BadInput(f"{where}: its covariance {fault} ({defined_at(type(own).__call__)})")


def _parts(kernel: Any) -> list[Any]:
    """A kernel and those inside it, the innermost first."""
    inside = [getattr(kernel, field.name) for field in fields(kernel)] if is_dataclass(kernel) else []
    listed = [part for value in inside for part in (value if isinstance(value, (tuple, list)) else [value])]
    return [part for one in listed if isinstance(one, Kernel) for part in _parts(one)] + [kernel]


def _places(problem: ProblemProtocol) -> Array:
    """Scaled places: states, evenly chosen, or points of the box."""
    states: Array | None = getattr(problem, "seen_states", None)
    if states is None:
        return np.random.default_rng(0).uniform(-0.5, 0.5, (PLACES, len(problem.input_axes)))
    return states[np.unique(np.linspace(0, len(states) - 1, PLACES).astype(int))]
