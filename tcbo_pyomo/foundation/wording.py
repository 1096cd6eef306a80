"""Words and numbers: values with their units and uncertainty, counted nouns, text without hidden characters."""

from __future__ import annotations

import unicodedata

import numpy as np

HIDDEN = ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp")
"""Unicode categories that a reader cannot see, or that change how the text around them is shown."""


def visible(text: str) -> str:
    """Text in which characters that could hide or turn something are written out, as in `\\u202e`."""
    return "".join(f"\\u{ord(c):04x}" if c not in "\n\t" and unicodedata.category(c) in HIDDEN else c for c in text)


def spaced(name: str) -> str:
    """A name as people write it."""
    return name.replace("_", " ")


def with_unit(value: float, unit: str) -> str:
    """`12.5 min`."""
    return f"{value:.4g} {unit}".rstrip()


def squared_unit(unit: str) -> str:
    """The unit of a variance, `K²`, `(mol/L)²`."""
    return "" if not unit else f"({unit})²" if set(unit) & set("/*^ ") else f"{unit}²"


def variance_text(variance: float, unit: str) -> str:
    """A variance with its standard deviation: `39.9 %² (sd 6.32 %)`."""
    deviation = with_unit(max(variance, 0.0) ** 0.5, unit)
    return f"{with_unit(variance, squared_unit(unit))} (sd {deviation})"


LONGEST_NUMBER = 1e9
"""From here on numbers are written with a power of ten."""


def uncertain(mean: float, deviation: float, unit: str) -> str:
    """`0.412 ± 0.013 mg/L`: one standard deviation, with as many digits as it justifies."""
    if not deviation > 0:
        return with_unit(mean, unit)
    if max(abs(mean), deviation) >= LONGEST_NUMBER:
        return f"{mean:.4g} ± {deviation:.2g} {unit}".rstrip()
    digits = int(np.clip(1 - np.floor(np.log10(deviation)), 0, 9))
    # z: no sign before a zero.
    return f"{mean:z.{digits}f} ± {deviation:.{digits}f} {unit}".rstrip()


def counted(number: int, noun: str) -> str:
    """`1 move`, `2 moves`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
