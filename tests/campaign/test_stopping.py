"""A campaign ends when enough is known, where its plant allows that."""

import numpy as np
import pytest
from rival_plants import DP, grid, line

from tcbo_pyomo import Campaign, EndAt, EnoughKnown, run_campaign, settings_from
from tcbo_pyomo.campaign.simulation import Simulation
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.models.constraints import NonDecreasing

LOOSE = {"stop": {"regret": 100.0}}
"""Everything is good enough."""


def chosen(*layers):
    return settings_from(DP, *layers)


def test_ask_says_that_enough_is_known_and_goes_on_anyway():
    campaign = Campaign(line(), chosen(LOOSE))
    campaign.tell(campaign.ask().number, 0.4)
    assert campaign.stopped and campaign.finished and not campaign.all_moves_made
    with pytest.raises(EnoughKnown, match=r"enough is known: with probability 0\.999 .*anyway"):
        campaign.ask()
    with pytest.raises(EnoughKnown):
        campaign.ask_episode()
    move = campaign.ask(anyway=True)
    assert move.number == 2 and campaign.ask() is move


def test_a_loop_until_finished_ends_early():
    result = run_campaign(line(), chosen(LOOSE), 1)
    assert result.campaign.history.moves_made == 1 and len(result.episodes) == len(result.steps) == 1


@pytest.mark.parametrize("kind", ["episodic", "immediate"])
def test_a_rule_about_the_end_is_completed_first(kind):
    problem = grid(constraints=(EndAt({"x": 2, "y": 2}),))
    result = run_campaign(problem, chosen(LOOSE, {"feedback": {"kind": kind}}), 1)
    assert result.campaign.history.moves_made == problem.horizon
    assert problem.describe(result.paths[-1][-1]) == {"x": 2, "y": 2}


def test_rules_about_moves_let_an_episode_end_anywhere():
    result = run_campaign(grid(constraints=(NonDecreasing("x"),)), chosen(LOOSE), 1)
    assert result.campaign.history.moves_made == 1


def test_a_rule_of_a_user_is_completed_unless_it_says_otherwise():
    def at_most_everything(model):
        """Adds nothing."""

    problem = grid(constraints=(at_most_everything,))
    result = run_campaign(problem, settings_from(LOOSE), 1)
    assert result.campaign.history.moves_made == problem.horizon


def test_what_was_made_is_still_measured():
    delayed = {"feedback": {"kind": "delayed", "delay": 2}}
    result = run_campaign(line(horizon=4), chosen(LOOSE, delayed), 1)
    assert result.campaign.history.moves_made == 3 == len(result.campaign.history.told)


def test_a_schedule_goes_to_the_end_of_its_episode():
    campaign = Campaign(line(horizon=4), chosen(LOOSE))
    campaign.tell(campaign.ask().number, 0.4)
    assert [move.step for move in campaign.ask_episode(anyway=True)] == [2, 3, 4]


def test_the_moves_before_the_stop_are_those_without_one():
    stop = {"stop": {"regret": 0.3, "probability": 0.9}}
    whole, short = (run_campaign(grid(episodes=8), chosen(layer), 2) for layer in ({}, stop))
    made = len(short.steps)
    assert 0 < made < len(whole.steps)
    assert [m.arrived for m in short.campaign.history.moves] == [m.arrived for m in whole.campaign.history.moves[:made]]
    assert short.steps == whole.steps[:made]


def test_an_interrupted_simulation_stops_where_it_would_have():
    settings = chosen({"stop": {"regret": 0.3}})
    whole = run_campaign(grid(episodes=8), settings, 2)
    half = Simulation(Campaign(grid(episodes=8), settings, 2))
    for _ in range(5):
        half._make_move()
    rest = Simulation.from_checkpoint(grid(episodes=8), half.checkpoint()).run()
    assert rest.steps == whole.steps


@pytest.mark.parametrize(
    ("stop", "message"),
    [
        ({"regret": -1}, "stop.regret"),
        ({"regret": 0.1, "probability": 1.0}, "stop.probability"),
        ({"regret": 0.1, "identified": True}, "not both"),
        ({"probability": 0.8}, "name regret"),
        ("known", "stop"),
        ({"tolerance": 1}, "stop.tolerance"),
    ],
)
def test_wrong_settings_are_refused_by_name(stop, message):
    with pytest.raises(BadInput, match=message):
        settings_from({"stop": stop})


def test_identified_is_short_for_a_section():
    assert settings_from({"stop": "identified"}) == settings_from({"stop": {"identified": True}})
    assert np.isclose(settings_from({"stop": "identified"}).stop.probability, 0.9)
