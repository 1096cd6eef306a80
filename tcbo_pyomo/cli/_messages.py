"""Error messages as one readable line, whatever a user typed and the message repeats."""

from __future__ import annotations

LONGEST_WORD = 300
"""Characters; paths are shorter."""
LONGEST_LINE = 1500


def in_one_line(message: str) -> str:
    """A message without line breaks, control characters, and the middle of words and lines that nobody would read."""
    shown = "".join(character if character.isprintable() else " " for character in message)
    words = [_cut(word, LONGEST_WORD) for word in shown.split()]
    return _cut(" ".join(words), LONGEST_LINE)


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}...({len(text) - 2 * half} more)...{text[-half:]}"
