"""Time two things side by side: alternating, so that a busy machine slows both, and report the ratio."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Comparison:
    """One row of the table: ours against a named reference, in seconds (medians), and what was promised."""

    name: str
    reference: str
    ours_seconds: float
    reference_seconds: float
    low: float
    ratio: float
    high: float
    promise: str

    @property
    def text(self) -> str:
        """One line of the table."""
        return (
            f"{self.name:44s} {self.ours_seconds * 1e3:10.3f} ms   {self.reference:40s} "
            f"{self.reference_seconds * 1e3:10.3f} ms   ratio {self.ratio:7.3f} [{self.low:.3f}, {self.high:.3f}]   "
            f"{self.promise}"
        )


def compare(
    name: str,
    ours: Callable[[int], float | None],
    reference_name: str,
    reference: Callable[[int], float | None],
    repeats: int,
    promise: str,
) -> Comparison:
    """Run both `repeats` times in turn; each gets the number of the round and may return the seconds that count."""
    pairs = []
    for round_number in range(repeats + 1):
        pairs.append((_seconds(ours, round_number), _seconds(reference, round_number)))
    mine, theirs = np.array(pairs[1:]).T  # The first round warms up.
    low, middle, high = np.quantile(mine / theirs, [0.1, 0.5, 0.9])
    return Comparison(
        name,
        reference_name,
        float(np.median(mine)),
        float(np.median(theirs)),
        float(low),
        float(middle),
        float(high),
        promise,
    )


def _seconds(work: Callable[[int], float | None], round_number: int) -> float:
    began = time.perf_counter()
    own = work(round_number)
    return own if own is not None else time.perf_counter() - began
