"""What the studies say about a statement: n, the paired difference with its 95 % interval, and the word that follows from it.

A statement that one method is ahead "holds" when the whole interval is on its side, "does not hold" when it is on the other
side, and is "open" when the interval contains zero. One that two methods are equal "does not hold" when the interval leaves
zero out; else there is "no difference found", and the interval says how large one could be.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log
from pathlib import Path

import numpy as np
import pandas as pd
from claim_tables import share_text
from scipy.special import stdtrit
from statements import Statement, statements

from tcbo_pyomo.studies.figures.labels import series_words
from tcbo_pyomo.studies.shipped_tables import table_of
from tcbo_pyomo.studies.statistics import wilson_interval

RESAMPLES = 2000
COMPARABLE = 2.0
"""Run times within this factor are comparable."""


def verdict_rows(folder: Path, study: str) -> Iterator[str]:
    """A row for every statement that a study in the folder decides."""
    yield "| claim | where, when | n | measured | difference, 95 % | verdict |"
    yield "|---|---|---|---|---|---|"
    for cells in _judged_in(folder, study):
        yield f"| {' | '.join(cells)} |"


def summary_rows(folder: Path) -> Iterator[str]:
    """A row for every claim: its verdict, or the verdicts of its parts."""
    yield "| claim | n | verdict |"
    yield "|---|---|---|"
    claims: dict[str, list[tuple[str, ...]]] = {}
    for study in dict.fromkeys(statement.study for statement in statements()):
        for cells in _judged_in(folder, study):
            claims.setdefault(cells[0], []).append(cells)
    for claim, parts in claims.items():
        described = [(*where.split(", "), measured.partition(":")[0]) for _, where, _, measured, _, _ in parts]
        differs = [len(set(words)) > 1 for words in zip(*described, strict=True)]
        places: dict[str, list[str]] = {}
        for words, cells in zip(described, parts, strict=True):
            text = ", ".join(part for part, shown in zip(words, differs, strict=True) if shown)
            places.setdefault(cells[-1], []).append(text)
        numbers = "/".join(dict.fromkeys(cells[2] for cells in parts))
        found = [
            key if len(places) == 1 else f"{key}: {'; '.join(dict.fromkeys(value))}" for key, value in places.items()
        ]
        yield f"| {claim} | {numbers} | {'. '.join(found)} |"


def _judged_in(folder: Path, study: str) -> Iterator[tuple[str, ...]]:
    runs, timings, means = (table_of(folder / study, name) for name in ("runs", "timings", "seconds"))
    for statement in statements():
        table = runs if statement.measure != "seconds" else means if timings is None else timings
        cells = None if table is None or statement.study != study else judged(statement, table)
        if cells is not None:
            yield cells


def judged(statement: Statement, table: pd.DataFrame) -> tuple[str, ...] | None:
    """The cells of a statement; None where the study does not have its cases."""
    rows = table[(table["problem"] == statement.problem) & (table["feedback"] == statement.feedback)]
    cases = [_case(rows, name) for name in (statement.one, statement.other) if name]
    if any(case.empty for case in cases):
        return None
    if statement.measure == "seconds":
        values = [case.groupby("seed")["seconds"].mean() for case in cases]
        return _cells(statement, values, "", *_ratio(*values))
    when, at = _at(cases, statement.when)
    values = [case[case["move"] == at].set_index("seed")[_column(statement)].astype(float) for case in cases]
    if statement.expects == "half":
        hits, number = int(values[0].sum()), len(values[0])
        low, high = wilson_interval(hits, number)
        verdict = word("equal", low - 0.5, high - 0.5)
        place = f"{statement.problem}, {statement.feedback}, {when}"
        return (
            statement.claim,
            place,
            str(number),
            share_text(values[0]),
            f"{hits / number - 0.5:+.1%} to one half",
            verdict,
        )
    if statement.measure == "spread":
        return _cells(statement, values, when, *_spread(*values))
    sign = 1.0 if statement.measure == "identified" else -1.0
    return _cells(statement, values, when, *_difference(*values, sign))


def word(expects: str, low: float, high: float) -> str:
    """The verdict on an interval of how much better one is than the other."""
    if expects == "equal":
        return "no difference found" if low <= 0.0 <= high else "does not hold"
    return "holds" if low > 0.0 else "does not hold" if high < 0.0 else "open"


def _cells(
    statement: Statement, values: list[pd.Series], when: str, text: str, low: float, high: float, middle: str = ""
) -> tuple[str, ...]:
    number = len(values[0].index.intersection(values[1].index))
    verdict = word(statement.expects, low, high)
    if statement.measure == "seconds":
        inside, outside = max(abs(low), abs(high)) <= log(COMPARABLE), low > log(COMPARABLE) or high < -log(COMPARABLE)
        verdict = "holds" if inside else "does not hold" if outside else "open"
    names = " against ".join(_words(name) for name in (statement.one, statement.other))
    shown = middle or " against ".join(_shown(statement, value) for value in values)
    place = ", ".join(filter(None, (statement.problem, statement.feedback, when)))
    return (statement.claim, place, str(number), f"{names}: {shown}", text, verdict)


def _case(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    return rows[(rows["setting"] == name) if "=" in name else (rows["method"] == name)]


def _words(name: str) -> str:
    return (
        name.rpartition(".")[2].replace("=", " = ").replace("components", "N").replace("count", "K")
        if "=" in name
        else series_words(name, "")
    )


def _at(cases: list[pd.DataFrame], when: int) -> tuple[str, int]:
    """The moment in words, and its move: an episode's end, a move of the only episode, or the end of all."""
    rows = cases[0]
    last = int(rows["move"].max())
    if not when:
        return "end", last
    if rows["episode"].nunique() == 1:
        return f"move {when}", when
    return f"episode {when}", int(rows.loc[rows["episode"] == when, "move"].max())


