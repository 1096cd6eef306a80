"""The code blocks of a page, run one after the other as a reader would: one folder and one Python session per page.

    ```python            is executed; a following ```output block is what it prints
    ```bash              is executed by bash, in the same folder
    ```console           lines that begin with "$ " are executed, the other lines are what they print
    ```{code-block} yaml with `:caption: study.yaml` is written to that file; so is any other block with a caption

An HTML comment `<!-- not run: reason -->` before a block keeps it from being run. A line `...` in an output stands for any
number of lines, and numbers may differ by rounding. Other languages (text, mermaid, bibtex) are not run.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^(?P<ticks>`{3,})(?:\{(?P<directive>[a-z-]+)\} *)?(?P<language>.*?) *$")
CAPTION = re.compile(r"^:caption: (?P<file>\S+) *$")
REASON = re.compile(r"<!-- not run: (?P<reason>.+?) -->")
RUN = ("python", "bash", "console", "yaml")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
TOLERANCE = 0.02
SECONDS = 300
"""No block may take longer."""


@dataclass
class Block:
    """One fenced block: its language, its text, the line where the text begins, and what goes with it."""

    language: str
    text: str
    line: int
    caption: str = ""
    skipped: str = ""


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    lines, found, reason, index = page.read_text(encoding="utf-8").split("\n"), [], "", 0
    while index < len(lines):
        skipped = REASON.search(lines[index])
        reason = skipped["reason"] if skipped else reason
        fence = FENCE.match(lines[index])
        if fence:
            end = lines.index(fence["ticks"], index + 1)
            options = [line for line in lines[index + 1 : end] if line.startswith(":")] if "{" in lines[index] else []
            body = lines[index + 1 + len(options) : end]
            captions = [match["file"] for option in options if (match := CAPTION.match(option))]
            begin = index + 1 + len(options)
            if fence["directive"] in (None, "code-block"):  # A toctree or an include is no code.
                found.append(Block(fence["language"], "\n".join(body), begin, "".join(captions), reason))
            reason, index = "", end
        index += 1
    return found


class Session:
    """A folder and a Python namespace in which the blocks of one page are run."""

    def __init__(self, folder: Path, page: Path) -> None:
        self.folder, self.page, self.space, self.printed = folder, page, {"__name__": "__main__"}, ""

    def run(self, block: Block) -> str:
        """Run one block that is not skipped, and return what it should have been as an output, or ''."""
        if block.caption:
            target = self.folder / block.caption
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text.strip("\n") + "\n", encoding="utf-8")
        elif block.language == "python":
            self.printed = self._python(block)
        elif block.language == "bash":
            self.printed = self._bash(block.text)
        elif block.language == "console":
            return "\n".join(f"$ {command}\n{self._bash(command)}".rstrip() for command, _ in commands_of(block.text))
        elif block.language == "output":
            return self.printed.rstrip()
        return ""

    def _python(self, block: Block) -> str:
        printed = io.StringIO()
        code: Any = compile("\n" * block.line + block.text, str(self.page), "exec")
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed):
            exec(code, self.space)
        return printed.getvalue()

    def _bash(self, command: str) -> str:
        tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": tools, "MPLBACKEND": "Agg", "COLUMNS": "110", "NO_COLOR": "1"}
        bash = ["bash", "-euo", "pipefail", "-c", command]
        kept: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
        done = subprocess.run(bash, cwd=self.folder, env=environment, text=True, timeout=SECONDS, **kept)
        if done.returncode != 0:
            raise AssertionError(f"exit code {done.returncode} of: {command}\n{done.stdout}")
        return "\n".join(line.rstrip() for line in done.stdout.split("\n"))


def commands_of(session: str) -> Iterator[tuple[str, str]]:
    """Each command of a terminal session, with what it prints; a trailing backslash goes on in the next line."""
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        length = next(number for number, line in enumerate(lines, 1) if not line.endswith("\\"))
        yield "\n".join(lines[:length]), "\n".join(lines[length:]).rstrip()


TIE = re.compile(r"residence_time = (28|32|36|40) min, ratio = 0\.5;")
"""Knorr's mechanism has ended by then: after the first results these places are equal to rounding, and which of them is the
best depends on the processor."""


def same_output(expected: str, printed: str) -> bool:
    """Equal up to the rounding of numbers, the width of columns, ties, and what a line `...` stands for."""
    expected, printed = (TIE.sub("residence_time = 36 min, ratio = 0.5;", text) for text in (expected, printed))
    pieces = [piece.split("\n") if piece else [] for piece in re.split(r"^\.\.\.\n?", expected.strip("\n"), flags=re.M)]
    pieces = [[line for line in piece if line.strip()] for piece in pieces]
    lines = [line for line in printed.split("\n") if line.strip()]
    at = 0
    for number, piece in enumerate(pieces):
        last = number == len(pieces) - 1
        places = [at] if number == 0 else [len(lines) - len(piece)] if last else range(at, len(lines) - len(piece) + 1)
        match = next((place for place in places if _same_lines(piece, lines[place : place + len(piece)])), None)
        if match is None or match < at:
            return False
        at = match + len(piece)
    return at == len(lines)


def _same_lines(expected: list[str], printed: list[str]) -> bool:
    return len(expected) == len(printed) and all(map(_same_line, expected, printed))


def _same_line(expected: str, printed: str) -> bool:
    if expected.strip().split() == printed.strip().split():
        return True
    words = [re.sub(r"[\s━─]+", " ", NUMBER.sub("#", line)).strip() for line in (expected, printed)]
    numbers = [[float(text) for text in NUMBER.findall(line)] for line in (expected, printed)]
    return words[0] == words[1] and all(
        abs(left - right) <= TOLERANCE * max(abs(left), abs(right)) + 1e-6
        for left, right in zip(*numbers, strict=True)
    )
