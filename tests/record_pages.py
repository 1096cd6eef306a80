"""Write what the blocks of pages print now into the pages: python tests/record_pages.py docs/get_started.md ...

Outputs that still hold are left as they are, so that a line `...` stays. Read the difference before you commit it.
"""

import os
import sys
import tempfile
from pathlib import Path

from page_blocks import Block, Session, blocks_of, commands_of, same_output


def recorded(page: Path) -> str:
    """The page, with the outputs of its blocks as they are now."""
    lines = page.read_text(encoding="utf-8").split("\n")
    changes: list[tuple[Block, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder), page.resolve())
        for block in blocks_of(page):
            printed = "" if block.skipped else session.run(block)
            told = block.text
            if block.language == "console":
                told = "\n".join(f"$ {command}\n{output}" for command, output in commands_of(block.text))
            if block.language in ("console", "output") and not block.skipped and not same_output(told, printed):
                changes.append((block, printed))
    for block, printed in reversed(changes):
        end = block.line + len(block.text.split("\n")) if block.text or lines[block.line] == "" else block.line
        lines[block.line : end] = printed.split("\n")
    return "\n".join(lines)


if __name__ == "__main__":
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp()
    for name in sys.argv[1:]:
        Path(name).write_text(recorded(Path(name)), encoding="utf-8")
