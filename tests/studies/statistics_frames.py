"""The statistics of a study from a data frame of its runs, as data frames."""

import pandas as pd

from tcbo_pyomo.studies.statistics import (
    CASE,
    COMPARISON_COLUMNS,
    SUMMARY_COLUMNS,
    comparison_rows,
    standings,
    summary_rows,
)

STANDING_COLUMNS = [*CASE, "seed", "episode", "move", "regret", "identified"]
TEXTS = (*CASE, "against", "against_setting")
COUNTS = ("episode", "move", "runs", "better", "equal", "worse")


def summary(runs):
    return table(summary_rows(standings(plain_rows(runs))), SUMMARY_COLUMNS)


def comparisons(runs):
    return table(comparison_rows(standings(plain_rows(runs))), COMPARISON_COLUMNS)


def plain_rows(runs):
    columns = (runs[name].astype(object).where(runs[name].notna(), None).tolist() for name in STANDING_COLUMNS)
    return zip(*columns, strict=True)


def table(rows, columns):
    kinds = {name: "Int64" if name in COUNTS else float for name in columns if name not in TEXTS}
    return pd.DataFrame(rows, columns=columns).astype(kinds)
