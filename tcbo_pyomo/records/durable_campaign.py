"""A campaign in a file: the interface of `Campaign`, and nothing that was acknowledged is ever lost.

Every call reads what other processes have added, changes the campaign in memory, and returns once its rows are on the
disk. A call that fails leaves the file as it was; the campaign in memory is then read back from the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.plant.measured_moments import Series, is_series
from tcbo_pyomo.records.corrections import give_up_episode, place_left, skip_move, undoing
from tcbo_pyomo.records.idempotency import Request
from tcbo_pyomo.records.model_summary import model_summary
from tcbo_pyomo.records.rebuild import restore, state_of
from tcbo_pyomo.records.recording import Recorder, Touched, plan_moves, record_result, refuse_elsewhere, told_before
from tcbo_pyomo.records.results import Receipt, Result, one_by_one, place_of
from tcbo_pyomo.records.status import Best, Status, best_of, move_table, status_of, write_table
from tcbo_pyomo.records.taught_campaign import TaughtCampaign
from tcbo_pyomo.records.violations import changed_violations

TRIES = 3
"""Plans made without a lock before one is made under it, when others keep writing meanwhile."""


class DurableCampaign(TaughtCampaign):
    """A campaign whose every ask and tell is a row of a file; open one with `open_campaign` or `start_campaign`."""

    def ask(self, new: bool = False, anyway: bool = False) -> Move:
        """The next move; the same one again until its result is told.

        With `new` the outstanding move counts as made, its result comes later, and the next move is planned. A campaign that
        has reached its `stop` raises `EnoughKnown`; with `anyway` it continues.
        """
        return self._ask(new, False, anyway)[0]

    def ask_episode(self, new: bool = False, anyway: bool = False) -> list[Move]:
        """The rest of the episode as a schedule; the same one again until all of its results are told."""
        return self._ask(new, True, anyway)

    def arrive(self, number: int | None = None, at: Any = None, key: str | None = None) -> Receipt:
        """Mark a move as made; its result comes later, and the next move may be asked for."""
        request = Request("arrive", key, move=number, at=at)
        with self._recording() as recorder:
            if (row := request.answered(recorder.story)) is not None:
                return self._receipt(self.history.moves[row.body["move"] - 1], recorder, new=False)
            move = self._move(number)
            place, touched = place_of(self.campaign, move, at), Touched(self.history, move)
            refuse_elsewhere(self.campaign, move, place)
            self.campaign.arrive(move.number, place)
            facts = touched.facts(self.campaign, recorder.story)
            if new := bool(facts["moves"] or request.key):
                recorder.add("arrive", {"move": move.number, **request.facts, **facts}, request.key)
            return self._receipt(move, recorder, new)

    def tell(
        self,
        number: int | None,
        value: float | Series,
        at: Any = None,
        *,
        unit: str | None = None,
        replicate: bool = False,
        key: str | None = None,
        confirm: bool = False,
        time: float | None = None,
    ) -> Receipt:
        """Record the result of a move (None: of the outstanding one); see `Result` for the rest.

        A series `[(time, value), ...]` of one move is recorded whole or not at all; the receipt is that of its last value.
        """
        waited = number if number is not None or not is_series(value) else self._move(None).number
        return self.tell_many([Result(waited, value, at, unit, replicate, key, confirm, time)])[-1]

    def tell_many(self, results: Sequence[Result]) -> list[Receipt]:
        """Give several results: all are recorded, or none."""
        results = one_by_one(results)
        with self._recording() as recorder:
            receipts = []
            if self.campaign.problem.recommendation_needs_code and self.campaign.settings.stop.active:
                # What can be reached decides whether enough is known.
                with suppress(BadInput):
                    self.live()
            for position, result in enumerate(results, start=1):
                try:
                    known = told_before(recorder.story, self.campaign, result)
                    if known is None:
                        last = position == len(results)
                        known = record_result(self.campaign, recorder, self._move(result.number), result, last)
                    receipts.append(known)
                except BadInput as error:
                    if len(results) == 1:
                        raise
                    raise BadInput(f"result {position} of {len(results)}: {error}; no result was recorded") from None
        return receipts

    def skip(self, number: int | None = None, at: Any = None, key: str | None = None) -> Receipt:
        """No result will come of a move: it could not be made, the plant is elsewhere (`at`), or the sample is lost."""
        request = Request("skip", key, move=number, at=at)
        with self._recording() as recorder:
            if (row := request.answered(recorder.story)) is not None:
                return self._receipt(self.history.moves[row.body["move"] - 1], recorder, new=False)
            move = self._move(number)
            place, touched = place_of(self.campaign, move, at), Touched(self.history, move)
            refuse_elsewhere(self.campaign, move, place)
            new = skip_move(self.campaign, move, place) or bool(request.key)
            if new:
                facts = touched.facts(self.campaign, recorder.story)
                recorder.add("skip", {"move": move.number, **request.facts, **facts}, request.key)
            return self._receipt(move, recorder, new)

    def give_up(self, key: str | None = None) -> int:
        """End the present episode where the plant is; return the number of moves left out. The next one starts afresh."""
        request = Request("give_up", key)
        with self._recording() as recorder:
            if (row := request.answered(recorder.story)) is not None:
                return int(row.body["left"])
            touched = Touched(self.history)
            left = len(give_up_episode(self.campaign))
            facts = {"left": left, **request.facts, **touched.facts(self.campaign, recorder.story)}
            recorder.add("give_up", facts, request.key)
        return left

    def undo(self, number: int | None = None, key: str | None = None) -> str:
        """Undo the last result, arrival or skip (of a move), or the last change of past data, by one more row.

        Returns what was undone, in words.
        """
        request = Request("undo", key, move=number)
        with self._recording() as recorder:
            if (row := request.answered(recorder.story)) is not None:
                return f"{row.body['words']} (already undone)"
            found = undoing(recorder.story, self._ledger.rows, self._asked_for(number))
            after, move = recorder.story.copy(), found.fact.move
            after.apply(self._ledger.position + 1, "undo", found.body)
            episodes = {self.history.moves[touched - 1].episode for touched in found.fact.touched}
            restore(self.campaign, after)
            words = found.in_words()
            if found.fact.kind == "tell" and move is not None:
                words += place_left(after, self.problem, self.history.moves[move - 1])
            broken = changed_violations(self.campaign, after.violations, episodes)
            facts = {"words": words, **request.facts, **found.body, "violations": broken}
            recorder.add("undo", facts, request.key)
        return words

    def status(self) -> Status:
        """The state of the campaign."""
        self.refresh()
        return status_of(self.campaign, self.violations, self._story.model)

    def best(self) -> Best:
        """Where the expected score of the goal is largest, with its uncertainty.

        Where the plant's own code is needed to say what can be reached and must not run, the best place it was at.
        """
        self.refresh()
        if self.campaign.problem.recommendation_needs_code:
            with suppress(BadInput):
                self.live()
        try:
            return best_of(self.campaign)
        except BadInput:
            # A model with a part that only the problem file has, such as its mechanism.
            return best_of(self.live())

    def export(self, path: str | Path, force: bool = False) -> int:
        """Write every move and measurement to a CSV file; how many rows it has."""
        self.refresh()
        return write_table(move_table(self.campaign, self.violations), Path(path), force)

    def _ask(self, new: bool, whole: bool, anyway: bool) -> list[Move]:
        """The outstanding moves; otherwise plan, and plan again if other processes wrote meanwhile."""
        for _ in range(TRIES):
            self.refresh()
            self.live()  # A changed limit is noticed before a move is handed out, an outstanding one too.
            waiting = self._waiting(new, whole)
            if waiting:
                return waiting
            with self._undone_on_failure():
                position, self._stale = self._known, True
                gains = self._gains()
                moves, facts = self._planned(new, whole, anyway)
                with self._ledger.transaction() as writer:
                    if self._ledger.position == position:
                        writer.gains = gains
                        recorder = Recorder(self._story, writer)
                        recorder.add("ask", facts)
            if writer.rows:
                self._take(recorder)
                return moves
        with self._recording() as recorder:
            moves = self._waiting(new, whole)
            if not moves:
                moves, facts = self._planned(new, whole, anyway)
                recorder.add("ask", facts)
        return moves

    def _planned(self, new: bool, whole: bool, anyway: bool) -> tuple[list[Move], dict[str, Any]]:
        self.live()
        waited_for = self.history.open_move
        touched = Touched(self.history, waited_for)
        if new and waited_for is not None:
            self.campaign.arrive(waited_for.number)
        moves, plans = plan_moves(self.campaign, whole, anyway)
        facts = {
            **touched.facts(self.campaign, self._story),
            "plans": plans,
            "whole": whole,
            "under": self.definition.row,
        }
        model = model_summary(self.campaign)
        if model != self._story.model:
            facts["model"] = model.to_dict(self._story.model)
        return moves, {**facts, **state_of(self.campaign)}

    def _waiting(self, new: bool, whole: bool) -> list[Move]:
        """What was asked for and is neither made nor skipped."""
        if new:
            return []
        open_move, schedule = self.history.open_move, self.history.assumed
        if whole:
            return schedule
        return schedule[:1] if open_move is None else [open_move]

    def _receipt(self, move: Move, recorder: Recorder, new: bool) -> Receipt:
        return Receipt(move.number, move.value, new, tuple(recorder.story.violations.get(move.number, ())))

    def _asked_for(self, number: Any) -> int | None:
        """The number of a move that was asked for, even if it was cancelled since; None for any."""
        if number is None or (0 < number <= len(self.history.moves) and self.history.moves[number - 1].cancelled):
            return number
        return self.history.move(number).number

    def _move(self, number: int | None) -> Move:
        """The move with a number, or the outstanding one."""
        if number is not None:
            move = self.history.move(number)
            if move.step > 0 and move.decision is None:
                raise BadInput(f"move {number} was never made: its episode ended early")
            return move
        waiting, pending = self._waiting(new=False, whole=False), self.history.pending
        if waiting or len(pending) == 1:
            return (waiting or pending)[0]
        if not pending:
            raise BadInput("no move is outstanding; ask for the next one, or name an earlier one with --move N")
        numbers = ", ".join(str(move.number) for move in pending[:10])
        raise BadInput(f"name the move with --move N; moves with outstanding results: {numbers}")
