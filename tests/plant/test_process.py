"""The process: what is built from labels and arrays, and what is refused with the offending state named."""

import math

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from random_processes import processes

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.process import Process

X = Coordinate("x", 0.0, 10.0, "min")
STATES = {"left": [0.0], "middle": [5.0], "right": [10.0]}
MOVES = [
    ("left", "stay", "left"),
    ("left", "go", "middle"),
    ("middle", "go", "right"),
    ("right", "stay", "right"),
]


def two_outcomes(noise_variance=1.0, probability=0.25):
    """From `left`, the move `try` reaches `right` with a probability and else stays."""
    chances = {
        ("left", "try"): {"left": 1 - probability, "right": probability},
        ("middle", "stay"): {"middle": 1.0},
        ("right", "stay"): {"right": 1.0},
    }
    return Process.from_probabilities([X], STATES, chances, noise_variance)


def as_arrays(**changes):
    """Two states that can stay or swap, as arrays; the fields given replace the right ones."""
    fields = dict(
        coordinates=[X],
        states=[[0.0], [10.0]],
        pair_state=[0, 0, 1, 1],
        pair_action=[0, 1, 0, 1],
        transitions=sparse.csr_matrix([[1.0, 0], [0, 1.0], [0, 1.0], [1.0, 0]]),
        noise_variance=1.0,
        labels=["low", "high"],
        actions=["stay", "swap"],
    )
    return Process.from_arrays(**{**fields, **changes})


def test_moves_become_labelled_pairs_sorted_by_state():
    process = Process.from_moves([X], STATES, MOVES[::-1], 1.0)
    assert process.number_of_states == 3 and process.number_of_pairs == 4
    pairs = {
        (
            process.labels[process.pair_state[p]],
            process.actions[process.pair_action[p]],
            process.labels[process.successor[p]],
        )
        for p in range(4)
    }
    assert pairs == set(MOVES)
    assert process.pair_state.tolist() == [0, 0, 1, 2]
    assert [list(process.pairs_of(state)) for state in range(3)] == [[0, 1], [2], [3]]


def test_random_moves_keep_their_probabilities():
    process = two_outcomes()
    assert not process.deterministic
    assert process.transitions.toarray().tolist() == [[0.75, 0, 0.25], [0, 1, 0], [0, 0, 1]]
    assert process.successors_of(0).tolist() == [0, 2]
    assert process.only_successor(0) is None
    with pytest.raises(BadInput, match="no single successor"):
        _ = process.successor


def test_arrays_get_labels_when_none_are_given():
    process = as_arrays(labels=None)
    assert process.labels == ("0", "1")
    assert process.deterministic and process.successor.tolist() == [0, 1, 1, 0]


