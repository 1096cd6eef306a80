"""A campaign in memory that is kept in step with its file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign, LimitsHeld
from tcbo_pyomo.campaign.campaign_holder import CampaignHolder
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.knowledge.move import Move
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.records import file_format
from tcbo_pyomo.records.definition import Definition, Definitions
from tcbo_pyomo.records.file_damage import meaningful
from tcbo_pyomo.records.ledger import Ledger
from tcbo_pyomo.records.problem_code import ProblemCode
from tcbo_pyomo.records.rebuild import Story, restore
from tcbo_pyomo.records.recorded_campaign import RecordedCampaign, believed_as_is
from tcbo_pyomo.records.recording import Recorder
from tcbo_pyomo.records.violations import changed_violations

if TYPE_CHECKING:
    import pandas as pd

    from tcbo_pyomo.knowledge.certainty import Certainty
    from tcbo_pyomo.knowledge.knowledge import Knowledge
    from tcbo_pyomo.methods.protocol import Method


class SyncedCampaign(CampaignHolder):
    """What the file says is what the campaign in memory is, after every call and whatever went wrong in it.

    Attributes
    ----------
    path
        The campaign file.
    campaign
        The campaign in memory, as of the last call.
    """

    def __init__(self, ledger: Ledger, code: ProblemCode, started: Campaign | None = None) -> None:
        self.path, self._ledger, self._code = ledger.path, ledger, code
        self._story, self._known, self._stale = Story(), 0, True
        self._defined_by, self._declaration = 0, dict[str, Any]()
        self._started = started
        self._catch_up()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path}: {self.campaign!r})"

    def _repr_html_(self) -> str:
        return self.campaign._repr_html_()

    def live(self) -> Campaign:
        """The campaign with its problem's own code, which alone can plan; refused where that must not run, or has changed."""
        if isinstance(self.campaign, RecordedCampaign):
            from tcbo_pyomo.records.built_problem import as_recorded  # Whoever only looks builds nothing.

            definition = self._story.definitions.now
            built = as_recorded(self._code, definition)
            campaign = Campaign(built.problem, built.settings, definition.seed)
            restore(campaign, self._story)
            self.campaign = campaign
        return self.campaign

    def trust(self) -> bool:
        """Let the code that the file names run from now on; False where that cannot be remembered."""
        return self._code.remember(self.definition)

    @property
    def definition(self) -> Definition:
        """What the campaign is defined by now."""
        return self._story.definitions.now

    @property
    def definitions(self) -> Definitions:
        """Everything that it was defined by, and which definition each move was asked under."""
        return self._story.definitions

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
        return self.live().method

    @property
    def method_name(self) -> str:
        """The method that chooses the moves, as the settings name it."""
        return self.campaign.method_name

    @property
    def refusal(self) -> str:
        """Why the code that the file names must not run here; empty where it may."""
        return self.campaign.refusal

    @property
    def limits_held(self) -> Callable[[Move], LimitsHeld] | None:
        """For each move the limits that held when it was asked for."""
        return self.campaign.limits_held

    @property
    def amendments(self) -> tuple[str, ...]:
        """What was changed in its problem or settings while it ran, in words."""
        return self.campaign.amendments

    @property
    def corrections(self) -> tuple[str, ...]:
        """What was undone or confirmed, in words."""
        return self.campaign.corrections

    @property
    def plans(self) -> dict[int, dict[str, Any]]:
        """How moves were found, by their numbers, as far as the method says so."""
        return self.campaign.plans

    @property
    def finished(self) -> bool:
        """Whether every move of the budget has been made, or enough is known (setting `stop`)."""
        return self.campaign.finished

    @property
    def all_moves_made(self) -> bool:
        """Whether the budget is used up."""
        return self.campaign.all_moves_made

    @property
    def stopped(self) -> bool:
        """Whether enough is known, and the present episode may end here."""
        return self.campaign.stopped

    @property
    def certainty(self) -> Certainty | None:
        """How sure it is that enough is known, where the settings have a `stop`."""
        return self.campaign.certainty

    @property
    def candidates(self) -> list[Location]:
        """Where the best may still be."""
        return self.campaign.candidates

    @property
    def recommendation(self) -> Location:
        """Where the expected score of the goal is largest in the search space."""
        return self.campaign.recommendation

    @property
    def route(self) -> list[dict[str, Any]] | None:
        """How an episode gets to the recommendation, move by move; None on a finite process."""
        return self.campaign.route

    def predict(self, at: Any) -> tuple[float, float]:
        """Mean and standard deviation that the model expects at a place, as of the last call."""
        return self.campaign.predict(at)

    def state(self) -> dict[str, Any]:
        """Everything needed to continue elsewhere, as plain data."""
        self.refresh()
        return self.campaign.state()

    def experiments(self) -> pd.DataFrame:
        """One row per measurement, in the order of the moves, in engineering units."""
        self.refresh()
        return self.campaign.experiments()

    def past_experiments(self) -> pd.DataFrame:
        """One row per past experiment, in engineering units."""
        self.refresh()
        return self.campaign.past_experiments()

    @property
    def violations(self) -> dict[int, list[str]]:
        """Declared limits that executed moves broke, by the number of the move."""
        return {number: texts for number, texts in self._story.violations.items() if texts}

    def refresh(self) -> None:
        """Read what other processes have added."""
        self._ledger.refresh()
        self._catch_up()

    @contextmanager
    def _recording(self) -> Iterator[Recorder]:
        """Alone with the file and up to date; until the rows are on the disk, the file and not this object is right."""
        with self._undone_on_failure(), self._ledger.transaction() as writer:
            self._catch_up()
            self._stale = True
            writer.gains = self._gains()
            recorder = Recorder(self._story, writer)
            yield recorder
        self._take(recorder)

    def _gains(self) -> dict[str, Any]:
        """What a file of an older format gains with its first new row: the limits, and those broken as they stand."""
        older = self._ledger.format < file_format.RESULTS_ONCE
        return {"violations": self._story.violations, **self._declaration} if older else {}

    @contextmanager
    def _undone_on_failure(self) -> Iterator[None]:
        """A change that did not reach the disk leaves no trace in memory either."""
        try:
            yield
        except BaseException:
            self._stale = True
            self._catch_up()
            raise

    def _take(self, recorder: Recorder) -> None:
        """Rows of our own are on the disk; the campaign in memory is as they say."""
        self._story, self._known = recorder.story, self._ledger.position
        self._stale = False
        if isinstance(self.campaign, RecordedCampaign):
            self.campaign.model = self._story.model
        if self._declaration and self.definition.declared is not None:
            self._declaration = {}
            if self._code.given is None and not self._code.trust:
                # Its code was trusted before the file named the modules behind it.
                self._code.remember(self.definition)

    def _catch_up(self) -> None:
        """Bring the campaign in memory to the rows read from the file."""
        fresh = self._ledger.rows[self._known :]
        with meaningful(self.path):
            for row in fresh:
                self._story.add(row)
            self._known += len(fresh)
            definition = self._story.definitions.now
            if definition.row != self._defined_by:
                self._define(definition)
            if fresh or self._stale:
                restore(self.campaign, self._story)
            if fresh and self._ledger.format < file_format.RESULTS_ONCE:
                # Undoing in 0.1.0 forgot violations that stood.
                episodes = {move["episode"] for move in self._story.moves}
                self._story.violations |= changed_violations(self.campaign, self._story.violations, episodes)
        self._stale = False

    def _define(self, definition: Definition) -> None:
        """A campaign in memory for another definition: of the data in the file, or of its code where it has no data yet."""
        self._defined_by, self._stale = definition.row, True
        if self._started is not None:
            self.campaign, self._started = self._started, None
        elif definition.declared is not None:
            self.campaign = RecordedCampaign(definition, lambda: self._code.refusal(definition))
        else:
            from tcbo_pyomo.records.built_problem import as_recorded

            built = as_recorded(self._code, definition)
            self.campaign = Campaign(built.problem, built.settings, definition.seed)
            self._declaration = {**built.facts, "believed": believed_as_is(self.campaign)}
            del self._declaration["problem"]
