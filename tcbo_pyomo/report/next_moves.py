"""Where the last plan means to go after the next move; it is made anew after every result."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
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
    if campaign.problem.finite:
        return _along_policy(campaign, here, step)
    return _along_path(campaign, here, step)


def _along_policy(campaign: Campaign, state: int, step: int) -> list[tuple[int, Location]]:
    """The likeliest action in each state, and its likeliest outcome."""
    plan: Any = getattr(campaign.method, "last_plan", None)
    if plan is None:
        return []
    process = campaign.problem.process
    ahead: list[tuple[int, Location]] = []
    for at in range(step, campaign.problem.horizon):
        try:
            pairs, probabilities = plan.policy.action_probabilities(at, state)
        except BadInput:
            # The plant is where the plan did not expect it.
            break
        pair = int(pairs[int(np.argmax(probabilities))])
        chances = process.transitions.data[process.transitions.indptr[pair] : process.transitions.indptr[pair + 1]]
        state = int(process.successors_of(pair)[int(np.argmax(chances))])
        ahead.append((at + 1, state))
    return ahead


def _along_path(campaign: Campaign, point: Location, step: int) -> list[tuple[int, Location]]:
    plan: Any = getattr(getattr(campaign.method, "planner", None), "previous", None)
    if plan is None or not np.allclose(plan.states[step], point, rtol=0.0, atol=1e-6):
        return []
    return [(at, tuple(plan.states[at].tolist())) for at in range(step + 1, len(plan.states))]
