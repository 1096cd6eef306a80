"""A campaign on a file: the same moves as in memory, results in any order, corrections that erase nothing."""

import inspect
import json

import numpy as np
import pytest
from small_campaigns import SETTINGS, home, line, moves_of, result_of, started, uninterrupted

from tcbo_pyomo import Campaign, Problem
from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.records import Result, in_memory, open_campaign, start_campaign
from tcbo_pyomo.settings import settings_from


@pytest.fixture
def file(tmp_path):
    return tmp_path / "campaign.db"


@pytest.fixture
def campaign(file):
    return started(file)


def again(campaign):
    """The campaign as another process finds it; it must be the same in every digit."""
    opened = open_campaign(campaign.path, line())
    assert json.dumps(opened.campaign.state()) == json.dumps(campaign.campaign.state())
    assert (opened.campaign.knowledge.belief.mean == campaign.campaign.knowledge.belief.mean).all()
    return opened


def test_moves_are_those_of_a_campaign_in_memory_however_often_it_is_reopened(campaign):
    for number in range(1, 20):
        campaign = again(campaign)
        assert campaign.ask().number == number
        campaign.tell(number, result_of(number))
    assert moves_of(campaign) == moves_of(uninterrupted(19))


def test_it_shows_its_file_and_its_results_when_printed_or_at_the_end_of_a_notebook_cell(campaign):
    campaign.ask()
    campaign.tell(1, 0.25)
    assert repr(campaign).startswith(f"DurableCampaign({campaign.path}: Campaign(") and "1 results told" in repr(campaign)
    assert "<td>0.25</td>" in campaign._repr_html_()


def test_a_result_without_an_outstanding_move_says_what_to_do(campaign):
    with pytest.raises(BadInput, match="no move is outstanding; ask for the next one, or name an earlier one with --move N"):
        campaign.tell(None, 0.25)


@pytest.mark.parametrize("name", ["branin2d", "knorr_pyrazole", "lake_ypacarai"])
def test_shipped_problems_go_on_bit_for_bit(file, name):
    problem = load_problem(name)
    dynamic_programming = {"planner": {"linear": {"solver": "dynamic_programming"}}}
    quick = dynamic_programming if isinstance(problem, Problem) else {"candidates": {"count": 4}}
    settings = settings_from(dict(problem.settings), quick)
    memory = Campaign(problem, settings, 3)
    start_campaign(file, name, settings, 3)
    for _ in range(4):
        move, asked = memory.ask(), open_campaign(file).ask()
        assert asked == move
        memory.tell(move.number, 0.25)
        open_campaign(file).tell(move.number, 0.25)
    assert json.dumps(open_campaign(file).campaign.state()) == json.dumps(memory.state())


def test_a_fit_between_episodes_is_kept(file):
    settings = settings_from(SETTINGS.model_dump(), {"surrogate": {"fit": "each_episode"}})
    memory = Campaign(line(), settings, 4)
    start_campaign(file, line(), settings, 4)
    for number in range(1, 9):
        memory.tell(memory.ask().number, result_of(number) / 60)
        opened = open_campaign(file, line())
        opened.tell(opened.ask().number, result_of(number) / 60)
    assert json.dumps(open_campaign(file, line()).campaign.state()) == json.dumps(memory.state())


def test_asking_again_gives_the_same_move_until_told_otherwise(campaign):
    first = campaign.ask()
    assert campaign.ask() == first == again(campaign).ask()
    second = campaign.ask(new=True)
    assert second.number == 2 and campaign.status().pending == (1,)
    assert campaign.ask() == second
    campaign.arrive()
    assert campaign.ask().number == 3
    campaign.tell(2, 1.0)
    campaign.tell(1, 2.0)
    assert again(campaign).status().pending == ()


def test_a_schedule_stays_the_same_until_its_results_are_told(campaign):
    schedule = campaign.ask_episode()
    assert [move.step for move in schedule] == [1, 2, 3]
    assert campaign.ask_episode() == schedule == again(campaign).ask_episode()
    assert campaign.ask() == schedule[0]
    campaign.tell(None, 1.0)
    assert campaign.ask() == schedule[1]
    assert [move.number for move in campaign.ask_episode(new=True)] == [4, 5, 6]
    campaign.tell_many([Result(number, result_of(number)) for number in (6, 2, 5, 3, 4)])
    assert again(campaign).ask().number == 7


