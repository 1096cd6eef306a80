"""Past experiments: results that were measured before the campaign, or beside it. They teach the model and are no moves.

A table of them is one batch. Places are kept in engineering units, so that they stay what they are when the bounds of the plant
are amended. A batch, or rows of it, that was removed is not there any more: the record says what happened.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import scaled
from tcbo_pyomo.foundation.wording import with_unit
from tcbo_pyomo.knowledge.plausibility import Surprise, surprise_from

if TYPE_CHECKING:
    from tcbo_pyomo.problem.protocol import ProblemProtocol


@dataclass(frozen=True)
class PastResult:
    """One measurement of a table.

    Attributes
    ----------
    row
        Its row in the table, as an editor counts it; of a data frame from 1.
    at
        The inputs in engineering units, in the order of the batch's `names`.
    value
        What was measured, in the unit of the output.
    sd
        Standard deviation of the measurement; None for the one that the problem declares.
    surprise
        What was expected of it, where it is unlikely given all others; None otherwise.
    """

    row: int
    at: tuple[float, ...]
    value: float
    sd: float | None = None
    surprise: Surprise | None = None

    @property
    def measured(self) -> tuple[tuple[float, ...], float, float | None]:
        """What was measured where: two rows with the same are one experiment written down twice."""
        return self.at, self.value, self.sd


@dataclass(frozen=True)
class PastBatch:
    """The results of one table.

    Attributes
    ----------
    number
        Counts the tables from 1; the number by which it is removed.
    source
        The file, or what else it was called.
    names
        The inputs, in the order of `PastResult.at`.
    results
        Its rows.
    """

    number: int
    source: str
    names: tuple[str, ...]
    results: tuple[PastResult, ...]

    def named(self, result: PastResult) -> str:
        """One of its rows in words."""
        return f"row {result.row} of {self.source}"

    def inputs(self, result: PastResult, names: Sequence[str]) -> list[float]:
        """The inputs of one of its rows, in the order of `names`."""
        known = dict(zip(self.names, result.at, strict=True))
        return [known[name] for name in names]

    def without(self, rows: Collection[int] | None) -> PastBatch | None:
        """What is left when rows are removed, all of them by None; None where nothing is."""
        if rows is None:
            return None
        known = {result.row for result in self.results}
        unknown = sorted(set(rows) - known)
        if unknown:
            raise BadInput(f"data {self.number} ({self.source}) has no row {unknown[0]}; it has {_ranges(sorted(known))}")
        left = tuple(result for result in self.results if result.row not in rows)
        return replace(self, results=left) if left else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for saving."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PastBatch:
        """From what `to_dict` returned."""
        results = (
            PastResult(int(r["row"]), tuple(r["at"]), float(r["value"]), r["sd"], surprise_from(r["surprise"]))
            for r in data["results"]
        )
        return cls(int(data["number"]), str(data["source"]), tuple(data["names"]), tuple(results))


@dataclass(frozen=True)
class Past:
    """All past results that count, in the order added.

    Attributes
    ----------
    batches
        One per table.
    """

    batches: tuple[PastBatch, ...] = ()

    def __len__(self) -> int:
        return sum(len(batch.results) for batch in self.batches)

    @property
    def rows(self) -> list[tuple[PastBatch, PastResult]]:
        """Every result with its batch."""
        return [(batch, result) for batch in self.batches for result in batch.results]

    def batch(self, which: int | str) -> PastBatch:
        """The batch with a number, or from a file."""
        found = [batch for batch in self.batches if which in (batch.number, str(batch.number), batch.source)]
        if not found:
            known = ", ".join(f"{batch.number} ({batch.source})" for batch in self.batches) or "none"
            raise BadInput(f"no data {which!r}; there are: {known}")
        if len(found) > 1:
            numbers = ", ".join(str(batch.number) for batch in found)
            raise BadInput(f"data {which!r} were added {len(found)} times; say which by number: {numbers}")
        return found[0]

    def points(self, problem: ProblemProtocol) -> Array:
        """Where they were measured, as scaled inputs of the black box (n x d)."""
        axes = problem.input_axes
        names = [axis.name for axis in axes]
        rows = [batch.inputs(result, names) for batch, result in self.rows]
        return scaled(axes, np.array(rows, dtype=float).reshape(-1, len(axes)))

    def noise_variances(self, problem: ProblemProtocol) -> Array:
        """Of each, as declared: by the table, or by the problem."""
        typical = problem.typical_noise
        return np.array([typical if result.sd is None else result.sd**2 for _, result in self.rows], dtype=float)

    def in_words(self) -> str:
        """`20 past results from old.csv`."""
        sources = ", ".join(dict.fromkeys(batch.source for batch in self.batches))
        return f"{len(self)} past result{'' if len(self) == 1 else 's'} from {sources}" if self.batches else ""

    def doubts(self, unit: str) -> list[str]:
        """Results that are unlikely and nobody confirmed, in words."""
        return [
            f"{batch.named(result)}: {with_unit(result.value, unit)}, {result.surprise.in_words(unit)}"
            for batch, result in self.rows
            if result.surprise is not None and not result.surprise.confirmed
        ]


def _ranges(numbers: Sequence[int]) -> str:
    """`2 to 21` for rows without a gap, else the first and the last with their number."""
    first, last = numbers[0], numbers[-1]
    gaps = "" if last - first + 1 == len(numbers) else f", {len(numbers)} in all"
    return f"{first} to {last}{gaps}"
