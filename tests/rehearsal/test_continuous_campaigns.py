"""Simulated campaigns of continuous plants make the moves of the methods, and rollout chooses among them reproducibly."""

import json

import numpy as np
import pytest
from rival_plants import plane

from tcbo_pyomo import Campaign, run_campaign, settings_from
from tcbo_pyomo.campaign.assembly import method_for
from tcbo_pyomo.campaign.simulation import Simulation
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.problem.drawn_truth import DrawnFunction
from tcbo_pyomo.rehearsal.choice import Choice
from tcbo_pyomo.rehearsal.continuous_campaigns import DrawnPlant, _rest
from tcbo_pyomo.rehearsal.members import Member, continuous_members

FEW = {"candidates": {"rule": "upper_confidence", "count": 8}, "planner": {"nonlinear": {"solves": 1}}}
FEEDBACK = [{"kind": "immediate"}, {"kind": "episodic"}, {"kind": "delayed", "delay": 2}]


@pytest.mark.parametrize("method", ["mdp_bo", "local_ucb"])
@pytest.mark.parametrize("feedback", FEEDBACK, ids=lambda feedback: feedback["kind"])
def test_a_simulated_campaign_ends_where_the_method_does(method, feedback):
    base, seed = plane(horizon=3, episodes=2), 4
    settings = settings_from(FEW, {"method": method, "feedback": feedback})
    blank = Campaign(base, settings, seed)
    sample = blank.knowledge.belief.samples(1, np.random.default_rng(1))
    largest = blank.knowledge.best_of(sample)
    problem = base.changed(truth=DrawnFunction(sample, base.coordinates), maximum=largest)
    real = run_campaign(problem, settings, seed)
    streams = (np.random.default_rng(np.random.SeedSequence([seed, 1, 2, made])) for made in range(7))
    noise = np.array([stream.standard_normal() for stream in streams])
    plant, stream = DrawnPlant(sample, largest, noise), np.random.default_rng(np.random.SeedSequence([seed, 0]))
    simulated = method_for(base, settings)[0]
    missed = _rest(simulated, blank.knowledge, Member("own", settings), plant, stream)
    assert missed == pytest.approx(problem.regret(real.campaign.recommendation), abs=1e-9)
    assert not blank.history.moves and len(blank.knowledge.belief.measured) == 0


ROLLOUT = {"method": "rollout", "rollout": {"draws": 2, "methods": {"default": {}, "local": {"method": "local_ucb"}}}}


def test_a_resumed_campaign_makes_the_same_choices():
    problem, settings = plane(horizon=4, episodes=2), settings_from(FEW, ROLLOUT)
    whole = run_campaign(problem, settings, 3)
    broken = Simulation(Campaign(problem, settings, 3))
    for _ in range(3):
        broken._make_move()
    rest = Simulation.from_checkpoint(problem, json.loads(json.dumps(broken.checkpoint()))).run()
    assert rest.paths == whole.paths

    def chosen(result):
        return [Choice.from_dict(step.plan["rollout"]) for step in result.steps]

    assert chosen(rest) == chosen(whole)
    # Each quarter of the budget, which is two of eight moves.
    assert [choice.moves_made for choice in chosen(whole)] == [0, 0, 2, 2, 4, 4, 6, 6]


def test_the_members_are_those_that_fit_the_plant():
    usual = ["default", "MDP-BO", "local_ucb"]
    delayed = settings_from({"feedback": {"kind": "delayed", "delay": 2}})
    assert [m.name for m in continuous_members(settings_from({}), True)] == [*usual, "local_search_region"]
    assert [m.name for m in continuous_members(delayed, True)] == [*usual, "truncated_snake"]
    assert [m.name for m in continuous_members(delayed, False)] == usual
    paper = continuous_members(settings_from({}), True)[1].settings
    assert paper.planner.first_move == "drawn" and paper.candidates.rule == "by_feedback"
    assert paper.utility.information == "departure"


def test_a_rollout_is_no_member_of_itself():
    with pytest.raises(BadInput, match="cannot be a member of itself"):
        continuous_members(settings_from({"rollout": {"methods": {"a": {"method": "rollout"}}}}), True)
