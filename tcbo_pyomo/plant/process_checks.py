"""What must be true of a process before anything is planned on it; each error names the offending state."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from tcbo_pyomo.errors import BadInput

if TYPE_CHECKING:
    from tcbo_pyomo.plant.process import Process

PROBABILITY_TOLERANCE = 1e-9


def check_process(process: Process) -> None:
    """Refuse a process that is not a proper Markov decision process with positive noise."""
    _check_shapes(process)
    _check_states(process)
    _check_pairs(process)
    _check_probabilities(process)
    _check_noise(process)


def _check_shapes(process: Process) -> None:
    names = [c.name for c in process.coordinates]
    if not names or len(set(names)) != len(names):
        raise BadInput(f"coordinates {names} must be at least one, each with its own name")
    states, pairs = len(process.labels), len(process.pair_state)
    if process.states.shape != (states, len(names)):
        raise BadInput(
            f"states have shape {process.states.shape}; {states} labels and {len(names)} coordinates need "
            f"{(states, len(names))}"
        )
    if process.transitions.shape != (pairs, states) or len(process.pair_action) != pairs:
        raise BadInput(
            f"transitions have shape {process.transitions.shape} and there are {len(process.pair_action)} pair actions; "
            f"{pairs} pairs and {states} states need {(pairs, states)} and {pairs}"
        )


def _check_states(process: Process) -> None:
    for label, times in Counter(process.labels).items():
        if times > 1:
            raise BadInput(f"state label '{label}' is used twice; labels must be distinct")
    if len(set(process.actions)) != len(process.actions):
        raise BadInput("action names must be distinct")
    for axis, coordinate in enumerate(process.coordinates):
        values = process.states[:, axis]
        slack = 1e-9 * coordinate.width
        # Written so that NaN is outside as well.
        outside = ~((values >= coordinate.lower - slack) & (values <= coordinate.upper + slack))
        if outside.any():
            state = int(outside.argmax())
            raise BadInput(
                f"state '{process.labels[state]}': {coordinate.name} = {values[state]} lies outside "
                f"[{coordinate.lower}, {coordinate.upper}]; widen the coordinate or remove the state"
            )


def _check_pairs(process: Process) -> None:
    order = process.pair_state
    if len(order) and ((order[:-1] > order[1:]).any() or order[0] < 0 or order[-1] >= len(process.labels)):
        raise BadInput("pair_state must be non-decreasing indices of states")
    if len(order) and (process.pair_action.min() < 0 or process.pair_action.max() >= len(process.actions)):
        raise BadInput(f"pair_action must be indices of the {len(process.actions)} actions")
    key = order * (len(process.actions) + 1) + process.pair_action
    unique, first, count = np.unique(key, return_index=True, return_counts=True)
    if len(unique) != len(key):
        pair = int(first[count > 1][0])
        raise BadInput(
            f"the move {process.pair_name(pair)} is declared twice; give each action of a state its own name"
        )
    moves = np.diff(process.pair_offsets)
    if (moves == 0).any():
        state = int((moves == 0).argmax())
        raise BadInput(
            f"state '{process.labels[state]}' is a dead end: no move leaves it; "
            "add a move (staying counts as one) or remove the state"
        )


def _check_probabilities(process: Process) -> None:
    matrix = process.transitions
    bad = ~(matrix.data > 0)
    if bad.any():
        entry = int(bad.argmax())
        pair = int(process.transition_pair[entry])
        raise BadInput(
            f"move {process.pair_name(pair)}: probability {matrix.data[entry]} of reaching "
            f"'{process.labels[matrix.indices[entry]]}' must be positive; leave out impossible outcomes"
        )
    total = np.asarray(matrix.sum(axis=1)).ravel()
    wrong = ~(np.abs(total - 1.0) <= PROBABILITY_TOLERANCE)
    if wrong.any():
        pair = int(wrong.argmax())
        raise BadInput(f"move {process.pair_name(pair)}: probabilities sum to {total[pair]:.12g}, they must sum to 1")


def _check_noise(process: Process) -> None:
    if process.noise_variance.shape != (process.transitions.nnz,):
        raise BadInput(
            f"noise_variance has shape {process.noise_variance.shape}; give one number, a function, or one value for each "
            f"of the {process.transitions.nnz} transitions"
        )
    bad = ~((process.noise_variance > 0) & np.isfinite(process.noise_variance))
    if bad.any():
        entry = int(bad.argmax())
        pair = int(process.transition_pair[entry])
        raise BadInput(
            f"move {process.pair_name(pair)} to '{process.labels[process.transitions.indices[entry]]}': "
            f"noise variance {process.noise_variance[entry]} must be positive and finite"
        )
