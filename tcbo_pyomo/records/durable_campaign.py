"""A campaign on a file: the face of `Campaign`, and nothing that was acknowledged is ever lost.

Every call reads what other processes have added, changes the campaign in memory, and returns once its rows are on the
disk. A call that fails leaves the file as it was; the campaign in memory is then read back from the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.records.corrections import give_up_episode, skip_move, undo_row
from tcbo_pyomo.records.rebuild import state_of
from tcbo_pyomo.records.recording import Touched, plan_moves, record_result, waiting_schedule
from tcbo_pyomo.records.results import Receipt, Result, broken_limits, place_of
from tcbo_pyomo.records.status import Best, Status, best_of, move_table, status_of, write_table
from tcbo_pyomo.records.synced_campaign import SyncedCampaign

TRIES = 3
"""Plans made without a lock before one is made under it, when others keep writing meanwhile."""


class DurableCampaign(SyncedCampaign):
    """A campaign whose every ask and tell is a row of a file; open one with `open_campaign` or `start_campaign`."""

    def ask(self, new: bool = False) -> Move:
        """The next move; the same one again until its result is told.

        With `new` what is being waited for counts as made, its results come later, and the next move is planned.
        """
        return self._ask(new, whole=False)[0]

    def ask_episode(self, new: bool = False) -> list[Move]:
        """The rest of the episode as a schedule; the same one again until all of its results are told."""
        return self._ask(new, whole=True)

    def arrive(self, number: int | None = None, at: Any = None) -> Receipt:
        """Record that a move was made; its result comes later, and the next move may be asked for."""
        with self._writing() as writer:
            move = self._move(number)
            place, touched = place_of(self.campaign, move, at), Touched(self.history, move)
            self.campaign.arrive(move.number, place)
            changed = touched.changed()
            broken = broken_limits(self.campaign, move)
            if changed:
                facts = {"move": move.number, "moves": changed, "violations": {move.number: broken}}
                writer.append("arrive", facts)
        return Receipt(move.number, move.value, bool(changed), broken)

    def tell(
        self,
        number: int | None,
        value: float,
        at: Any = None,
        *,
        unit: str | None = None,
        replicate: bool = False,
        key: str | None = None,
    ) -> Receipt:
        """Give the result of a move (None: of the one being waited for); see `Result` for the rest."""
        return self.tell_many([Result(number, value, at, unit, replicate, key)])[0]

    def tell_many(self, results: Sequence[Result]) -> list[Receipt]:
        """Give several results: all are recorded, or none."""
        with self._writing() as writer:
            receipts = []
            for position, result in enumerate(results, start=1):
                try:
                    move = self._move(result.number)
                    receipts.append(record_result(self.campaign, self._story, writer, move, result))
                except BadInput as error:
                    if len(results) == 1:
                        raise
                    raise BadInput(f"result {position} of {len(results)}: {error}; none of them was recorded") from None
        return receipts

    def skip(self, number: int | None = None, at: Any = None) -> Receipt:
        """No result will come of a move: it could not be made, the plant is elsewhere (`at`), or the sample is lost."""
        with self._writing() as writer:
            move = self._move(number)
            place, touched = place_of(self.campaign, move, at), Touched(self.history, move)
            skip_move(self.campaign, move, place)
            broken = broken_limits(self.campaign, move)
            facts = {"move": move.number, "moves": touched.changed(), "violations": {move.number: broken}}
            writer.append("skip", facts)
        return Receipt(move.number, None, True, broken)

    def give_up(self) -> int:
        """End the present episode where the plant is; how many moves are not made. The next one starts anew."""
        with self._writing() as writer:
            touched = Touched(self.history)
            left = give_up_episode(self.campaign)
            broken = {move.number: broken_limits(self.campaign, move) for move in left}
            writer.append("give_up", {"moves": touched.changed(), "violations": broken})
        return len(left)

    def undo(self, number: int | None = None) -> str:
        """Take back the last result, arrival or skip (of a move), by one more row; what was taken back, in words."""
        with self._writing() as writer:
            if number is not None:
                self.history.move(number)
            touched = Touched(self.history)
            row, change, whole = undo_row(self.campaign, self._story, self._ledger.rows, number)
            body = row.body
            facts = {"move": body["move"], "undoes": row.number, "moves": touched.changed(), **change}
            if whole:
                facts["violations"] = {body["move"]: []}
            writer.append("undo", facts)
        value = f" ({body['value']!r})" if row.kind == "tell" else ""
        return f"the {row.kind} of move {body['move']}{value}"

    def status(self) -> Status:
        """Where the campaign stands."""
        self.refresh()
        return status_of(self.campaign, self.violations)

    def best(self) -> Best:
        """Where the posterior mean is largest, with its uncertainty."""
        self.refresh()
        return best_of(self.campaign)

    def export(self, path: str | Path, force: bool = False) -> int:
        """Write every move and measurement to a CSV file; how many rows it has."""
        self.refresh()
        return write_table(move_table(self.campaign, self.violations), Path(path), force)

    def _ask(self, new: bool, whole: bool) -> list[Move]:
        """The moves waited for; otherwise plan, and plan again where other processes wrote meanwhile."""
        for _ in range(TRIES):
            self.refresh()
            waiting = self._waiting(new, whole)
            if waiting:
                return waiting
            with self._undone_on_failure():
                position, self._stale = self._known, True
                moves, facts = self._planned(new, whole)
                with self._ledger.transaction() as writer:
                    if self._ledger.position == position:
                        writer.append("ask", facts)
            if writer.rows:
                self._take(writer)
                return moves
        with self._writing() as writer:
            moves = self._waiting(new, whole)
            if not moves:
                moves, facts = self._planned(new, whole)
                writer.append("ask", facts)
        return moves

    def _planned(self, new: bool, whole: bool) -> tuple[list[Move], dict[str, Any]]:
        waited_for, broken = self.history.open_move, {}
        touched = Touched(self.history, waited_for)
        if new and waited_for is not None and not whole:
            self.campaign.arrive(waited_for.number)
            broken[waited_for.number] = broken_limits(self.campaign, waited_for)
        moves, plans = plan_moves(self.campaign, whole)
        facts = {"moves": touched.changed(), "plans": plans, "whole": whole, "violations": broken}
        return moves, {**facts, **state_of(self.campaign)}

    def _waiting(self, new: bool, whole: bool) -> list[Move]:
        """What was asked for and is being waited for."""
        if new:
            return []
        schedule = waiting_schedule(self.history)
        if whole:
            return schedule
        open_move = self.history.open_move
        return [open_move] if open_move is not None else [move for move in schedule if move.value is None]

    def _move(self, number: int | None) -> Move:
        """The move with a number, or the one that is being waited for."""
        if number is not None:
            move = self.history.move(number)
            if move.step > 0 and move.decision is None:
                raise BadInput(f"move {number} was never made: the rest of its episode was given up")
            return move
        waiting_for = self._waiting(new=False, whole=False)
        pending = self.history.pending
        if waiting_for or len(pending) == 1:
            return (waiting_for or pending)[0]
        waiting = ", ".join(str(move.number) for move in pending[:10]) or "none; ask for one"
        raise BadInput(f"say which move is meant (--move N); moves whose result is pending: {waiting}")
