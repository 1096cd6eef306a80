"""Every code block of the README and of the site runs, and prints what the page says."""

from pathlib import Path

import pytest
from page_blocks import RUN, Session, blocks_of, commands_of, same_output

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Written at the build: references, and the READMEs of studies that take hours.
WRITTEN = {"examples.md", "generated", "_build", *(f"{folder.name}.md" for folder in (ROOT / "examples").iterdir())}
PAGES = [page for page in PAGES if not WRITTEN & set(page.relative_to(ROOT).parts)]
KNOWN = {*RUN, "output", "text", "mermaid", "bibtex", ""}
MOST_SKIPPED = 12
"""Blocks of the whole site that no test can run: a cluster, a laboratory, the network."""


def name_of(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if any(b.language in RUN for b in blocks_of(page))], ids=name_of)
def test_the_blocks_of_a_page_run_and_print_what_it_says(page, tmp_path):
    session = Session(tmp_path, page)
    for block in blocks_of(page):
        if block.skipped:
            continue
        printed = session.run(block)
        if block.language in ("console", "output"):
            told = block.text if block.language == "output" else "\n".join(f"$ {c}\n{o}" for c, o in commands_of(block.text))
            assert same_output(told, printed), f"{page.name}, line {block.line}: now it prints\n{printed}"


def test_every_block_has_a_language_that_is_run_or_is_no_code():
    unknown = {(name_of(page), b.line, b.language) for page in PAGES for b in blocks_of(page) if b.language not in KNOWN}
    assert not unknown


def test_files_are_shown_with_their_names():
    nameless = [
        (name_of(page), block.line)
        for page in PAGES
        for block in blocks_of(page)
        if block.language == "yaml" and not block.caption and not block.skipped
    ]
    assert not nameless, "a yaml block needs {code-block} with :caption: FILE, or the reason why it is not run"


def test_few_blocks_are_left_out():
    skipped = [(name_of(page), block.skipped) for page in PAGES for block in blocks_of(page) if block.skipped]
    assert len(skipped) <= MOST_SKIPPED, skipped


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a 1.00", "a 1.01", True),
        ("a 1.00", "a 1.10", False),
        ("a 1", "b 1", False),
        ("a\n...\nz", "a\nb\nc\nz", True),
        ("a\n...", "a\nb", True),
        ("...\nz", "a\nz", True),
        ("...\nz", "a\nz\ny", False),
        ("a\n...\nz", "a\nb", False),
        ("a", "a\nb", False),
        ("a | 1", "a   |  1", True),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_outputs_are_compared_up_to_rounding_and_width(expected, printed, same):
    assert same_output(expected, printed) is same


def test_a_session_is_split_into_commands():
    text = "$ tcbo ask rig.db\nmove 1\n\n$ tcbo tell \\\n    rig.db 3\nrecorded"
    assert list(commands_of(text)) == [("tcbo ask rig.db", "move 1"), ("tcbo tell \\\n    rig.db 3", "recorded")]
