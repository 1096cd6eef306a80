"""Replay: a past campaign as a problem, its table of measurements standing for the plant.

The states are the distinct points of the table; the plant moves between those that one move can join. Replicates are
averaged: the mean is the truth of a point. Their scatter, pooled over all points,

    sigma^2 = sum over rows (y - mean of its point)^2 / (rows - points),

is the noise of a measurement unless it is given. A replayed measurement is the mean plus fresh noise of that size, not
one of the recorded numbers again: a plan that repeats a point must not learn that the noise is zero.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.foundation.csv_table import read_table
from tcbo_pyomo.models.constraints.maximum_step import MaximumStep
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.plain_prior import PlainPrior

MOST_POINTS = 2000
"""All moves between so many points are four million: more is no plan that anyone waits for."""
SAME_POINT = 1e-6
"""Two rows are replicates when their inputs differ by less than this share of each range."""


def replay_problem(
    path: str | os.PathLike[str],
    inputs: Mapping[str, str] | Sequence[str],
    output: str,
    kernel: Kernel | None = None,
    maximum_step: Mapping[str, Any] | None = None,
    noise_variance: float | None = None,
    start: Mapping[str, Any] | None = None,
    horizon: int | None = None,
    episodes: int = 1,
    constraints: Sequence[TransitionConstraint] = (),
    settings: Mapping[str, Any] | None = None,
    name: str | None = None,
    prior: PlainPrior | None = None,
    goal: Any = MAXIMISE,
) -> Problem:
    """A problem whose black box is a CSV file of measurements, to plan a past campaign again.

    Parameters
    ----------
    path
        One row per measurement under a header such as "temperature (degC),flow (mL/min),yield".
    inputs
        Names of the input columns, or `{name: unit}` to convert them: `{"temperature": "K", "flow": "mL/min"}`.
    output
        Name of the measured column.
    kernel
        The prior before the first measurement, on inputs scaled to [-0.5, 0.5] by the range of the table. Default: from
        `prior`.
    maximum_step
        How far each input may change in one move, as in `MaximumStep`. Default: no limit.
    noise_variance
        Noise variance of one measurement. Default: from the replicates.
    start
        Where every episode starts. Default: the point of the first row.
    horizon
        Moves per episode. Default: the number of rows, the budget of the past campaign.
    episodes, constraints, settings
        As in `Problem`; dynamic programming is preferred unless the settings say otherwise.
    name
        Default: the name of the file.
    prior
        What was known about the output in plain terms, in place of a kernel.
    goal
        "maximise" (default), "minimise" or {"target": 42}.
    """
    names = [inputs] if isinstance(inputs, str) else inputs
    wanted: dict[str, str | None] = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names)
    if not wanted or output in wanted:
        raise BadInput(f"replay: inputs {list(wanted)} must name at least one column, and not the output '{output}'")
    table = read_table(path, {**wanted, output: None})
    where = f"table '{os.fspath(path)}'"
    coordinates = _coordinates(table.names[:-1], table.units[:-1], table.values[:, :-1], where)
    points, row_point = _distinct_points(coordinates, table.values[:, :-1], where)
    measured = table.values[:, -1]
    replicates = np.bincount(row_point)
    means = np.bincount(row_point, measured) / replicates
    variance = noise_variance if noise_variance is not None else _pooled(measured, means, row_point, where)
    limits = [MaximumStep(maximum_step)] if maximum_step else []
    return Problem(
        name=name or Path(path).stem,
        process=_process(coordinates, points, variance, limits),
        start=start if start is not None else int(row_point[0]),
        horizon=horizon if horizon is not None else len(measured),
        episodes=episodes,
        kernel=kernel,  # type: ignore[arg-type]
        prior=prior,
        goal=goal,
        constraints=(*limits, *constraints),
        truth=means,
        settings=settings if settings is not None else {"planner": {"linear": {"solver": "dynamic_programming"}}},
        output=output,
        output_unit=table.units[-1],
        description=f"Replay of {Path(path).name}: {len(measured)} measurements at {len(points)} points",
    )


def _coordinates(names: Sequence[str], units: Sequence[str], values: Array, where: str) -> list[Coordinate]:
    """One axis per input, over the range of the table."""
    coordinates = []
    for name, unit, column in zip(names, units, values.T, strict=True):
        if np.ptp(column) == 0:
            raise BadInput(f"{where}: column '{name}' is {column[0]:g} in every row; leave it out of the inputs")
        coordinates.append(Coordinate(name, float(column.min()), float(column.max()), unit))
    return coordinates


def _distinct_points(coordinates: Sequence[Coordinate], values: Array, where: str) -> tuple[Array, Integers]:
    """The distinct rows in order of appearance, and for each row the index of its point."""
    widths = np.array([coordinate.width for coordinate in coordinates])
    cells = np.rint((values - values.min(axis=0)) / (SAME_POINT * widths))
    _, first, group = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    if len(first) > MOST_POINTS:
        raise BadInput(f"{where}: {len(first)} distinct points, at most {MOST_POINTS} can be replayed; thin the table")
    order = np.argsort(first)
    return values[first[order]], np.argsort(order)[group.ravel()].astype(np.int64)


def _pooled(measured: Array, means: Array, row_point: Integers, where: str) -> float:
    """The variance of replicates around their means, pooled over all points."""
    freedom = len(measured) - len(means)
    variance = float(((measured - means[row_point]) ** 2).sum() / freedom) if freedom else 0.0
    if variance == 0.0:
        raise BadInput(f"{where}: there are no replicates that differ, so the noise is unknown; give noise_variance")
    return variance


def _process(
    coordinates: Sequence[Coordinate], points: Array, noise_variance: float, limits: Sequence[MaximumStep]
) -> Process:
    """All moves between the points that the limits allow, staying included."""
    number = len(points)
    left, right = np.divmod(np.arange(number**2), number)
    labels = [", ".join(f"{c.name}={v:g}" for c, v in zip(coordinates, point, strict=True)) for point in points]
    labels = labels if len(set(labels)) == number else [f"{i}: {label}" for i, label in enumerate(labels, 1)]

    def joined(kept: Integers) -> Process:
        moves = (np.ones(len(kept)), right[kept], np.arange(len(kept) + 1))
        matrix = sparse.csr_matrix(moves, shape=(len(kept), number))
        return Process.from_arrays(coordinates, points, left[kept], right[kept], matrix, noise_variance, labels)

    process = joined(np.arange(number**2))
    for limit in limits:
        process = joined(np.flatnonzero(limit.allowed_transitions(process)))
    return process
