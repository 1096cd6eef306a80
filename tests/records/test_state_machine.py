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
from tcbo_pyomo.models.constraints import EndAt, MaximumStep
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.records import open_campaign
from tcbo_pyomo.records.status import status_of
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

VALUES = st.floats(-10, 10)
BACK = st.none() | st.integers(0, 6)
"""How many moves before the last one a command is about; None for no number."""
PLACES = st.sampled_from([None] * 7 + list(range(7)))
KEYS = st.sampled_from([None] * 6 + ["a", "b", "c"])
SELDOM = st.sampled_from([False, False, False, True])
PROBLEM = home(episodes=6)
AMENDED = (
    PROBLEM,
    PROBLEM.changed(kernel=SquaredExponential(4.0, 0.2)),
    PROBLEM.changed(horizon=4),
    PROBLEM.changed(
        process=grid_process({"x": list(range(7))}, {"x": [-2, -1, 0, 1, 2]}, 0.02, units={"x": "minute"}),
        constraints=[MaximumStep({"x": 2}), EndAt({"x": 2})],
    ),
)
"""What the campaign may be amended to: another prior, horizon, or moves."""


def at(place):
    return None if place is None else {"x": place}


def begun(machine):
    return bool(machine.campaign.history.moves)


class CampaignMachine(RuleBasedStateMachine):
    """What the test itself knows, from the answers alone.

    `reports` holds (kind, move, value) of what was acknowledged and not taken back; `strayed` the episodes in which something
    else than planned happened; `keys` the answers under each idempotency key.
    """

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "campaign.db"
        self.campaign, self.problem, self.outstanding = started(self.path, PROBLEM), PROBLEM, False
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

    def number(self, back):
        return None if back is None else max(1, len(self.campaign.history.moves) - back)

    def row_count(self):
        return len(self.campaign._ledger.rows)

    def asked(self, ask):
        try:
            return ask()
        except (BadInput, InfeasiblePlan) as error:
            assert "finished" in str(error) or self.strayed
            return None

    @rule(new=SELDOM)
    def ask(self, new):
        move = self.asked(lambda: self.campaign.ask(new))
        if move is not None:
            assert self.campaign.ask() == move
            assert abs(move.expected - move.origin) <= (2 if self.problem is AMENDED[3] else 1) or self.outstanding

    @rule(new=SELDOM)
    def ask_episode(self, new):
        schedule = self.asked(lambda: self.campaign.ask_episode(new))
        if schedule is not None:
            assert (
                schedule[-1].step == self.campaign.history.length(schedule[-1].episode)
                and self.campaign.ask_episode() == schedule
            )
            assert schedule[-1].expected == 2 or schedule[0].episode in self.strayed

    @precondition(begun)
    @rule(back=BACK, value=VALUES, place=PLACES, replicate=SELDOM, key=KEYS, confirm=st.booleans())
    def tell(self, back, value, place, replicate, key, confirm):
        number, waiting = self.number(back), self.campaign._waiting(new=False, whole=False)
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

    @precondition(begun)
    @rule(place=PLACES, back=BACK, key=KEYS)
    def skip(self, place, back, key):
        number = self.number(back)
        try:
            receipt = self.once(key, lambda: self.campaign.skip(number, at(place), key))
        except BadInput:
            return
        self.note("skip", receipt, strayed=place is not None)

    @precondition(begun)
    @rule(key=KEYS)
    def give_up(self, key):
        try:
            left = self.once(key, lambda: self.campaign.give_up(key))
        except BadInput:
            return
        if self.row_count() > self.rows:
            given_up = self.campaign.history.moves[-1]
            assert left > 0 and given_up.step == self.campaign.history.length(given_up.episode)
            self.reports.append(("give_up", given_up.number, None))
            self.strayed.add(given_up.episode)

    @precondition(begun)
    @rule(back=BACK, place=PLACES, key=KEYS)
    def arrive(self, back, place, key):
        number = self.number(back)
        try:
            receipt = self.once(key, lambda: self.campaign.arrive(number, at(place), key))
        except BadInput:
            return
        self.note("arrive", receipt, strayed=place is not None)

    @precondition(begun)
    @rule(back=BACK, key=KEYS)
    def undo(self, back, key):
        number = self.number(back)
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

    @rule(problem=st.sampled_from(AMENDED))
    def amend(self, problem):
        values = [(move.number, move.values) for move in self.campaign.history.moves]
        places = [PROBLEM.process.states[move.origin].tolist() for move in self.campaign.history.moves]
        try:
            changes = self.campaign.amend(problem)
        except BadInput as error:
            outstanding = self.campaign.history.assumed or self.campaign.history.open_move
            assert problem is self.problem or (problem.horizon != self.problem.horizon and outstanding), error
            return
        assert changes and self.campaign.definition.row == self.row_count()
        assert [(move.number, move.values) for move in self.campaign.history.moves] == values
        assert [problem.process.states[move.origin].tolist() for move in self.campaign.history.moves] == places
        self.problem, self.outstanding = problem, True
        self.strayed |= {move.episode for move in self.campaign.history.moves}

    @rule()
    def reopen(self):
        before = self.campaign.campaign.state()
        violations, surprises = self.campaign.violations, self.campaign.status().surprises
        self.campaign = open_campaign(self.path, self.problem)
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
    def what_status_says_about_the_model_is_what_the_model_says(self):
        shown, computed = self.campaign.status(), status_of(self.campaign.campaign, {})
        assert (shown.belief, shown.belief_lines, shown.warnings) == (
            computed.belief,
            computed.belief_lines,
            computed.warnings,
        )

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
        if not self.campaign.history.moves or len(self.campaign.definitions.all) > 1:
            return  # A table of set-points does not say which limits held when.
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
