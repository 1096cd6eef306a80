"""Amending a running campaign: another definition holds from now on, and all data stay.

Moves that were made keep the definition they were asked under. Where the plant has other states, moves or bounds now, the
places of all moves are written down again in its terms; where episodes have another number of moves, those that ended keep
theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import Coordinate, physical, scaled
from tcbo_pyomo.foundation.packed_arrays import unpacked
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.knowledge.move import Move
from tcbo_pyomo.knowledge.past_results import Past
from tcbo_pyomo.plant.process_data import stored_process
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.declared_changes import Change, declared_changes
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.records.built_problem import build, source_changes
from tcbo_pyomo.records.definition import Definition
from tcbo_pyomo.records.problem_code import ProblemCode
from tcbo_pyomo.records.problem_source import found_source, problem_fingerprint
from tcbo_pyomo.records.rebuild import data_of
from tcbo_pyomo.records.recorded_campaign import believed_as_is
from tcbo_pyomo.settings import Settings, stored_settings

SAME_STATE = 1e-6
"""Distance that still counts as the same state, as a share of each axis."""
MOVES_OF_PROCESS = ("labels", "actions", "states", "pair_state", "pair_action")


@dataclass(frozen=True)
class Draft:
    """An amendment that is not recorded yet.

    Attributes
    ----------
    changes
        What differs.
    campaign
        The campaign as it would be defined, before its first move.
    facts
        What its row says, whatever the moves are.
    """

    changes: list[Change]
    campaign: Campaign
    facts: dict[str, Any]

    def body(self, history: History, before: Definition) -> dict[str, Any]:
        """The row, given the moves so far."""
        assert before.declared is not None
        lengths = amended_lengths(history, self.campaign.problem.horizon)
        moves = amended_moves(history.moves, before.declared, self.facts["declared"])
        refuse_lost_inputs(history.past, self.campaign.problem)
        anew = bool(moves) or self.campaign.problem.horizon != history.horizon
        return {**self.facts, "lengths": lengths, "anew": anew, **({"moves": moves} if moves else {})}


def drafted(code: ProblemCode, before: Definition, settings: Settings | Mapping[str, Any] | None) -> Draft:
    """The amendment to what the code builds now, with the settings given; refused where nothing differs."""
    if before.declared is None:
        raise BadInput(
            f"{code.path}: an earlier version wrote it without its limits; record something first (ask or tell), then "
            "amend it"
        )
    code.check_trust(before)
    present = dict(before.settings)
    wanted = settings if isinstance(settings, Settings) else stored_settings(present, dict(settings or {}))
    source = found_source(code.path, dict(before.origin)) if code.given is None else code.given
    built = build(code.path, source, wanted, before.seed)
    campaign = Campaign(built.problem, wanted, before.seed)
    declared, after = built.facts["declared"], wanted.model_dump(mode="json")
    changes = [
        *declared_changes(before.declared, declared),
        *settings_changes(stored_settings(present).model_dump(mode="json"), after),
        *source_changes(before.sources or {}, built.facts["sources"]),
    ]
    if not changes:
        raise BadInput(
            f"{code.path}: nothing has changed; change the problem or name a setting first"
        )
    facts = {
        **built.facts,
        "settings": after,
        "believed": believed_as_is(campaign),
        "fingerprint": problem_fingerprint(campaign.problem),
        "changes": [change.in_words() for change in changes],
        "method": None,
        "planned_with": campaign.method.planned_with(),
    }
    if before.declared["kernel"] != declared["kernel"]:
        facts |= {"kernel": declared["kernel"], "learned": None}
    return Draft(changes, campaign, facts)


def refuse_lost_inputs(past: Past, problem: ProblemProtocol) -> None:
    """Past experiments say what the inputs of the black box were; one that they do not know cannot be asked of them."""
    for batch in past.batches:
        unknown = [axis.name for axis in problem.input_axes if axis.name not in batch.names]
        if unknown:
            raise BadInput(
                f"data {batch.number} ({batch.source}) do not say what '{unknown[0]}' was, which the black box depends on now; "
                f"remove them first (`tcbo data ... remove {batch.number}`)"
            )


def settings_changes(before: Mapping[str, Any], after: Mapping[str, Any], name: str = "") -> Iterator[Change]:
    """Every setting that differs, by its full name."""
    for key in dict.fromkeys([*before, *after]):
        old, new, full = before.get(key), after.get(key), f"{name}{key}"
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from settings_changes(old, new, f"{full}.")
        elif old != new:
            yield Change(f"setting {full}", str(old), str(new))


def amended_lengths(history: History, horizon: int) -> dict[str, int]:
    """Moves of those episodes that have other than the new horizon: those that ended keep theirs.

    The episode under way goes on to the new horizon; where it has made as many moves already, it ends with them.
    """
    if horizon != history.horizon:
        _refuse_outstanding(history, horizon)
    made = {move.episode: move.step for move in history.made}
    lengths = {}
    for episode, steps in made.items():
        length = history.length(episode) if episode < history.episode else max(steps, horizon)
        if length != horizon:
            lengths[str(episode)] = length
    return lengths


def _refuse_outstanding(history: History, horizon: int) -> None:
    """A schedule was made for an episode of the old length, and so was a move beyond the new one."""
    ahead = history.assumed
    if history.open_move is not None and history.open_move.step > horizon:
        ahead = [history.open_move]
    if ahead:
        numbers = ", ".join(str(move.number) for move in ahead[:10])
        raise BadInput(
            f"another horizon ({horizon} instead of {history.horizon} moves) conflicts with outstanding moves ({numbers}); "
            "report or `skip` them first"
        )


def amended_moves(moves: Sequence[Move], old: Mapping[str, Any], new: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The places of all moves in terms of the new plant, as rows hold moves; nothing where its terms are the same."""
    if [axis[0] for axis in old["coordinates"]] != [axis[0] for axis in new["coordinates"]]:
        raise BadInput(
            "other coordinates need a new campaign; `amend` changes limits, bounds, prior, noise, horizon, episodes and "
            "settings"
        )
    if old["plant"]["kind"] != new["plant"]["kind"]:
        raise BadInput(f"the plant was {old['plant']['kind']} and is {new['plant']['kind']}: start a new campaign")
    if old["plant"]["kind"] == "continuous":
        same = old["coordinates"] == new["coordinates"]
        return [] if same else _rescaled(moves, *(_axes(data) for data in (old, new)))
    before, after = old["plant"]["process"], new["plant"]["process"]
    same = old["coordinates"] == new["coordinates"] and all(before[name] == after[name] for name in MOVES_OF_PROCESS)
    return [] if same else _renumbered(moves, old, new)


