"""Ablation panels: regret by the values of one setting, one panel per method and key of the study's grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.wording import spaced
from tcbo_pyomo.report.figures.canvas import panel_grid
from tcbo_pyomo.studies.figures.axes import LEGEND, columns_for, panel_columns, scale_axis, tidy, whole_numbers
from tcbo_pyomo.studies.figures.curves import band_words, draw_curves, progress
from tcbo_pyomo.studies.figures.figure_data import known_runs
from tcbo_pyomo.studies.figures.labels import folded, heading, key_words, label, plain, setting_values
from tcbo_pyomo.studies.figures.regret import regret_title, zero_words
from tcbo_pyomo.studies.figures.series import look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, PANEL_LINE = 4.4, 48
DEFAULT = "as the study sets it"


def ablation_figure(runs: pd.DataFrame, problem: str, feedback: str, unit: str = "") -> Figure:
    """Median regret with its band over the seeds, one line per value of a setting.

    A panel shows all runs of a method whose grid has its key; runs that differ in other keys are pooled, as its title
    says.
    """
    _, rows = known_runs(runs, problem, feedback, "regret", "identified")
    along = progress(rows)
    panels = _panels(along.rows)
    if not panels:
        raise BadInput(f"runs: problem '{problem}', {feedback} feedback: column 'setting' is empty; no grid to compare")
    columns = panel_columns(len(panels))
    figure, axes = panel_grid(len(panels), columns, (WIDTH, 4.2), (0.0, 0.7), sharey=True)
    values = []
    for ax, (method, key, part) in zip(axes, panels, strict=False):
        values.append(_draw_panel(ax, method, key, part))
        ax.set_xlabel(along.title)
        whole_numbers(ax)
        tidy(ax)
    scale = scale_axis(axes[0], "y", np.concatenate(values), zero=zero_words(rows))
    for ax in axes[: len(panels) : columns]:
        ax.set_ylabel(regret_title(unit, scale))
    figure.suptitle(f"{heading(problem, feedback)}: regret\n{band_words(rows)}", fontsize=10.5)
    return figure


def _panels(rows: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Method, key and the runs with their value in the column `value`."""
    panels = []
    for method in rows["method"].unique():
        own = rows[rows["method"] == method]
        points = {setting: setting_values(setting) for setting in own["setting"].unique()}
        for key in dict.fromkeys(key for point in points.values() for key in point):
            value = own["setting"].map({s: p.get(key) if p else DEFAULT for s, p in points.items()})
            panels.append((method, key, own.assign(value=value)[value.notna()]))
    return panels


def _draw_panel(ax: Axes, method: str, key: str, rows: pd.DataFrame) -> Array:
    """One line per value of a setting; the numbers drawn."""
    values = sorted(rows["value"].unique(), key=_order)
    names = [plain(spaced(value)) for value in values]
    parts = [(rows[rows["value"] == value], look(number), names[number]) for number, value in enumerate(values)]
    _, drawn = draw_curves(ax, parts, "regret")
    others = {other for setting in rows["setting"].unique() for other in setting_values(setting)} - {key}
    pooled = f" (with all {', '.join(key_words(other) for other in sorted(others))})" if others else ""
    ax.set_title(folded(plain(f"{label(method)}: {key_words(key)}{pooled}"), PANEL_LINE), fontsize=9.5)
    columns = columns_for(names, WIDTH - 0.8)
    place: Any = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14), "ncols": columns}
    ax.legend(title=plain(key_words(key)), title_fontsize=8, **place, **LEGEND)
    return drawn


def _order(value: str) -> tuple[int, float, str]:
    """The study's own setting first, then numbers by size, then words."""
    if value == DEFAULT:
        return 0, 0.0, ""
    try:
        return 1, float(value), value
    except ValueError:
        return 2, 0.0, value
