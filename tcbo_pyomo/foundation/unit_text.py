"""Units as users type them; what would keep a parser of arithmetic busy forever, such as m**9**9**9, is refused before."""

from __future__ import annotations

import re

from tcbo_pyomo.errors import BadInput

LONGEST = 60
MOST_POWERS = 4
_POWER = re.compile(r"\*\*|\^")
_EXPONENT = re.compile(r"\s*\(?\s*[-+]?\d{1,2}(\.\d{1,6})?(/\d{1,2})?\s*\)?\s*(?!\s*(?:\*\*|\^|\d|\.))")


def readable_unit(text: str, where: str) -> str:
    """The unit itself, if it is short and its powers are small numbers; `where` names it in messages."""
    if len(text) > LONGEST:
        raise BadInput(f"{where}: unit {text[:20] + '...'!r} has {len(text)} characters; at most {LONGEST} are read")
    powers = list(_POWER.finditer(text))
    small = all(_EXPONENT.match(text, power.end()) for power in powers)
    if len(powers) > MOST_POWERS or not small:
        raise BadInput(f"{where}: unit '{text}' has a power that is not a small number; write m**2 or m/s")
    return text
