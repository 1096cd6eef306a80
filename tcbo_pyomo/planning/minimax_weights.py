"""Weights on the active pairs that make the lower bound as large as the known visitations allow.

The tangents t_ik of pair i at the known visitation k are a matrix game: for weights lambda on the pairs the bound over
the known visitations is min_k sum_i lambda_i t_ik, and the best weights are those of the maximin player,

    maximise  b   subject to   b <= sum_i lambda_i t_ik for every k,   lambda >= 0,   sum lambda = 1.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from tcbo_pyomo.coordinates import Array


def minimax_weights(tangents: Array) -> Array:
    """Weights (I) for tangents (I x K); the largest tangent alone where the linear programme fails."""
    pairs, visitations = tangents.shape
    scale = float(np.abs(tangents).max())
    if pairs == 1 or not scale > 0.0:
        return np.eye(pairs)[0]
    answer = linprog(
        np.append(np.zeros(pairs), -1.0),
        A_ub=np.hstack([-tangents.T / scale, np.ones((visitations, 1))]),
        b_ub=np.zeros(visitations),
        A_eq=np.append(np.ones(pairs), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0.0, None)] * pairs + [(None, None)],
        method="highs",
    )
    weights = np.maximum(answer.x[:pairs], 0.0) if answer.x is not None else np.zeros(pairs)
    total = weights.sum()
    return weights / total if total > 0.0 else np.eye(pairs)[int(tangents.min(axis=1).argmax())]
