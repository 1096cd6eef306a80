"""Planning for a row: moves with the solver record of each plan."""

from __future__ import annotations

from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.knowledge.history import History, Move

Plans = list[dict[str, Any]]


def plan_move(campaign: Campaign) -> tuple[list[Move], Plans]:
    """The next move, and how it was found."""
    known = len(campaign.history.moves)
    move = campaign.ask()
    planned = len(campaign.history.moves) > known and move.step > 0
    found = campaign.method.plan_record() if planned else None
    return [move], [{"move": move.number, "plan": found, "candidates": len(campaign.candidates)}]


def plan_episode(campaign: Campaign) -> tuple[list[Move], Plans]:
    """The rest of the episode, as `Campaign.ask_episode`, with the record of every plan on the way."""
    plans: Plans = []

    def ask() -> Move:
        (move,), noted = plan_move(campaign)
        plans.extend(noted)
        return move

    return campaign.ask_episode(ask), plans


def waiting_schedule(history: History) -> list[Move]:
    """The last schedule asked for, while results are to come, the plant keeps to it, and nothing was asked since."""
    kept = [move for move in history.moves if not move.cancelled]
    if not kept or not kept[-1].scheduled or kept[-1].step < history.horizon:
        return []
    schedule = [move for move in kept if move.scheduled and move.episode == kept[-1].episode]
    return schedule if any(move.value is None and not move.skipped for move in schedule) else []
