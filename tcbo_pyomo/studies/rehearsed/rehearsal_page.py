"""The page of a rehearsal: what to expect, the curves behind it, and a table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcbo_pyomo._version import __version__
from tcbo_pyomo.foundation.atomic_file import write_atomically
from tcbo_pyomo.foundation.wording import counted, spaced, with_unit
from tcbo_pyomo.report.figures.canvas import axes_or_new, legend_below
from tcbo_pyomo.report.page import check_output, rendered
from tcbo_pyomo.report.page_figures import Picture, drawn_picture
from tcbo_pyomo.studies.figures.series import look
from tcbo_pyomo.studies.rehearsed.answers import Rehearsed
from tcbo_pyomo.studies.rehearsed.rehearse import RehearsalReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEMPLATE = "rehearsal.html.jinja"
TITLES = ["campaign", "method", "episodes", "moves", "draws", "expected regret", "within tolerance", "episodes needed"]


def write_page(report: RehearsalReport, path: str | os.PathLike[str], command: str = "", force: bool = False) -> None:
    """Write the page of a rehearsal; `command` is what repeats it."""
    check_output(path, force)
    write_atomically(Path(path), rendered(TEMPLATE, page_content(report, command)).encode("utf-8"))


def page_content(report: RehearsalReport, command: str) -> dict[str, Any]:
    """Everything the template shows."""
    return {
        "title": spaced(report.problem.name),
        "description": report.problem.description,
        "complete": report.complete,
        "answers": report.answers,
        "pictures": _pictures(report),
        "titles": TITLES,
        "rows": table_rows(report),
        "command": command,
        "seed": str(report.seed),
        "version": __version__,
    }


def table_rows(report: RehearsalReport) -> list[list[str]]:
    """A row for each scenario and method, as `TITLES` says."""
    rows, unit = [], report.problem.output_unit
    for part in report.rehearsed:
        scenario = part.scenario
        size = [str(number) for number in (scenario.episodes, scenario.episodes * scenario.horizon, part.draws)]
        for name in part.outcomes:
            end, error = part.mean(name)[-1], 2.0 * part.standard_error(name)[-1]
            needed = part.needed(name, report.tolerance)
            shown = (
                f"{with_unit(end, '')} ± {with_unit(error, unit)}",
                f"{100.0 * part.within(name, report.tolerance)[-1]:.0f} %",
            )
            more = f"more than {scenario.episodes}" if needed is None else str(needed)
            rows.append([scenario.label, name, *size, *shown, more])
    return rows


def _pictures(report: RehearsalReport) -> list[Picture]:
    """Methods against each other, then each variation against the declared campaign."""
    if not report.rehearsed:
        return []
    declared, unit = report.rehearsed[0], report.problem.output_unit
    curves = [(name, declared, name) for name in declared.outcomes]
    text = "Mean over the draws with two standard errors; a logarithmic scale."
    found = [_picture(curves, unit, report.tolerance, f"Expected regret by method. {text}")]
    for varied in dict.fromkeys(part.scenario.varied for part in report.rehearsed[1:]):
        parts = [declared, *(part for part in report.rehearsed if part.scenario.varied == varied)]
        curves = [(part.scenario.label, part, part.own) for part in parts]
        found.append(_picture(curves, unit, report.tolerance, f"Expected regret of {declared.own} by {varied}. {text}"))
    return found


def _picture(curves: Sequence[tuple[str, Rehearsed, str]], unit: str, tolerance: float, caption: str) -> Picture:
    def draw() -> Axes:
        from matplotlib.ticker import MaxNLocator

        ax = axes_or_new(None, (6.2, 3.4))
        lowest = 0.1 * tolerance
        for number, (label, part, method) in enumerate(curves):
            style, mean, error = look(number), part.mean(method), part.standard_error(method)
            episodes = range(1, len(mean) + 1)
            values = [max(value, lowest) for value in mean]
            low, high = ([max(m + sign * e, lowest) for m, e in zip(mean, error, strict=True)] for sign in (-2.0, 2.0))
            ax.fill_between(episodes, low, high, color=style.colour, alpha=0.12, linewidth=0)
            ax.plot(
                episodes, values, color=style.colour, linestyle=style.line, marker=style.marker, ms=3.5, label=label
            )
        if tolerance > 0.0:
            ax.axhline(tolerance, color="0.5", linewidth=0.8, linestyle=(0, (2, 2)))
            ax.set_yscale("log")
        ax.set_xlabel("episodes")
        ax.set_ylabel(f"regret ({unit})" if unit else "regret")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=10))
        ax.spines[["top", "right"]].set_visible(False)
        legend_below(ax, True, ncols=min(len(curves), 3), frameon=False)
        return ax

    ends = (f"{label} {with_unit(part.mean(method)[-1], unit)}" for label, part, method in curves)
    last = counted(curves[0][1].scenario.episodes, "episode")
    dashed = (
        " The dashed line is the tolerance; what is far below it is drawn at a tenth of it." if tolerance > 0.0 else ""
    )
    return drawn_picture(draw, f"Expected regret after {last}: {', '.join(ends)}.", caption + dashed)
