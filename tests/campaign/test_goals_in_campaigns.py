"""Campaigns with other goals than the largest output: mirror images, brute force on small grids, every method and feedback."""

from __future__ import annotations

import numpy as np
import pytest
from rival_plants import DP, grid, line, move_noise, plane
from scipy.stats import foldnorm

from tcbo_pyomo import Campaign, PlainPrior, load_problem, run_campaign, settings_from
from tcbo_pyomo.candidates.credible_band import CredibleBand
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.knowledge.feedback import released
from tcbo_pyomo.problem.declaration import declaration_of, declared_problem
from tcbo_pyomo.problem.replay import replay_problem

FINITE = ["mdp_bo", "greedy_ucb", "local_ucb", "mdp_expected_improvement", "random_walk", "rollout", "stateless"]
CONTINUOUS = ["mdp_bo", "local_search_region", "local_ucb", "random_walk", "truncated_snake"]
FEEDBACK = [{"kind": "immediate"}, {"kind": "episodic"}, {"kind": "delayed", "delay": 2}]
SMALL = {"rollout": {"draws": 4}}


def pair_of_moves(problem, mirrored, settings, moves):
    """A campaign that minimises and one that maximises the negative, told the same results but for the sign."""
    campaigns = [Campaign(problem, settings_from(settings, {"goal": "minimise"}), 3)]
    campaigns += [Campaign(mirrored, settings_from(settings), 3)]
    noise = np.random.default_rng(0).standard_normal(moves)
    for number in range(moves):
        asked = [campaign.ask() for campaign in campaigns]
        assert asked[0].expected == asked[1].expected and asked[0].decision == asked[1].decision
        for campaign, move in zip(campaigns, asked, strict=True):
            campaign.arrive(move.number)
        for sign, campaign in zip((1.0, -1.0), campaigns, strict=True):
            for late in released(campaign.history, campaign.settings.feedback):
                campaign.tell(late.number, sign * (problem.true_value(late.arrived) + 0.1 * noise[late.number - 1]))
        assert campaigns[0].recommendation == campaigns[1].recommendation
        assert campaigns[0].candidates == campaigns[1].candidates
        assert number + 1 == len(campaigns[0].history.moves)
    means = [campaign.knowledge.predict([campaign.recommendation])[0][0] for campaign in campaigns]
    assert means[0] == -means[1]


@pytest.mark.parametrize("method", FINITE)
@pytest.mark.parametrize("feedback", FEEDBACK, ids=lambda feedback: feedback["kind"])
def test_minimising_is_maximising_the_negative_on_a_finite_plant(method, feedback):
    problem = grid(noise=move_noise if method == "stateless" else 0.01, episodes=2)
    mirrored = problem.changed(truth=-problem.truth)
    pair_of_moves(problem, mirrored, {**DP, **SMALL, "method": method, "feedback": feedback}, 8)


@pytest.mark.parametrize(
    "more", [{"utility": {"objective": "regret"}}, {"planner": {"first_move": "drawn", "components": 3}}]
)
def test_minimising_is_maximising_the_negative_with_other_plans(more):
    problem = grid(episodes=2)
    pair_of_moves(problem, problem.changed(truth=-problem.truth), more, 8)


def test_minimising_is_maximising_the_negative_where_the_model_learns():
    problem = grid(kernel=None, prior=PlainPrior((-2.0, 1.0), 0.1), episodes=3)
    mirrored = problem.changed(kernel=None, prior=PlainPrior((-1.0, 2.0), 0.1), truth=-problem.truth)
    pair_of_moves(problem, mirrored, DP, 12)


@pytest.mark.parametrize("method", CONTINUOUS)
def test_minimising_is_maximising_the_negative_on_a_continuous_plant(method):
    problem = plane(horizon=8, settings={})
    mirrored = problem.changed(truth=lambda points: -problem.truth(points))
    pair_of_moves(problem, mirrored, {"method": method}, 8)


@pytest.mark.parametrize("feedback", FEEDBACK[1:], ids=lambda feedback: feedback["kind"])
def test_minimising_is_maximising_the_negative_with_late_results(feedback):
    problem = plane(horizon=4, episodes=2, settings={})
    mirrored = problem.changed(truth=lambda points: -problem.truth(points))
    pair_of_moves(problem, mirrored, {"feedback": feedback}, 8)


