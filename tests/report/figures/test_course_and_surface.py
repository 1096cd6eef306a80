"""Set-points and results over the moves, and the response surface: every value is drawn where it was measured."""

import numpy as np
import pytest

from tcbo_pyomo import Campaign, PlainPrior, Problem, grid_process, start_campaign
from tcbo_pyomo.knowledge.plausibility import Surprise
from tcbo_pyomo.report.figures.canvas import figure_of
from tcbo_pyomo.report.figures.course_figure import course_figure, results_over_moves
from tcbo_pyomo.report.figures.response_surface import response_surface
from tcbo_pyomo.report.page import render_report


def campaign_of(names, moves=5):
    """Two episodes of three moves on a grid; the result of each move is ten times its number."""
    process = grid_process({name: [0.0, 1.0, 2.0] for name in names}, {name: [-1, 0, 1] for name in names}, 0.01)
    start = dict.fromkeys(names, 1.0)
    campaign = Campaign(Problem("small", process, start, 3, 2, prior=PlainPrior(range=(0, 100)), output_unit="%"), seed=2)
    for number in range(1, moves + 1):
        campaign.tell(campaign.ask().number, 10.0 * number)
    return campaign


def marks(ax):
    return {mark.get_label(): np.asarray(mark.get_offsets()) for mark in ax.collections if len(mark.get_offsets())}


def test_set_points_are_drawn_at_their_own_values_with_a_gap_between_episodes():
    campaign = campaign_of(["a", "b"])
    *coordinates, output = figure_of(course_figure(campaign)).axes
    for ax, name in zip(coordinates, ["a", "b"], strict=True):
        lines = [line.get_xydata() for line in ax.lines if len(line.get_xydata()) > 2]
        assert [list(line[:, 0]) for line in lines] == [[0, 1, 2, 3], [3, 4, 5]]
        for episode, line in enumerate(lines, 1):
            expected = [campaign.problem.describe(place)[name] for place in campaign.history.path(episode)]
            assert list(line[:, 1]) == expected
    assert np.allclose(output.collections[0].get_offsets(), [[n, 10.0 * n] for n in range(1, 6)])


def test_unlikely_results_are_marked_until_somebody_confirms_them():
    campaign = campaign_of(["a", "b"])
    campaign.history.moves[3].surprises = (Surprise(90.0, 5.0, 10.0),)
    campaign.history.moves[1].surprises = (Surprise(90.0, 5.0, 14.0, confirmed=True),)
    assert results_over_moves(campaign)[1] == [False, False, False, True, False]
    assert np.allclose(marks(course_figure(campaign))["unlikely under the model"], [[4.0, 40.0]])
    where = list(campaign.problem.describe(campaign.history.moves[3].arrived).values())
    assert np.allclose(marks(response_surface(campaign))["unlikely under the model"], [where])


@pytest.mark.parametrize(("names", "panels"), [(["a"], 1), (["a", "b"], 1), (["a", "b", "c"], 3)])
def test_the_surface_has_a_panel_for_every_pair_of_inputs(names, panels):
    campaign = campaign_of(names)
    first = response_surface(campaign)
    titled = [ax for ax in figure_of(first).axes if ax.get_xlabel()]
    assert len(titled) == panels
    if len(names) > 1:
        here = campaign.problem.describe(campaign.recommendation)
        assert np.allclose(marks(first)["recommendation"], [[here["a"], here["b"]]])


def test_one_input_shows_the_prediction_itself():
    campaign = campaign_of(["a"])
    line = next(line for line in response_surface(campaign).lines if line.get_label() == "posterior mean")
    assert np.allclose(line.get_ydata(), [campaign.predict({"a": place})[0] for place in (0.0, 1.0, 2.0)])


def test_the_page_lists_what_was_undone(tmp_path):
    campaign = start_campaign(tmp_path / "rig.db", "knorr_pyrazole", seed=1)
    campaign.tell(campaign.ask().number, 0.71)
    campaign.undo()
    campaign.tell(1, 0.01)
    assert campaign.corrections == ("undone: the tell of move 1 (0.71)",)
    page = render_report(campaign)
    assert "Corrections and amendments" in page and "undone: the tell of move 1 (0.71)" in page
