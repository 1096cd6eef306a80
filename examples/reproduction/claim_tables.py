"""The tables of the reproduction as Markdown: what each study says, with Wilson's 95 % interval beside every share."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from tcbo_pyomo.studies.figures.labels import series_words
from tcbo_pyomo.studies.statistics import CASE, difference, moments, wilson_interval

EPISODES = (1, 2, 3, 5, 10)
"""After which episodes a campaign of several is looked at."""


def chosen_moves(runs: pd.DataFrame) -> dict[int, str]:
    """The moves after which a problem is looked at, and their titles."""
    ends = moments(runs)
    episode = dict(zip(runs["move"], runs["episode"], strict=True))
    if len(set(episode.values())) == 1:
        return {end: f"move {end}" for end in ends}
    return {end: f"episode {episode[end]}" for end in ends if episode[end] in EPISODES}


def regrets(runs: pd.DataFrame) -> Iterator[str]:
    """Median regret, with the share of runs that identified the maximum (or the 10 % to 90 % range) at each moment."""
    for (problem, feedback), table in runs.groupby(["problem", "feedback"], sort=False):
        moves = chosen_moves(table)
        last = max(moves)
        titles = [
            f"{problem}, {feedback}, {table['seed'].nunique()} seeds",
            *moves.values(),
            "difference to the first at the end",
        ]
        yield f"| {' | '.join(titles)} |"
        yield "|---" * (len(moves) + 2) + "|"
        cases = dict(iter(table.groupby(["method", "setting"], sort=False)))
        first = next(iter(cases.values()))
        for case, rows in cases.items():
            cells = [_cell(rows[rows["move"] == move], move == last) for move in moves]
            ends = [frame[frame["move"] == last] for frame in (rows, first)]
            yield f"| {series_words(*case)} | {' | '.join(cells)} | {'' if rows is first else _paired(*ends)} |"
        yield ""


def stays(paths: pd.DataFrame) -> Iterator[str]:
    """Share of moves that stay where they are."""
    columns = [name for name in paths if name.startswith("coordinate")]
    yield "| | moves that stay |"
    yield "|---|---|"
    for case, table in paths.groupby(["method", "setting"], sort=False):
        moved = table.groupby(["seed", "episode"])[columns].diff().abs().sum(axis=1, min_count=len(columns)).dropna()
        yield f"| {series_words(*case)} | {(moved == 0).mean():.0%} |"


def plan_times(timings: pd.DataFrame) -> Iterator[str]:
    """Seconds per plan."""
    yield "| seconds per plan | median (10 % to 90 %) |"
    yield "|---|---|"
    for (problem, feedback, *case), table in timings.groupby(CASE, sort=False):
        low, middle, high = table["seconds"].quantile([0.1, 0.5, 0.9])
        yield f"| {problem}, {feedback}: {series_words(*case)} | {middle:.2g} ({low:.2g} to {high:.2g}) |"


def share_text(found: pd.Series) -> str:
    """A share with its interval: 76 % (70 to 81)."""
    hits, number = int(found.astype(bool).sum()), len(found)
    low, high = wilson_interval(hits, number)
    return f"{hits / number:.0%} ({100 * low:.0f} to {100 * high:.0f})"


def _cell(at: pd.DataFrame, spread: bool) -> str:
    text = f"{at['regret'].median():.2g}"
    if at["identified"].notna().all():
        return f"{text} / {share_text(at['identified'])}"
    low, high = at["regret"].quantile([0.1, 0.9])
    return f"{text} ({low:.2g} to {high:.2g})" if spread else text


def _paired(at: pd.DataFrame, against: pd.DataFrame) -> str:
    found = difference(at, against)
    if found["difference_low"] is None:
        return f"{found['difference_mean']:+.2g}"
    half = found["difference_high"] - found["difference_mean"]
    return f"{found['difference_mean']:+.2g} ± {half:.2g}"
