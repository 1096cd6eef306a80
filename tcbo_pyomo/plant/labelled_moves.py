"""A process that is given by the labels of its states and actions, as the arrays it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.arrays import Array

if TYPE_CHECKING:
    from tcbo_pyomo.plant.process import NoiseVariance


def arrays_of(
    states: Mapping[str, Sequence[float]],
    probabilities: Mapping[tuple[str, str], Mapping[str, float]],
    noise_variance: NoiseVariance,
    dimension: int,
) -> dict[str, Any]:
    """What `Process.from_arrays` takes: the pairs in the order of their states, each with its outcomes as a row.

    Parameters
    ----------
    states
        Labels, each with its point of `dimension` numbers.
    probabilities
        `{(state, action): {successor: probability}}`, all by label.
    noise_variance
        A number, a function, or one value per outcome in the order in which these are given.
    dimension
        Number of coordinates.
    """
    import scipy.sparse as sparse  # Slow to load, and commands that only look at a campaign build no process.

    labels = tuple(str(label) for label in states)
    position = {label: index for index, label in enumerate(labels)}

    def index_of(label: str, where: str) -> int:
        if label not in position:
            raise BadInput(f"{where}: unknown state '{label}'; {suggestion(str(label), labels[:50])}")
        return position[label]

    for state, action in probabilities:
        index_of(state, f"move '{action}' from '{state}'")
    actions = tuple(dict.fromkeys(action for _, action in probabilities))
    action_position = {action: index for index, action in enumerate(actions)}
    ordered = sorted(probabilities, key=lambda pair: position[pair[0]])
    row_of = {pair: row for row, pair in enumerate(ordered)}
    rows, columns, values = [], [], []
    for (state, action), outcomes in probabilities.items():
        for successor, probability in outcomes.items():
            rows.append(row_of[state, action])
            columns.append(index_of(successor, f"move '{action}' from '{state}'"))
            values.append(float(probability))
    if not callable(noise_variance) and np.shape(np.asarray(noise_variance)) == (len(values),):
        # The matrix is sorted by state and successor; values given in another order follow it.
        noise_variance = np.asarray(noise_variance)[np.lexsort((columns, rows))]
    return {
        "states": [_point(label, point, dimension) for label, point in states.items()],
        "pair_state": np.array([position[state] for state, _ in ordered], dtype=np.int64),
        "pair_action": np.array([action_position[action] for _, action in ordered], dtype=np.int64),
        "transitions": sparse.csr_matrix((values, (rows, columns)), shape=(len(ordered), len(labels))),
        "noise_variance": noise_variance,
        "labels": labels,
        "actions": actions,
    }


def _point(label: str, point: Any, size: int) -> Array:
    try:
        numbers = np.atleast_1d(np.asarray(point, dtype=float))
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.shape != (size,):
        raise BadInput(f"state '{label}': {point!r} must be {size} number(s), one per coordinate")
    return numbers
