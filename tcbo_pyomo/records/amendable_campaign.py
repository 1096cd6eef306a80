"""A campaign on a file whose definition may change while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tcbo_pyomo.errors import Busy
from tcbo_pyomo.records.problem_code import ProblemCode
from tcbo_pyomo.records.synced_campaign import SyncedCampaign

if TYPE_CHECKING:
    from tcbo_pyomo.problem.declared_changes import Change
    from tcbo_pyomo.records.problem_source import ProblemSource
    from tcbo_pyomo.settings import Settings


class AmendableCampaign(SyncedCampaign):
    """A campaign that continues under another definition, with all data."""

    def amend(
        self,
        problem: ProblemSource | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        confirm: Callable[[list[Change]], bool] | None = None,
    ) -> list[Change]:
        """Go on under another definition, with all data: changed limits, prior, noise, horizon, episodes or settings.

        Moves that were asked for before are judged by the limits that held then. Amending once more is how to go back.

        Parameters
        ----------
        problem
            The problem as it is now, its name or its .py file; None for where the campaign knows it from.
        settings
            Settings that replace the present ones, or some of them by name; None to leave them.
        confirm
            Is shown what differs, and says whether it is recorded.

        Returns
        -------
        list of Change
            What differs now; empty where `confirm` said no.
        """
        from tcbo_pyomo.records.amendment import drafted  # Loads all that a problem is built with.

        self.refresh()
        before, source = self.definition, problem if problem is not None else self._code.given
        code = ProblemCode(self.path, self._code.identity, source, self._code.trust)
        draft = drafted(code, before, settings)
        if confirm is not None and not confirm(draft.changes):
            return []
        with self._recording() as recorder:
            if self.definition.row != before.row:
                raise Busy(f"{self.path}: another process amended it meanwhile; check it and amend again")
            recorder.add("amend", draft.body(self.history, before))
        self._code = code
        self._started = draft.campaign
        self._stale = True
        self._catch_up()
        code.remember(self.definition)
        return draft.changes
