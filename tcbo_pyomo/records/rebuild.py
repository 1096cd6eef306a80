"""What the rows of a campaign file say, taken together, and a campaign brought to that state.

A row holds the moves it touched as they were after it, without their results; a result stands in the row of its tell alone, so
that a file grows with the number of results and no faster. For an ask it also holds the random state, the kernel and the
method's own state after it. So the state is read off, not computed anew, and is the same bit for bit whoever reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.foundation.wording import counted
from tcbo_pyomo.knowledge.move import Move
from tcbo_pyomo.knowledge.past_results import PastBatch
from tcbo_pyomo.knowledge.plausibility import Surprise, surprise_from
from tcbo_pyomo.records.definition import Definitions
from tcbo_pyomo.records.file_format import Row, plain
from tcbo_pyomo.records.model_summary import ModelSummary
from tcbo_pyomo.records.recorded_campaign import RecordedCampaign

STATE = ("generator", "kernel", "learned", "method", "planned_with")
RESULTS = ("value", "replicates", "surprises", "along")
"""Fields of a move that follow from the results that stand. Rows of 0.1.0 repeat the first two in every row."""
CORRIGIBLE = ("tell", "arrive", "skip", "give_up")
PAST = ("data", "withdraw")
"""Rows about past experiments: a table that was added, and a table, or rows of it, that was removed."""


def data_of(move: Move) -> dict[str, Any]:
    """A move as rows hold it."""
    kept = {name: value for name, value in vars(move).items() if name not in RESULTS and name != "words"}
    if not move.way:
        del kept["way"]  # Few plants are measured on the way.
    return kept


@dataclass(frozen=True)
class Fact:
    """A row that stands: a result, an arrival, a skip, an episode given up, or past experiments added or removed.

    Attributes
    ----------
    row, kind
        Number and kind of the row.
    move
        The move it is about; None for an episode that was given up, and for past experiments.
    touched
        Numbers of all moves that the row changed or added.
    value, surprise
        Of a tell.
    along
        The moment and the place, where it was measured on the way.
    past
        Of past experiments: what the row says.
    """

    row: int
    kind: str
    move: int | None
    touched: frozenset[int]
    value: float | None = None
    surprise: Surprise | None = None
    along: list[Any] | None = None
    past: Mapping[str, Any] | None = None

    @property
    def named(self) -> str:
        """What it is about."""
        if self.past is not None and self.kind == "data":
            data = self.past["data"]
            return f"data {data['number']}, {counted(len(data['results']), 'past result')} from {data['source']}"
        if self.past is not None:
            return f"the removal of {self.past['words']}"
        return "the skip of the rest of the episode" if self.kind == "give_up" else f"the {self.kind} of move {self.move}"

    def in_words(self) -> str:
        """What it says: what it is about, with the value of a result."""
        return f"{self.named} ({self.value!r})" if self.kind == "tell" else self.named


class Story:
    """The sum of the rows read so far.

    Attributes
    ----------
    moves
        The moves as `data_of` has them.
    state
        Random state, kernel and method's state after the last ask.
    keys
        The row of each idempotency key.
    facts
        What stands, by the number of its row, in the order recorded: all but what was undone.
    undone
        Numbers of the rows that were undone.
    corrections
        What was undone or confirmed, in words.
    last_ask
        The number of the last row that asked for moves.
    batches
        How many tables of past experiments were ever added.
    plans
        Per ask: the numbers of its moves and how each was planned.
    violations
        What executed moves broke: the number of the move and the words.
    definitions
        What the campaign is defined by, and since when.
    model
        What the model says, given the results that stand; None where no row holds it.
    """

    def __init__(self) -> None:
        self.definitions = Definitions()
        self.moves: list[dict[str, Any]] = []
        self.state: dict[str, Any] = {}
        self.keys: dict[str, Row] = {}
        self.facts: dict[int, Fact] = {}
        self.undone: set[int] = set()
        self.corrections: tuple[str, ...] = ()
        self.last_ask = 0
        self.batches = 0
        self.plans: list[dict[str, Any]] = []
        self.violations: dict[int, list[str]] = {}
        self.model: ModelSummary | None = None

    def copy(self) -> Story:
        """An independent copy, to see what one more row would make of it."""
        twin = copy(self)
        for name, value in vars(self).items():
            setattr(twin, name, value.copy() if isinstance(value, Definitions) else copy(value))
        return twin

    def add(self, row: Row) -> None:
        """One more row."""
        self.apply(row.number, row.kind, row.body)
        if row.key:
            self.keys[row.key] = row

    def apply(self, number: int, kind: str, body: dict[str, Any]) -> None:
        """What a row of a kind changes."""
        self.definitions.apply(number, kind, body)
        if body.get("model") is not None:
            self.model = ModelSummary.from_dict(body["model"], self.model)
        elif not self._leaves_results(kind, body):
            self.model = None
        self.state.update({name: body[name] for name in STATE if name in body})
        moves = body.get("moves", ())
        for data in moves:
            kept = {name: value for name, value in data.items() if name not in RESULTS}
            self.moves[data["number"] - 1 : data["number"]] = [kept]
        if "length" in body:
            del self.moves[body["length"] :]
            self.violations = {move: texts for move, texts in self.violations.items() if move <= body["length"]}
        for move, texts in body.get("violations", {}).items():
            self.violations[int(move)] = texts
        if kind in CORRIGIBLE or "told" in body:
            touched = frozenset(data["number"] for data in moves)
            told = (body["value"], surprise_from(body.get("surprise")), body.get("along")) if "told" in body else ()
            self.facts[number] = Fact(number, kind, body.get("move"), touched, *told)
        elif kind in PAST:
            self.facts[number] = Fact(number, kind, None, frozenset(), past=body)
            self.batches += kind == "data"
        elif kind == "confirm":
            fact = self.facts[body["confirms"]]
            self.corrections += (f"confirmed: {fact.in_words()}",)
            if fact.surprise is not None:
                self.facts[fact.row] = replace(fact, surprise=replace(fact.surprise, confirmed=True))
        elif kind == "undo":
            self.undone.add(body["undoes"])
            self.corrections += (f"undone: {self.facts[body['undoes']].in_words()}",)
            del self.facts[body["undoes"]]
        elif kind == "amend" and body.get("anew"):
            self.last_ask = number
        elif kind == "ask":
            self.last_ask = number
            self.plans += body.get("plans", ())

    def _leaves_results(self, kind: str, body: dict[str, Any]) -> bool:
        """Whether the model has the same results, and is the same, after a row as before it."""
        if kind == "undo":
            return self.facts[body["undoes"]].kind not in ("tell", *PAST)
        return kind in ("ask", "arrive", "skip", "give_up", "confirm", "migration")

    @property
    def results(self) -> list[Fact]:
        """The results that stand, in the order told."""
        return [fact for fact in self.facts.values() if fact.kind == "tell"]

    def history(self) -> dict[str, Any]:
        """Moves with their results, as `History.to_dict` has them."""
        values: dict[int, list[Fact]] = {}
        for fact in self.results:
            values.setdefault(fact.move or 0, []).append(fact)
        moves = [{**data, **_measured(values.get(data["number"], []))} for data in self.moves]
        told = [fact.move for fact in self.results]
        return {"moves": moves, "told": told, "lengths": self.definitions.lengths, "past": self.past()}

    def past(self) -> list[dict[str, Any]]:
        """The past experiments that stand, table by table, as `PastBatch.to_dict` has them."""
        found: dict[int, PastBatch | None] = {}
        for fact in self.facts.values():
            if fact.past is not None and fact.kind == "data":
                batch = PastBatch.from_dict(fact.past["data"])
                found[batch.number] = batch
            elif fact.past is not None:
                known = found[fact.past["withdraws"]]
                found[fact.past["withdraws"]] = None if known is None else known.without(fact.past["rows"])
        return [batch.to_dict() for batch in found.values() if batch is not None]


def _measured(facts: list[Fact]) -> dict[str, Any]:
    """The fields of a move that hold its results."""
    if not facts:
        return {}
    surprises = [None if fact.surprise is None else asdict(fact.surprise) for fact in facts]
    return {
        "value": facts[0].value,
        "replicates": [fact.value for fact in facts[1:]],
        "surprises": surprises if any(surprises) else [],
        **({"along": [fact.along for fact in facts]} if any(fact.along for fact in facts) else {}),
    }


def restore(campaign: Campaign, story: Story) -> None:
    """Bring a campaign to the state that the rows describe; it goes on with the same moves, bit for bit."""
    campaign.history.load(story.history())
    if story.definitions.now.declared is not None:
        built = None if isinstance(campaign, RecordedCampaign) else campaign.problem
        campaign.limits_held = partial(story.definitions.limits_held, built=built)
    campaign.amendments, campaign.corrections = story.definitions.amendments, story.corrections
    campaign.generator.bit_generator.state = story.state["generator"]
    campaign.plans = {plan["move"]: plan["plan"] for plan in story.plans if plan["plan"] is not None}
    if isinstance(campaign, RecordedCampaign):
        campaign.knowledge.remember(story.state)
        campaign.model = story.model
        campaign.method.solver = story.state.get("planned_with")
    else:
        from tcbo_pyomo.campaign.assembly import method_for  # A campaign that is only looked at needs no method.

        campaign.knowledge.load(story.state)
        if story.state["method"] is None and campaign.method.state() is not None:
            campaign.method, _ = method_for(campaign.problem, campaign.settings)
    campaign.method.load(story.state["method"])


def state_of(campaign: Campaign) -> dict[str, Any]:
    """What a row of an ask keeps of the campaign beside its moves."""
    return {
        "generator": campaign.generator.bit_generator.state,
        **campaign.knowledge.state(),
        "method": plain(campaign.method.state()),
        "planned_with": campaign.method.planned_with(),
    }
