"""Where the last plan means to go after the next move; it is made anew after every result."""

from __future__ import annotations

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.plant.situation import Location


def look_ahead(campaign: Campaign) -> list[tuple[int, Location]]:
    """(step, place) of the moves after the open one, as last planned; nothing where no plan is at hand."""
    move = campaign.history.open_move
    situation = campaign.history.situation()
    if move is None:
        # At the start of an episode the last plan was for the one before.
        here, step = (situation.state, situation.step) if situation.step else (None, 0)
    else:
        here, step = move.expected, move.step
    if here is None or step >= campaign.problem.horizon or step == 0:
        return []
    planner = getattr(campaign.method, "planner", None)
    if planner is None:
        return []
    places = planner.places_ahead(getattr(campaign.method, "last_plan", None), here, step)
    return list(enumerate(places, step + 1))
