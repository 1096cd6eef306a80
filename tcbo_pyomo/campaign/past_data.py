"""Past experiments in a campaign: added, listed and removed. They teach the model, and are neither moves nor budget."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from tcbo_pyomo.errors import BadInput, TcboError
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.knowledge.past_results import Past, PastBatch

if TYPE_CHECKING:
    import pandas as pd

    from tcbo_pyomo.campaign.campaign import Campaign
    from tcbo_pyomo.knowledge.past_table import PastData
    from tcbo_pyomo.problem.protocol import ProblemProtocol


@dataclass(frozen=True)
class AddedData:
    """What was added.

    Attributes
    ----------
    batch
        The results, in the units of the problem.
    notes
        What was left out of the table, and which rows lie between the states of a finite plant, in words.
    new
        False where the same command was recorded before, under the same key, and nothing was written.
    """

    batch: PastBatch
    notes: tuple[str, ...] = ()
    new: bool = True

    def doubts(self, unit: str) -> list[str]:
        """Rows that are unlikely and nobody confirmed, in words."""
        return Past((self.batch,)).doubts(unit)


class TaughtByPastData:
    """The part of a campaign that holds past experiments."""

    problem: ProblemProtocol
    history: History
    knowledge: Any

    def add_data(self, data: PastData, name: str = "", again: bool = False, confirm: bool = False) -> AddedData:
        """Add the results of past experiments, all or none.

        Parameters
        ----------
        data
            A CSV file, a data frame, or a list of rows `{heading: value}`. Headings are the inputs and the output of the
            problem, `temperature` or `temperature (K)`; values are converted. A column `noise` (or `sd`) holds the standard
            deviation of each result; without it the one that the problem declares counts.
        name
            What the table is called; the name of the file when not given.
        again
            Add rows again that are already there.
        confirm
            The rows are right, even if they look unlikely.
        """
        number = 1 + max((batch.number for batch in self.history.past.batches), default=0)
        added = checked_data(cast("Campaign", self), data, name, confirm, number)
        if not again:
            refuse_known(self.history.past, added.batch)
        take_past(self, (*self.history.past.batches, added.batch))
        return added

    def remove_data(self, which: int | str, rows: Collection[int] | None = None) -> PastBatch:
        """Remove a table by its number or file, or some rows of it (numbers as an editor counts them); returns the table."""
        batch = self.history.past.batch(which)
        left = batch.without(rows)
        kept = ((left if one is batch else one) for one in self.history.past.batches)
        take_past(self, (one for one in kept if one is not None))
        return batch

    def past_experiments(self) -> pd.DataFrame:
        """One row per past experiment, in engineering units: its table and row, the inputs, the output and its noise."""
        import pandas as pd  # Slow to load, and only this table needs it.

        names = [axis.name for axis in self.problem.input_axes]
        rows = [
            [batch.number, batch.source, result.row, *batch.inputs(result, names), result.value, result.sd]
            for batch, result in self.history.past.rows
        ]
        return pd.DataFrame(rows, columns=["data", "source", "row", *names, self.problem.output, "sd"])


def checked_data(campaign: Campaign, data: PastData, name: str, confirm: bool, number: int) -> AddedData:
    """What adding a table to a campaign would add under a number; nothing is changed."""
    from tcbo_pyomo.knowledge.past_table import MOST_ROWS, past_table  # Most campaigns never need it.

    table, past = past_table(data, campaign.problem, name), campaign.history.past
    names = tuple(axis.name for axis in campaign.problem.input_axes)
    batch = PastBatch(number, table.source, names, table.results)
    if len(past) + len(batch.results) > MOST_ROWS:
        raise BadInput(
            f"data '{batch.source}': {len(past)} past results are there, at most {MOST_ROWS} can be learned from"
        )
    batch, notes = _judged(campaign, batch, confirm)
    return AddedData(batch, (*table.notes(), *notes))


def _judged(campaign: Campaign, batch: PastBatch, confirm: bool) -> tuple[PastBatch, list[str]]:
    """A table with what the model expected of its unlikely rows; as it is where the model is code that must not run here."""
    from tcbo_pyomo.knowledge.past_surprises import with_surprises

    try:
        return with_surprises(campaign.knowledge, batch, confirm), campaign.knowledge.past_notes(batch)
    except TcboError:
        if not campaign.refusal:
            raise
        return batch, []


def take_past(campaign: TaughtByPastData, batches: Iterable[PastBatch]) -> None:
    """From now on these past experiments count, and no others."""
    campaign.history.past = Past(tuple(batches))
    campaign.knowledge.past_changed()


def refuse_known(past: Past, batch: PastBatch) -> None:
    """Refuse a table with rows that are there already: a file that was added before, perhaps grown since."""
    for known in past.batches:
        before = {(known.names, result.measured) for result in known.results}
        twice = [result for result in batch.results if (batch.names, result.measured) in before]
        if twice:
            number = "all" if len(twice) == len(batch.results) else str(len(twice))
            raise BadInput(
                f"data '{batch.source}': {number} of its {len(batch.results)} rows (first: row {twice[0].row}) are in data "
                f"{known.number} ({known.source}) already; remove that first (remove {known.number}), or add them again "
                "(--again)"
            )

