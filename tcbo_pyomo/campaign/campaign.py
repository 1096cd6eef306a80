"""A campaign: Algorithm 1 of the paper, as ask and tell.

`ask` gives the next move, `arrive` says where the plant went, `tell` gives a measurement. Results may come late and in any
order; visits whose results are pending count as visited when the next move is planned (section 4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.campaign.past_data import TaughtByPastData
from tcbo_pyomo.errors import BadInput, EnoughKnown
from tcbo_pyomo.foundation.blas_threads import one_blas_thread
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.knowledge.history import History, Move
from tcbo_pyomo.knowledge.plausibility import Surprise, checked_result
from tcbo_pyomo.plant.measured_moments import MOMENT, Series, checked_series, is_series, moment_of
from tcbo_pyomo.plant.situation import Location

if TYPE_CHECKING:
    import pandas as pd

    from tcbo_pyomo.knowledge.certainty import Certainty
    from tcbo_pyomo.knowledge.knowledge import Knowledge
    from tcbo_pyomo.knowledge.past_table import PastData
    from tcbo_pyomo.methods.protocol import Method
    from tcbo_pyomo.problem.protocol import ProblemProtocol
    from tcbo_pyomo.settings import Settings


@dataclass(frozen=True)
class LimitsHeld:
    """By which limits a move is judged.

    Attributes
    ----------
    problem
        The problem with those limits.
    same_moves
        Whether what the plant was asked to do means the same in that problem as in the present one.
    """

    problem: ProblemProtocol
    same_moves: bool = True


class Campaign(TaughtByPastData):
    """A campaign: its history, what is known from it, and the method that chooses moves.

    To keep one in a file, use `start_campaign` and `open_campaign` (see `records/`).

    Parameters
    ----------
    problem
        The plant, its rules and the prior.
    settings
        See `tcbo settings`. Default: the problem's own preferences.
    seed
        Random seed of the campaign.
    data
        Past experiments: a CSV file, a data frame or a list of rows (see `add_data`). They teach the model from the first plan.
    """

    method: Method[Any, Any]
    knowledge: Knowledge[Any]
    refusal: str = ""
    """Why code that it names must not run; empty where it may."""
    limits_held: Callable[[Move], LimitsHeld] | None = None
    """For each move the limits that held when it was asked for; None where they are those of the problem."""
    amendments: tuple[str, ...] = ()
    """What was changed in its problem or settings while it ran, in words."""

    def __init__(
        self, problem: ProblemProtocol, settings: Settings | None = None, seed: int = 0, data: PastData | None = None
    ) -> None:
        # Imported here: whoever only looks at a campaign on a file needs none of it, and should not wait for it.
        from tcbo_pyomo.campaign.assembly import knowledge_for, method_for
        from tcbo_pyomo.problem.with_settings import with_settings
        from tcbo_pyomo.settings import settings_from

        self.settings = settings or settings_from(dict(problem.settings))
        self._given, self.problem = problem, with_settings(problem, self.settings)
        self.seed = _checked_seed(seed)
        self.generator = np.random.default_rng(np.random.SeedSequence([self.seed, 0]))
        self.history = History(self.problem.start_state, self.problem.horizon, words=self.problem.place_words)
        self.method, believed = method_for(self.problem, self.settings)
        self.knowledge = knowledge_for(believed, self.settings, self.seed, self.history)
        _ = self.knowledge.rule  # A wrong name is refused now, not with the first move.
        self.plans: dict[int, dict[str, Any]] = {}
        """How moves were found, by their numbers, as far as the method says so or it was kept."""
        if data is not None:
            self.add_data(data)

    @property
    def method_name(self) -> str:
        """The method that chooses the moves, as the settings name it."""
        return self.settings.method

    @property
    def all_moves_made(self) -> bool:
        """Whether the budget is used up."""
        return self.history.episode > self.problem.episodes

    @property
    def certainty(self) -> Certainty | None:
        """How sure it is that enough is known, where the settings have a `stop`; None without one or a result."""
        found: Certainty | None = self.knowledge.certainty
        return found

    @property
    def stopped(self) -> bool:
        """Whether enough is known, and the present episode may end here: its rules do not ask for more moves."""
        certainty = self.certainty
        if certainty is None or not certainty.enough_known:
            return False
        return self.history.situation().step == 0 or all(rule.may_end_early for rule in self.problem.rules)

    @property
    def finished(self) -> bool:
        """Whether every move of the budget has been made, or enough is known (setting `stop`)."""
        return self.all_moves_made or self.stopped

    @timed("ask")
    def ask(self, anyway: bool = False) -> Move:
        """The next move; it stays the same until the plant has made it.

        A campaign that has reached its `stop` raises `EnoughKnown`; with `anyway` it continues.
        """
        history, problem = self.history, self.problem
        asked = history.open_move
        if asked is not None:
            return asked
        if self.all_moves_made:
            raise BadInput(
                f"the campaign is finished: all {history.moves_made} moves were made; raise `episodes` to continue"
            )
        if not anyway and self.stopped:
            assert self.certainty is not None
            raise EnoughKnown(
                f"{self.certainty.in_words(problem.output_unit)}; to continue, ask with `anyway`"
            )
        if problem.measure_start and not history.moves:
            return history.add(problem.start_state, 0, None, problem.start_state)
        situation = history.situation()
        if situation.step == 0:
            self.knowledge.start_episode()
        with one_blas_thread():
            decision = self.method.next_decision(situation, self.knowledge, self.generator)
        expected = problem.expected_arrival(situation.state, decision)
        way = problem.way(situation.state, decision)
        move = history.add(situation.state, situation.step + 1, decision, expected, way)
        plan = self.method.plan_record()
        if plan is not None:
            self.plans[move.number] = plan
        return move

    def ask_episode(self, anyway: bool = False) -> list[Move]:
        """All remaining moves of the episode as a schedule, planned without further results; `anyway` as for `ask`."""
        if not self.problem.deterministic:
            raise BadInput("a plant with random transitions has no schedule; ask for one move at a time")
        before, generator = len(self.history.moves), self.generator.bit_generator.state
        asked = self.history.open_move
        try:
            return self._schedule(anyway)
        except BaseException:
            # Nothing of an unfinished schedule was handed out: as if it had never been asked for.
            del self.history.moves[before:]
            self.plans = {number: plan for number, plan in self.plans.items() if number <= before}
            if asked is not None:
                asked.arrived, asked.scheduled = None, False
            self.generator.bit_generator.state = generator
            self.knowledge.forget()
            raise

    def _schedule(self, anyway: bool) -> list[Move]:
        schedule = [self.ask(anyway)]
        while True:
            schedule[-1].scheduled = True
            self.arrive(schedule[-1].number)
            if schedule[-1].step >= self.history.length(schedule[-1].episode):
                return schedule
            schedule.append(self.ask(anyway=True))  # A schedule goes to the end of its episode.

    @timed("arrive")
    def arrive(self, number: int, at: Any = None) -> None:
        """Record that a move was made; `at` says where the plant arrived, if that is random or not as planned."""
        move = self.history.move(number)
        state = self._arrival(move, at)
        if move.arrived == state:
            move.scheduled = False  # What a schedule assumed is known now.
            return
        if move.arrived is not None:
            self._leave_schedule(move)
        move.arrived = state
        self.knowledge.visited(move)

    @timed("tell")
    def tell(
        self,
        number: int,
        value: float | Series,
        at: Any = None,
        replicate: bool = False,
        confirm: bool = False,
        time: float | None = None,
    ) -> Surprise | None:
        """Record the result of a move: a finite number, once. Results may come in any order.

        A series `[(time, value), ...]` gives what was measured while the plant moved: times since the move began, in the unit
        of a user's model, or as shares of the move. `time` says the same of one value.

        A replicate is a repeated measurement of a visit that already has a result.
        An unlikely result is recorded, returned and kept in the move's `surprises`; `confirm` says that it is right.
        """
        move = self.history.move(number)
        if is_series(value):
            return self._tell_series(move, value, at, replicate, confirm)
        result = checked_result(number, value)
        share = None if time is None else moment_of(number, time, self.problem.step_duration)
        # With a time of its own a further value needs no word.
        replicate = replicate or (share is not None and move.value is not None)
        if move.value is not None and not replicate:
            raise BadInput(f"move {number} already has a result ({move.value!r}); use `undo --move {number}` to correct it")
        if move.value is None and replicate:
            raise BadInput(f"move {number} has no result to replicate; tell it without `replicate`")
        if at is not None or move.arrived is None:
            self.arrive(number, at)
        along = None if share is None or share == 1.0 else (share, self._place_at(move, share))
        visit = move if along is None else move.at(along[1])
        surprise = self.knowledge.surprise(visit, result, confirm)
        move.add_value(result, surprise, along)
        move.scheduled = move.skipped = False
        self.history.told.append(move.number)
        self.knowledge.measured(move)
        return surprise

    def _tell_series(self, move: Move, series: Any, at: Any, replicate: bool, confirm: bool) -> Surprise | None:
        """All results of a series or none; the largest of its surprises."""
        rows = checked_series(move.number, series)
        for time, value in rows:
            checked_result(move.number, value)
            share = moment_of(move.number, time, self.problem.step_duration)
            if share < 1.0:
                place = self._arrival(move, at)
                self.problem.place_at(move.way, (move.origin, move.expected, place), share)
        found: list[Surprise | None] = []
        for time, value in rows:
            found.append(self.tell(move.number, value, None if found else at, bool(found) or replicate, confirm, time))
        return next((surprise for surprise in found if surprise is not None), None)

    def _place_at(self, move: Move, share: float) -> Location:
        """Where the plant was at a moment of a move that was made."""
        return self.problem.place_at(move.way, (move.origin, move.expected, move.arrived), share)

    def _arrival(self, move: Move, at: Any) -> Location:
        if at is not None:
            return self.problem.arrival(at, move.expected, move.decision)
        if move.arrived is not None:
            return move.arrived
        if move.expected is None:
            raise BadInput(f"move {move.number} has a random outcome; report where the plant arrived with `at`")
        return move.expected

    def _leave_schedule(self, move: Move) -> None:
        """The plant went elsewhere than the schedule assumed: what was scheduled after it will not be made."""
        if move.reported:
            raise BadInput(
                f"move {move.number} is recorded as arrived at {self.problem.place_words(move.arrived)}; "
                "this cannot be changed after its result or without a schedule"
            )
        later = [m for m in self.history.moves[move.number :] if not m.cancelled]
        known = [m.number for m in later if m.reported]
        if known:
            raise BadInput(f"move {move.number}: later moves {known} were already made from its end")
        for other in later:
            other.cancelled = True
        move.arrived, move.scheduled = None, False
        self.knowledge.forget()

    def state(self) -> dict[str, Any]:
        """Everything needed to continue elsewhere, as plain data (see `records/json_file.py`)."""
        return {
            "seed": self.seed,
            "settings": self.settings.model_dump(mode="json"),
            "generator": self.generator.bit_generator.state,
            **self.knowledge.state(),
            "method": self.method.state(),
            **self.history.to_dict(),
        }

    @classmethod
    def from_state(cls, problem: ProblemProtocol, state: dict[str, Any]) -> Campaign:
        """A campaign from what `state` returned, on the same problem; it continues with the same moves, bit for bit."""
        from tcbo_pyomo.settings import stored_settings

        campaign = cls(problem, stored_settings(state["settings"]), state["seed"])
        campaign.generator.bit_generator.state = state["generator"]
        campaign.history.load(state)
        campaign.knowledge.load(state)
        campaign.method.load(state["method"])
        return campaign

    @property
    def candidates(self) -> list[Location]:
        """Where the best may still be."""
        return np.asarray(self.knowledge.candidates).tolist()

    @property
    def recommendation(self) -> Location:
        """Where the expected score of the goal is largest in the search space: the posterior mean where it maximises."""
        return self.knowledge.recommendation

    @property
    def route(self) -> list[dict[str, Any]] | None:
        """How an episode gets to the recommendation: `{"step", "actions", "at"}` of each move, in engineering units.

        Kept on continuous plants, where it proves that the recommendation can be reached, and on deterministic finite ones
        with hidden states; None elsewhere.
        """
        return self.knowledge.route_moves

    def predict(self, at: Any) -> tuple[Any, Any]:
        """Posterior mean and standard deviation of the black box, given all results.

        Parameters
        ----------
        at
            One place as `{coordinate: value}` in engineering units (for a finite process also a label or an index)
            gives two numbers. A list of places, or a DataFrame with a column per coordinate, gives two arrays of n
            values. For a plant with hidden states only the inputs of the black box are needed.
        """
        one = not _is_table(at) and (isinstance(at, (Mapping, str, tuple)) or not isinstance(at, Sequence))
        places = [at] if one else _records(at, [c.name for c in self.problem.input_axes])
        mean, deviation = self.knowledge.predict([self.problem.place_seen(place) for place in places])
        return (float(mean[0]), float(deviation[0])) if one else (mean, deviation)

    def __repr__(self) -> str:
        made, told = self.history.moves_made, len(self.history.told)
        budget = self.history.moves_of(self.problem.episodes)
        last = f"; {words}" if (words := self.history.past.in_words()) else ""
        last += f"; last {self.history.moves[-1]!r}" if self.history.moves else ""
        return (
            f"Campaign({self.problem.name}: {self.settings.method}, seed {self.seed}; "
            f"{made} of {budget} moves made, {told} results told{last})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.experiments().to_html(index=False)}"

    def experiments(self) -> pd.DataFrame:
        """One row per measurement, in the order of the moves, in engineering units."""
        import pandas as pd  # Slow to load, and only this table needs it.

        names = [c.name for c in self.problem.coordinates]
        rows = [
            [move.episode, move.step, *self.problem.describe(visit.arrived).values(), value]
            for move in self.history.made
            for visit, value in zip(move.visits, move.values, strict=True)
        ]
        table = pd.DataFrame(rows, columns=["episode", "step", *names, self.problem.output])
        if any(move.along for move in self.history.made):
            # Where moves are measured on their way: the share of the move that had passed.
            table.insert(2, MOMENT, [share for move in self.history.made for share in move.moments])
        return table


def _is_table(at: Any) -> bool:
    return hasattr(at, "columns") and hasattr(at, "to_dict")


def _records(at: Any, names: list[str]) -> list[Any]:
    """The places of a list or a DataFrame, one entry each; other columns of a table are left out."""
    if not _is_table(at):
        return list(at)
    missing = [name for name in names if name not in at.columns]
    if missing:
        raise BadInput(f"predict: the table has no column '{missing[0]}'; it must have {', '.join(names)}")
    return list(at[names].to_dict("records"))


def _checked_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise BadInput(f"seed {seed!r} must be a whole number that is not negative")
    return int(seed)