@pytest.mark.parametrize("goal", ["minimise", {"target": 0.3}], ids=str)
@pytest.mark.parametrize("method", FINITE)
@pytest.mark.parametrize("feedback", FEEDBACK, ids=lambda feedback: feedback["kind"])
def test_every_method_serves_every_goal_on_a_finite_plant(method, feedback, goal):
    problem = grid(noise=move_noise if method == "stateless" else 0.01, episodes=3, goal=goal)
    settings = settings_from({**DP, **SMALL, "method": method, "feedback": feedback})
    result = run_campaign(problem, settings, 1)
    away = np.where(problem.search_space, problem.truth if goal == "minimise" else np.abs(problem.truth - 0.3), np.inf)
    for step in result.steps:
        place = problem.locate(step.recommendation)
        assert step.regret == pytest.approx(away[place] - away.min(), abs=1e-12) and step.regret >= 0.0
        assert step.identified == (step.regret == 0.0)


@pytest.mark.parametrize("goal", ["minimise", {"target": 0.3}], ids=str)
@pytest.mark.parametrize("method", CONTINUOUS)
def test_every_method_serves_every_goal_on_a_continuous_plant(method, goal):
    problem = plane(horizon=12, maximum=2.0, settings={"method": method})
    result = run_campaign(problem, settings_from({"method": method, "goal": goal}), 1)
    assert result.problem.maximum == pytest.approx(-2.0 if goal == "minimise" else 0.3, abs=1e-6)
    assert all(step.regret >= 0.0 for step in result.steps)
    assert result.problem.goal.data == goal and problem.goal.data == "maximise"


@pytest.mark.parametrize("objective", ["differences", "regret", "g_allocation"])
def test_a_target_is_found_on_a_grid(objective):
    """Ten seeds on 25 states: a planner for the distance ends at the closest state, or at the next one, 0.0067 farther."""
    settings = settings_from({**DP, "utility": {"objective": objective}})
    problem = grid(episodes=6, goal={"target": 0.6}, noise=1e-3)
    ends = [run_campaign(problem, settings, seed).steps[-1].regret for seed in range(10)]
    assert np.mean(ends) < 0.007


def test_candidates_and_recommendation_of_a_target_by_brute_force():
    problem = line(states=9, horizon=4, goal={"target": 0.4})
    campaign = Campaign(problem, settings_from(DP), 5)
    for value in (0.9, 0.3, -0.2, 0.55):
        campaign.tell(campaign.ask().number, value)
        belief, width = campaign.knowledge.belief, problem.confidence_width
        mean, sd, space = belief.mean, belief.standard_deviation, problem.search_space
        # The distances of all values that lie within the band of each state.
        within = [np.abs(m + width * s * np.linspace(-1, 1, 4001) - 0.4) for m, s in zip(mean, sd, strict=True)]
        nearest, farthest = (np.array([pick(away) for away in within]) for pick in (np.min, np.max))
        wanted = np.flatnonzero((nearest <= farthest[space].min() + 1e-3) & space)
        assert campaign.candidates == wanted.tolist()
        expected = [foldnorm.mean(abs(m - 0.4) / s, scale=s) for m, s in zip(mean, sd, strict=True)]
        assert campaign.recommendation == int(np.where(space, expected, np.inf).argmin())


def test_a_target_of_a_positive_output_is_sought_in_the_unit_of_the_output():
    """The logarithm is modelled; candidates and recommendation follow from the distribution of the output itself."""
    prior = PlainPrior((0.05, 20.0), 0.02, positive=True)
    truth = np.exp(np.linspace(-2.0, 2.5, 9))
    problem = line(states=9, horizon=4, kernel=None, prior=prior, truth=truth, goal={"target": 2.0}, episodes=3)
    campaign = Campaign(problem, settings_from(DP, {"surrogate": {"fit": "never"}}), 2)
    generator = np.random.default_rng(0)
    while not campaign.finished:
        move = campaign.ask()
        campaign.tell(move.number, float(truth[move.expected]))
        mean, sd = campaign.knowledge.belief.mean, campaign.knowledge.belief.standard_deviation
        outputs = np.exp(mean + sd * generator.standard_normal((200_000, len(mean))))
        distance = np.abs(outputs - 2.0).mean(axis=0)
        best = distance[problem.search_space].min()
        assert distance[campaign.recommendation] <= best + 0.02 * (1.0 + best)
        width = campaign.knowledge.rule.width
        low, high = np.exp(mean - width * sd), np.exp(mean + width * sd)
        farthest = np.maximum(np.abs(low - 2.0), np.abs(high - 2.0))[problem.search_space].min()
        nearest = np.where((low <= 2.0) & (high >= 2.0), 0.0, np.minimum(np.abs(low - 2.0), np.abs(high - 2.0)))
        assert campaign.candidates == np.flatnonzero((nearest <= farthest) & problem.search_space).tolist()
    assert problem.regret(campaign.recommendation) == 0.0
    assert campaign.predict(campaign.problem.describe(campaign.recommendation))[0] == pytest.approx(2.0, abs=0.6)


