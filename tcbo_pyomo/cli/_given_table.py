"""What the commands that take past experiments share: the option, and what to say about a table that was added."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tcbo_pyomo.cli._output import warn
from tcbo_pyomo.errors import TcboError

if TYPE_CHECKING:
    from tcbo_pyomo.campaign.past_data import AddedData
    from tcbo_pyomo.records import DurableCampaign

PastFile = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="FILE.csv", help="Past experiments, which teach the model from the start; - for standard input."
    ),
]


def notes_of(added: AddedData) -> str:
    """What was left out of a table, and the like, in brackets; empty where there is nothing to say."""
    return f" ({'; '.join(added.notes)})" if added.notes else ""


def doubt_rows(campaign: DurableCampaign, added: AddedData) -> None:
    """Say which rows of a table are unlikely, and where they contradict the model."""
    from tcbo_pyomo.knowledge.criticism import contradictions

    batch = added.batch
    for text in added.doubts(campaign.problem.output_unit):
        warn(
            f"{text}, given all others; if it is a mistake, remove the row with `tcbo data {campaign.path} remove "
            f"{batch.number} --row N`"
        )
    # A model that is a user's own and cannot be asked here warns of nothing.
    with suppress(TcboError):
        for text in contradictions(campaign.knowledge, {batch.named(result) for result in batch.results}):
            warn(text)
