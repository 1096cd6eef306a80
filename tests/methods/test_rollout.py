"""`method: rollout`: when it chooses, what it saves, what it says, and what it refuses."""

import json

import numpy as np
import pytest
from rival_plants import DP, grid, move_noise

from tcbo_pyomo import Campaign, run_campaign, settings_from
from tcbo_pyomo.campaign.simulation import Simulation
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.explain.explanation import explain
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.rehearsal.choice import Choice

FEW = {"method": "rollout", "rollout": {"draws": 8}}


def choices(result):
    """When a choice was made, and which, in the order of the moves."""
    found = [Choice.from_dict(step.plan["rollout"]) for step in result.steps]
    return list(dict.fromkeys((choice.moves_made, choice.chosen) for choice in found))


@pytest.mark.parametrize(
    ("feedback", "every", "times"),
    [
        ({"kind": "episodic"}, None, [0, 5, 10, 15]),
        ({"kind": "immediate"}, None, list(range(0, 20, 2))),
        ({"kind": "delayed", "delay": 3}, None, list(range(0, 20, 2))),
        ({"kind": "episodic"}, 0.5, [0, 10]),
        ({"kind": "immediate"}, 1.0, [0]),
    ],
)
def test_it_chooses_when_the_settings_say_so(feedback, every, times):
    problem = grid(horizon=5, episodes=4)
    result = run_campaign(problem, settings_from(DP, FEW, {"feedback": feedback, "rollout": {"every": every}}), 3)
    assert [made for made, _ in choices(result)] == times


def test_the_choice_is_made_on_the_same_draws_whatever_happened_on_the_way():
    # A resumed campaign and a reloaded one make the choices and the moves of an uninterrupted one.
    problem, settings = grid(horizon=4, episodes=4, noise=move_noise), settings_from(DP, FEW)
    whole = run_campaign(problem, settings, 5)
    broken = Simulation(Campaign(problem, settings, 5))
    while broken.campaign.history.moves_made < 7:
        broken._make_move()
    data = json.loads(json.dumps(broken.checkpoint()))
    rest = Simulation.from_checkpoint(problem, data).run()
    assert rest.paths == whole.paths and choices(rest) == choices(whole)
    assert len({chosen for _, chosen in choices(whole)}) > 1
    other = run_campaign(problem, settings, 6)
    assert choices(other) != choices(whole)


def test_with_one_member_it_is_that_method():
    problem = grid(horizon=4, episodes=3)
    alone = {"rollout": {"methods": {"only": {"method": "greedy_ucb"}}}}
    rolled = run_campaign(problem, settings_from(FEW, alone), 2)
    assert rolled.paths == run_campaign(problem, settings_from({"method": "greedy_ucb"}), 2).paths


def test_a_member_acts_with_its_own_settings():
    problem = grid(horizon=4, episodes=3)
    own = {"planner": {"first_move": "drawn"}, "utility": {"objective": "g_allocation"}, "candidates": {"width": 0.5}}
    rolled = run_campaign(problem, settings_from(DP, FEW, {"rollout": {"methods": {"own": own}}}), 2)
    alone = run_campaign(problem, settings_from(DP, own), 2)
    assert rolled.paths == alone.paths
    assert [s.plan["utility"] for s in rolled.steps] == [s.plan["utility"] for s in alone.steps]


def test_it_takes_the_method_that_is_better_on_a_plant_made_for_it():
    # Ten moves along a line, only forwards, one episode: whoever looks one move ahead stays where it is good now.
    problem = load_problem("dosing").changed(episodes=3)
    result = run_campaign(problem, settings_from(dict(problem.settings), DP, {"method": "rollout"}), 1)
    first = Choice.from_dict(result.steps[0].plan["rollout"])
    assert first.regret["local_ucb"] > 2.0 * first.regret["default"]
    assert first.chosen not in ("local_ucb", "greedy_ucb")


def test_the_next_choice_is_explained_before_it_is_made():
    problem = grid(horizon=4, episodes=2)
    campaign = Campaign(problem, settings_from(DP, FEW), 4)
    before = explain(campaign)
    campaign.ask()
    words = Choice.from_dict(campaign.plans[1]["rollout"]).in_words()
    assert f"the move is chosen by {words}" in before.choice
    assert explain(campaign).choice == before.choice
    member, why = campaign.method.acting(campaign.knowledge)
    assert why == words and member.method in ("mdp_bo", "mdp_expected_improvement", "local_ucb", "greedy_ucb")


def test_explaining_leaves_the_campaign_as_it_is():
    problem, settings = grid(horizon=4, episodes=2), settings_from(DP, FEW)
    asked, looked_at = Campaign(problem, settings, 4), Campaign(problem, settings, 4)
    explain(looked_at)
    assert looked_at.state() == asked.state()
    for _ in range(4):
        for campaign in (asked, looked_at):
            move = campaign.ask()
            campaign.tell(move.number, float(problem.truth[move.expected]))
        explain(looked_at)
    assert [m.arrived for m in asked.history.made] == [m.arrived for m in looked_at.history.made]


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        ({}, "setting 'rollout.methods': got {}; name at least one"),
        ({"a": {"feedback": {"kind": "episodic"}}}, "'feedback' belongs to the whole campaign"),
        ({"a": {"method": "random_walk"}}, "method 'random_walk' cannot be simulated; use mdp_bo"),
        ({"a": {"method": "rollout"}}, "method 'rollout' cannot be simulated"),
        ({"a": {"planner": {"fist_move": "drawn"}}}, "unknown setting 'planner.fist_move'"),
        ({"a": {"candidates": {"rule": "my_module:MyRule"}}}, "candidates.rule 'my_module:MyRule' cannot be simulated"),
    ],
)
def test_members_that_cannot_be_are_refused_in_one_line(methods, words):
    with pytest.raises(BadInput) as error:
        Campaign(grid(), settings_from(FEW, {"rollout": {"methods": methods}}))
    assert "rollout.methods" in str(error.value) and words in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("wrong", [{"draws": 1}, {"draws": 2.5}, {"margin": -1}, {"every": 0}, {"every": 1.5}])
def test_settings_out_of_range_are_refused(wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(BadInput, match=f"setting 'rollout.{name}': got {value}"):
        settings_from({"rollout": wrong})


def test_pending_results_of_an_earlier_episode_are_part_of_the_simulation():
    problem = grid(horizon=4, episodes=4)
    settings = settings_from(DP, FEW, {"feedback": {"kind": "episodic"}})
    told, waiting = Campaign(problem, settings, 9), Campaign(problem, settings, 9)
    for campaign in (told, waiting):
        for _ in range(4):
            campaign.arrive(campaign.ask().number)
    for move in list(told.history.pending):
        told.tell(move.number, float(problem.truth[move.arrived]))
    moves = [campaign.ask() for campaign in (told, waiting)]
    found = [Choice.from_dict(campaign.plans[5]["rollout"]) for campaign in (told, waiting)]
    assert [choice.moves_made for choice in found] == [4, 4] and all(move.step == 1 for move in moves)
    assert np.isfinite(list(found[1].regret.values())).all() and found[0].regret != found[1].regret
