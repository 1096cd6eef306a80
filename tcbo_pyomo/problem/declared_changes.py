"""What differs between two declarations of a problem, in words: the two columns that `tcbo amend` shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.foundation.packed_arrays import unpacked
from tcbo_pyomo.models.step_equations import same_equations
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.plain_prior import PlainPrior

NONE = "none"
PLAIN = {
    "name": "name",
    "horizon": "horizon (moves per episode)",
    "episodes": "episodes",
    "output": "output",
    "output_unit": "unit of the output",
}
"""Fields that are shown as they are; titles and descriptions decide nothing."""


@dataclass(frozen=True)
class Change:
    """One thing that differs.

    Attributes
    ----------
    what
        What it is.
    before, after
        As it was recorded, and as it is now.
    """

    what: str
    before: str
    after: str

    def in_words(self) -> str:
        """Half a sentence."""
        return f"{self.what} was {self.before}, is {self.after}"


def declared_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Every difference that decides about moves or judgements."""
    found = [Change(words, str(old[name]), str(new[name])) for name, words in PLAIN.items() if old[name] != new[name]]
    found += _axes(old["coordinates"], new["coordinates"])
    if old["plant"]["kind"] != new["plant"]["kind"]:
        return [*found, Change("plant", old["plant"]["kind"], new["plant"]["kind"])]
    goals = [data.get("goal", MAXIMISE.data) for data in (old, new)]
    if goals[0] != goals[1]:
        found.append(Change("goal", *map(_goal, goals)))
    if old["start"] != new["start"]:
        found.append(Change("start", _place(old), _place(new)))
    if old["kernel"] != new["kernel"] and not (_from_answers(old) and _from_answers(new)):
        found.append(Change("prior", kernel_words(old["kernel"]), kernel_words(new["kernel"])))
    if old.get("prior") != new.get("prior"):
        found.append(Change("answers about the output", *(answers_in_words(data.get("prior")) for data in (old, new))))
    return [*found, *_plant(old["plant"], new["plant"]), *_rules(old["plant"]["rules"], new["plant"]["rules"])]


def kernel_words(kernel: Mapping[str, Any]) -> str:
    """A kernel in one line, `squared_exponential(variance 1, lengthscale 0.3)`."""
    fields = ", ".join(f"{name} {_value(value)}" for name, value in kernel.items() if name != "name")
    return f"{kernel['name']}({fields})"


def _goal(goal: Any) -> str:
    return goal if isinstance(goal, str) else f"target {goal['target']:.6g}"


def answers_in_words(prior: Mapping[str, Any] | None) -> str:
    """Plain answers about the output, `0 to 100, measurement sd 1, changes within temperature 20`."""
    if prior is None:
        return NONE
    low, high = prior["range"]
    sd = "unknown" if prior["measurement_sd"] is None else _value(float(prior["measurement_sd"]))
    within = ", ".join(f"{name} {_value(float(distance))}" for name, distance in prior["changes_within"].items())
    texts = [f"{low:.6g} to {high:.6g}", f"measurement sd {sd}", f"changes within {within}" if within else ""]
    return ", ".join(filter(None, [*texts, "positive" if prior["positive"] else ""]))


def _from_answers(data: Mapping[str, Any]) -> bool:
    """Whether the kernel follows from plain answers, so that these say all about it."""
    if data.get("prior") is None or "inputs" in data["plant"]:
        return False
    axes = [Coordinate(*axis) for axis in data["coordinates"]]
    return PlainPrior(**data["prior"]).kernel(axes).to_dict() == data["kernel"]


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return kernel_words(value)
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(_value, value))})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _axes(old: Sequence[Any], new: Sequence[Any]) -> Iterator[Change]:
    def words(axis: Any) -> str:
        return f"{axis[1]:.6g} to {axis[2]:.6g} {axis[3]}".rstrip()

    before, after = ({axis[0]: axis for axis in axes} for axes in (old, new))
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name), after.get(name)
        if one != other:
            yield Change(f"coordinate {name}", *(NONE if axis is None else words(axis) for axis in (one, other)))
    if list(before) != list(after) and set(before) == set(after):
        yield Change("order of the coordinates", ", ".join(before), ", ".join(after))


def _place(data: Mapping[str, Any]) -> str:
    start = data["start"]
    if isinstance(start, list):
        axes = zip(data["coordinates"], start, strict=True)
        return ", ".join(f"{name} {low + (at + 0.5) * (high - low):.6g}" for (name, low, high, _), at in axes)
    point = unpacked(data["plant"]["process"]["states"])[start]
    return ", ".join(f"{axis[0]} {value:.6g}" for axis, value in zip(data["coordinates"], point, strict=True))