def test_leaving_a_schedule_cancels_the_rest(campaign):
    schedule = campaign.ask_episode()
    other = next(x for x in (1, 2, 3) if x != schedule[0].expected)
    campaign.tell(1, 0.5, at={"x": other})
    opened = again(campaign)
    assert [move.cancelled for move in opened.history.moves] == [False, True, True]
    assert opened.ask().origin == other
    with pytest.raises(BadInput, match="cancelled"):
        opened.tell(2, 1.0)


def test_results_in_any_order_give_the_same_posterior(tmp_path):
    beliefs = []
    for position, order in enumerate(([1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1], [3, 1, 6, 2, 5, 4])):
        campaign = started(tmp_path / f"{position}.db")
        for _ in range(6):
            campaign.ask()
            campaign.arrive()
        for number in order:
            campaign.tell(number, result_of(number))
        beliefs.append(again(campaign).campaign.knowledge.belief)
    for belief in beliefs[1:]:
        assert np.allclose(belief.mean, beliefs[0].mean, rtol=1e-9, atol=1e-9)
        assert np.allclose(belief.variance, beliefs[0].variance, rtol=1e-9, atol=1e-12)


def test_the_same_result_told_again_changes_nothing(campaign):
    campaign.ask()
    assert campaign.tell(1, 0.5, key="a").new
    rows = campaign._ledger.position
    assert not campaign.tell(1, 0.5, key="a").new
    assert not again(campaign).tell(1, 0.5).new
    for value, key in ((0.6, "a"), (0.6, "b"), (0.6, None)):
        with pytest.raises(BadInput, match=r"already has a result|was used for"):
            campaign.tell(1, value, key=key)
    campaign.refresh()
    assert campaign._ledger.position == rows


def test_a_replicate_is_one_more_observation_of_the_same_state(campaign):
    campaign.ask()
    with pytest.raises(BadInput, match="no result to replicate"):
        campaign.tell(1, 0.5, replicate=True)
    campaign.tell(1, 0.5)
    before = campaign.campaign.knowledge.belief.copy()
    assert campaign.tell(1, 0.7, replicate=True, key="r").new
    assert not campaign.tell(1, 0.7, replicate=True, key="r").new
    opened = again(campaign)
    before.observe(opened.history.moves[0].arrived, 0.7, 0.01)
    assert np.allclose(opened.campaign.knowledge.belief.mean, before.mean, rtol=0, atol=1e-14)
    assert opened.experiments()["yield_"].tolist() == [0.5, 0.7] and opened.status().measurements == 2
    assert "(0.7)" in opened.undo() and again(opened).history.moves[0].values == (0.5,)


def test_the_kernel_form_counts_replicates_and_not_skipped_moves(file):
    campaigns = []
    for form in ("features", "kernel"):
        settings = settings_from(SETTINGS.model_dump(), {"utility": {"form": form}})
        campaign = start_campaign(file.with_name(form), line(), settings, 4)
        campaign.tell(campaign.ask().number, 0.4)
        campaign.tell(1, 0.5, replicate=True)
        campaign.ask()
        campaign.arrive()
        campaign.skip(2)
        campaigns.append(campaign.campaign)
    first, second = (campaign.knowledge for campaign in campaigns)
    for pair in ((0, 3), (1, 6), (2, None)):
        expected = first._posterior_given()(None).covariance_with(*pair)
        assert np.allclose(second._posterior_given()(None).covariance_with(*pair), expected, rtol=0, atol=1e-10)


def test_values_are_converted_to_the_unit_of_the_problem(campaign):
    campaign.ask()
    assert campaign.tell(1, 250.0, unit="mg/l").value == pytest.approx(0.25)
    campaign.ask()
    receipt = campaign.tell(2, 1.0, unit="g/l", at={"x": "180 s"})
    assert receipt.number == 2 and campaign.problem.describe(campaign.history.moves[1].arrived) == {"x": 3.0}
    for unit in ("K", "nonsense", "", "__import__('os')", "m**9**9**9", "min"):
        with pytest.raises(BadInput, match="unit"):
            campaign.tell(campaign.ask().number, 1.0, unit=unit)


