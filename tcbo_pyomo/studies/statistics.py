"""What the runs of a study say: quantiles, identification rates, and methods compared seed by seed.

The same seed gives every method the same plant and the same noise, so that methods are compared by the difference on each seed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special  # And not scipy.stats, which takes longer to load than a small study to run.

if TYPE_CHECKING:
    import pandas as pd

CASE = ["problem", "feedback", "method", "setting"]
SHARES = (0.25, 0.5, 0.75, 1.0)
"""Where a campaign of one episode is looked at, as shares of its moves; one of several episodes is looked at after each."""
CONFIDENCE = 0.95

SUMMARY_COLUMNS = [
    *CASE, "episode", "move", "runs",
    "regret_median", "regret_q10", "regret_q90", "regret_mean",
    "identified_rate", "identified_low", "identified_high",
    "difference_mean", "difference_low", "difference_high", "better", "worse",
]  # fmt: skip
COMPARISON_COLUMNS = [
    *CASE, "against", "against_setting", "episode", "move", "runs",
    "difference_mean", "difference_low", "difference_high", "difference_median",
    "better", "equal", "worse", "sign_p",
]  # fmt: skip

Row = tuple[Any, ...]
"""Plain, with None for what is unknown, as pandas is slow to load."""


@dataclass(frozen=True)
class Standing:
    """The runs of a case after a move: regrets by seed, NaN where unknown, and whether each found the maximum, where known."""

    episode: int
    move: int
    regrets: dict[int, float] = field(default_factory=dict)
    identified: list[bool] = field(default_factory=list)


Standings = tuple[Row, dict[Row, Standing]]
"""A problem with its feedback, and the results of every case at a moment."""


def summary_rows(found: Iterable[Standings]) -> list[list[Any]]:
    """Per case and moment: quantiles and mean of the regret, identification rate with its interval, paired difference.

    The difference is regret minus the regret of the first case of the same problem and feedback, on the same seeds:
    below zero is better.
    """
    rows = []
    for place, cases in found:
        reference = next(iter(cases.values()))
        for case, standing in cases.items():
            regret = _known(standing.regrets.values())
            spread = np.quantile(regret, (0.5, 0.1, 0.9)).tolist() if len(regret) else [None] * 3
            mean = float(regret.mean()) if len(regret) else None
            moment = (standing.episode, standing.move, len(standing.regrets))
            paired = {} if standing is reference else _paired(standing.regrets, reference.regrets)
            names = ("difference_mean", "difference_low", "difference_high", "better", "worse")
            gap = [paired.get(name) for name in names]
            rows.append([*place, *case, *moment, *spread, mean, *_identification(standing.identified), *gap])
    return rows


def comparison_rows(found: Iterable[Standings]) -> list[list[Any]]:
    """Every two cases of a problem and feedback at every moment: the regret of the first minus that of the second, paired."""
    rows = []
    for place, cases in found:
        for (case, standing), (other, against) in combinations(cases.items(), 2):
            paired = _paired(standing.regrets, against.regrets)
            if paired:
                rows.append([*place, *case, *other, standing.episode, standing.move, *paired.values()])
    return rows


def difference(table: pd.DataFrame, against: pd.DataFrame) -> dict[str, Any]:
    """Regrets of two cases on their common seeds: mean difference with Student's interval, counts, and the sign test."""
    one, other = (dict(zip(case["seed"], case["regret"].astype(float), strict=True)) for case in (table, against))
    return _paired(one, other)


def _paired(regrets: dict[int, float], against: dict[int, float]) -> dict[str, Any]:
    gap = _known(regret - against[seed] for seed, regret in regrets.items() if seed in against)
    if not len(gap):
        return {}
    number, mean = len(gap), float(gap.mean())
    low = high = None
    if number > 1:
        half = float(special.stdtrit(number - 1, 0.5 + CONFIDENCE / 2) * gap.std(ddof=1) / sqrt(number))
        low, high = mean - half, mean + half
    better, worse = int((gap < 0).sum()), int((gap > 0).sum())
    decided = better + worse
    return {
        "runs": number,
        "difference_mean": mean,
        "difference_low": low,
        "difference_high": high,
        "difference_median": float(np.median(gap)),
        "better": better,
        "equal": number - decided,
        "worse": worse,
        # Two-sided, for equal odds: twice the smaller tail of the binomial distribution.
        "sign_p": min(1.0, 2.0 * float(special.bdtr(min(better, worse), decided, 0.5))) if decided else 1.0,
    }


def wilson_interval(successes: int, number: int) -> tuple[float, float]:
    """The 95 % interval of a rate (Wilson 1927), which stays inside [0, 1] and is right for rates near its ends."""
    z = float(special.ndtri(0.5 + CONFIDENCE / 2))
    rate, extra = successes / number, z * z / number
    middle = (rate + extra / 2) / (1 + extra)
    half = z * sqrt(rate * (1 - rate) / number + extra / (4 * number)) / (1 + extra)
    return (middle - half if successes else 0.0), (middle + half if successes < number else 1.0)


def moments(runs: pd.DataFrame) -> list[int]:
    """The moves after which a problem's runs are looked at: ends of episodes, or quarters of the only one."""
    return _looked_at(zip(runs["episode"].tolist(), runs["move"].tolist(), strict=True))


def _looked_at(moves: Iterable[tuple[int, int]]) -> list[int]:
    """The moments of moves, each with its episode."""
    # Sorted, so that what stays of an episode is its last move.
    ends = list(dict(sorted(set(moves))).values())
    return ends if len(ends) > 1 else sorted({ceil(share * ends[0]) for share in SHARES})


def standings(runs: Iterable[Row]) -> list[Standings]:
    """Per problem and feedback, and per moment, every case of it.

    A row is a run after a move: problem, feedback, method, setting, seed, episode, move, regret, identified.
    """
    places: dict[Row, list[Row]] = {}
    for row in runs:
        places.setdefault(row[:2], []).append(row)
    return [(place, cases) for place, rows in places.items() for cases in _at_moments(rows)]


def _at_moments(rows: list[Row]) -> Iterable[dict[Row, Standing]]:
    moves = _looked_at((episode, move) for *_, episode, move, _, _ in rows)
    cases: dict[int, dict[Row, Standing]] = {move: {} for move in moves}
    for _, _, method, setting, seed, episode, move, regret, identified in rows:
        if move in cases:
            standing = cases[move].setdefault((method, setting), Standing(episode, move))
            standing.regrets[seed] = float("nan") if regret is None else float(regret)
            if identified is not None:
                standing.identified.append(bool(identified))
    return cases.values()


def _known(values: Iterable[float]) -> np.ndarray:
    numbers = np.array(list(values), dtype=float)
    return numbers[~np.isnan(numbers)]


def _identification(known: list[bool]) -> list[float | None]:
    if not known:
        return [None, None, None]
    hits = sum(known)
    return [hits / len(known), *wilson_interval(hits, len(known))]
