"""Panels of figures: one for each pair of coordinates, and no more, whatever the rows and columns are."""

from itertools import combinations

import pytest

from tcbo_pyomo.report.figures.canvas import coordinate_pairs, figure_of, pair_panels


@pytest.mark.parametrize("dimension", [2, 3, 4])
def test_every_pair_of_few_coordinates_has_a_panel(dimension):
    assert coordinate_pairs(dimension) == list(combinations(range(dimension), 2))
    assert len(pair_panels(dimension)) == len(list(combinations(range(dimension), 2)))


@pytest.mark.parametrize("dimension", [5, 6, 7])
def test_of_many_coordinates_neighbours_have_one(dimension):
    assert len(pair_panels(dimension)) == len(coordinate_pairs(dimension)) == dimension - 1


@pytest.mark.parametrize("dimension", [3, 5, 6])
def test_a_figure_is_narrow_enough_to_be_read_on_a_page(dimension):
    # The page shows 60 rem (960 pixels) at most; labels of 10 points are then 12 pixels or more.
    points_wide = figure_of(pair_panels(dimension)[0]).get_figwidth() * 72
    assert 10 * 960 / points_wide >= 12