def _plant(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    if old["kind"] == "finite":
        yield from _process(old["process"], new["process"])
        names = {"confidence_width": "width of the credible band (sd)"}
    else:
        yield from _dynamics(old["dynamics"], new["dynamics"])
        names = {"noise": "noise variance", "measure_start": "start is measured"}
    if old.get("inputs") != new.get("inputs"):
        yield Change("what the output depends on", *(_inputs(plant) for plant in (old, new)))
    if old.get("measured_at") != new.get("measured_at"):
        yield Change("moments at which a move is measured", *(_value(p.get("measured_at", [1.0])) for p in (old, new)))
    if old.get("passed") != new.get("passed"):
        yield Change("states measured on the way", *(_passed(plant) for plant in (old, new)))
    for name, words in names.items():
        if old[name] != new[name]:
            yield Change(words, _value(old[name]), _value(new[name]))


def _inputs(plant: Mapping[str, Any]) -> str:
    return "every coordinate" if plant.get("inputs") is None else ", ".join(plant["inputs"])


def _passed(plant: Mapping[str, Any]) -> str:
    if "passed" not in plant:
        return NONE
    states, moves = (plant["passed"][name]["shape"][0] for name in ("states", "pairs"))
    return f"{states} by {moves} moves"


def _process(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    def noise(data: Mapping[str, Any]) -> str:
        values = unpacked(data["noise_variance"])
        low, high = values.min(), values.max()
        return f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"

    def size(data: Mapping[str, Any], name: str, word: str) -> str:
        return f"{data[name]['shape'][0]} {word}"

    moves = ("pair_state", "pair_action", "first", "arrives", "probability", "actions")
    for what, fields, words in (
        ("states", ("states", "labels"), lambda data: size(data, "states", "states")),
        ("moves of the plant", moves, lambda data: size(data, "arrives", "transitions")),
        ("noise variance", ("noise_variance",), noise),
    ):
        if any(old[name] != new[name] for name in fields):
            before, after = words(old), words(new)
            if words is noise and before == after and " to " not in after:
                continue  # One noise everywhere, for another number of moves.
            yield Change(what, before, after if after != before else f"{after}, others")


def _dynamics(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    def actions(data: Mapping[str, Any]) -> str:
        if data["kind"] == "norm":
            return f"length at most {data['maximum']:.6g}"
        limits = zip(data["names"], data["lower"], data["upper"], strict=True)
        return ", ".join(f"{name} {low:.6g} to {high:.6g}" for name, low, high in limits)

    def motion(data: Mapping[str, Any]) -> str:
        if data["kind"] == "code":
            return f"function {data['name']}"
        same = all(np.array_equal(data[name], np.eye(len(data[name]))) for name in ("state", "input"))
        return "moves at will" if same else f"A {data['state']}, B {data['input']}"

    if old["actions"] != new["actions"]:
        yield Change("limits of the actions", actions(old["actions"]), actions(new["actions"]))
    fields = ("kind", "name", "free", "state", "input", "arithmetic")
    # Files of earlier versions do not hold the equations of a model.
    other_step = old.get("step") is not None and not same_equations(old["step"], new.get("step"))
    if other_step or any(old.get(name) != new.get(name) for name in fields):
        before, after = motion(old), motion(new)
        yield Change("dynamics", before, after if after != before else f"{after}, with other numbers")


def _rules(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> Iterator[Change]:
    """Rules with the same name are held against each other in their order."""
    before, after = _by_name(old), _by_name(new)
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name), after.get(name)
        if one == other:
            continue
        texts = [NONE if rule is None else _rule_words(rule) for rule in (one, other)]
        if texts[0] == texts[1]:
            texts[1] += ", with other moves or coefficients"
        yield Change(f"rule {name.partition('#')[0]}", texts[0], texts[1])


def _by_name(rules: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for rule in rules:
        number = sum(key.partition("#")[0] == rule["name"] for key in found)
        found[f"{rule['name']}#{number}"] = rule
    return found


def _rule_words(rule: Mapping[str, Any]) -> str:
    """Its limit in words; where that is the name only, its numbers."""
    if rule["words"] != rule["name"] or not rule["numbers"]:
        return str(rule["words"])
    return ", ".join(f"{name} {_value(value)}" for name, value in rule["numbers"].items())
