"""Write the prose of the project into a folder, file by file and line by line, for a linter of prose.

Of a page everything but its code, formulas, tables, headings and links; of a Python file its texts and docstrings. Lines keep
their numbers. Usage: python .ci/prose_only.py FOLDER FILE...
"""

from __future__ import annotations

import ast
import re
import sys
from itertools import count
from pathlib import Path

BLOCK = re.compile(r"^ *```.*?^ *```|^\$\$.*?^\$\$|^ *[|#(:].*?$", re.DOTALL | re.MULTILINE)
"""Fenced blocks and displayed formulas; cells and headings, which repeat words on purpose."""
SYMBOL = re.compile(r"`[^`]*`|\$[^$\n]+\$|<[^>]*>|\]\([^)]*\)|\S*[\d_^=*/{}]\S*|\b[b-zB-HJ-Z]\b|\b(?:Phi|grad)\b")
"""Code, formulas, tags and links within a line: each becomes a word of its own, so that none of them looks repeated."""


def prose(text: str) -> str:
    """A text with as many lines, without what is not prose."""
    number = count()
    text = BLOCK.sub(lambda found: "\n" * found.group().count("\n"), text)
    return SYMBOL.sub(lambda found: f"symbol{next(number)}s" + "\n" * found.group().count("\n"), text)


def of_python(text: str) -> str:
    """The texts of more than one word in a Python file, on the lines where they begin."""
    lines = [""] * (text.count("\n") + 2)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            for offset, line in enumerate(prose(node.value).split("\n")[: len(lines) - node.lineno + 1]):
                lines[node.lineno - 1 + offset] += f"{line}; "
    return "\n".join(lines)


def main(folder: str, *files: str) -> None:
    """Write them all."""
    for name in files:
        text, target = Path(name).read_text(encoding="utf-8"), Path(folder, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(of_python(text) if target.suffix == ".py" else prose(text), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
