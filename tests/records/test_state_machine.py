"""Any sequence of asks, results, corrections and reopenings keeps the facts straight.

After every step: what broke a limit is what the audit finds, in the campaign and in its export; the results that stand are
those told and not taken back; the move that is waited for is neither made nor skipped. A new command is one more rule.
"""

import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from small_campaigns import ALL_KILLS, home, started

from tcbo_pyomo.checks.audit import audit_campaign, audit_path
from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.records import open_campaign

VALUES = st.floats(-10, 10)
MOVES = st.integers(1, 30)
PLACES = st.none() | st.integers(0, 6)
KEYS = st.none() | st.sampled_from("abc")
PROBLEM = home(episodes=6)


def at(place):
    return None if place is None else {"x": place}


class CampaignMachine(RuleBasedStateMachine):
    """What the test itself knows, from the answers alone.

    `told` holds (row, move, value) of the results that were acknowledged and not taken back; `reported` the moves that were
    told, skipped or arrived at, and not taken back; `strayed` the episodes in which something else than planned happened.
    """

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "campaign.db"
        self.campaign = started(self.path, PROBLEM)
        self.reports, self.strayed, self.keys, self.rows = [], set(), {}, 0

    def teardown(self):
        self.folder.cleanup()

    def note(self, kind, receipt, value=None, strayed=False):
        """A report was acknowledged."""
        if receipt.new:
            self.reports.append((kind, receipt.number, value))
        if strayed:
            self.strayed.add(self.campaign.history.moves[receipt.number - 1].episode)

    def once(self, key, command):
        """Call a command; under a key that was used it must say the same and write nothing, or refuse."""
        rows, before = self.row_count(), self.campaign.campaign.state()
        answer = command()
        if key is not None and key in self.keys:
            assert self.row_count() == rows and self.campaign.campaign.state() == before
        elif key is not None:
            self.keys[key] = answer
        return answer

    def row_count(self):
        return len(self.campaign._ledger.rows)

    def asked(self, ask):
        try:
            return ask()
        except (BadInput, InfeasiblePlan) as error:
            assert "finished" in str(error) or self.strayed
            return None

    @rule(new=st.booleans())
    def ask(self, new):
        move = self.asked(lambda: self.campaign.ask(new))
        if move is not None:
            assert self.campaign.ask() == move
            assert abs(move.expected - move.origin) <= 1

    @rule(new=st.booleans())
    def ask_episode(self, new):
        schedule = self.asked(lambda: self.campaign.ask_episode(new))
        if schedule is not None:
            assert schedule[-1].step == PROBLEM.horizon and self.campaign.ask_episode() == schedule
            assert schedule[-1].expected == 2 or schedule[0].episode in self.strayed

    @rule(number=st.none() | MOVES, value=VALUES, place=PLACES, replicate=st.booleans(), key=KEYS, confirm=st.booleans())
    def tell(self, number, value, place, replicate, key, confirm):
        waiting = self.campaign._waiting(new=False, whole=False)
        try:
            receipt = self.once(
                key,
                lambda: self.campaign.tell(number, value, at(place), replicate=replicate, key=key, confirm=confirm),
            )
        except BadInput:
            return
        if number is None and waiting and receipt.new:
            assert receipt.number == waiting[0].number
        self.note("tell", receipt, value, place is not None)

    @rule(place=PLACES, number=st.none() | MOVES, key=KEYS)
    def skip(self, place, number, key):
        try:
            receipt = self.once(key, lambda: self.campaign.skip(number, at(place), key))
        except BadInput:
            return
        self.note("skip", receipt, strayed=place is not None)

    @rule(key=KEYS)
    def give_up(self, key):
        try:
            left = self.once(key, lambda: self.campaign.give_up(key))
        except BadInput:
            return
        if self.row_count() > self.rows:
            given_up = self.campaign.history.moves[-1]
            assert left > 0 and given_up.step == PROBLEM.horizon
            self.reports.append(("give_up", given_up.number, None))
            self.strayed.add(given_up.episode)

    @rule(number=st.none() | MOVES, place=PLACES, key=KEYS)
    def arrive(self, number, place, key):
        try:
            receipt = self.once(key, lambda: self.campaign.arrive(number, at(place), key))
        except BadInput:
            return
        self.note("arrive", receipt, strayed=place is not None)

    @precondition(lambda self: self.reports)
    @rule(number=st.none() | MOVES, key=KEYS)
    def undo(self, number, key):
        try:
            text = self.once(key, lambda: self.campaign.undo(number, key))
        except BadInput:
            return
        if self.row_count() == self.rows:
            return
        named = [report for report in self.reports if number is None or report[1] == number]
        if number is not None and "rest of the episode" in text:
            named = [report for report in self.reports if report[0] == "give_up"]
        kind, move, value = named[-1]
        words = {"tell": f"the tell of move {move} ({value!r})", "give_up": "the skip of the rest of the episode"}
        assert text.startswith(words.get(kind, f"the {kind} of move {move}"))
        position = max(i for i, report in enumerate(self.reports) if report == (kind, move, value))
        del self.reports[position]

    @rule()
    def reopen(self):
        before = self.campaign.campaign.state()
        violations, surprises = self.campaign.violations, self.campaign.status().surprises
        self.campaign = open_campaign(self.path, PROBLEM)
        assert self.campaign.campaign.state() == before
        assert (self.campaign.violations, self.campaign.status().surprises) == (violations, surprises)

    @invariant()
    def what_stands_was_told_and_not_taken_back(self):
        wanted = {}
        for kind, move, value in self.reports:
            if kind == "tell":
                wanted.setdefault(move, []).append(value)
        moves = self.campaign.history.moves
        assert {move.number: list(move.values) for move in moves if move.values} == wanted
        assert self.campaign.history.told == [move for kind, move, _ in self.reports if kind == "tell"]

    @invariant()
    def the_waiting_move_is_neither_made_nor_skipped(self):
        reported = {move for _, move, _ in self.reports}
        for whole in (False, True):
            for move in self.campaign._waiting(new=False, whole=whole):
                assert move.number not in reported and not move.skipped and not move.cancelled and move.value is None
                assert all(number < move.number for number in reported)
        status = self.campaign.status()
        assert not set(status.pending) & set(status.schedule)

    @invariant()
    def rows_only_grow(self):
        assert self.row_count() >= self.rows
        self.rows = self.row_count()

    @invariant()
    def violations_are_what_the_audit_finds(self):
        found = {}
        for finding in audit_campaign(self.campaign.campaign):
            assert finding.episode in self.strayed
            text = f"{finding.constraint}: {finding.value}; declared: {finding.limit}"
            found.setdefault(finding.row, []).append(text)
        assert self.campaign.violations == found == self.campaign.status().violations

    @invariant()
    def the_export_can_be_audited(self):
        if not self.campaign.history.moves:
            return
        path = self.path.with_suffix(".csv")
        self.campaign.export(path, force=True)
        ahead = {move.number for move in self.campaign.history.assumed}
        steps = {(move.episode, move.step) for move in self.campaign.history.moves if move.number in ahead}
        found = [(f.episode, f.step, f.constraint) for f in audit_path(PROBLEM, path)]
        wanted = [(f.episode, f.step, f.constraint) for f in audit_campaign(self.campaign.campaign)]
        assert found == [one for one in wanted if one[:2] not in steps]


TestCampaignMachine = pytest.mark.filterwarnings("ignore")(CampaignMachine.TestCase)
TestCampaignMachine.settings = hypothesis_settings(
    max_examples=300 if ALL_KILLS else 25,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
