"""Every command, option, setting, exit code and public name has one reference entry, and local links lead somewhere."""

import ast
import re
import sys
from pathlib import Path

import pytest

import tcbo_pyomo
from tcbo_pyomo import errors
from tcbo_pyomo.cli.main import INTERRUPTED, OUR_FAULT, _command_names

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from from_code.commands_page import commands, commands_page, option_names  # noqa: E402
from from_code.example_pages import scripts, studies  # noqa: E402
from from_code.names_page import TITLES, groups, names_page  # noqa: E402
from from_code.settings_page import setting_names, settings_page  # noqa: E402

LINK = re.compile(r"\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)")
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("README.md")]
PAGES = [page for page in PAGES if "_build" not in page.parts and "generated" not in page.parts]
BUILT = {"docs/examples.md", *(f"docs/benchmarks/{name}.md" for name in studies())}
BUILT |= {f"docs/reference/generated/{name}.md" for name in ("api", "commands", "settings")}
PAGES = [page for page in PAGES if str(page.relative_to(ROOT)) not in BUILT]


def test_every_command_and_option_is_described_once():
    page = commands_page()
    assert sorted(name for name, _, _ in commands()) == sorted(_command_names())
    for name, command, _ in commands():
        assert page.count(f"### `tcbo {name}`\n") == 1
        entry = page.split(f"### `tcbo {name}`\n")[1].split("\n### ")[0]
        for option in option_names(command):
            assert f"`{option}`" in entry, (name, option)


def test_every_setting_is_described_once_with_words():
    page = settings_page()
    assert len(setting_names()) > 25
    for name in setting_names():
        assert page.count(f"### `{name}`\n") == 1
        entry = page.split(f"### `{name}`\n")[1].split("\n#")[0].split("(setting-")[0]
        assert entry.split("Type:")[1].partition("\n")[2].strip(), f"setting {name} has no explanation"


def test_every_public_name_is_listed_once():
    listed = [name for group in groups() for name in group]
    assert sorted(listed) == sorted(name for name in tcbo_pyomo.__all__ if not name.startswith("__"))
    page = names_page()
    for name in listed:
        assert page.count(f"\n   {name}\n") == 1
    assert {group[0] for group in groups()} == set(TITLES), "a group of the stub has no title on the API page"


def test_every_exit_code_has_a_row():
    page = (ROOT / "docs" / "reference" / "files.md").read_text(encoding="utf-8")
    raised = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.TcboError)]
    for code in {0, INTERRUPTED, OUR_FAULT, *(kind.exit_code for kind in raised)}:
        assert len(re.findall(rf"^\| {code} \|", page, flags=re.MULTILINE)) == 1, code


def test_every_example_is_shown_with_what_it_prints():
    for script in scripts():
        assert (ROOT / "docs" / "printed" / f"{script.stem}.txt").stat().st_size > 0
        assert ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_local_links_lead_somewhere(page):
    for target, _ in LINK.findall(page.read_text(encoding="utf-8")):
        place = (page.parent / target).resolve() if target else page
        assert place.exists() or str(place.relative_to(ROOT)) in BUILT, f"{page.name}: {target}"


def test_the_readme_is_one_page():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("\n") <= 150
    assert (ROOT / ".ci" / "run").read_text().count("grep -m1 'python -m pytest' README.md") == 1


def test_every_page_is_in_the_table_of_contents():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = str(page.relative_to(ROOT / "docs").with_suffix(""))
        if name != "index" and "_build" not in page.parts:
            assert f"\n{name}\n" in index, f"docs/{name}.md is in no toctree of docs/index.md"
