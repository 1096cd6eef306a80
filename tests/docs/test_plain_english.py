"""Every text that a user can see avoids the phrases that CONTRIBUTING lists."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tcbo_pyomo

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# What a build of the site leaves there.
WRITTEN = {"_build", "generated", *(f"{folder.name}.md" for folder in (ROOT / "examples").iterdir())}
TEMPLATES = [ROOT / "tcbo_pyomo/report/page.html.jinja", *sorted((ROOT / "tcbo_pyomo/cli/templates").glob("*.*"))]


def phrases() -> list[str]:
    """The first column of the table in CONTRIBUTING."""
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Plain English")[1].split("\n## ")[0]
    return re.findall(r"^\| ([a-z ]+) \| (?!but)", section, re.MULTILINE)


def messages(path: Path) -> Iterator[str]:
    """The texts of a file that are no docstrings: what commands print and errors say."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    loose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in loose:
            yield node.value


def public_docstrings() -> Iterator[str]:
    """What the API reference prints."""
    for name in tcbo_pyomo.__all__:
        found = getattr(tcbo_pyomo, name)
        members = vars(found).items() if inspect.isclass(found) else ()
        for thing in [found, *(member for word, member in members if not word.startswith("_"))]:
            yield inspect.getdoc(thing) or ""


def visible() -> Iterator[tuple[str, str]]:
    """(where, text) of everything."""
    for page in [*PAGES, *TEMPLATES, ROOT / "tcbo_pyomo/settings.py"]:
        if not WRITTEN & set(page.parts):
            yield page.name, page.read_text(encoding="utf-8")
    for path in [*(ROOT / "tcbo_pyomo").rglob("*.py"), *(ROOT / "models").rglob("*.py")]:
        yield from ((str(path.relative_to(ROOT)), text) for text in messages(path))
    for path in (ROOT / "tcbo_pyomo/cli").glob("*.py"):
        yield path.name, path.read_text(encoding="utf-8")
    yield from (("docstring", text) for text in public_docstrings())


TEXTS = list(visible())


def test_the_table_is_read():
    assert len(phrases()) > 10 and "lottery" in phrases() and len(TEXTS) > 1000


@pytest.mark.parametrize("phrase", phrases())
def test_no_text_has_a_phrase_that_is_hard_to_read(phrase):
    wrong = [f"{where}: {text[:80]}" for where, text in TEXTS if re.search(rf"\b{phrase}\b", " ".join(text.split()))]
    assert not wrong, wrong