def test_the_matrix_of_the_caller_is_not_changed():
    matrix = sparse.csr_matrix((np.array([0.5, 0.5, 1.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    process = as_arrays(pair_state=[0, 1], pair_action=[0, 0], transitions=matrix)
    assert process.transitions.nnz == 2 and matrix.nnz == 3


def test_a_state_is_found_by_label_index_or_coordinates():
    process = Process.from_moves([X], STATES, MOVES, 1.0)
    assert process.state_index("middle") == process.state_index(1) == process.state_index(np.int64(1)) == 1
    assert process.state_index({"x": 5.0 + 1e-7}) == 1
    assert process.describe(1) == {"x": 5.0}
    assert process.scaled_states.ravel().tolist() == [-0.5, 0.0, 0.5]


@pytest.mark.parametrize("state", ["midle", 3, -1, True, None, [5.0], 1.0])
def test_an_unknown_state_is_refused(state):
    with pytest.raises(BadInput, match="unknown state"):
        Process.from_moves([X], STATES, MOVES, 1.0).state_index(state)


def test_a_point_between_states_is_refused_with_the_nearest_named():
    with pytest.raises(BadInput, match="no state at x=6; the nearest is 'middle'"):
        Process.from_moves([X], STATES, MOVES, 1.0).state_index({"x": 6.0})


def test_noise_is_a_number_a_value_per_move_or_a_function_of_the_move():
    constant = Process.from_moves([X], STATES, MOVES, 0.3)
    assert constant.noise_variance.tolist() == [0.3] * 4
    # Values follow the moves as they are given, here not in the order of the states.
    mixed = [MOVES[2], MOVES[0], MOVES[3], MOVES[1]]
    listed = Process.from_moves([X], STATES, mixed, [3.0, 1.0, 4.0, 2.0])
    distance = Process.from_moves([X], STATES, MOVES, lambda left, right: 1.0 + np.abs(right - left)[:, 0])
    for pair, arrived in enumerate([0, 1, 2, 2]):
        assert listed.noise_of(pair, arrived) == pair + 1.0
        assert distance.noise_of(pair, arrived) == [1.0, 6.0, 6.0, 1.0][pair]


def test_noise_per_outcome_follows_the_order_in_which_outcomes_are_given():
    chances = {("b", "try"): {"b": 0.5, "a": 0.5}, ("a", "stay"): {"a": 1.0}}
    process = Process.from_probabilities([X], {"a": [0.0], "b": [10.0]}, chances, [1.0, 2.0, 3.0])
    assert (process.noise_of(1, 1), process.noise_of(1, 0), process.noise_of(0, 0)) == (1.0, 2.0, 3.0)


def test_noise_per_transition_is_refused_for_a_matrix_in_another_order():
    unsorted = sparse.csr_matrix((np.array([0.5, 0.5, 1.0]), np.array([1, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    with pytest.raises(BadInput, match="sum_duplicates"):
        as_arrays(pair_state=[0, 1], pair_action=[0, 0], transitions=unsorted, noise_variance=[1.0, 2.0, 3.0])


def test_an_arrival_the_model_does_not_know_gets_the_largest_noise_of_its_move():
    process = two_outcomes(lambda left, right: 1.0 + right[:, 0])
    assert process.noise_of(0, 0) == 1.0 and process.noise_of(0, 2) == 11.0
    assert process.noise_of(0, 1) == 11.0


def test_information_rate_is_probability_over_noise_of_each_outcome():
    process = two_outcomes(lambda left, right: 0.5 + np.abs(right - left)[:, 0] / 10)
    # `try` stays with 3/4 and noise 0.5, jumps with 1/4 and noise 1.5.
    expected = [[0.75 / 0.5, 0, 0.25 / 1.5], [0, 1 / 0.5, 0], [0, 0, 1 / 0.5]]
    assert process.information_rate.toarray() == pytest.approx(np.array(expected))
    assert process.transitions.toarray()[0].tolist() == [0.75, 0, 0.25]


@given(processes(move_noise=True))
def test_pairs_and_transitions_of_any_process_fit_together(process):
    for state in range(process.number_of_states):
        assert all(process.pair_state[pair] == state for pair in process.pairs_of(state))
    dense = process.transitions.toarray()
    for entry, pair in enumerate(process.transition_pair):
        arrived = process.transitions.indices[entry]
        assert process.noise_of(pair, arrived) == process.noise_variance[entry]
        assert process.information_rate[pair, arrived] == dense[pair, arrived] / process.noise_variance[entry]


@pytest.mark.parametrize("total", [0.9, 1.1, 1.0 + 1e-6])
def test_probabilities_that_do_not_sum_to_one_name_the_move(total):
    chances = {("left", "try"): {"left": total - 0.5, "right": 0.5}, ("right", "stay"): {"right": 1.0}}
    with pytest.raises(BadInput, match=r"'left' -> 'try': probabilities sum to"):
        Process.from_probabilities([X], {"left": [0.0], "right": [1.0]}, chances, 1.0)


def test_ten_times_a_tenth_sums_to_one():
    states = {str(i): [float(i)] for i in range(10)}
    chances = {(label, "drift"): dict.fromkeys(states, 0.1) for label in states}
    assert Process.from_probabilities([X], states, chances, 1.0).transitions.nnz == 100


@pytest.mark.parametrize("probability", [-0.25, 0.0, math.nan])
def test_a_probability_that_is_not_positive_names_move_and_outcome(probability):
    chances = {("left", "try"): {"left": 1.0, "right": probability}, ("right", "stay"): {"right": 1.0}}
    with pytest.raises(BadInput, match=r"'left' -> 'try'.*reaching 'right'"):
        Process.from_probabilities([X], {"left": [0.0], "right": [1.0]}, chances, 1.0)


def test_a_move_without_outcomes_is_refused():
    with pytest.raises(BadInput, match="'left' -> 'wait': probabilities sum to 0"):
        Process.from_probabilities([X], {"left": [0.0]}, {("left", "wait"): {}}, 1.0)


@pytest.mark.parametrize(("state", "successor"), [("lft", "left"), ("left", "lft")])
def test_an_unknown_label_names_the_move_and_the_closest_label(state, successor):
    with pytest.raises(BadInput, match=f"move 'hop' from '{state}': unknown state 'lft'; did you mean 'left'"):
        Process.from_moves([X], STATES, [*MOVES, (state, "hop", successor)], 1.0)


def test_a_dead_end_is_named():
    with pytest.raises(BadInput, match="state 'right' is a dead end"):
        Process.from_moves([X], STATES, MOVES[:3], 1.0)
    with pytest.raises(BadInput, match="state 'left' is a dead end"):
        Process.from_moves([X], STATES, [], 1.0)


def test_the_same_action_twice_in_a_state_is_refused():
    with pytest.raises(BadInput, match="state 'left': action 'go' is declared twice"):
        Process.from_moves([X], STATES, [*MOVES, ("left", "go", "right")], 1.0)
    with pytest.raises(BadInput, match="'high' -> 'stay' is declared twice"):
        as_arrays(pair_action=[0, 1, 0, 0])


@pytest.mark.parametrize("noise", [0.0, -1.0, math.nan, math.inf])
def test_noise_that_is_not_positive_and_finite_names_the_move(noise):
    with pytest.raises(BadInput, match=r"'left' -> 'stay' to 'left': noise variance"):
        Process.from_moves([X], STATES, MOVES, noise)
    with pytest.raises(BadInput, match=r"'left' -> 'go' to 'middle': noise variance"):
        Process.from_moves([X], STATES, MOVES, [1.0, noise, 1.0, 1.0])
    with pytest.raises(BadInput, match=r"'middle' -> 'go' to 'right': noise variance"):
        Process.from_moves([X], STATES, MOVES, lambda left, right: np.where(left[:, 0] == 5.0, noise, 1.0))


@pytest.mark.parametrize("noise", [[1.0], [1.0] * 5, lambda left, right: 1.0 + np.abs(right - left)])
def test_noise_of_the_wrong_shape_is_refused(noise):
    with pytest.raises(BadInput, match="noise_variance has shape"):
        Process.from_moves([X], STATES, MOVES, noise)


@pytest.mark.parametrize("value", [-0.1, 10.1, math.nan])
def test_a_state_outside_its_coordinate_is_named(value):
    with pytest.raises(BadInput, match=r"state 'right': x = .* lies outside \[0.0, 10.0\]"):
        Process.from_moves([X], {**STATES, "right": [value]}, MOVES, 1.0)


@pytest.mark.parametrize("point", [[1.0, 2.0], [], ["one"], [[1.0]], None])
def test_a_state_with_the_wrong_number_of_coordinates_is_named(point):
    with pytest.raises(BadInput, match=r"state 'middle'"):
        Process.from_moves([X], {**STATES, "middle": point}, MOVES, 1.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": ["low", "low"]}, "state label 'low' is used twice"),
        ({"actions": ["stay", "stay"]}, "action names must be distinct"),
        ({"labels": ["low", "high", "more"]}, "3 labels"),
        ({"coordinates": [X, X]}, "each with its own name"),
        ({"coordinates": []}, "at least one"),
        ({"pair_state": [0, 1, 0, 1]}, "non-decreasing"),
        ({"pair_state": [0, 0, 1, 2]}, "indices of states"),
        ({"pair_state": [-1, 0, 1, 1]}, "indices of states"),
        ({"pair_state": [0, 0, 1]}, "3 pairs"),
        ({"pair_action": [0, 1, 0, 2]}, "indices of the 2 actions"),
        ({"pair_action": [0, 1, 0]}, "3 pair actions"),
        ({"transitions": sparse.csr_matrix(np.eye(4))}, r"need \(4, 2\)"),
    ],
)
@pytest.mark.parametrize("noise", [1.0, lambda left, right: 1.0 + right[:, 0]], ids=["number", "function"])
def test_arrays_that_do_not_fit_together_are_refused(changes, message, noise):
    with pytest.raises(BadInput, match=message):
        as_arrays(noise_variance=noise, **changes)