def _axes(data: Mapping[str, Any]) -> tuple[Coordinate, ...]:
    return tuple(Coordinate(*axis) for axis in data["coordinates"])


def _rescaled(moves: Sequence[Move], old: Sequence[Coordinate], new: Sequence[Coordinate]) -> list[dict[str, Any]]:
    def place(point: Location) -> Any:
        return None if point is None else scaled(new, physical(old, np.asarray(point))).tolist()

    return [_at(move, place) for move in moves]


def _renumbered(moves: Sequence[Move], old: Mapping[str, Any], new: Mapping[str, Any]) -> list[dict[str, Any]]:
    """States by their points, and pairs by their state and the name of their action."""
    before, after = (stored_process(data["plant"]["process"], _axes(data)) for data in (old, new))
    points = unpacked(old["plant"]["process"]["states"])
    widths = np.array([axis.width for axis in _axes(new)])
    state_of: dict[int, int | None] = {}

    def state(index: Location) -> int | None:
        if index is None:
            return None
        if index not in state_of:
            distance = (np.abs(after.states - points[index]) / widths).max(axis=1)
            nearest = int(distance.argmin())
            state_of[index] = nearest if distance[nearest] <= SAME_STATE else None
        return state_of[index]

    actions = {name: number for number, name in enumerate(after.actions)}

    def pair(decision: Any, origin: int | None, arrived: int | None) -> int | None:
        if decision is None or origin is None:
            return None
        pairs = np.arange(*after.pair_offsets[origin : origin + 2])
        wanted = actions.get(before.actions[before.pair_action[decision]])
        named = pairs[after.pair_action[pairs] == wanted]
        leading = [p for p in pairs.tolist() if arrived is not None and arrived in after.successors_of(p)]
        return int(named[0]) if len(named) else leading[0] if leading else int(pairs[0])

    found = []
    for move in moves:
        data = _at(move, state)
        visited = [] if move.cancelled else [move.origin, move.arrived, move.expected]
        lost = [index for index in visited if index is not None and state(index) is None]
        if lost:
            label = before.labels[lost[0]]
            raise BadInput(f"move {move.number} was at '{label}', which the new problem does not have; keep that state")
        data["origin"] = 0 if data["origin"] is None else data["origin"]
        data["decision"] = pair(move.decision, data["origin"], data["arrived"])
        found.append(data)
    return found


def _at(move: Move, place: Any) -> dict[str, Any]:
    return {**data_of(move), **{name: place(getattr(move, name)) for name in ("origin", "expected", "arrived")}}
