"""What tells one series from the others: its name, and a colour, line, marker and hatch that survive greyscale."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tcbo_pyomo.studies.figures.figure_data import SERIES
from tcbo_pyomo.studies.figures.labels import plain, series_words

# Okabe and Ito's palette, made for all common kinds of colour blindness; without its yellow, too pale for a line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
LINES: tuple[Any, ...] = ("solid", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)))
# Nine markers and four lines have no common factor: 36 series differ without colours.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "+++", "ooo", "---")


@dataclass(frozen=True)
class Look:
    """How a series is drawn: lines by colour, dashes and marker, bars by colour and hatch."""

    colour: str
    line: Any
    marker: str
    hatch: str


@dataclass(frozen=True)
class Series:
    """A method at a point of the study's grid."""

    method: str
    setting: str
    name: str
    look: Look

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Its rows of a table."""
        return table[(table["method"] == self.method) & (table["setting"] == self.setting)]


def look(index: int) -> Look:
    """The look of the series with this number."""
    return Look(*(kinds[index % len(kinds)] for kinds in (COLOURS, LINES, MARKERS, HATCHES)))


def series_of(shown: pd.DataFrame, table: pd.DataFrame) -> list[Series]:
    """The series in the rows shown; a study's table gives each the same look in all of its figures."""
    everywhere = _pairs(table)
    pairs = _pairs(shown)
    places = [everywhere.index(pair) for pair in pairs]
    if len({place % len(COLOURS) for place in places}) < len(places):
        # Too many for one colour each all over the study: the colours of this figure must differ, if they can.
        places = list(range(len(pairs)))
    names = _distinct(pairs)
    return [Series(*pair, name, look(place)) for pair, name, place in zip(pairs, names, places, strict=True)]


def parts_of(shown: pd.DataFrame, table: pd.DataFrame) -> list[tuple[pd.DataFrame, Look, str]]:
    """The rows of every series in the rows shown, with its look and name."""
    return [(series.rows(shown), series.look, series.name) for series in series_of(shown, table)]


def _pairs(table: pd.DataFrame) -> list[tuple[str, str]]:
    return [(str(method), str(setting)) for method, setting in table[SERIES].drop_duplicates().to_numpy()]


def _distinct(pairs: list[tuple[str, str]]) -> list[str]:
    """Names without doubles: a study may call its own method 'MDP-BO' beside mdp_bo, and long names are cut."""
    names = [plain(series_words(*pair)) for pair in pairs]
    often = Counter(names)
    return [name if often[name] == 1 else f"{name} ({number})" for number, name in enumerate(names, 1)]
