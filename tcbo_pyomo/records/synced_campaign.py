"""A campaign in memory that is kept in step with its file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.records.file_check import meaningful
from tcbo_pyomo.records.ledger import Ledger, Writer
from tcbo_pyomo.records.rebuild import Story, restore
from tcbo_pyomo.settings import Settings


class KeptCampaign:
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
    def problem(self) -> Any:
        """The problem, as the settings changed it."""
        return self.campaign.problem

    @property
    def settings(self) -> Settings:
        """The settings of the campaign."""
        return self.campaign.settings

    @property
    def seed(self) -> int:
        """The seed of the campaign."""
        return self.campaign.seed

    @property
    def history(self) -> History:
        """All moves, as of the last call."""
        return self.campaign.history

    @property
    def finished(self) -> bool:
        """Whether every move of the budget has been made."""
        return self.campaign.finished

    @property
    def plans(self) -> list[dict[str, Any] | None]:
        """How the moves were planned, one solver record per plan."""
        return [plan["plan"] for plan in self._story.plans if plan["plan"] is not None]

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
