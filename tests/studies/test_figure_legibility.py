"""The figures of a study can be read: nothing covers anything, nothing is cut off, and every axis has words."""

import itertools

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cbook import is_math_text
from matplotlib.text import Text
from study_tables import BRANIN, GRID, KNORR, LASER, MANY, SNAR, paths_table, runs_table, timings_table

from tcbo_pyomo.report.figures.canvas import figure_of
from tcbo_pyomo.studies.figures import (
    ablation_figure,
    candidates_figure,
    identification_figure,
    paths_figure,
    regret_figure,
    solve_time_figure,
)

RUNS, TIMINGS, PATHS = runs_table(), timings_table(), paths_table()

FIGURES = {
    "regret": lambda: regret_figure(RUNS, *KNORR),
    "regret of a grid": lambda: regret_figure(RUNS, *GRID, unit="mg/L"),
    "regret by moves": lambda: regret_figure(RUNS, *BRANIN),
    "regret, many": lambda: regret_figure(runs_table(MANY), "many", "episodic"),
    "identification": lambda: identification_figure(RUNS, *KNORR),
    "identification at quarters": lambda: identification_figure(RUNS, *LASER),
    "identification, many": lambda: identification_figure(runs_table(MANY), "many", "episodic"),
    "candidates": lambda: candidates_figure(RUNS, *KNORR),
    "candidates, many": lambda: candidates_figure(runs_table(MANY), "many", "episodic"),
    "candidates, some without": lambda: candidates_figure(RUNS, *SNAR),
    "ablation": lambda: ablation_figure(RUNS, *GRID),
    "paths on states": lambda: paths_figure(PATHS, *KNORR),
    "paths of a grid": lambda: paths_figure(PATHS, *GRID),
    "paths on a continuum": lambda: paths_figure(PATHS, *BRANIN),
    "traces": lambda: paths_figure(PATHS, *SNAR),
    "solve times": lambda: solve_time_figure(TIMINGS),
    "solve times, many": lambda: solve_time_figure(timings_table(MANY)),
}


def visible_boxes(figure):
    """Name and box of every text outside legends, and of every legend, as drawn."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    texts = []
    for axes in figure.axes:
        texts += [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts] if axes.axison else []
        for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            pairs = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=False)
            texts += [text for place, text in pairs if axes.axison and min(limits) <= place <= max(limits)]
    texts += [figure._suptitle] if figure._suptitle else []
    shown = [text for text in texts if text.get_text() and text.get_visible()]
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in shown]
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]
    return boxes + [("legend", legend.get_window_extent(renderer)) for legend in legends], legends, renderer


def common_area(one, other):
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return max(width - 1.0, 0.0) * max(height - 1.0, 0.0)  # a pixel's rounding is no overlap


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_overlaps_and_nothing_is_cut_off(name):
    figure = figure_of(FIGURES[name]())
    boxes, legends, renderer = visible_boxes(figure)
    assert len(boxes) > 5
    for (text, box), (other, second) in itertools.combinations(boxes, 2):
        assert not common_area(box, second), f"{text!r} overlaps {other!r}"
    for text, box in boxes:
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= figure.bbox.x1 + 1 and box.y1 <= figure.bbox.y1 + 1
        assert inside, f"{text!r} is cut off"
    for legend, axes in itertools.product(legends, figure.axes):
        assert not common_area(legend.get_window_extent(renderer), axes.get_window_extent(renderer))
    for axes in figure.axes:
        box = axes.get_window_extent(renderer)
        assert not axes.axison or (box.height > 90 and box.width > 10), "no room is left for the data"


@pytest.mark.parametrize("name", FIGURES)
def test_axes_have_words_and_no_label_is_a_formula(name):
    figure = figure_of(FIGURES[name]())
    assert any(axes.get_xlabel() for axes in figure.axes)
    assert all(not is_math_text(text.get_text()) for text in figure.findobj(Text))
    named = [axes.get_ylabel() for axes in figure.axes if axes.axison]
    assert any(named) or name.startswith("solve")
