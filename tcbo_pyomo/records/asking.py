"""Planning for a row: moves with the solver record of each plan."""

from __future__ import annotations

from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.history import History, Move

Plans = list[dict[str, Any]]


def plan_move(campaign: Campaign) -> tuple[list[Move], Plans]:
    """The next move, and how it was found."""
    known = len(campaign.history.moves)
    move = campaign.ask()
    record = getattr(campaign.method, "plan_record", None)
    planned = len(campaign.history.moves) > known and move.step > 0
    found = record() if planned and record is not None else None
    return [move], [{"move": move.number, "plan": found, "candidates": len(campaign.candidates)}]


def plan_episode(campaign: Campaign) -> tuple[list[Move], Plans]:
    """The rest of the episode, as `Campaign.ask_episode`, with the record of every plan on the way."""
    if not campaign.problem.deterministic:
        raise BadInput("a plant with random transitions has no schedule; ask for one move at a time")
    schedule: list[Move] = []
    plans: Plans = []
    while not schedule or schedule[-1].step < campaign.problem.horizon:
        (move,), (plan,) = plan_move(campaign)
        move.scheduled = True
        campaign.arrive(move.number)
        schedule.append(move)
        plans.append(plan)
    return schedule, plans


def waiting_schedule(history: History) -> list[Move]:
    """The last schedule asked for, while results are to come, the plant keeps to it, and nothing was asked since."""
    kept = [move for move in history.moves if not move.cancelled]
    if not kept or not kept[-1].scheduled or kept[-1].step < history.horizon:
        return []
    schedule = [move for move in kept if move.scheduled and move.episode == kept[-1].episode]
    return schedule if any(move.value is None and not move.skipped for move in schedule) else []
