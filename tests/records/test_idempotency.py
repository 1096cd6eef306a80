"""The same command under the same key changes nothing."""

import pytest
from small_campaigns import LONG, again, started, state

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.records import Result


@pytest.fixture
def campaign(tmp_path):
    return started(tmp_path / "campaign.db", LONG)


COMMANDS = {
    "arrive": lambda campaign: campaign.arrive(key="k"),
    "tell": lambda campaign: campaign.tell(None, 0.5, key="k"),
    "skip": lambda campaign: campaign.skip(key="k"),
    "give_up": lambda campaign: campaign.give_up(key="k"),
    "undo": lambda campaign: campaign.undo(key="k"),
    "replicate": lambda campaign: campaign.tell(1, 0.7, replicate=True, key="k"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_same_command_under_the_same_key_changes_nothing(campaign, name):
    campaign.tell(campaign.ask().number, 0.4)
    campaign.ask()
    first = COMMANDS[name](campaign)
    for opened in (campaign, again(campaign)):
        before, rows = state(opened), opened._ledger.position
        repeated = COMMANDS[name](opened)
        assert state(opened) == before and opened._ledger.position == rows
        if isinstance(first, str):
            assert repeated == f"{first} (already undone)"
        elif name == "give_up":
            assert repeated == first == 3
        else:
            assert repeated.number == first.number and first.new and not repeated.new
    for other, command in COMMANDS.items():
        if other != name:
            with pytest.raises(BadInput, match="key k: was used for another command"):
                command(campaign)


def test_a_key_stays_used_after_the_next_ask_and_after_an_undo(campaign):
    campaign.ask()
    campaign.tell(None, 0.5, key="k")
    campaign.ask()
    assert campaign.tell(None, 0.5, key="k").number == 1, "not the move that is waited for by now"
    campaign.skip(key="s")
    campaign.undo(key="u")
    with pytest.raises(BadInput, match="then undone; use a new key"):
        campaign.skip(key="s")
    assert campaign.undo(key="u").endswith("(already undone)") and campaign.history.moves[0].value == 0.5


def test_a_command_that_changes_nothing_still_uses_its_key(campaign):
    campaign.ask()
    campaign.arrive()
    assert campaign.arrive(1, key="k").new
    with pytest.raises(BadInput, match="was used for another command"):
        campaign.arrive(1, at={"x": 3}, key="k")


def test_keys_of_a_list_count_within_the_list(campaign):
    campaign.ask_episode()
    receipts = campaign.tell_many([Result(1, 0.5, key="k"), Result(1, 0.5, key="k"), Result(2, 0.5)])
    assert [receipt.new for receipt in receipts] == [True, False, True]