def test_the_plant_decides_and_a_broken_limit_is_recorded(campaign, caplog):
    campaign.ask()
    receipt = campaign.tell(1, 0.5, at={"x": 6})
    assert [text.split(":")[0] for text in receipt.violations] == ["plant", "MaximumStep"]
    assert "broke a declared limit" in caplog.text
    opened = again(campaign)
    assert opened.violations == {1: list(receipt.violations)} and opened.ask().origin == 6
    assert opened.status().violations == opened.violations


def test_a_skipped_move_is_planned_again_or_the_plant_is_elsewhere(campaign):
    campaign.ask()
    campaign.skip()
    move = again(campaign).ask()
    assert (move.number, move.step, move.origin) == (2, 1, 2)
    other = next(x for x in (1, 2, 3) if x not in (move.expected, move.origin))
    campaign.skip(2, at={"x": other})
    third = again(campaign).ask()
    assert (third.step, third.origin) == (2, other) and campaign.status().pending == ()
    with pytest.raises(BadInput, match="cancelled"):
        campaign.tell(1, 0.5)


def test_a_lost_sample_is_no_longer_waited_for_until_it_is_found(campaign):
    campaign.ask()
    campaign.arrive()
    campaign.ask()
    assert campaign.status().pending == (1,)
    campaign.skip(1)
    assert again(campaign).status().pending == ()
    campaign.tell(1, 0.5)
    assert again(campaign).status().measurements == 1


def test_undo_is_a_row_and_gives_the_state_before(campaign):
    campaign.ask()
    before = json.dumps(campaign.campaign.state())
    campaign.tell(1, 0.5, at={"x": 6}, key="a")
    assert campaign.undo() == "the tell of move 1 (0.5)"
    assert json.dumps(again(campaign).campaign.state()) == before and not campaign.violations
    with pytest.raises(BadInput, match="then undone"):
        campaign.tell(1, 0.5, key="a")
    campaign.tell(1, 0.5)
    assert [row.kind for row in campaign._ledger.rows] == ["definition", "ask", "tell", "undo", "tell"]


def test_undo_after_the_next_ask_takes_back_the_value_only(campaign):
    campaign.tell(campaign.ask().number, 0.5)
    second = campaign.ask()
    campaign.undo()
    opened = again(campaign)
    assert opened.status().pending == (1,) and opened.ask() == second
    opened.tell(1, 0.75)
    assert again(opened).history.moves[0].value == 0.75
    campaign.refresh()
    campaign.arrive()
    campaign.ask()
    with pytest.raises(BadInput, match="cannot be undone"):
        campaign.undo(2)
    with pytest.raises(BadInput, match="nothing to undo for move 3"):
        campaign.undo(3)


def test_all_results_of_a_list_or_none(campaign):
    campaign.ask_episode()
    state = json.dumps(campaign.campaign.state())
    with pytest.raises(BadInput, match=r"result 2 of 3: .*no result was recorded"):
        campaign.tell_many([Result(1, 0.5), Result(9, 0.5), Result(2, 0.5)])
    campaign.refresh()
    assert json.dumps(again(campaign).campaign.state()) == state


def test_a_failed_plan_leaves_no_trace(campaign, monkeypatch):
    state = json.dumps(campaign.campaign.state())

    def fails(*arguments):
        campaign.campaign.generator.random(5)
        raise RuntimeError("the solver crashed")

    monkeypatch.setattr(campaign.campaign.method, "next_decision", fails)
    with pytest.raises(RuntimeError):
        campaign.ask()
    campaign.refresh()
    assert json.dumps(campaign.campaign.state()) == state


def test_every_executed_path_is_home_at_the_end(file):
    campaign = started(file, home())
    for number in range(1, 31):
        campaign.tell(campaign.ask().number, result_of(number))
    assert not campaign.violations
    assert all(move.arrived == 2 for move in campaign.history.moves if move.step == 3)