def test_the_truth_of_a_problem_is_judged_in_the_sense_of_its_goal():
    for goal, best in (("maximise", 8), ("minimise", 5), ({"target": 0.3}, 3)):
        problem = line(states=9, horizon=8, start=4, truth=np.sin(np.arange(9.0)), goal=goal)
        scores = {"maximise": problem.truth, "minimise": -problem.truth}.get(str(goal), -np.abs(problem.truth - 0.3))
        assert problem.best_state == int(scores.argmax()) == best
        regrets = np.array([problem.regret(state) for state in range(9)])
        np.testing.assert_allclose(regrets, scores.max() - scores)
        assert problem.landscape().maxima.tolist() == [[best]]


def test_a_drawn_truth_is_judged_in_the_sense_of_the_goal():
    for goal in ("minimise", {"target": 0.5}):
        problem = plane(goal=goal).with_drawn_truth(np.random.default_rng(4))
        places = np.stack(np.meshgrid(np.linspace(0, 10, 101), np.linspace(0, 5, 101)), axis=-1).reshape(-1, 2)
        scores = problem.goal.score(problem.truth(places))
        assert problem.goal.score(problem.maximum) >= scores.max() - 1e-9
        assert problem.goal.score(problem.maximum) == pytest.approx(scores.max(), abs=0.05)


def test_a_goal_in_the_settings_is_that_of_the_problem():
    in_settings = run_campaign(grid(), settings_from(DP, {"goal": {"target": 0.2}}), 1)
    in_problem = run_campaign(grid(goal={"target": 0.2}), settings_from(DP), 1)
    assert in_settings.paths == in_problem.paths and in_settings.episodes == in_problem.episodes
    back = run_campaign(grid(goal="minimise"), settings_from(DP, {"goal": "maximise"}), 1)
    assert back.paths == run_campaign(grid(), settings_from(DP), 1).paths


def test_a_goal_survives_a_declaration_and_maximise_is_not_written():
    for problem in (grid(goal={"target": 0.2}), plane(goal="minimise")):
        assert declared_problem(declaration_of(problem)).goal == problem.goal
    assert "goal" not in declaration_of(grid()) and declared_problem(declaration_of(grid())).goal == grid().goal


def test_a_saved_campaign_goes_on_the_same_way():
    settings = settings_from({"goal": {"target": 0.3}, "feedback": {"kind": "delayed", "delay": 2}})
    problem = plane(horizon=8, settings={})
    whole, half = Campaign(problem, settings, 1), Campaign(problem, settings, 1)
    for campaign, moves in ((whole, 8), (half, 4)):
        for _ in range(moves):
            move = campaign.ask()
            campaign.arrive(move.number)
            for late in released(campaign.history, settings.feedback):
                campaign.tell(late.number, problem.true_value(late.arrived))
    half = Campaign.from_state(problem, half.state())
    while not half.finished:
        move = half.ask()
        half.arrive(move.number)
        for late in released(half.history, settings.feedback):
            half.tell(late.number, problem.true_value(late.arrived))
    assert [move.arrived for move in half.history.moves] == [move.arrived for move in whole.history.moves]


class Shortest(CredibleBand):
    """A rule of a user's own that knows nothing of goals."""

    def __call__(self, belief, space, generator, share_spent):
        return np.flatnonzero(space)


def test_a_rule_that_knows_no_goals_serves_only_campaigns_that_maximise():
    rule = {"candidates": {"rule": f"{__name__}:Shortest"}}
    run_campaign(grid(episodes=1), settings_from(DP, rule), 1)
    with pytest.raises(BadInput, match="is for campaigns that maximise, and the goal is minimise; let its call take `goal`"):
        Campaign(grid(goal="minimise"), settings_from(DP, rule))


@pytest.mark.parametrize("wrong", ["least", {"target": "x"}, 3])
def test_a_wrong_goal_is_one_line(wrong):
    with pytest.raises(BadInput, match=r"problem 'grid': goal: got .*; use maximise, minimise, or \{target: 42\}"):
        grid(goal=wrong)
    with pytest.raises(BadInput, match=r"'goal'.*use maximise, minimise, or \{target: 42\}"):
        settings_from({"goal": wrong})


def test_a_shipped_problem_may_have_another_goal():
    result = run_campaign(load_problem("knorr_pyrazole"), settings_from(DP, {"goal": {"target": 0.3}, "episodes": 4}), 1)
    assert result.steps[-1].regret < 0.01


def test_a_replayed_table_may_have_a_goal(tmp_path):
    file = tmp_path / "old.csv"
    file.write_text("x,y\n0,1\n1,3\n2,2\n3,7\n")
    problem = replay_problem(file, ["x"], "y", prior=PlainPrior((0, 10)), noise_variance=0.01, goal={"target": 2.4})
    assert problem.process.states[problem.best_state].tolist() == [2.0]
