"""Words and numbers of the report: places in units, values with their uncertainty, text without hidden characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

import numpy as np

from tcbo_pyomo.plant.situation import Location

HIDDEN = ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp")
"""Unicode categories that a reader cannot see, or that change how the text around them is shown."""


def visible(text: str) -> str:
    """Text in which characters that could hide or turn something are written out, as in `\\u202e`."""
    return "".join(f"\\u{ord(c):04x}" if c not in "\n\t" and unicodedata.category(c) in HIDDEN else c for c in text)


def spaced(name: str) -> str:
    """A name as people write it."""
    return name.replace("_", " ")


def output_title(problem: Any) -> str:
    """What is measured, in words."""
    return spaced(problem.output_title or problem.output)


def with_unit(value: float, unit: str) -> str:
    """`12.5 min`."""
    return f"{value:.4g} {unit}".rstrip()


def place(problem: Any, location: Location) -> list[tuple[str, str]]:
    """A state or point as (coordinate, value in its unit)."""
    return described(problem, problem.describe(location))


def described(problem: Any, point: Mapping[str, float]) -> list[tuple[str, str]]:
    """A place {coordinate: value} as (coordinate, value in its unit)."""
    return [(spaced(c.name), with_unit(point[c.name], c.unit)) for c in problem.coordinates]


def place_text(problem: Any, location: Location) -> str:
    """A state or point in one line."""
    return ", ".join(f"{name} {value}" for name, value in place(problem, location))


def place_values(problem: Any, location: Location) -> str:
    """A state or point by its values alone, `(8 min, 0.2)`, where a heading names the coordinates."""
    return described_values(problem, problem.describe(location))


def described_values(problem: Any, point: Mapping[str, float]) -> str:
    """A place {coordinate: value} by its values alone."""
    # No line break inside a place.
    return f"({', '.join(value for _, value in described(problem, point))})".replace(" ", "\u00a0")


def mean_and_deviation(problem: Any, belief: Any, location: Location) -> tuple[float, float]:
    """Posterior mean and standard deviation of the black box at one place."""
    if problem.finite:
        return float(belief.mean[location]), float(np.linalg.norm(belief.factor[location]))
    point = np.asarray(location, dtype=float)[None, :]
    return float(belief.mean(point)[0]), float(belief.standard_deviation(point)[0])


def uncertain(mean: float, deviation: float, unit: str) -> str:
    """`0.412 ± 0.013 mg/L`: one standard deviation, with as many digits as it justifies."""
    if not deviation > 0:
        return with_unit(mean, unit)
    digits = int(np.clip(1 - np.floor(np.log10(deviation)), 0, 9))
    return f"{mean:.{digits}f} ± {deviation:.{digits}f} {unit}".rstrip()


def counted(number: int, noun: str) -> str:
    """`1 move`, `2 moves`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
