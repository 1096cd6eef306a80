"""What the rows of a campaign file say, taken together, and a campaign brought to that state.

A row holds the moves it touched as they were after it, what it added to or took from the order of results, and, for an
ask, the random state, the kernel and the method's own state after it. So the state is read off, not computed anew, and
is the same bit for bit whoever reads it.
"""

from __future__ import annotations

from typing import Any

from tcbo_pyomo.campaign.assembly import method_for
from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.records.file_format import Row, plain

STATE = ("generator", "kernel", "learned", "method")


class Story:
    """The sum of the rows read so far.

    Attributes
    ----------
    moves, told
        As `History.to_dict` has them.
    state
        Random state, kernel and method's state after the last ask.
    keys
        The row of each idempotency key.
    corrigible
        Tells, arrivals and skips that stand: all but those that were undone.
    undone
        Numbers of the rows that were undone.
    last_ask
        The number of the last row that asked for moves.
    plans
        Per ask: the numbers of its moves and how each was planned.
    violations
        What executed moves broke: the number of the move and the words.
    """

    def __init__(self) -> None:
        self.moves: list[dict[str, Any]] = []
        self.told: list[int] = []
        self.state: dict[str, Any] = {}
        self.keys: dict[str, Row] = {}
        self.corrigible: list[Row] = []
        self.undone: set[int] = set()
        self.last_ask = 0
        self.plans: list[dict[str, Any]] = []
        self.violations: dict[int, list[str]] = {}

    def add(self, row: Row) -> None:
        """One more row."""
        body = row.body
        self.state.update({name: body[name] for name in STATE if name in body})
        for move in body.get("moves", ()):
            self.moves[move["number"] - 1 : move["number"]] = [move]
        if "told" in body:
            self.told.append(body["told"])
        if "untold" in body:
            del self.told[body["untold"]]
        for number, texts in body.get("violations", {}).items():
            self.violations[int(number)] = texts
        if row.key:
            self.keys[row.key] = row
        if row.kind in ("tell", "arrive", "skip"):
            self.corrigible.append(row)
        elif row.kind == "undo":
            self.undone.add(body["undoes"])
            self.corrigible = [other for other in self.corrigible if other.number != body["undoes"]]
        elif row.kind in ("ask", "give_up"):
            self.last_ask = row.number
            self.plans += body.get("plans", ())


def restore(campaign: Campaign, story: Story) -> None:
    """Bring a campaign to the state that the rows describe; it goes on with the same moves, bit for bit."""
    campaign.history.load({"moves": story.moves, "told": story.told})
    campaign.generator.bit_generator.state = story.state["generator"]
    campaign.knowledge.load(story.state)
    campaign.plans = {plan["move"]: plan["plan"] for plan in story.plans if plan["plan"] is not None}
    if story.state["method"] is None and campaign.method.state() is not None:
        campaign.method, _ = method_for(campaign.problem, campaign.settings)
    campaign.method.load(story.state["method"])


def state_of(campaign: Campaign) -> dict[str, Any]:
    """What a row of an ask keeps of the campaign beside its moves."""
    return {
        "generator": campaign.generator.bit_generator.state,
        **campaign.knowledge.state(),
        "method": plain(campaign.method.state()),
    }
