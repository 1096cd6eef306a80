"""`import tcbo_pyomo` offers what a user needs: at run time, to tab completion and to type checkers."""

import ast
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import tcbo_pyomo
from tcbo_pyomo.foundation.registry import class_name_of, files_of
from tcbo_pyomo.models.constraints import __all__ as constraint_names
from tcbo_pyomo.surrogate.kernels import KERNELS

PACKAGE = Path(tcbo_pyomo.__file__).parent
ROOT = PACKAGE.parent
NEEDED = """
    Problem ContinuousProblem load_problem replay_problem grid_process Process Coordinate
    TransitionConstraint Violation Box Circle Polygon Wall Points
    SquaredExponential MaternThreeHalves MaternFiveHalves Sum Scaled ReactionKinetics Mechanism Kernel Stationary SingleFeature
    LinearDynamics NonlinearDynamics BoxActions NormActions
    Campaign open_campaign start_campaign save_campaign run_campaign CampaignResult Settings settings_from
    read_study run_study Study TcboError BadInput build_state_action_polytope build_trajectory profile
"""


def test_everything_promised_is_there_and_can_be_completed():
    assert set(NEEDED.split()) <= set(dir(tcbo_pyomo))
    assert set(constraint_names) <= set(dir(tcbo_pyomo))
    for name in dir(tcbo_pyomo):
        assert getattr(tcbo_pyomo, name) is not None


def test_every_kernel_that_ships_is_offered():
    assert {class_name_of(name) for name in KERNELS.names()} <= set(dir(tcbo_pyomo))


def test_star_import_gives_all_of_it_and_nothing_else():
    space = {}
    exec("from tcbo_pyomo import *", space)
    assert set(space) - {"__builtins__"} == set(tcbo_pyomo.__all__)


def test_what_is_unknown_is_said():
    with pytest.raises(AttributeError, match="module 'tcbo_pyomo' has no attribute 'Problm'"):
        _ = tcbo_pyomo.Problm


def test_type_checkers_see_the_same_names():
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    lists = [node.value for node in stub.body if isinstance(node, ast.Assign | ast.AugAssign)]
    seen = [name for each in lists for name in ast.literal_eval(each)]
    assert sorted(seen) == tcbo_pyomo.__all__
    assert set(tcbo_pyomo._WHERE) == set(seen)


SCRIPT = """
from tcbo_pyomo import Campaign, Coordinate, EndAt, Problem, SquaredExponential, load_problem

reveal_type(Coordinate("x", 0.0, 1.0))
reveal_type(SquaredExponential(1.0, 0.3))
reveal_type(load_problem("river"))
reveal_type(Campaign)
EndAt(at={"x": 1}, nonsense=2)
"""


@pytest.mark.slow
def test_a_type_checker_sees_real_classes(tmp_path):
    (tmp_path / "mine.py").write_text(SCRIPT)
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--follow-imports=silent", "mine.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    for kind in ("coordinates.Coordinate", "squared_exponential.SquaredExponential", "protocol.ProblemProtocol"):
        assert 'Revealed type is "tcbo_pyomo.' in done.stdout and kind in done.stdout, done.stdout
    assert 'Revealed type is "Any"' not in done.stdout
    assert "no attribute" not in done.stdout and "does not explicitly export" not in done.stdout


NOTHING_ELSE = """
import importlib, sys, tcbo_pyomo
import tcbo_pyomo.models.constraints.end_at
for name in ("tests", "examples", "tcbo_pyomo", "tcbo_pyomo.errors", "setup", "models.models", "models.tests"):
    try:
        importlib.import_module(f"tcbo_pyomo.{name}")
    except ModuleNotFoundError:
        continue
    raise SystemExit(f"tcbo_pyomo.{name} can be imported")
import pathlib
places = [pathlib.Path(m.__file__).resolve() for n, m in sys.modules.items() if n.startswith("tcbo_pyomo") and m.__file__]
assert len(places) == len(set(places)), "a module was imported twice"
print(pathlib.Path(tcbo_pyomo.models.__file__).parent)
"""


def where_models_stand(path, folder, *flags, before=""):
    environment = {**os.environ, "PYTHONPATH": str(path)}
    command = [sys.executable, *flags, "-c", before + NOTHING_ELSE]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def test_a_checkout_lends_the_package_its_models_and_nothing_else(tmp_path):
    assert where_models_stand(ROOT, tmp_path) == ROOT / "models"
    # Also from the checkout itself, where its folders can be imported by their own names.
    assert where_models_stand(ROOT, ROOT) == ROOT / "models"


@pytest.mark.slow
def test_an_editable_install_lends_the_package_its_models_and_nothing_else(tmp_path):
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "-q", "--target", str(tmp_path), "-e", str(ROOT)]
    subprocess.run(install, cwd=tmp_path, check=True)
    # Without the start files of this environment, which may have another checkout installed.
    before = f"import site, sys; sys.path.append({sysconfig.get_path('purelib')!r}); site.addsitedir({str(tmp_path)!r})"
    assert where_models_stand("", tmp_path, "-S", before=before) == ROOT / "models"


def test_library_files_are_problems_and_nothing_else():
    for name in files_of("tcbo_pyomo.library"):
        tree = ast.parse((PACKAGE / "library" / f"{name}.py").read_text())
        assert "build" in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)], name
