"""Results as users give them, and what is told back: units, places, surprises."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import coordinate_index
from tcbo_pyomo.foundation.csv_table import converted_values
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.knowledge.plausibility import Surprise, finite_value
from tcbo_pyomo.plant.measured_moments import checked_series, is_series
from tcbo_pyomo.plant.situation import Location

# No powers of powers: a unit is a few words, not a computation.
_UNIT = re.compile(r"(?!.*\d{3})(?!.*(\*\*|\^).*(\*\*|\^))[\w%°µ/*^. \-]{1,40}")
_QUANTITY = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(.*?)\s*")


@dataclass(frozen=True)
class Result:
    """A result to be told.

    Attributes
    ----------
    number
        The move; None for the outstanding one.
    value, unit
        The measurement; no unit means the unit of the problem's output.
    at
        Where the plant really was, `{coordinate: value}` (a number, or a text such as "5 min"); None for where it was
        sent.
    replicate
        A further measurement of a visit whose result was told.
    key
        Telling again under the same key changes nothing.
    confirm
        The result is right, however unlikely the model holds it for.
    time
        Since the move began, where it was measured on the way; None for its end.
    """

    number: int | None
    value: Any
    at: Any = None
    unit: str | None = None
    replicate: bool = False
    key: str | None = None
    confirm: bool = False
    time: float | None = None


def one_by_one(results: Sequence[Result]) -> list[Result]:
    """Results with every series taken apart: the first of its values is told, the others are further ones of that move."""
    found: list[Result] = []
    for result in results:
        if not is_series(result.value):
            found.append(result)
            continue
        if result.number is None:
            raise BadInput("a series needs the number of its move; say which one")
        for count, (time, value) in enumerate(checked_series(result.number, result.value)):
            key = result.key if count == 0 or result.key is None else f"{result.key} ({count + 1})"
            more, at = result.replicate or count > 0, result.at if count == 0 else None
            found.append(replace(result, value=value, time=time, key=key, replicate=more, at=at))
    return found


@dataclass(frozen=True)
class Receipt:
    """What was recorded.

    Attributes
    ----------
    number, value
        The move and its value, in the unit of the problem's output.
    new
        False when it had been recorded before and nothing was written.
    violations
        Declared limits that the move broke, in words.
    surprise
        What was expected, if the model finds the value unlikely; None otherwise.
    """

    number: int
    value: float | None
    new: bool
    violations: tuple[str, ...] = ()
    surprise: Surprise | None = None


def measured_value(campaign: Campaign, result: Result) -> float:
    """The value in the unit of the problem's output; anything that is not one finite number is refused."""
    where = "result" if result.number is None else f"move {result.number}"
    number = finite_value(where, result.value)
    return number if result.unit is None else in_unit(number, result.unit, campaign.problem.output_unit, where)


def in_unit(number: float, given: str, wanted: str, where: str) -> float:
    """A number in another unit; a unit that does not convert is refused."""
    if given.strip() == wanted:
        return number
    if not _UNIT.fullmatch(given.strip()):
        raise BadInput(f"{where}: {given!r} is not a unit; it must convert to '{wanted or 'a plain number'}'")
    converted = float(converted_values(np.array([number]), given.strip(), wanted, where)[0])
    if not math.isfinite(converted):
        raise BadInput(f"{where}: {number!r} {given} is no finite number in '{wanted}'")
    return converted


def place_of(campaign: Campaign, move: Move, at: Any) -> Location | None:
    """The state or point that a user means; one that cannot be told from where the plant was sent is that."""
    if at is None:
        return None
    problem = campaign.problem
    if isinstance(at, Mapping):
        at = {name: _coordinate_value(campaign, name, value) for name, value in at.items()}
    found, known = problem.arrival(at, move.expected, move.decision), (move.arrived, move.expected, move.origin)
    place = next((one for one in known if one is not None and problem.same_place(one, found)), found)
    if move.step == 0 and place != move.expected:
        raise BadInput(f"move {move.number} measures the start of every episode; leave out the place")
    return place


def quantity(text: str) -> tuple[float, str]:
    """The number and the unit of a text such as "35 %"; the unit is empty where there is none."""
    match = _QUANTITY.fullmatch(text)
    # A unit begins like one: "1 2" and "1/2" are no quantities.
    if match is None or not (match[2] == "" or match[2][0].isalpha() or match[2][0] in "%°"):
        return math.nan, ""
    try:
        return float(match[1]), match[2]
    except ValueError:
        return math.nan, ""


def _coordinate_value(campaign: Campaign, name: str, value: Any) -> Any:
    """A number in the coordinate's unit from a text with or without a unit; anything else as it is."""
    if not isinstance(value, str):
        return value
    coordinate = campaign.problem.coordinates[coordinate_index(campaign.problem.coordinates, name)]
    number, unit = quantity(value)
    if not math.isfinite(number):
        raise BadInput(f"{name}={value!r}: must be a finite number, with or without a unit")
    return in_unit(number, unit, coordinate.unit, f"coordinate '{name}'") if unit else number