def _column(statement: Statement) -> str:
    return "identified" if statement.measure == "identified" else "regret"


def _shown(statement: Statement, value: pd.Series) -> str:
    if statement.measure == "identified":
        return share_text(value)
    if statement.measure == "spread":
        return f"{_range(value.to_numpy()):.2g}"
    return f"{value.mean():.2g}"


def _difference(one: pd.Series, other: pd.Series, sign: float) -> tuple[str, float, float]:
    gap = (one - other).dropna()
    mean, half = gap.mean(), _half(gap)
    low, high = sorted((sign * (mean - half), sign * (mean + half)))
    text = f"{mean:+.1%} ± {half:.1%}" if sign > 0 else f"{mean:+.2g} ± {half:.2g}"
    return text, low, high


def _half(gap: pd.Series) -> float:
    return float(stdtrit(len(gap) - 1, 0.975) * gap.std(ddof=1) / np.sqrt(len(gap))) if len(gap) > 1 else float("inf")


def _range(values: np.ndarray) -> float:
    low, high = np.quantile(values, (0.1, 0.9))
    return float(high - low)


def _spread(one: pd.Series, other: pd.Series) -> tuple[str, float, float]:
    """How much wider the other's range is, with a bootstrap interval over the seeds that both have."""
    seeds = one.index.intersection(other.index)
    left, right, rng = one[seeds].to_numpy(), other[seeds].to_numpy(), np.random.default_rng(0)
    drawn = rng.integers(len(seeds), size=(RESAMPLES, len(seeds)))
    found = [_range(right[chosen]) - _range(left[chosen]) for chosen in drawn]
    low, high = np.quantile(found, (0.025, 0.975))
    return f"{-high:+.2g} to {-low:+.2g}", float(low), float(high)


def _ratio(one: pd.Series, other: pd.Series) -> tuple[str, float, float]:
    gap = np.log(one / other).dropna()
    mean, half = gap.mean(), _half(gap)
    return f"ratio {exp(mean):.2g} ({exp(mean - half):.2g} to {exp(mean + half):.2g})", mean - half, mean + half
