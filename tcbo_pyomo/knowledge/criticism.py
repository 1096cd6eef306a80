"""Does the model fit the results? Each of them against its prediction from all others, and what to do where they disagree.

A right model is wrong by more than 3 standard deviations once in 370 results. Where that happens again and again, or results
leave the declared range, the prior is wrong, and a campaign that trusts it may be looking in the wrong place.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.surrogate.residuals import LeftOut

if TYPE_CHECKING:
    from tcbo_pyomo.knowledge.knowledge import Knowledge

SURPRISING = 3.0
"""Standard deviations from which on a result is called surprising."""
RECENT, OFTEN = 10, 2
"""So many surprising results among the last so many: by chance once in 3,000 times."""
ENOUGH = 20
"""Results from which on their scatter as a whole is judged."""
TOO_NARROW, TOO_WIDE = 0.8, 0.3
"""Share within 2 standard deviations (95 % expected), and root mean square of the residuals (1 expected), that are bad."""
LATEST = 300
"""Results that are judged: each is predicted from the others, which takes the cube of their number."""
MOST = 5
"""Surprising results that are looked for."""
FEWEST = 2
"""Results that must be left to judge another by."""


@dataclass(frozen=True)
class FarResult:
    """A result far from its prediction: the move or row, the value, the prediction (mean, sd) and the residual in sd."""

    move: int | str
    value: float
    expected: float
    deviation: float
    residual: float


@dataclass(frozen=True)
class Criticism:
    """What the results say about the model.

    Attributes
    ----------
    left_out
        Every result against its prediction from all others, as modelled.
    values, expected
        Measured and predicted values in the unit of the output (n each).
    surprising
        The results that are farthest from their predictions, farthest first.
    outside
        Moves, and rows of past data, whose results lie outside the declared range.
    warnings
        Where the data contradict the prior, and what to do, in plain words.
    """

    left_out: LeftOut
    values: Array
    expected: Array
    surprising: tuple[FarResult, ...]
    outside: tuple[int | str, ...]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """A short form as plain data."""
        inside = self.left_out.coverage(2.0)
        return {
            "results": len(self.values),
            "within_2_sd": inside,
            "surprising": [vars(surprise) for surprise in self.surprising],
            "outside_range": list(self.outside),
            "warnings": list(self.warnings),
        }


def criticise(knowledge: Knowledge[Any]) -> Criticism:
    """Hold the results of a campaign, of many the latest, against its model."""
    past = [(batch.named(result), result.value) for batch, result in knowledge.history.past.rows]
    every: list[tuple[int | str, float]] = [*past, *((move.number, value) for move, value in knowledge.history.measurements)]
    first = max(0, len(every) - LATEST)
    told, left_out = every[first:], knowledge.left_out(np.arange(first, len(every)))
    values = np.array([value for _, value in told], dtype=float)
    expected, _ = knowledge.scale.measured(left_out.means, left_out.deviations)
    odd = _odd_ones(knowledge, left_out, first)
    surprising = tuple(FarResult(told[i][0], values[i].item(), *numbers) for i, *numbers in odd)
    low, high = (-np.inf, np.inf) if knowledge.problem.prior is None else knowledge.problem.prior.range
    outside = tuple(dict.fromkeys(told[i][0] for i in np.flatnonzero((values < low) | (values > high))))
    recent = [i for i, *_ in odd if i >= len(told) - RECENT]
    lately = _lately(knowledge, len(recent), min(RECENT, len(told)))
    warnings = [*_outside_range(knowledge, outside), *lately, *_as_a_whole(left_out)]
    return Criticism(left_out, values, expected, surprising, outside, tuple(warnings))


def contradictions(knowledge: Knowledge[Any], moves: Set[int | str]) -> tuple[str, ...]:
    """The warnings, where a result of one of these moves, or rows, gave cause to them: what to say when it is told."""
    found = criticise(knowledge)
    cause = {surprise.move for surprise in found.surprising} | set(found.outside)
    return found.warnings if cause & moves else ()


def _odd_ones(knowledge: Knowledge[Any], left_out: LeftOut, first: int) -> list[tuple[int, float, float, float]]:
    """Positions of surprising results with the prediction (mean, sd) and the residual, the farthest first.

    One at a time, each left out of what the next is judged by: a wild result makes its neighbours look wild as well.
    """
    found: list[tuple[int, float, float, float]] = []
    kept = np.arange(len(left_out.values))
    while len(kept) > FEWEST and len(found) < MOST:
        residuals = left_out.residuals
        worst = int(np.abs(residuals).argmax())
        if abs(residuals[worst]) <= SURPRISING:
            break
        mean, deviation = knowledge.scale.measured(left_out.means[[worst]], left_out.deviations[[worst]])
        found.append((int(kept[worst]), mean[0].item(), deviation[0].item(), residuals[worst].item()))
        kept = np.delete(kept, worst)
        left_out = knowledge.left_out(first + kept)
    return found


def _outside_range(knowledge: Knowledge[Any], outside: tuple[int | str, ...]) -> list[str]:
    prior = knowledge.problem.prior
    if not outside or prior is None:
        return []
    latest = outside[-MOST:]
    moves = [str(number) for number in latest if isinstance(number, int)]
    rows = [name for name in latest if isinstance(name, str)]
    named = ", ".join([*rows, *([f"move{'' if len(latest) == 1 else 's'} {', '.join(moves)}"] if moves else [])])
    which = f"the result of {named} lies" if len(outside) == 1 else f"{len(outside)} results (last: {named}) lie"
    return [
        f"{which} outside the declared range {prior.range[0]:g} to {prior.range[1]:g}; too small a range can get a "
        "campaign stuck: check the results, then declare a wider range (`tcbo amend`)"
    ]


def _lately(knowledge: Knowledge[Any], beyond: int, last: int) -> list[str]:
    if beyond < OFTEN:
        return []
    what = "the kernel" if knowledge.problem.kernel_given else "the declared range"
    learns = "" if knowledge.learner is not None else "; let the model learn (surrogate.fit: learn)"
    return [
        f"{beyond} of the last {last} results lie more than {SURPRISING:g} sd from the prediction of the others; {what} or the "
        f"declared measurement sd may be too small, or the plant has changed: check these results{learns}"
    ]


def _as_a_whole(left_out: LeftOut) -> list[str]:
    if len(left_out.values) < ENOUGH:
        return []
    inside, size = left_out.coverage(2.0), float(np.sqrt((left_out.residuals**2).mean()))
    if inside < TOO_NARROW:
        return [
            f"only {inside:.0%} of the results lie within 2 sd of the prediction of the others (95 % expected): the model is "
            "overconfident; declare a larger measurement sd or shorter distances of change"
        ]
    if size < TOO_WIDE:
        return [
            f"results lie {1.0 / size:.1f} times closer to the prediction of the others than expected: the declared "
            "measurement sd seems too large, which costs experiments"
        ]
    return []
