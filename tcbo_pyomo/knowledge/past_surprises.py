"""Which rows of a table are a surprise: each held against what the model expects given all other rows and all results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tcbo_pyomo.knowledge.knowledge import Knowledge
from tcbo_pyomo.knowledge.past_results import Past, PastBatch, PastResult
from tcbo_pyomo.knowledge.plausibility import Surprise, surprise_of
from tcbo_pyomo.surrogate.residuals import leave_one_out

MOST = 20
"""Surprising rows that are looked for in one table."""


def with_surprises(knowledge: Knowledge[Any], batch: PastBatch, confirmed: bool) -> PastBatch:
    """The batch with what was expected of the rows that are unlikely; it is no part of the knowledge yet.

    One at a time, the farthest first, each left out of what the next is judged by: a slip makes its neighbours look wild.
    """
    points, values, noise = knowledge.believed_results()
    alone, believed = Past((batch,)), knowledge.noise_factor
    points = np.vstack([points, alone.points(knowledge.problem)])
    values = np.append(values, [knowledge.scale.modelled(result.value) for result in batch.results])
    noise = np.append(noise, believed * alone.noise_variances(knowledge.problem))
    first, kept = len(values) - len(batch.results), np.arange(len(values))
    found: dict[int, Surprise] = {}
    while len(kept) and len(found) < MOST:
        left_out = leave_one_out(knowledge.kernel, points[kept], values[kept], noise[kept])
        residuals = np.where(kept >= first, np.abs(left_out.residuals), 0.0)
        worst = int(residuals.argmax())
        mean, sd = float(left_out.means[worst]), float(left_out.deviations[worst])
        surprise = surprise_of(float(values[kept[worst]]), mean, sd, confirmed)
        if surprise is None:
            break
        found[int(kept[worst]) - first] = _as_measured(knowledge, surprise)
        kept = np.delete(kept, worst)
    return replace(batch, results=_marked(batch.results, found))


def _as_measured(knowledge: Knowledge[Any], surprise: Surprise) -> Surprise:
    (expected,), (sd,) = knowledge.scale.measured(np.array([surprise.expected]), np.array([surprise.sd]))
    return replace(surprise, expected=float(expected), sd=float(sd))


def _marked(results: Sequence[PastResult], found: dict[int, Surprise]) -> tuple[PastResult, ...]:
    return tuple(replace(result, surprise=found.get(position)) for position, result in enumerate(results))
