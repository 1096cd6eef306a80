"""Nothing wrong is recorded: results go to their moves, and corrections leave what stands."""

import pytest
from small_campaigns import LONG, again, line, started, state

from tcbo_pyomo.checks.audit import audit_campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.records import Result


@pytest.fixture
def campaign(tmp_path):
    return started(tmp_path / "campaign.db", LONG)


def by_audit(campaign):
    found = {}
    for finding in audit_campaign(campaign.campaign):
        found.setdefault(finding.row, []).append(f"{finding.constraint}: {finding.value}; declared: {finding.limit}")
    return found


def test_a_skipped_move_of_a_schedule_is_not_offered_again(campaign):
    schedule = campaign.ask_episode()
    campaign.skip(1, at={"x": schedule[0].expected})
    assert again(campaign).ask() == schedule[1] and campaign.ask_episode() == schedule[1:]
    status = campaign.status()
    assert (status.open_move, status.schedule, status.pending, status.moves_made) == (2, (2, 3, 4), (), 1)
    assert campaign.tell(None, 0.5).number == 2


def test_a_plain_skip_cancels_what_is_left_and_not_what_was_made(campaign):
    schedule = campaign.ask_episode()
    campaign.skip(1, at={"x": schedule[0].expected})
    campaign.skip()
    moves = again(campaign).history.moves
    assert [(move.skipped, move.cancelled) for move in moves] == [(True, False)] + [(False, True)] * 3
    assert not campaign.skip(1).new
    move = campaign.ask()
    assert (move.step, move.origin) == (2, schedule[0].expected)


def test_an_arrival_in_a_schedule_is_recorded(campaign):
    schedule = campaign.ask_episode()
    assert campaign.arrive().new and not campaign.arrive(1).new
    assert again(campaign).ask() == schedule[1] and campaign.status().pending == (1,)
    campaign.skip()
    assert [move.cancelled for move in campaign.history.moves] == [False, True, True, True]


def test_a_result_says_that_the_moves_before_it_were_made(campaign):
    schedule = campaign.ask_episode()
    campaign.tell(3, 0.5)
    assert again(campaign).ask() == schedule[3] and campaign.status().pending == (1, 2)
    campaign.tell(4, 0.5)
    assert campaign.ask().number == 5
    campaign.skip()
    assert campaign.ask().number == 6, "moves 1 and 2 were made, whatever became of move 5"


def test_a_schedule_that_was_asked_past_counts_as_made(campaign):
    campaign.ask_episode()
    assert campaign.ask(new=True).number == 5
    campaign.skip()
    assert again(campaign).ask().number == 6 and campaign.status().pending == (1, 2, 3, 4)


def test_new_counts_the_open_move_as_made_for_a_schedule_too(campaign):
    campaign.ask()
    schedule = campaign.ask_episode(new=True)
    assert [(move.number, move.step) for move in schedule] == [(2, 2), (3, 3), (4, 4)]
    assert again(campaign).status().pending == (1,)


def test_a_campaign_whose_last_schedule_is_not_made_yet_is_not_finished(tmp_path):
    campaign = started(tmp_path / "c.db", line(1))
    campaign.ask_episode()
    status = campaign.status()
    assert not status.finished and status.moves_made == 0 and status.episode == 1
    campaign.tell_many([Result(number, 0.5) for number in (1, 2, 3)])
    assert campaign.status().finished


def test_undo_of_a_replicate_keeps_the_violations(campaign):
    campaign.ask()
    broken = campaign.tell(1, 0.3, at={"x": 5}).violations
    campaign.tell(1, 0.31, replicate=True)
    campaign.undo()
    assert again(campaign).violations == {1: list(broken)} == by_audit(campaign) and len(broken) == 2
    assert campaign.status().violations == {1: list(broken)}
    campaign.undo()
    assert again(campaign).violations == {} and campaign.history.open_move.number == 1


def test_a_wrong_place_is_named_and_can_be_corrected(campaign):
    campaign.ask()
    before = state(campaign)
    campaign.arrive(at={"x": 5})
    campaign.tell(1, 0.3)
    with pytest.raises(BadInput, match=r"already has a result \(0.3 at x = 5 minute\); use `undo --move 1` to correct it"):
        campaign.tell(1, 0.3, at={"x": 1})
    said = campaign.undo()
    assert said == (
        "the tell of move 1 (0.3); it is still recorded as arrived at x = 5 minute: "
        "if that is wrong too, repeat `undo --move 1`"
    )
    assert again(campaign).violations == by_audit(campaign) != {}
    with pytest.raises(
        BadInput, match="recorded as arrived at x = 5 minute; if that is wrong, use `undo --move 1` first"
    ):
        campaign.tell(1, 0.3, at={"x": 1})
    assert campaign.undo(1) == "the arrive of move 1" and state(campaign) == before
    campaign.tell(1, 0.3, at={"x": 1})
    assert again(campaign).violations == {}


def test_undo_after_the_next_ask_says_that_the_place_stays(campaign):
    campaign.ask()
    campaign.tell(1, 0.3, at={"x": 5})
    campaign.ask()
    assert campaign.undo().endswith("still recorded as arrived at x = 5 minute: later moves started there")
    assert again(campaign).violations == by_audit(campaign) != {}


def test_a_cancelled_move_can_be_taken_back_by_its_number(campaign):
    campaign.ask()
    before = state(campaign)
    campaign.skip()
    assert campaign.undo(1) == "the skip of move 1" and state(campaign) == before


@pytest.mark.parametrize("whole", [False, True])
def test_undo_after_a_mistaken_skip_of_the_episode(campaign, whole):
    campaign.tell(campaign.ask().number, 0.3)
    if whole:
        campaign.ask_episode()
    else:
        campaign.ask()
    before, offered = state(campaign), campaign.ask().number
    for _ in range(2):
        assert campaign.give_up() == 3
        assert campaign.undo() == "the skip of the rest of the episode"
        assert state(again(campaign)) == before and campaign.ask().number == offered
    assert campaign.undo(1).startswith("the tell of move 1 (0.3)")


def test_a_schedule_can_be_given_up_where_the_plant_is(campaign):
    schedule = campaign.ask_episode()
    with pytest.raises(BadInput, match="no episode is under way"):
        campaign.give_up()
    campaign.tell(1, 0.3)
    assert campaign.give_up() == 3
    assert again(campaign).history.path(1) == (2, *[schedule[0].expected] * 4)
    assert (campaign.ask().episode, campaign.ask().step) == (2, 1)
