"""The sources behind a problem: everything of the user's that is imported, nothing else, and nothing is run."""

import hashlib
import importlib
import sys
from pathlib import Path

import pytest

from tcbo_pyomo.foundation.user_sources import loaded_afresh, noted_imports, user_sources


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def names(found, folder):
    return {Path(path).relative_to(folder.resolve()).as_posix() for path in found}


def test_imports_are_followed_wherever_they_stand_and_the_digest_is_that_of_the_file(folder):
    write(
        folder,
        src_problem="import numpy\nimport src_limits\n\ndef build():\n    from src_rig import pumps\n",
        src_limits="import json, src_deep as d\n",
        src_deep="raise SystemExit('must not run')\n",
        src_other="",
    )
    write(
        folder,
        src_rig__start="",
        src_rig__pumps="from . import start\nfrom .valves import V\n",
        src_rig__valves="V = 1\n",
    )
    (folder / "src_rig" / "__init__.py").write_text("")
    found = user_sources(folder / "src_problem.py")
    assert names(found, folder) == {
        "src_problem.py", "src_limits.py", "src_deep.py",
        "src_rig/__init__.py", "src_rig/pumps.py", "src_rig/start.py", "src_rig/valves.py",
    }  # fmt: skip
    for path, digest in found.items():
        assert digest == hashlib.sha256(Path(path).read_bytes()).hexdigest()
    before = dict(found)
    (folder / "src_deep.py").write_text("STEP = 5\n")
    after = user_sources(folder / "src_problem.py")
    assert [Path(path).name for path in after if after[path] != before[path]] == ["src_deep.py"]


def test_the_answer_is_the_same_before_and_after_the_modules_were_loaded(folder):
    write(folder, src_a="import src_b\n", src_b="from src_c import value\n", src_c="value = 1\n")
    before = user_sources("src_a:Method")
    assert names(before, folder) == {"src_a.py", "src_b.py", "src_c.py"}
    importlib.import_module("src_a")
    assert user_sources("src_a:Method") == before


def test_what_is_not_the_users_own_adds_nothing():
    entries = ("knorr_pyrazole", "mdp_bo", "numpy", "json:dumps", "tcbo_pyomo.library.river", "nowhere:Rule", "no.py")
    assert user_sources(*entries) == {}


def test_a_module_that_is_imported_by_a_computed_name_is_noted(folder):
    write(folder, src_late="import importlib\nlimits = importlib.import_module('src_' + 'hidden')\n", src_hidden="")
    with noted_imports("src_late"):
        importlib.import_module("src_late")
    assert names(user_sources("src_late"), folder) == {"src_late.py", "src_hidden.py"}


@pytest.mark.parametrize(
    "text", ["def broken(:\n", "\0", "import a.b..c\n", "from ... import x\n", "import src_self\n"]
)
def test_files_that_are_no_python_and_circles_end(folder, text):
    write(folder, src_self=text)
    assert names(user_sources(folder / "src_self.py"), folder) == {"src_self.py"}


def test_modules_are_loaded_afresh_and_put_back(folder):
    write(folder, fresh_problem="import fresh_limits\n", fresh_limits="HELD = []\n")
    problem = importlib.import_module("fresh_problem")
    with loaded_afresh(folder / "fresh_problem.py"):
        again = importlib.import_module("fresh_limits")
        assert again is not problem.fresh_limits and again.HELD is not problem.fresh_limits.HELD
    assert sys.modules["fresh_problem"] is problem and sys.modules["fresh_limits"] is problem.fresh_limits
