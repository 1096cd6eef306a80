"""Docstrings are plain text with names in backticks; what reStructuredText would read as markup is escaped."""

from __future__ import annotations

import re
from typing import Any

CODE = re.compile(r"(`+[^`]+`+)")


def escape_markup(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape bars and stars outside of backticks, and end a name in backticks before the letters that follow it."""
    text = "\n".join(lines)
    parts = CODE.split(text)
    for index, part in enumerate(parts):
        if index % 2 == 0:
            parts[index] = re.sub(r"([*|])", r"\\\1", part)
            if index and part[:1].isalnum():
                parts[index] = "\\ " + parts[index]
    lines[:] = "".join(parts).split("\n")
