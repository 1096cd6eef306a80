"""The figure of the paths: everything promised is in it, for every kind of process."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.report.figures.campaign_figure import campaign_figure
from tcbo_pyomo.report.figures.canvas import figure_of
from tcbo_pyomo.report.figures.path_drawing import CIRCLE_POINTS
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def labels(axes):
    return axes.get_legend_handles_labels()[1]


def problem_of(process, truth=True, **fields):
    values = np.arange(float(process.number_of_states)) if truth else None
    return Problem("small", process, 0, 4, 3, SquaredExponential(1.0, 0.2), truth=values, output="value", **fields)


def drawn_path(axes, episode):
    (line,) = [line for line in axes.lines if line.get_label() == f"episode {episode}"]
    return np.column_stack(line.get_data())


def test_knorr_figure_shows_what_it_should(knorr_result):
    figure = figure_of(campaign_figure(knorr_result))
    axes, bar = figure.axes
    assert [f"episode {i}" for i in range(1, 11)] == [name for name in labels(axes) if name.startswith("episode")]
    assert {"states", "start", "remaining candidates", "recommendation", "true maximum"} <= set(labels(axes))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("residence time (min)", "ratio")
    assert bar.get_ylabel() == "true product"
    assert len({(line.get_color(), line.is_dashed()) for line in axes.lines}) == 10


def test_lines_show_the_true_places_and_stay_within_the_circles_around_them(knorr_result):
    """A ratio of 0 is drawn at 0: lines are moved on paper only, by less than a circle's radius, and never coincide."""
    axes = campaign_figure(knorr_result)
    states = knorr_result.problem.process.states
    starts = []
    for episode, path in enumerate(knorr_result.paths, 1):
        line = next(line for line in axes.lines if line.get_label() == f"episode {episode}")
        assert np.allclose(line.get_xydata(), states[path])
        moved = line.get_transform().transform(line.get_xydata()) - axes.transData.transform(states[path])
        points = moved * 72.0 / axes.figure.dpi
        assert np.linalg.norm(points, axis=1).max() < CIRCLE_POINTS / 2
        starts.append(tuple(points[0].round(6)))
    assert len(set(starts)) == 10


def test_marks_are_where_they_belong(knorr_result):
    axes = campaign_figure(knorr_result)
    problem = knorr_result.problem
    marks = {mark.get_label(): mark.get_offsets() for mark in axes.collections if hasattr(mark, "get_offsets")}
    assert np.array_equal(marks["true maximum"], problem.process.states[[problem.best_state]])
    assert np.array_equal(marks["remaining candidates"], problem.process.states[knorr_result.candidate_states])
    assert np.array_equal(marks["recommendation"], problem.process.states[[120]])


def test_draws_on_given_axes(knorr_result):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert campaign_figure(knorr_result, ax=right) is right
    assert right.lines and not left.lines
    assert right.get_legend() is not None


def test_draws_on_axes_of_a_subfigure(knorr_result):
    figure = Figure(layout="constrained")
    part = figure.subfigures(1, 2)[0]
    axes = part.subplots()
    assert campaign_figure(knorr_result, ax=axes) is axes and figure_of(axes) is figure


@pytest.fixture
def scattered():
    states = {str(i): point for i, point in enumerate(np.random.default_rng(0).uniform(0, 1, (12, 2)))}
    moves = [(str(i), f"to {j}", str(j)) for i in range(12) for j in (i, (i + 1) % 12)]
    return Process.from_moves([Coordinate("x", 0, 1), Coordinate("y", 0, 1)], states, moves, 0.1)


def on_a_line():
    states = {str(i): (0.2 * i, 0.2 * i) for i in range(5)}
    moves = [(str(i), f"to {j}", str(j)) for i in range(5) for j in (i, (i + 1) % 5)]
    return Process.from_moves([Coordinate("x", 0, 1), Coordinate("y", 0, 1)], states, moves, 0.1)


def test_scattered_states_have_contours_too(finish, scattered):
    assert len(figure_of(campaign_figure(finish(problem_of(scattered)))).axes) == 2


def test_unknown_truth_gives_no_contours_and_no_maximum(finish, scattered):
    figure = figure_of(campaign_figure(finish(problem_of(scattered, truth=False))))
    assert len(figure.axes) == 1
    assert "true maximum" not in labels(figure.axes[0])


@pytest.mark.parametrize("names", ["a", "abc"])
def test_other_dimensions_are_drawn_without_contours(finish, names, tmp_path):
    process = grid_process({n: [0, 1, 2] for n in names}, {n: [0, 1, -1] for n in names}, 0.1)
    result = finish(problem_of(process))
    figure = figure_of(campaign_figure(result))
    assert [ax.get_xlabel() + ax.get_ylabel() for ax in figure.axes] == (["a"] if names == "a" else ["ab", "ac", "bc"])
    figure.savefig(tmp_path / "figure.png")
    given = campaign_figure(result, Figure().subplots())
    assert ("first 2 of 3 coordinates" in given.get_title()) == (names == "abc")


def test_states_on_a_line_and_very_many_episodes(finish, tmp_path):
    figure = figure_of(campaign_figure(finish(problem_of(on_a_line()), number=60)))
    axes = figure.axes[0]
    assert len(axes.lines) == 60
    assert [name for name in labels(axes) if name.startswith("episode")] == ["episode 1", "episode 60"]
    figure.savefig(tmp_path / "figure.png")
