"""`tcbo rehearse`: what is simulated, what it says, and what an interruption leaves."""

import json

import numpy as np
import pytest
from rival_plants import DP, grid, line, plane
from scipy.stats import ttest_rel
from typer.testing import CliRunner

from tcbo_pyomo import Campaign, EndAt, load_problem, rehearse, settings_from
from tcbo_pyomo.cli.main import app
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.rehearsal.batched_beliefs import BatchedBeliefs
from tcbo_pyomo.rehearsal.simulated_stop import SimulatedStop
from tcbo_pyomo.rehearsal.standpoint import standpoint_of
from tcbo_pyomo.studies.rehearsed.answers import Rehearsed, answers
from tcbo_pyomo.studies.rehearsed.engines import ManyAtOnce, OneByOne, Outcome
from tcbo_pyomo.studies.rehearsed.rehearsal_page import page_content
from tcbo_pyomo.studies.rehearsed.rehearse import new_report
from tcbo_pyomo.studies.rehearsed.scenarios import Scenario, scenarios_of

IMMEDIATE = {**DP, "feedback": {"kind": "immediate"}}


def by_hand():
    """Three episodes of four drawn functions with two methods."""
    own = np.array([[3.0, 1.0, 2.0, 0.0], [0.0, 0.0, 2.0, 0.0], [0.0, 0.0, 0.5, 0.0]])
    other = own + np.array([1.0, 2.0, 1.5, 1.0])
    known = np.array([[0, 0, 0, 1], [1, 0, 0, 1], [1, 1, 0, 0]], dtype=bool)
    outcomes = {"default": Outcome(own, known), "local_ucb": Outcome(other, known)}
    return Rehearsed(Scenario("", "as declared", line(episodes=3)), outcomes)


def test_means_shares_and_episodes_needed():
    found = by_hand()
    assert found.mean("default") == [1.5, 0.5, 0.125] and found.draws == 4
    assert found.standard_error("default")[0] == pytest.approx(np.std([3, 1, 2, 0], ddof=1) / 2)
    assert found.within("default", 0.5) == [0.25, 0.75, 1.0]
    assert (
        found.needed("default", 0.5) == 3 and found.needed("default", 0.1) is None and found.needed("default", 9) == 1
    )


def test_a_campaign_that_said_it_once_has_stopped():
    assert by_hand().stops("default", 0.5) == 2 and by_hand().stops("default", 0.75) == 3
    assert by_hand().stops("default", 0.9) is None


def test_whether_planning_pays_is_a_paired_test():
    found = by_hand()
    mean, half = found.higher("local_ucb")
    own, other = (found.outcomes[name].regret[-1] for name in ("default", "local_ucb"))
    low, high = ttest_rel(other, own).confidence_interval(0.95)
    assert (mean - half, mean + half) == pytest.approx((low, high))
    assert any(
        text.startswith("planning pays: local_ucb ends 1.375 mol higher") for text in answers([found], 0.5, "mol")
    )


def test_simulated_campaigns_stop_where_real_ones_do():
    problem = grid()
    stop = {"regret": 0.3, "probability": 0.6}
    campaign = Campaign(problem, settings_from(IMMEDIATE, {"stop": stop}), 2)
    for _ in range(8):
        move = campaign.ask(anyway=True)
        campaign.tell(move.number, problem.true_value(move.expected))
        standpoint = standpoint_of(campaign.knowledge)
        beliefs = BatchedBeliefs(standpoint.mean, standpoint.covariance(), 2, 1)
        found = SimulatedStop(standpoint, 0.3, 0.6)
        near = abs(campaign.certainty.probability - 0.6) < 0.05
        assert near or found.reached(beliefs).tolist() == [campaign.certainty.enough_known] * 2


def test_results_that_have_come_shrink_the_covariance_as_in_a_belief():
    problem = grid()
    campaign = Campaign(problem, settings_from(IMMEDIATE), 2)
    standpoint = standpoint_of(campaign.knowledge)
    beliefs = BatchedBeliefs(standpoint.mean, standpoint.covariance(), 1, 3)
    for state in (3, 7, 11):
        beliefs.visit(np.array([state]), np.array([0.01]))
    for state, value in ((3, 0.5), (7, -0.2)):
        beliefs.tell(np.array([value]))
        campaign.knowledge.belief.observe(state, value, 0.01)
    factor = campaign.knowledge.belief.factor
    told, some = beliefs.told_covariance(0), np.array([1, 4, 9])
    assert np.allclose(told.between(some), (factor @ factor.T)[np.ix_(some, some)])
    assert np.allclose(told.with_state(5), factor @ factor[5])


def test_both_engines_see_the_same_campaigns():
    problem, settings = line(episodes=3), settings_from(IMMEDIATE)
    scenario = Scenario("", "as declared", problem)
    ends = {}
    for engine in (ManyAtOnce, OneByOne):
        batches = list(engine(settings, 4, 0.05).batches(scenario, 96))
        ends[engine] = {n: np.concatenate([b[n].regret for b in batches], axis=1) for n in ("default", "local_ucb")}
    for name in ("default", "local_ucb"):
        many, single = ends[ManyAtOnce][name], ends[OneByOne][name]
        assert many.shape == single.shape == (3, 96)
        error = np.sqrt(many.var(axis=1) / 96 + single.var(axis=1) / 96)
        assert (np.abs(many.mean(axis=1) - single.mean(axis=1)) <= 4.0 * error).all()


