"""Any sequence of asks, tells, corrections and reopenings loses no result and makes no undeclared infeasible move."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from small_campaigns import ALL_KILLS, home, started

from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.records import open_campaign
from tcbo_pyomo.records.results import broken_limits

VALUES = st.floats(-10, 10)
PROBLEM = home(episodes=6)


class CampaignMachine(RuleBasedStateMachine):
    """`known` holds, for each move, the results that were acknowledged and not taken back, in order."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "campaign.db"
        self.campaign = started(self.path, PROBLEM)
        self.known, self.told, self.strayed = {}, [], set()
        self.rows = 0

    def teardown(self):
        self.folder.cleanup()

    def tell_one(self, number, value, at=None, replicate=False):
        receipt = self.campaign.tell(number, value, at, replicate=replicate)
        if receipt.new:
            self.known.setdefault(receipt.number, []).append(value)
            self.told.append((receipt.number, value))
        if at is not None:
            self.strayed.add(self.campaign.history.move(receipt.number).episode)

    @rule(new=st.booleans())
    def ask(self, new):
        try:
            move = self.campaign.ask(new)
        except (BadInput, InfeasiblePlan) as error:
            assert "finished" in str(error) or self.strayed
            return
        assert self.campaign.ask() == move
        assert abs(move.expected - move.origin) <= 1

    @rule(new=st.booleans())
    def ask_episode(self, new):
        try:
            schedule = self.campaign.ask_episode(new)
        except (BadInput, InfeasiblePlan) as error:
            assert "finished" in str(error) or self.strayed
            return
        assert schedule[-1].step == PROBLEM.horizon
        if schedule[0].episode not in self.strayed:
            assert schedule[-1].expected == 2

    @rule(value=VALUES)
    def tell(self, value):
        try:
            self.tell_one(None, value)
        except BadInput as error:
            assert "say which move" in str(error)

    @rule(number=st.integers(1, 30), value=VALUES, replicate=st.booleans())
    def tell_any(self, number, value, replicate):
        try:
            self.tell_one(number, value, replicate=replicate)
        except BadInput:
            return

    @rule(number=st.integers(1, 30), value=VALUES, place=st.integers(0, 6))
    def tell_elsewhere(self, number, value, place):
        try:
            self.tell_one(number, value, {"x": place})
        except BadInput:
            return

    @rule(place=st.none() | st.integers(0, 6), number=st.none() | st.integers(1, 30))
    def skip(self, place, number):
        try:
            receipt = self.campaign.skip(number, None if place is None else {"x": place})
        except BadInput:
            return
        if place is not None:
            self.strayed.add(self.campaign.history.moves[receipt.number - 1].episode)

    @rule()
    def give_up(self):
        try:
            self.campaign.give_up()
        except BadInput as error:
            assert "no episode is under way" in str(error)
            return
        self.strayed |= {move.episode for move in self.campaign.history.moves if move.skipped}
        try:
            assert self.campaign.ask().step == 1
        except BadInput as error:
            assert "finished" in str(error)

    @rule()
    def arrive(self):
        try:
            self.campaign.arrive()
        except BadInput as error:
            assert "say which move" in str(error)

    @precondition(lambda self: self.told)
    @rule(number=st.none() | st.integers(1, 30))
    def undo(self, number):
        try:
            text = self.campaign.undo(number)
        except BadInput:
            return
        if text.startswith("the tell"):
            if number is None:
                number, value = self.told[-1]
            else:
                value = next(value for told, value in reversed(self.told) if told == number)
            assert text == f"the tell of move {number} ({value!r})"
            self.known[number].pop()
            del self.told[max(i for i, told in enumerate(self.told) if told[0] == number)]

    @rule()
    def reopen(self):
        before = self.campaign.campaign.state()
        self.campaign = open_campaign(self.path, PROBLEM)
        assert self.campaign.campaign.state() == before

    @invariant()
    def no_result_is_lost(self):
        found = {move.number: list(move.values) for move in self.campaign.history.moves if move.values}
        assert found == {number: values for number, values in self.known.items() if values}

    @invariant()
    def rows_only_grow(self):
        assert len(self.campaign._ledger.rows) >= self.rows
        self.rows = len(self.campaign._ledger.rows)

    @invariant()
    def what_broke_a_limit_is_recorded_and_never_asked_for(self):
        for move in self.campaign.history.moves:
            broken = broken_limits(self.campaign.campaign, move)
            assert not broken or move.episode in self.strayed
            if broken and move.value is not None:
                assert self.campaign.violations[move.number] == list(broken)


TestCampaignMachine = pytest.mark.filterwarnings("ignore")(CampaignMachine.TestCase)
TestCampaignMachine.settings = hypothesis_settings(
    max_examples=300 if ALL_KILLS else 25,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
