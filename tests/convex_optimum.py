"""The planning problem written once more for cvxpy: an independent optimum that certified plans are checked against.

    min over D of max over pairs of  c' V^{-1} c,   V = I + sum_x w(x) phi(x) phi(x)'

The matrix fraction is written in its conic form, c' V^{-1} c = min |u|^2 + sum_x q(x)^2 / w(x) over u + sum_x q(x) phi(x) = c,
which is faster than a semidefinite one (`semidefinite=True`). Pairs are added as cutting planes until no other pair is
worse. Nothing of the package's own planning is used.
"""

from __future__ import annotations

import warnings

import cvxpy
import numpy as np

TOLERANCE = 3e-6


def convex_optimum(
    process,
    start,
    horizon,
    features,
    candidates,
    pair_cost=None,
    limit=None,
    barred=(),
    single=False,
    semidefinite=False,
):
    """The smallest utility of any policy, for features (n x M), under `expected pair_cost <= limit` if given.

    `barred` are pairs that may not be used in the first step.
    """
    pairs, states = process.number_of_pairs, process.number_of_states
    moves = np.zeros((states, pairs))
    moves[process.pair_state, np.arange(pairs)] = 1.0
    visits = cvxpy.Variable((horizon, pairs), nonneg=True)
    information = cvxpy.Variable(states, nonneg=True)
    counts = cvxpy.sum(visits, axis=0)
    constraints = [moves @ visits[0] == np.eye(states)[start], information == process.information_rate.T @ counts]
    constraints += [moves @ visits[h] == process.transitions.T @ visits[h - 1] for h in range(1, horizon)]
    if pair_cost is not None:
        constraints.append(pair_cost @ counts <= limit)
    if len(barred):
        constraints.append(visits[0, np.asarray(barred)] == 0.0)
    worst, epigraph = cvxpy.Variable(), []
    planned = wandering(process, start, horizon, barred)
    within_reach = np.flatnonzero(planned)  # Elsewhere the cones would have no interior.
    while True:
        value, directions = worst_directions(features, candidates, planned, single)
        if epigraph and value <= worst.value * (1.0 + TOLERANCE):
            return float(worst.value)
        fraction = matrix_fraction if semidefinite else conic_fraction
        for direction in directions:
            epigraph += fraction(direction, features[within_reach], information[within_reach], worst)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate": what it found is checked above by plain algebra.
            cvxpy.Problem(cvxpy.Minimize(worst), constraints + epigraph).solve(solver=cvxpy.CLARABEL)
        planned = np.maximum(information.value, 0.0)


def conic_fraction(direction, features, information, bound):
    """direction' V^{-1} direction <= bound, as second-order cones."""
    states, size = features.shape
    rest, share, cost = cvxpy.Variable(size), cvxpy.Variable(states), cvxpy.Variable(states)
    return [
        rest + features.T @ share == direction,
        cvxpy.sum_squares(rest) + cvxpy.sum(cost) <= bound,
        cvxpy.SOC(information + cost, cvxpy.vstack([2 * share, information - cost]), axis=0),
    ]


def matrix_fraction(direction, features, information, bound):
    """direction' V^{-1} direction <= bound, as a semidefinite constraint."""
    size = features.shape[1]
    outer = np.stack([np.outer(row, row).ravel() for row in features], axis=1)
    matrix = cvxpy.Variable((size, size), symmetric=True)
    definition = matrix == np.eye(size) + cvxpy.reshape(outer @ information, (size, size), order="C")
    return [definition, cvxpy.matrix_frac(direction, matrix) <= bound]


def wandering(process, start, horizon, barred=()):
    """Information of the policy that draws every move at random: what is within reach, and which pairs may matter."""
    state, information = np.eye(process.number_of_states)[start], np.zeros(process.number_of_states)
    for step in range(horizon):
        chosen = state[process.pair_state] / np.bincount(process.pair_state)[process.pair_state]
        if step == 0 and len(barred):
            chosen[barred] = 0.0
            chosen /= chosen.sum()
        information += process.information_rate.T @ chosen
        state = process.transitions.T @ chosen
    return information


def worst_directions(features, candidates, information, single, number=6):
    """The utility at planned information, and the worst directions."""
    matrix = np.eye(features.shape[1]) + (features.T * information) @ features
    rows = features[candidates]
    if single:
        directions = rows
    else:
        left, right = np.triu_indices(len(candidates), 1)
        directions = rows[left] - rows[right]
    values = np.einsum("ij,ji->i", directions, np.linalg.solve(matrix, directions.T))
    order = np.argsort(-values)[:number]
    return values[order[0]], [directions[i] for i in order]
