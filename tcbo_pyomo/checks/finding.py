"""What a check of a problem found: one line of the table that `tcbo check` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

SHOWN = 3
"""How many states a message names before it stops."""


@dataclass(frozen=True)
class Finding:
    """One answer of a check.

    Attributes
    ----------
    level
        "ok"; "warning" where the problem can be run but is perhaps not what was meant; "error" where it cannot be run.
    subject
        What was looked at.
    message
        What was found, in one sentence.
    """

    level: Literal["ok", "warning", "error"]
    subject: str
    message: str


def some_of(labels: Sequence[str]) -> str:
    """The first few of many labels, for messages."""
    shown = ", ".join(f"'{label}'" for label in labels[:SHOWN])
    return shown if len(labels) <= SHOWN else f"{shown} and {len(labels) - SHOWN} more"
