"""A campaign as its file has it: shown, judged and told to without its problem's code; the surrogate comes when needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput, TcboError
from tcbo_pyomo.foundation.blas_threads import one_blas_thread
from tcbo_pyomo.foundation.user_code import without_user_code
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.knowledge.move import Move
from tcbo_pyomo.knowledge.plausibility import Surprise
from tcbo_pyomo.records.definition import Definition

if TYPE_CHECKING:
    from tcbo_pyomo.knowledge.certainty import Certainty
    from tcbo_pyomo.knowledge.knowledge import Knowledge
    from tcbo_pyomo.records.model_summary import ModelSummary
    from tcbo_pyomo.settings import Settings


class RecordedMethod:
    """Stands for a method that was not loaded: it keeps the method's state, and chooses nothing."""

    def __init__(self) -> None:
        self._state: Any = None
        self.solver: str | None = None
        """The solver that planned last and why it was used, in words."""

    def next_decision(self, *_: Any) -> NoReturn:
        """Refused."""
        raise BadInput("this campaign is read-only and plans no moves; ask the campaign file")

    def acting(self, _: Any) -> None:
        """None: nothing is chosen here."""

    def plan_record(self) -> None:
        """None: nothing was planned here."""

    def planned_with(self) -> str | None:
        """The solver that the method itself planned with."""
        return self.solver

    def state(self) -> Any:
        """What the method itself had kept."""
        return self._state

    def load(self, state: Any) -> None:
        """Keep what the method's `state` returned."""
        self._state = state


class KnowledgeOnDemand:
    """What a campaign knows, computed when somebody asks: until then results and visits cost nothing."""

    def __init__(self, campaign: RecordedCampaign) -> None:
        self._campaign = campaign
        self._built: Knowledge[Any] | None = None
        self._state: dict[str, Any] = {}

    def remember(self, state: dict[str, Any]) -> None:
        """The state after the last ask, as rows hold it."""
        self._state, self._built = dict(state), None

    @property
    def stored(self) -> dict[str, Any]:
        """The state after the last ask, as plain data."""
        return self._state

    def forget(self) -> None:
        """Results or visits have changed."""
        if self._built is not None:
            self._built.forget()

    def visited(self, move: Move) -> None:
        """A move was made; its result is pending."""
        if self._built is not None:
            self._built.visited(move)

    def measured(self, move: Move) -> None:
        """A result was told."""
        if self._built is not None:
            self._built.measured(move)

    def past_changed(self) -> None:
        """Past experiments were added or removed."""
        self._built = None

    def believed_after_all(self) -> None:
        """A doubted result was confirmed."""
        self._built = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        # Matrices of a few hundred rows: a second thread costs more time than it saves.
        with without_user_code(self._campaign.refusal):
            if self._built is None:
                with one_blas_thread():
                    built = self._campaign.new_knowledge()
                with one_blas_thread():  # Again: the model may have loaded another library.
                    built.load(self._state)
                self._built = built
            with one_blas_thread():
                return getattr(self._built, name)

    def surprise(self, move: Move, value: float, confirmed: bool = False) -> Surprise | None:
        """Whether a result is unlikely; None too where the model is a user's and cannot be asked."""
        try:
            known: Any = self.__getattr__("surprise")
            with one_blas_thread():
                found: Surprise | None = known(move, value, confirmed)
        except TcboError:
            return None
        return found


class RecordedCampaign(Campaign):
    """A campaign made of the data in its file."""

    def __init__(self, definition: Definition, refusal: Callable[[], str] = str) -> None:
        self._definition, self._refusal = definition, refusal
        self.problem, self.seed = definition.problem, definition.seed
        self.generator = np.random.default_rng(np.random.SeedSequence([self.seed, 0]))
        self.history = History(self.problem.start_state, self.problem.horizon, words=self.problem.place_words)
        self.method: Any = RecordedMethod()
        self.knowledge: Any = KnowledgeOnDemand(self)
        self.plans = {}
        self.model: ModelSummary | None = None
        """What the model says, as the rows have it."""

    @property
    def kernel_data(self) -> dict[str, Any]:
        """The kernel after the last ask, as the rows have it."""
        return dict(self.knowledge.stored.get("kernel") or {})

    @cached_property
    def settings(self) -> Settings:  # type: ignore[override]
        """The settings in force."""
        from tcbo_pyomo.settings import stored_settings

        return stored_settings(dict(self._definition.settings))

    @cached_property
    def refusal(self) -> str:  # type: ignore[override]
        """Why code of users must not run; an empty text where it may."""
        return self._refusal()

    @property
    def method_name(self) -> str:
        """The method that chooses the moves."""
        return str(self._definition.settings["method"])

    @property
    def certainty(self) -> Certainty | None:
        """How sure it is that enough is known, as the rows have it; computed where they do not."""
        stop = self._definition.settings.get("stop") or {}  # Files of earlier versions have none.
        if stop.get("regret") is None and not stop.get("identified"):
            return None
        return self.model.certainty if self.model is not None else super().certainty

    def new_knowledge(self) -> Knowledge[Any]:
        """What is known from the history, before any result is looked at."""
        from tcbo_pyomo.campaign.assembly import knowledge_for

        problem = self.problem
        if not self._definition.believed:
            from tcbo_pyomo.campaign.assembly import believed_problem

            problem = believed_problem(problem, self.settings)
        return knowledge_for(problem, self.settings, self.seed, self.history)


def believed_as_is(campaign: Campaign) -> bool:
    """Whether the method of a campaign models the problem as it is."""
    return campaign.knowledge.problem is campaign.problem
