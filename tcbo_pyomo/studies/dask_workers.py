"""Whether any worker of a Dask cluster is alive: where none is for too long, nobody will ever make the runs that are left."""

from __future__ import annotations

import time
from typing import Any

from tcbo_pyomo.errors import NoWorkers
from tcbo_pyomo.studies.limited_wait import within

SECONDS_BETWEEN_QUESTIONS = 1.0


class WorkerWatch:
    """Asks a scheduler now and then who is there.

    Parameters
    ----------
    client
        A client of the cluster.
    patience
        Seconds without a living worker, or without an answer of the scheduler, that are waited.
    answer
        Seconds that the scheduler has for an answer.
    """

    def __init__(self, client: Any, patience: float, answer: float) -> None:
        self.client, self.patience, self.answer = client, patience, answer
        self._asked = time.monotonic()
        self._gone_since: float | None = None

    def look(self, left: int) -> None:
        """Refuse to wait any longer where no worker has been alive for a while; `left` runs are still to be made."""
        asked = time.monotonic()
        if asked - self._asked < SECONDS_BETWEEN_QUESTIONS:
            return
        self._asked = asked
        if self._workers():
            self._gone_since = None
            return
        # From the first question without a worker on: time in which this process was held up itself does not count.
        self._gone_since = asked if self._gone_since is None else self._gone_since
        if time.monotonic() - self._gone_since > self.patience:
            raise NoWorkers(
                f"no Dask worker has been alive for {self.patience:g} s; {left} runs are left, the others are kept; repeat "
                "the command to resume"
            )

    def _workers(self) -> int:
        """How many workers the scheduler knows; none where it does not answer."""
        try:
            found = within(self.answer, self.client.scheduler_info)
        except Exception:  # Whatever a scheduler does that is about to go.
            return 0
        return len(found.get("workers", ()))
