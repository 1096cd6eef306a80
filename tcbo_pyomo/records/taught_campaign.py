"""A campaign on a file that is taught by past experiments: tables are added and removed, each by one row."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.campaign.past_data import AddedData, checked_data, refuse_known, take_past
from tcbo_pyomo.foundation.wording import counted
from tcbo_pyomo.knowledge.past_results import Past, PastBatch
from tcbo_pyomo.records.amendable_campaign import AmendableCampaign
from tcbo_pyomo.records.idempotency import Request
from tcbo_pyomo.records.model_summary import ModelSummary, model_summary

if TYPE_CHECKING:
    from tcbo_pyomo.knowledge.past_table import PastData


class TaughtCampaign(AmendableCampaign):
    """A campaign whose file holds past experiments as well."""

    @property
    def past(self) -> Past:
        """The past experiments that count, as of the last call."""
        return self.campaign.history.past

    def add_data(
        self, data: PastData, name: str = "", again: bool = False, confirm: bool = False, key: str | None = None
    ) -> AddedData:
        """Add the results of past experiments, all or none; see `Campaign.add_data`."""
        with self._recording() as recorder:
            added = checked_data(self.campaign, data, name, confirm, recorder.story.batches + 1)
            measured = [result.measured for result in added.batch.results]
            request = Request("data", key, source=added.batch.source, results=measured)
            if (row := request.answered(recorder.story)) is not None:
                return AddedData(PastBatch.from_dict(row.body["data"]), tuple(row.body["notes"]), new=False)
            if not again:
                refuse_known(self.past, added.batch)
            take_past(self.campaign, (*self.past.batches, added.batch))
            recorder.add("data", {**request.facts, **data_facts(self.campaign, added, recorder.story.model)}, request.key)
        return added

    def added_before(self, number: int) -> AddedData:
        """What was added under a number, as it was recorded."""
        bodies = [fact.past for fact in self._story.facts.values() if fact.past is not None and fact.kind == "data"]
        body = next(body for body in bodies if body["data"]["number"] == number)
        return AddedData(PastBatch.from_dict(body["data"]), tuple(body["notes"]), new=False)

    def remove_data(self, which: int | str, rows: Collection[int] | None = None, key: str | None = None) -> str:
        """Remove a table by its number or file, or some rows of it; returns what was removed, in words."""
        chosen = None if rows is None else sorted({int(row) for row in rows})
        request = Request("withdraw", key, which=which, rows=chosen)
        with self._recording() as recorder:
            if (row := request.answered(recorder.story)) is not None:
                return f"{row.body['words']} (as before)"
            batch = self.campaign.remove_data(which, chosen)
            number = len(batch.results) if chosen is None else len(chosen)
            words = f"data {batch.number}, {counted(number, 'past result')} from {batch.source}"
            facts = {"withdraws": batch.number, "rows": chosen, "words": words, **request.facts}
            facts["model"] = model_summary(self.campaign).to_dict(recorder.story.model)
            recorder.add("withdraw", facts, request.key)
        return words


def data_facts(campaign: Campaign, added: AddedData, before: ModelSummary | None = None) -> dict[str, Any]:
    """What the row of a table says, once it is part of the campaign."""
    model = model_summary(campaign).to_dict(before)
    return {"data": added.batch.to_dict(), "notes": list(added.notes), "model": model}
