"""What a function of the user's returned: the numbers that were asked for, or one line that names the function's place."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Mask
from tcbo_pyomo.foundation.user_lines import defined_at


def real_numbers(answer: Any, shape: tuple[int, ...], what: str, function: Any) -> Array:
    """An answer as finite real numbers of a shape; `what` names it in messages, `function` gave it."""
    numbers = _array(answer)
    if numbers is None or numbers.dtype.kind not in "biuf":
        raise _wrong(what, f"{_kind(answer)}; it must return real numbers", function)
    if numbers.shape != shape:
        raise _wrong(what, f"an array of shape {numbers.shape}; it must have shape {shape}", function)
    values = numbers.astype(float)
    if not np.isfinite(values).all():
        raise _wrong(what, f"{values[~np.isfinite(values)][0]}; all its numbers must be finite", function)
    return values


def truths(answer: Any, number: int, what: str, function: Any) -> Mask:
    """An answer as so many yes or no."""
    values = _array(answer)
    if values is None or values.dtype.kind != "b" or values.shape != (number,):
        shape = "" if values is None else f" of shape {values.shape}"
        raise _wrong(what, f"{_kind(answer)}{shape}; it must return {number} times True or False", function)
    return values


def _array(answer: Any) -> Any:
    try:
        return np.asarray(answer)
    except Exception:  # Whatever its own conversion does.
        return None


def _kind(answer: Any) -> str:
    values = _array(answer)
    if values is not None and values.dtype.kind == "c":
        return "complex numbers"
    return f"a {type(answer).__name__}" if answer is not None else "nothing"


def _wrong(what: str, why: str, function: Any) -> BadInput:
    place = defined_at(function)
    return BadInput(f"{what} returned {why}{f' ({place})' if place else ''}")
