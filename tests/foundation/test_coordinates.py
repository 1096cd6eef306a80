"""Coordinates own the scaling: engineering units outside, [-0.5, 0.5] inside."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyomo.environ import units

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import Coordinate, coordinate_index, physical, point_from_mapping, scaled

TIME = Coordinate("residence_time", 0.0, 40.0, "min")
RATIO = Coordinate("ratio", 0.1, 0.5)


def test_the_bounds_scale_to_minus_and_plus_one_half():
    points = [[0.0, 0.1], [40.0, 0.5], [10.0, 0.3]]
    assert scaled([TIME, RATIO], points) == pytest.approx(np.array([[-0.5, -0.5], [0.5, 0.5], [-0.25, 0.0]]))


bounds = st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(bounds, min_size=1, max_size=4), st.floats(0.0, 1.0))
def test_scaling_there_and_back_gives_the_same_point(axes, share):
    coordinates = [Coordinate(f"x{i}", lower, upper) for i, (lower, upper) in enumerate(axes)]
    point = [lower + share * (upper - lower) for lower, upper in axes]
    size = max(abs(bound) for axis in axes for bound in axis)
    assert physical(coordinates, scaled(coordinates, [point])) == pytest.approx(np.array([point]), abs=1e-12 * size)


def test_title_and_width_are_in_engineering_units():
    assert TIME.title == "residence_time (min)" and RATIO.title == "ratio"
    assert TIME.width == 40.0


@pytest.mark.parametrize(
    ("quantity", "minutes"),
    [
        (4, 4.0),
        (np.int64(4), 4.0),
        (np.float32(0.5), 0.5),
        (240 * units.s, 4.0),
        (0.5 * units.hour, 30.0),
        (3 * units.min, 3.0),
    ],
)
def test_quantities_convert_to_the_unit_of_the_coordinate(quantity, minutes):
    assert TIME.value_of(quantity) == pytest.approx(minutes, rel=1e-12)


def test_compound_units_convert():
    flow = Coordinate("flow", 0.0, 10.0, "mL/min")
    assert flow.value_of(0.06 * units.L / units.hour) == pytest.approx(1.0)


@pytest.mark.parametrize("quantity", [5 * units.K, 5 * units.dimensionless, "5", "5 min", None, [1.0], True])
def test_a_quantity_that_does_not_convert_is_refused_with_the_coordinate_named(quantity):
    with pytest.raises(BadInput, match="coordinate 'residence_time'"):
        TIME.value_of(quantity)


def test_a_quantity_with_a_unit_is_refused_where_the_coordinate_has_none():
    with pytest.raises(BadInput, match=r"'ratio'.*plain number"):
        RATIO.value_of(1 * units.s)


def test_an_unknown_unit_is_reported_when_a_quantity_is_converted():
    with pytest.raises(BadInput, match="does not convert to fortnigth"):
        Coordinate("time", 0.0, 1.0, "fortnigth").value_of(1 * units.s)


@pytest.mark.parametrize("quantity", [math.nan, math.inf, -math.inf, math.nan * units.s])
def test_numbers_that_are_not_finite_are_refused(quantity):
    with pytest.raises(BadInput, match="is not a finite number"):
        TIME.value_of(quantity)


@pytest.mark.parametrize(
    ("lower", "upper"), [(1.0, 1.0), (2.0, 1.0), (math.nan, 1.0), (0.0, math.inf), (None, 1.0), ("0", 1.0)]
)
def test_bounds_must_be_finite_and_increasing(lower, upper):
    with pytest.raises(BadInput, match="coordinate 'x'"):
        Coordinate("x", lower, upper)


@pytest.mark.parametrize("name", ["", 3, None])
def test_a_coordinate_needs_a_name(name):
    with pytest.raises(BadInput, match="name"):
        Coordinate(name, 0.0, 1.0)


def test_an_unknown_coordinate_suggests_the_closest_name():
    assert coordinate_index([TIME, RATIO], "ratio") == 1
    with pytest.raises(BadInput, match="unknown coordinate 'ration'; did you mean 'ratio'"):
        coordinate_index([TIME, RATIO], "ration")


def test_a_point_is_given_by_name_in_any_order_and_unit():
    point = point_from_mapping([TIME, RATIO], {"ratio": 0.3, "residence_time": 120 * units.s})
    assert point.tolist() == pytest.approx([2.0, 0.3])


@pytest.mark.parametrize("values", [{"ratio": 0.3}, {}, {"ratio": 0.3, "residence_time": 1, "speed": 2}, {1: 0.3}])
def test_a_point_with_missing_or_unknown_coordinates_is_refused(values):
    with pytest.raises(BadInput, match="coordinate"):
        point_from_mapping([TIME, RATIO], values)
