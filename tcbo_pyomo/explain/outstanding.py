"""Which move an explanation is about: an outstanding one, the first of an outstanding schedule, or the next."""

from __future__ import annotations

import copy

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.knowledge.history import History


def as_planned(campaign: Campaign) -> Campaign:
    """The campaign as it was when its outstanding schedule was planned: the first move is asked for, and none is made.

    A schedule counts as made when the next episode is planned, but its own plan is what a user wants explained. Where no
    schedule is outstanding, the campaign itself.
    """
    schedule = campaign.history.assumed
    if not schedule:
        return campaign
    first = next(move for move in schedule if move.step > 0)
    data = campaign.history.to_dict()
    data["moves"] = data["moves"][: first.number]
    data["moves"][-1] |= {"arrived": None, "scheduled": False}
    twin, knowledge = copy.copy(campaign), copy.copy(campaign.knowledge)
    history = History(campaign.history.start, campaign.history.horizon, words=campaign.history.words)
    history.load(data)
    knowledge.history = history
    knowledge.forget()
    twin.history, twin.knowledge = history, knowledge
    return twin


def about(campaign: Campaign) -> str:
    """Half a sentence: what an explanation of this campaign explains."""
    history = campaign.history
    schedule = [move.number for move in history.assumed if move.step > 0]
    if len(schedule) > 1:
        return (
            f"moves {schedule[0]} to {schedule[-1]} are outstanding as a schedule; its plan is explained, from move "
            f"{schedule[0]} on"
        )
    single = schedule or [move.number for move in (history.open_move,) if move is not None]
    if single:
        return f"move {single[0]} is outstanding; its plan is explained"
    if campaign.all_moves_made:
        return "the campaign is finished; the first move of a further episode is explained"
    return "no move is outstanding; the move that comes next is explained"
