"""A problem in words: what it measures, and its places in the units of its coordinates."""

from __future__ import annotations

from collections.abc import Mapping

from tcbo_pyomo.foundation.wording import spaced, with_unit
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.protocol import ProblemProtocol


def output_title(problem: ProblemProtocol) -> str:
    """What is measured, in words."""
    return spaced(problem.output_title or problem.output)


def hides_states(problem: ProblemProtocol) -> bool:
    """Whether the black box depends on other things than all coordinates."""
    return problem.input_axes != problem.coordinates


def inputs_at(problem: ProblemProtocol, location: Location) -> dict[str, float]:
    """What the black box sees of a state or point, `{input: value}` in engineering units."""
    values = problem.describe(location)
    return {axis.name: values[axis.name] for axis in problem.input_axes}


def place(problem: ProblemProtocol, location: Location) -> list[tuple[str, str]]:
    """A state or point as (coordinate, value in its unit)."""
    return described(problem, problem.describe(location))


def described(problem: ProblemProtocol, point: Mapping[str, float]) -> list[tuple[str, str]]:
    """A place {coordinate: value} as (coordinate, value in its unit)."""
    return [(spaced(c.name), with_unit(point[c.name], c.unit)) for c in problem.coordinates if c.name in point]


def place_text(problem: ProblemProtocol, location: Location) -> str:
    """A state or point in one line."""
    return ", ".join(f"{name} {value}" for name, value in place(problem, location))


def place_values(problem: ProblemProtocol, location: Location) -> str:
    """A state or point by its values alone, `(8 min, 0.2)`, where a heading names the coordinates."""
    return described_values(problem, problem.describe(location))


def described_values(problem: ProblemProtocol, point: Mapping[str, float]) -> str:
    """A place {coordinate: value} by its values alone."""
    parts = described(problem, point)
    # Where some coordinates are hidden from the black box, a heading that names all of them would mislead.
    values = [value if len(parts) == len(problem.coordinates) else f"{name} {value}" for name, value in parts]
    # No line break inside a place.
    return f"({', '.join(values)})".replace(" ", "\u00a0")