def test_a_plant_that_cannot_get_home_gives_the_episode_up(file):
    campaign = started(file, home())
    campaign.tell(campaign.ask().number, 0.5, at={"x": 6})
    with pytest.raises((InfeasiblePlan, BadInput), match=r"x=6|step"):
        campaign.ask()
    assert campaign.give_up() == 2
    move = open_campaign(file, home()).ask()
    assert (move.episode, move.step, move.origin) == (2, 1, 2)
    assert sorted(campaign.violations) == [1, 3] and "EndAt" in campaign.violations[3][0]
    with pytest.raises(BadInput, match="no episode is under way"):
        campaign.give_up()


def test_another_problem_plans_nothing(campaign):
    with pytest.raises(BadInput, match="differs from the recorded one: name was line, is home; rule EndAt was none, is end at"):
        open_campaign(campaign.path, home()).ask()
    opened = open_campaign(campaign.path)
    assert opened.status().moves_in_all == 120
    with pytest.raises(BadInput, match=r"built in Python; pass it to open_campaign\(path, problem\)"):
        opened.ask()


def test_a_problem_file_is_run_again_only_while_it_is_the_same(file, tmp_path):
    own = tmp_path / "own.py"
    text = "from tcbo_pyomo import load_problem\n"
    text += "def build(feedback=None, seed=0):\n    return load_problem('knorr_pyrazole')\n"
    own.write_text(text)
    start_campaign(file, str(own), SETTINGS, 1)
    assert open_campaign(file).problem.name == "knorr_pyrazole"
    own.write_text(text + "# edited\n")
    with pytest.raises(BadInput, match=r"differs from the recorded one: file own.py was SHA-256 \w+..., is SHA-256"):
        open_campaign(file).ask()
    assert open_campaign(file).status().problem == "knorr_pyrazole"
    own.write_text(text + "# a remark\n")
    assert open_campaign(file, own).problem.name == "knorr_pyrazole"
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    file.rename(moved / file.name)
    own.write_text(text)
    own.rename(moved / own.name)
    assert open_campaign(moved / file.name).ask().number == 1


def test_a_campaign_is_never_started_over_another_file(file, campaign):
    before = file.read_bytes()
    with pytest.raises(BadInput, match="already exists"):
        started(file)
    assert file.read_bytes() == before and [path.name for path in file.parent.iterdir()] == [file.name]


def test_plans_are_kept_with_their_solver_records(campaign):
    campaign.tell(campaign.ask().number, 0.5)
    campaign.ask_episode()
    plans = again(campaign).plans
    assert len(plans) == 3 and all(plan["solver"] == "dynamic_programming" for plan in plans.values())


def public_names(campaign) -> set[str]:
    return {name for name in dir(campaign) if not name.startswith("_")}


def test_a_campaign_on_a_file_has_the_whole_face_of_one_in_memory(campaign):
    """Except for `from_state`, which makes a campaign: on a file that is `start_campaign`."""
    memory = uninterrupted(5)
    for number in range(1, 6):
        campaign.tell(campaign.ask().number, result_of(number))
    assert public_names(memory) - public_names(campaign) == {"from_state"}
    for name in ("ask", "ask_episode", "arrive", "tell", "predict", "experiments", "state"):
        asked = inspect.signature(getattr(memory, name)).parameters
        assert set(asked) <= set(inspect.signature(getattr(campaign, name)).parameters)
    for name in ("candidates", "recommendation", "finished", "seed", "settings", "plans"):
        assert getattr(campaign, name) == getattr(memory, name)
    assert campaign.predict({"x": 3}) == memory.predict({"x": 3}) and campaign.experiments().equals(
        memory.experiments()
    )
    assert json.dumps(campaign.state()) == json.dumps(memory.state())
    assert type(campaign.knowledge) is type(memory.knowledge) and type(campaign.method) is type(memory.method)


def test_what_is_done_to_the_campaign_in_memory_does_not_reach_the_file(campaign):
    before = campaign.path.read_bytes()
    in_memory(campaign).tell(in_memory(campaign).ask().number, 0.5)
    assert campaign.path.read_bytes() == before and open_campaign(campaign.path, line()).history.moves == []
    memory = uninterrupted(1)
    assert in_memory(memory) is memory
