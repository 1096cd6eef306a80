"""What every problem is given and how it is checked and shown, written once for both kinds of plant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.coordinates import Coordinate, physical
from tcbo_pyomo.models.constraints.from_function import FromFunction
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.protocol import ProblemProtocol


def check_given(problem: ProblemProtocol) -> None:
    """Refuse a budget that is no whole number, and an output that has the name of another column of the tables."""
    for text, number in (("horizon", problem.horizon), ("episodes", problem.episodes)):
        if not isinstance(number, (int, np.integer)) or isinstance(number, bool) or number < 1:
            raise BadInput(f"problem '{problem.name}': {text} {number!r} must be a whole number of at least 1")
    taken = ["episode", "step", *(c.name for c in problem.coordinates)]
    if not problem.output or problem.output in taken:
        raise BadInput(
            f"problem '{problem.name}': output {problem.output!r} must be a name other than {', '.join(taken)}"
        )


def start_of(problem: ProblemProtocol, start: Any) -> Location:
    """Where every episode starts, from what the user gave."""
    try:
        return problem.locate(start)
    except BadInput as error:
        raise BadInput(f"problem '{problem.name}': start: {error}") from None


def as_rules(constraints: Sequence[TransitionConstraint | Callable[[Any], None]]) -> tuple[TransitionConstraint, ...]:
    """The constraints, plain functions wrapped."""
    return tuple(c if isinstance(c, TransitionConstraint) else FromFunction(c) for c in constraints)


def place_words(problem: ProblemProtocol, location: Location) -> str:
    """A place in engineering units, `residence_time = 5 min, ratio = 0.2`."""
    values = problem.describe(location)
    return ", ".join(f"{c.name} = {values[c.name]:.6g} {c.unit}".rstrip() for c in problem.coordinates)


def problem_words(problem: ProblemProtocol) -> str:
    """A problem in one line."""
    facts = dict(_facts(problem))
    return f"{type(problem).__name__}({problem.name}: " + "; ".join(f"{k} {v}" for k, v in facts.items()) + ")"


def problem_table(problem: ProblemProtocol) -> str:
    """A problem as an HTML table, for notebooks."""
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in _facts(problem))
    about = f"<p>{escape(problem.description)}</p>" if problem.description else ""
    return f"<b>{escape(problem.name)}</b>{about}<table>{rows}</table>"


def _facts(problem: ProblemProtocol) -> list[tuple[str, str]]:
    """What a user wants to see of a problem, in words."""
    rules = ", ".join(rule.name for rule in problem.rules) or "none"
    return [
        ("size", problem.size),
        ("coordinates", ", ".join(map(_range, problem.coordinates))),
        ("start", place_words(problem, problem.start_state)),
        ("budget", f"{problem.episodes} x {problem.horizon} moves"),
        ("rules", rules),
        ("measures", f"{problem.output} {problem.output_unit}".rstrip()),
    ]


def _range(coordinate: Coordinate) -> str:
    return f"{coordinate.name} {coordinate.lower:g} to {coordinate.upper:g} {coordinate.unit}".rstrip()


def allowed_by(rules: Sequence[TransitionConstraint], coordinates: Sequence[Coordinate], points: Array) -> Mask:
    """Which scaled points (n x d) every rule allows the plant to be in."""
    values = physical(coordinates, points)
    ok = np.ones(len(points), dtype=bool)
    for rule in rules:
        mask = rule.allowed_points(coordinates, values)
        if mask is not None:
            ok &= mask
    return ok
