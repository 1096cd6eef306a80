"""The same states with longer moves along one coordinate: for questions about steps that a plant's list of moves lacks.

The states must lie on a grid, every move must be sure, and all measurements must have the same noise: otherwise what a longer
move would do is not known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.coordinates import coordinate_index
from tcbo_pyomo.plant.grid import action_name
from tcbo_pyomo.plant.process import Process


@dataclass(frozen=True, eq=False)
class LongerMoves:
    """A process with longer moves.

    Attributes
    ----------
    process
        The plant.
    pair
        For each pair of the plant before, the same pair now.
    cells
        The longest move along the coordinate, in grid cells.
    """

    process: Process
    pair: Integers
    cells: int


def why_not_longer(process: Process) -> str:
    """Why longer moves cannot be built, in words; empty where they can."""
    if not process.deterministic:
        return "its moves are random"
    if np.ptp(process.noise_variance) > 1e-12 * process.noise_variance.max():
        return "its noise differs from move to move"
    return ""


def missing_steps(process: Process, coordinate: str, limit: float) -> list[int]:
    """Numbers of cells that fit into a step of at most `limit` somewhere on the grid, but that no move makes."""
    axis = coordinate_index(process.coordinates, coordinate)
    values, cells = np.unique(process.states[:, axis], return_inverse=True)
    moved = np.abs(cells[process.transitions.indices] - cells[process.pair_state[process.transition_pair]])
    slack = 1e-9 * process.coordinates[axis].width
    fitting = [k for k in range(1, len(values)) if (values[k:] - values[:-k]).min() <= limit + slack]
    return [k for k in fitting if k > moved.max()]


def with_longer_moves(process: Process, coordinate: str, steps: list[int]) -> LongerMoves:
    """The process with each of its longest moves along a coordinate lengthened to the given numbers of cells."""
    axis = coordinate_index(process.coordinates, coordinate)
    cells = _cells(process.states)
    state_at = {tuple(cell): index for index, cell in enumerate(cells.tolist())}
    offset = cells[process.successor] - cells[process.pair_state]
    longest = np.abs(offset[:, axis]).max()
    new: dict[tuple[int, ...], None] = {}
    for move in np.unique(offset[np.abs(offset[:, axis]) == longest], axis=0) if longest else _unit_moves(offset, axis):
        for size in steps:
            changed = move.copy()
            changed[axis] = np.sign(move[axis]) * size
            new[tuple(changed.tolist())] = None
    names = [c.name for c in process.coordinates]
    sources, actions, arrived = [process.pair_state], [process.pair_action], [process.successor]
    for number, move in enumerate(new):
        found = [(state, state_at.get(tuple(to))) for state, to in enumerate((cells + np.array(move)).tolist())]
        inside = [(state, to) for state, to in found if to is not None]
        sources.append(np.array([state for state, _ in inside], dtype=np.int64))
        arrived.append(np.array([to for _, to in inside], dtype=np.int64))
        actions.append(np.full(len(inside), len(process.actions) + number))
    state, action, successor = map(np.concatenate, (sources, actions, arrived))
    order = np.lexsort((action, state))
    number = len(order)
    matrix = sparse.csr_matrix((np.ones(number), successor[order], np.arange(number + 1)), (number, len(cells)))
    longer = Process.from_arrays(
        process.coordinates,
        process.states,
        state[order],
        action[order],
        matrix,
        float(process.noise_variance[0]),
        labels=process.labels,
        actions=[*process.actions, *_new_names([action_name(names, move) for move in new], process.actions)],
    )
    place = np.empty(number, dtype=np.int64)
    place[order] = np.arange(number)
    return LongerMoves(longer, place[: process.number_of_pairs], max(steps))


def _new_names(names: list[str], taken: tuple[str, ...]) -> list[str]:
    return [f"{name} (longer)" if name in taken else name for name in names]


def _cells(states: Array) -> Integers:
    return np.stack([np.unique(column, return_inverse=True)[1] for column in states.T], axis=1)


def _unit_moves(offset: Integers, axis: int) -> Integers:
    """One cell up and down, where no move goes along the axis at all."""
    unit = np.zeros((2, offset.shape[1]), dtype=offset.dtype)
    unit[:, axis] = 1, -1
    return unit
