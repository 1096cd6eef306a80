"""A process as plain data and back. What is read back is not checked again, and its matrix is made when it is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.foundation.packed_arrays import packed, packed_texts, unpacked, unpacked_texts
from tcbo_pyomo.plant.process import Process

ARRAYS = ("states", "pair_state", "pair_action", "noise_variance")


def process_data(process: Process) -> dict[str, Any]:
    """Everything about a process but its coordinates."""
    matrix = process.transitions
    return {
        "labels": packed_texts(process.labels),
        "actions": packed_texts(process.actions),
        **{name: packed(getattr(process, name)) for name in ARRAYS},
        "first": packed(matrix.indptr),
        "arrives": packed(matrix.indices),
        "probability": packed(matrix.data),
    }


def stored_process(data: Mapping[str, Any], coordinates: Sequence[Coordinate]) -> Process:
    """The process that `process_data` described."""
    process = object.__new__(StoredProcess)
    object.__setattr__(process, "coordinates", tuple(coordinates))
    object.__setattr__(process, "_data", data)
    return process


class StoredProcess(Process):
    """A process whose parts are unpacked one by one, when somebody looks at them."""

    _data: Mapping[str, Any]

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of the states."""
        return unpacked_texts(self._data["labels"])

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """Names of the actions."""
        return unpacked_texts(self._data["actions"])

    @cached_property
    def states(self) -> Array:
        """The states, n x d."""
        return unpacked(self._data["states"])

    @cached_property
    def pair_state(self) -> Integers:
        """The state of each pair."""
        return unpacked(self._data["pair_state"])

    @cached_property
    def pair_action(self) -> Integers:
        """The action of each pair."""
        return unpacked(self._data["pair_action"])

    @cached_property
    def noise_variance(self) -> Array:
        """One value per stored transition."""
        return unpacked(self._data["noise_variance"])

    @cached_property
    def transitions(self) -> Any:
        """The transition probabilities."""
        shape = len(self.pair_state), self._data["states"]["shape"][0]
        data, indices, indptr = (unpacked(self._data[name]) for name in ("probability", "arrives", "first"))
        return StoredMatrix(data, indices, indptr, shape)


class StoredMatrix:
    """The arrays of a sparse matrix; whatever else is asked of it makes the matrix, for which SciPy is loaded."""

    def __init__(self, data: Array, indices: Integers, indptr: Integers, shape: tuple[int, int]) -> None:
        self.data, self.indices, self.indptr, self.shape = data, indices, indptr, shape

    @property
    def nnz(self) -> int:
        """How many numbers are stored."""
        return len(self.data)

    @cached_property
    def _matrix(self) -> Any:
        import scipy.sparse as sparse

        return sparse.csr_matrix((self.data, self.indices, self.indptr), shape=self.shape)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._matrix, name)

    def __matmul__(self, other: Any) -> Any:
        return self._matrix @ other

    def __getitem__(self, which: Any) -> Any:
        return self._matrix[which]