def test_the_declared_campaign_comes_first_and_variations_keep_its_rules():
    problem = grid(constraints=(EndAt({"x": 4, "y": 4}),))
    labels = [s.label for s in scenarios_of(problem, settings_from(DP, {"episodes": 3}), ("horizon", "noise"))]
    # In half as many moves the end is out of reach.
    assert labels == ["as declared", "horizon 8", "noise sd x0.5", "noise sd x2"]
    (*_, noisy) = scenarios_of(problem, settings_from(DP), ("noise",))
    assert np.allclose(noisy.problem.process.noise_variance, 4.0 * problem.process.noise_variance)


def test_the_same_seed_says_the_same_and_more_draws_keep_the_first():
    few, many, other = (
        rehearse(line(), IMMEDIATE, draws, seed, vary=()) for draws, seed in ((16, 1), (32, 1), (16, 2))
    )
    first = few.rehearsed[0].outcomes["default"].regret
    assert np.array_equal(first, many.rehearsed[0].outcomes["default"].regret[:, :16])
    assert not np.array_equal(first, other.rehearsed[0].outcomes["default"].regret)
    assert few.to_dict() == rehearse(line(), IMMEDIATE, 16, 1, vary=()).to_dict()


def test_the_tolerance_is_that_of_the_stop_or_a_share_of_the_prior():
    assert new_report(line(), {"stop": {"regret": 0.3}}, 1, None).tolerance == 0.3
    assert new_report(line(), {}, 1, None).tolerance == pytest.approx(0.05)
    assert new_report(line(), {"stop": {"regret": 0.3}}, 1, 0.2).tolerance == 0.2


def test_a_wrong_belief_is_counted_once():
    report = new_report(line(), {"surrogate": {"misbelief": {"variance": 0.25}}}, 1, None)
    assert report.tolerance == pytest.approx(0.025)
    assert Campaign(report.problem, report.settings).knowledge.kernel.variance == pytest.approx(0.25)


def test_an_interruption_keeps_what_was_made():
    report = new_report(line(), IMMEDIATE, 1, None)

    def interrupt(label, made, wanted):
        if label != "as declared":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rehearse(line(), IMMEDIATE, 16, 1, on_progress=interrupt, report=report)
    assert [part.draws for part in report.rehearsed] == [16, 16] and not report.complete
    assert "was interrupted" not in json.dumps(report.to_dict()) and not report.to_dict()["complete"]


def test_a_continuous_plant_is_rehearsed_with_its_own_campaigns():
    problem = plane(episodes=1, horizon=2)
    report = rehearse(problem, {"candidates": {"count": 4, "rule": "upper_confidence"}}, draws=2)
    (part,) = report.rehearsed
    assert list(part.outcomes) == ["default", "local_ucb"] and part.outcomes["default"].regret.shape == (1, 2)
    assert (part.outcomes["default"].regret >= -1e-9).all()


def test_a_rule_that_cannot_be_simulated_at_once_is_rehearsed_one_by_one():
    def nothing(model):
        """Couples the steps, as far as anyone knows."""

    report = rehearse(line(constraints=(nothing,)), {"feedback": {"kind": "immediate"}}, draws=2, vary=())
    assert list(report.rehearsed[0].outcomes) == ["default", "local_ucb"] and report.rehearsed[0].draws == 2


def test_the_page_has_a_picture_for_each_comparison():
    report = rehearse(line(), IMMEDIATE, 16)
    content = page_content(report, "tcbo rehearse line")
    assert len(content["pictures"]) == 3 and all(p.source.startswith("data:image/svg") for p in content["pictures"])
    assert len(content["rows"]) == 5 + 4 * 2


def call(*arguments):
    return CliRunner().invoke(app, arguments)


def test_the_command_prints_writes_and_refuses(tmp_path):
    page = tmp_path / "page.html"
    done = call("rehearse", "knorr_pyrazole", "--draws", "2", "--vary", "noise", "--output", str(page))
    assert done.exit_code == 0 and "noise sd x2" in done.output and "expected regret" in done.output
    text = page.read_text()
    assert "<svg" not in text and "data:image/svg+xml" in text and "Rehearsal before the first experiment" in text
    again = call("rehearse", "knorr_pyrazole", "--draws", "2", "--output", str(page))
    assert isinstance(again.exception, BadInput) and "--force" in str(again.exception)
    wrong = call("rehearse", "knorr_pyrazole", "--vary", "size")
    assert isinstance(wrong.exception, BadInput) and "'size'" in str(wrong.exception)


def test_the_command_prints_json():
    done = call("rehearse", "knorr_pyrazole", "--draws", "2", "--vary", "none", "--json", "--regret", "0.01")
    data = json.loads(done.output)
    assert data["complete"] and data["tolerance"] == 0.01 and data["problem"] == load_problem("knorr_pyrazole").name
    (scenario,) = data["scenarios"]
    assert len(scenario["methods"]["MDP-EI"]["regret_mean"]) == scenario["episodes"]
