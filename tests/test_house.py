"""The rules of the house that a linter does not know: rooms, names, cycles, and where a kind of plant may be asked for.

The order of the rooms itself is a contract of import-linter in pyproject.toml; `.ci/lint` runs it.
"""

import ast
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from tcbo_pyomo.problem.with_settings import CONSTRAINTS

ROOT = Path(__file__).parents[1]
ROOMS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]["layers"]
LOOSE = {"__init__", "__main__", "_version", "errors", "settings"}
TEMPLATES = "tcbo_pyomo.cli.templates"


def _modules():
    """Every module of the package with its tree, by dotted name; packages by their own name."""
    found = {}
    for folder, package in ((ROOT / "tcbo_pyomo", "tcbo_pyomo"), (ROOT / "models", "tcbo_pyomo.models")):
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            found[".".join([package, *parts])] = ast.parse(path.read_text())
    return {name: tree for name, tree in found.items() if not name.startswith(f"{TEMPLATES}.")}


MODULES = _modules()


def _without_type_checking(tree):
    for node in ast.walk(tree):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                kept = [n for n in block if not (isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test))]
                setattr(node, field, kept)
    return tree


def _imports(name):
    """The modules of this package that a module imports, inside functions too; those for type checkers apart."""
    tree = _without_type_checking(ast.parse(ast.unparse(MODULES[name])))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "tcbo_pyomo":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)


def test_only_five_modules_are_loose_and_every_room_is_in_the_contract():
    folder = ROOT / "tcbo_pyomo"
    assert {path.stem for path in folder.glob("*.py")} == LOOSE
    rooms = {path.parent.name for path in folder.glob("*/__init__.py")} | {"models"}
    listed = {part.strip() for layer in ROOMS for part in layer.split("|")}
    assert rooms == listed - LOOSE


def test_no_import_is_a_cycle_not_even_inside_a_function():
    state: dict[str, str] = {}

    def visit(name, trail):
        if state.get(name) == "done":
            return
        assert state.get(name) != "open", f"cycle: {' -> '.join([*trail[trail.index(name) :], name])}"
        state[name] = "open"
        for other in _imports(name):
            if other != name and other != "tcbo_pyomo":
                visit(other, [*trail, name])
        state[name] = "done"

    for name in MODULES:
        visit(name, [])


def test_no_module_imports_the_package_root_which_knows_them_all():
    for name, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "tcbo_pyomo":
                inner = {f"tcbo_pyomo.{alias.name}" for alias in node.names}
                assert inner <= set(MODULES), f"{name}, line {node.lineno}: import from the module that defines it"


def test_strings_that_name_modules_name_modules_that_exist():
    named = re.compile(r"tcbo_pyomo(\.[a-z_][a-z0-9_]*)+")
    seen = 0
    for name, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and named.fullmatch(node.value):
                assert importlib.util.find_spec(node.value) is not None, f"{name}: '{node.value}' does not exist"
                seen += 1
    assert seen >= 4, "the registries name their packages"


def test_a_file_name_occurs_twice_only_for_counterparts():
    places: dict[str, list[str]] = {}
    for name in MODULES:
        if importlib.util.find_spec(name).submodule_search_locations is None:
            places.setdefault(name.rsplit(".", 1)[1], []).append(name.rsplit(".", 1)[0])
    twice = {name: rooms for name, rooms in places.items() if len(rooms) > 1}
    counterparts = [{"finite", "continuous"}, {"linear", "nonlinear"}]
    for name, rooms in twice.items():
        last = {room.rsplit(".", 1)[-1] for room in rooms if not room.startswith("tcbo_pyomo.cli")}
        same = len(last) <= 1 or last in counterparts
        protocols = name == "protocol"  # The protocol of each room stands under this name.
        kinds = name in ("finite", "continuous")  # The two kinds of a room.
        assert same or protocols or kinds, f"{name}.py stands in {', '.join(rooms)}"


ENDINGS = re.compile(r"(?<=...)(ations?|ators?|ated|ating|ings?|ions?|ors?|ers?|ed|ies|ables?|s)$")


def _stem(name):
    """A name without what is only a nuance: underscores in front, the order of its words, their endings."""
    return tuple(sorted(ENDINGS.sub("", word) for word in name.strip("_").split("_")))


@pytest.mark.parametrize(
    ("name", "other"),
    [("belief", "beliefs"), ("_tour", "tour"), ("simulation", "simulator"), ("drawn_moves", "move_drawn")],
)
def test_what_a_nuance_is(name, other):
    assert _stem(name) == _stem(other) and _stem("ties") != _stem("tables")


def test_no_two_modules_differ_by_a_nuance():
    named: dict[tuple[str, ...], set[str]] = {}
    for module in MODULES:
        room, _, name = module.rpartition(".")
        command = room == "tcbo_pyomo.cli" and not name.startswith("_")  # It has the name of what it calls.
        package = importlib.util.find_spec(module).submodule_search_locations is not None
        if not (command or package or module in ("tcbo_pyomo.__main__", "tcbo_pyomo._version")):
            named.setdefault(_stem(name), set()).add(name)
    assert [names for names in named.values() if len(names) > 1] == []


def test_a_problem_is_never_untyped():
    for name, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.arg) and node.arg == "problem" and node.annotation is not None:
                words = ast.unparse(node.annotation)
                assert words not in ("Any", "object") and "|" not in words.replace("| None", ""), f"{name}: {words}"


def test_the_kind_of_a_plant_is_asked_for_in_one_module():
    for name, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == "finite":
                pytest.fail(f"{name}, line {node.lineno}: {ast.unparse(node)}")
            asked = isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance"
            if asked and re.search(r"\b(Problem|ContinuousProblem)\b", ast.unparse(node.args[1])):
                allowed = name == "tcbo_pyomo.campaign.assembly" or name.startswith("tcbo_pyomo.library")
                assert allowed, f"{name}, line {node.lineno}: {ast.unparse(node)}"


def test_no_module_asks_which_constraint_a_constraint_is():
    classes = {CONSTRAINTS.load(name).__name__ for name in CONSTRAINTS.names()} | {"FromFunction"}
    assert {"MaximumStep", "EndAt", "ResourceBudget"} <= classes
    for name, tree in MODULES.items():
        if name.startswith("tcbo_pyomo.models.constraints"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
                asked = set(re.findall(r"\w+", ast.unparse(node.args[1])))
                assert not asked & classes, f"{name}, line {node.lineno}: {ast.unparse(node)}"


def test_test_modules_are_imported_from_their_own_folder_only():
    # What several folders share stands in a module of tests/ itself: a folder of tests can be run alone.
    tests = Path(__file__).parent
    found = {path.stem: path.parent for path in tests.rglob("test_*.py")}
    for path in tests.rglob("*.py"):
        for name in re.findall(r"^(?:from|import) (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert found[name] == path.parent, f"{path}: {name}"
