"""Rows with variables of a rule's own: a path keeps them when some values of those variables do.

The smallest miss is a small linear programme (with whole numbers where the variables take whole numbers only):

    minimise t >= 0   subject to   lower - t w <= matrix y <= upper + t w,   y within its bounds,   w = max(1, |limit|)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Mask

if TYPE_CHECKING:
    import scipy.sparse as sparse


def smallest_miss(
    matrix: sparse.spmatrix, lower: Array, upper: Array, variable_lower: Array, variable_upper: Array, whole: Mask
) -> float:
    """By how much some row is missed at least, as a share of its limit; 0 where all can be kept."""
    import scipy.sparse as sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    number = len(variable_lower)
    low, high = np.isfinite(lower), np.isfinite(upper)
    rows = sparse.csr_matrix(matrix)
    weight_low, weight_high = np.maximum(1.0, np.abs(lower[low])), np.maximum(1.0, np.abs(upper[high]))
    above = sparse.hstack([rows[high], sparse.csr_matrix(-weight_high[:, None])])
    below = sparse.hstack([-rows[low], sparse.csr_matrix(-weight_low[:, None])])
    limits = np.concatenate([upper[high], -lower[low]])
    if len(limits) == 0:
        return 0.0
    answer = milp(
        np.append(np.zeros(number), 1.0),
        integrality=np.append(whole.astype(int), 0),
        bounds=Bounds(np.append(variable_lower, 0.0), np.append(variable_upper, np.inf)),
        constraints=LinearConstraint(sparse.vstack([above, below]), ub=limits),
    )
    # Without an answer the bounds of the variables contradict each other: nothing keeps the rows.
    return float(answer.fun) if answer.success else float("inf")
