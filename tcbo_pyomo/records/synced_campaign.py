"""A campaign in memory that is kept in step with its file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.campaign.campaign_holder import CampaignHolder
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.knowledge.knowledge import Knowledge
from tcbo_pyomo.methods.protocol import Method
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.records.file_damage import meaningful
from tcbo_pyomo.records.ledger import Ledger, Writer
from tcbo_pyomo.records.rebuild import Story, restore

if TYPE_CHECKING:
    import pandas as pd


class SyncedCampaign(CampaignHolder):
    """What the file says is what the campaign in memory is, after every call and whatever went wrong in it.

    Attributes
    ----------
    path
        The campaign file.
    campaign
        The campaign in memory, as of the last call.
    """

    def __init__(self, ledger: Ledger, campaign: Campaign) -> None:
        self.path, self.campaign = ledger.path, campaign
        self._ledger, self._story, self._known, self._stale = ledger, Story(), 0, True
        self._catch_up()

    @property
    def generator(self) -> np.random.Generator:
        """Where every random choice comes from, as of the last call."""
        return self.campaign.generator

    @property
    def history(self) -> History:
        """All moves, as of the last call."""
        return self.campaign.history

    @property
    def knowledge(self) -> Knowledge[Any]:
        """What is known from the results, as of the last call."""
        return self.campaign.knowledge

    @property
    def method(self) -> Method:
        """What chooses the moves."""
        return self.campaign.method

    @property
    def plans(self) -> dict[int, dict[str, Any]]:
        """How moves were found, by their numbers, as far as the method says so."""
        return self.campaign.plans

    @property
    def finished(self) -> bool:
        """Whether every move of the budget has been made."""
        return self.campaign.finished

    @property
    def candidates(self) -> list[Location]:
        """Where the maximum may still be."""
        return self.campaign.candidates

    @property
    def recommendation(self) -> Location:
        """Where the posterior mean is largest in the search space."""
        return self.campaign.recommendation

    @property
    def route(self) -> list[dict[str, Any]] | None:
        """How an episode gets to the recommendation, move by move; None on a finite process."""
        return self.campaign.route

    def predict(self, at: Any) -> tuple[float, float]:
        """Mean and standard deviation that the model expects at a place, as of the last call."""
        return self.campaign.predict(at)

    def state(self) -> dict[str, Any]:
        """Everything needed to go on elsewhere, as plain data."""
        self.refresh()
        return self.campaign.state()

    def experiments(self) -> pd.DataFrame:
        """One row per measurement, in the order of the moves, in engineering units."""
        self.refresh()
        return self.campaign.experiments()

    @property
    def violations(self) -> dict[int, list[str]]:
        """Declared limits that executed moves broke, by the number of the move."""
        return {number: texts for number, texts in self._story.violations.items() if texts}

    def refresh(self) -> None:
        """Read what other processes have added."""
        self._ledger.refresh()
        self._catch_up()

    @contextmanager
    def _writing(self) -> Iterator[Writer]:
        """Alone with the file and up to date; until the rows are on the disk, the file and not this object is right."""
        with self._undone_on_failure(), self._ledger.transaction() as writer:
            self._catch_up()
            self._stale = True
            yield writer
        self._take(writer)

    @contextmanager
    def _undone_on_failure(self) -> Iterator[None]:
        """A change that did not reach the disk leaves no trace in memory either."""
        try:
            yield
        except BaseException:
            self._stale = True
            self._catch_up()
            raise

    def _take(self, writer: Writer) -> None:
        """Rows of our own are on the disk; the campaign in memory is as they say."""
        for row in writer.rows:
            self._story.add(row)
        self._known += len(writer.rows)
        self._stale = False

    def _catch_up(self) -> None:
        """Bring the campaign in memory to the rows read from the file."""
        fresh = self._ledger.rows[self._known :]
        with meaningful(self.path):
            for row in fresh:
                self._story.add(row)
            self._known += len(fresh)
            if fresh or self._stale:
                restore(self.campaign, self._story)
        self._stale = False
