"""The grid builder: as many states and moves as counting by hand gives, and readable labels."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.plant.grid import grid_process

steps = st.sets(st.integers(-3, 3), max_size=4).map(lambda chosen: sorted({0, *chosen}))


@given(st.lists(st.tuples(st.integers(2, 5), steps), min_size=1, max_size=3))
def test_number_of_states_and_moves_by_formula(axes):
    process = grid_process(
        {f"x{i}": np.linspace(0, 1, size) for i, (size, _) in enumerate(axes)},
        {f"x{i}": moves for i, (_, moves) in enumerate(axes)},
        1.0,
    )
    # Along one axis a step of k cells fits size - |k| times; axes are independent of each other.
    assert process.number_of_states == math.prod(size for size, _ in axes)
    assert process.number_of_pairs == math.prod(sum(max(size - abs(k), 0) for k in moves) for size, moves in axes)


def test_knorr_has_121_states_and_651_moves():
    # 11 + 10 ways along the residence time (stay, up) times 11 + 10 + 10 along the ratio.
    process = grid_process({"t": range(11), "b": range(11)}, {"t": [0, 1], "b": [-1, 0, 1]}, 1.0)
    assert (process.number_of_states, process.number_of_pairs) == (121, 21 * 31)


def test_every_move_changes_the_coordinates_as_its_name_says():
    axes, moves = {"time": [0.0, 4.0, 8.0], "ratio": [0.1, 0.2]}, {"ratio": [1, 0, -1], "time": [0, 2]}
    process = grid_process(axes, moves, 1.0)
    expected = {
        (f"time={t:g}, ratio={b:g}", name, f"time={t + dt:g}, ratio={b + db:g}")
        for t, b in itertools.product([0, 4, 8], [0.1, 0.2])
        for dt, db, name in [
            (0, 0, "stay"),
            (8, 0, "time+2"),
            (0, 0.1, "ratio+1"),
            (0, -0.1, "ratio-1"),
            (8, 0.1, "time+2, ratio+1"),
            (8, -0.1, "time+2, ratio-1"),
        ]
        if t + dt <= 8 and 0.05 < b + db < 0.25
    }
    found = {
        (
            process.labels[process.pair_state[p]],
            process.actions[process.pair_action[p]],
            process.labels[process.successor[p]],
        )
        for p in range(process.number_of_pairs)
    }
    assert found == expected


def test_points_labels_and_units():
    process = grid_process({"x": [0.1 * i for i in range(4)], "y": [1, 2]}, {"x": [0], "y": [0]}, 1.0, {"x": "min"})
    assert process.labels[6] == "x=0.3, y=1"
    assert process.states[6] == pytest.approx([0.3, 1.0])
    assert [c.title for c in process.coordinates] == ["x (min)", "y"]
    assert (process.coordinates[0].lower, process.coordinates[0].upper) == (0.0, pytest.approx(0.3))


def test_labels_take_as_many_digits_as_tell_the_values_apart():
    process = grid_process({"wavelength": [1550.0001, 1550.0002, 1550.0003]}, {"wavelength": [0]}, 1.0)
    assert process.labels == ("wavelength=1550.0001", "wavelength=1550.0002", "wavelength=1550.0003")


def test_a_grid_that_only_goes_up_has_a_dead_end_at_its_top():
    with pytest.raises(BadInput, match="state 'x=2' is a dead end"):
        grid_process({"x": [0, 1, 2]}, {"x": [1]}, 1.0)


def test_noise_may_depend_on_the_move():
    process = grid_process({"x": [0, 1, 3]}, {"x": [0, 1]}, lambda left, right: 1.0 + (right - left)[:, 0])
    assert process.noise_variance.tolist() == [1.0, 2.0, 1.0, 3.0, 1.0]


@pytest.mark.parametrize(
    "values", [[], [1.0], [1.0, 1.0], [2.0, 1.0], [0.0, math.nan], [0.0, math.inf], ["0", "1"], [None, 1.0]]
)
def test_an_axis_needs_two_increasing_finite_values(values):
    with pytest.raises(BadInput, match="'x'"):
        grid_process({"x": values}, {"x": [0]}, 1.0)


@pytest.mark.parametrize("cells", [[], [0, 0], [0.5], [math.nan], [math.inf], ["up"], [None]])
def test_moves_are_distinct_whole_numbers_of_cells(cells):
    with pytest.raises(BadInput, match="moves of 'x'"):
        grid_process({"x": [0, 1]}, {"x": cells}, 1.0)


def test_whole_numbers_written_as_floats_are_cells_too():
    assert grid_process({"x": [0, 1]}, {"x": [0.0, 1.0]}, 1.0).actions == ("stay", "x+1")


@pytest.mark.parametrize("moves", [{}, {"y": [0]}, {"x": [0], "y": [0]}])
def test_moves_name_the_same_coordinates_as_the_axes(moves):
    with pytest.raises(BadInput, match="name the same coordinates"):
        grid_process({"x": [0, 1]}, moves, 1.0)


def test_no_axis_and_units_of_unknown_axes_are_refused():
    with pytest.raises(BadInput, match="at least one axis"):
        grid_process({}, {}, 1.0)
    with pytest.raises(BadInput, match="units: unknown coordinate 'tme'; did you mean 'time'"):
        grid_process({"time": [0, 1]}, {"time": [0]}, 1.0, {"tme": "min"})
