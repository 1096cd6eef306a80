"""The situation is kept from one move to the next: always the same as one built anew from all moves."""

from contextlib import suppress

import numpy as np
import pytest
from small_grid import all_settings, small_problem

from tcbo_pyomo import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.records import start_campaign
from tcbo_pyomo.records.corrections import give_up_episode, skip_move


def built_anew(history):
    return History(history.start, history.horizon, list(history.moves)).situation()


def somewhere(campaign, rng):
    """A state that a surprised plant may find itself in, and from which the episode can be completed."""
    return int(rng.integers(campaign.problem.process.number_of_states))


def disturb(campaign, rng):
    """One thing that may happen to a campaign: all that change where the plant is, was or is assumed to be."""
    history = campaign.history
    what = rng.choice(["ask", "ask", "ask", "schedule", "elsewhere", "stay", "skip", "give up"])
    if what == "ask":
        campaign.arrive(campaign.ask().number)
    elif what == "schedule":
        campaign.ask_episode()
    elif what == "give up":
        give_up_episode(campaign)
    elif history.moves:
        move = history.move(int(rng.integers(max(1, len(history.moves) - 4), len(history.moves) + 1)))
        if what == "elsewhere":
            campaign.arrive(move.number, somewhere(campaign, rng))
        else:
            skip_move(campaign, move, None if what == "stay" else somewhere(campaign, rng))


@pytest.mark.parametrize("seed", range(30))
def test_the_situation_is_that_of_all_moves_whatever_happened(seed):
    rng = np.random.default_rng(seed)
    campaign = Campaign(small_problem(constraints=(), horizon=6), all_settings(method="random_walk"), seed=seed)
    for _ in range(60):
        if campaign.finished:
            break
        with suppress(BadInput):  # Refused: nothing may have changed.
            disturb(campaign, rng)
        if rng.random() < 0.8:  # Not always asked for in between.
            assert campaign.history.situation() == built_anew(campaign.history)
    assert len(campaign.history.moves) > 6


def test_an_episode_that_was_left_before_the_next_began_is_made_anew_from_there():
    campaign = Campaign(small_problem(constraints=(), horizon=3), all_settings(method="random_walk"), seed=1)
    first, _ = campaign.ask_episode(), campaign.ask_episode()
    campaign.arrive(first[1].number, 9)
    again = campaign.ask_episode()
    assert [(move.episode, move.step, move.origin) for move in again] == [(1, 3, 9)]
    assert campaign.history.path(1) == (0, first[0].arrived, 9, again[0].arrived)
    assert campaign.history.situation().path == (0,) and campaign.history.path(2) == (0,)
    assert (campaign.ask().episode, campaign.ask().step) == (2, 1)


def test_the_situation_after_a_correction_was_taken_back(tmp_path):
    rig = start_campaign(tmp_path / "rig.db", "knorr_pyrazole", all_settings(), 1)
    moves = rig.ask_episode()
    for elsewhere in (20, 40):
        assert rig.history.situation() == built_anew(rig.history)
        rig.tell(moves[1].number, 0.5, at=elsewhere)
        assert rig.history.situation() == built_anew(rig.history)
        assert rig.history.situation().path[-1] == elsewhere
        rig.undo()
        assert rig.history.situation() == built_anew(rig.history)


