"""A configured solver object instead of a name, of either of Pyomo's two interfaces; and IPOPT from the folder of IDAES."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pyomo_pounce
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory as ContributedFactory
from waiting import PATIENCE

from tcbo_pyomo import BadInput, hand_over_solver, load_problem, run_campaign, settings_from
from tcbo_pyomo.solvers.linear.programme import compile_linear_model
from tcbo_pyomo.solvers.linear.solver_by_name import linear_solver
from tcbo_pyomo.solvers.probes import _attempt_nonlinear

POUNCE = pyomo_pounce.v2.Pounce().config.executable.path()


def configured(options: dict[str, object]) -> object:
    solver = pyo.SolverFactory("pounce")
    solver.options.update(options)
    return solver


def test_a_solver_factory_object_keeps_its_options() -> None:
    hand_over_solver("patient", configured({"max_iter": 200}))
    assert _attempt_nonlinear("pyomo", "patient") == "found"
    hand_over_solver("hasty", configured({"max_iter": 0}))
    with pytest.raises(BadInput, match=r"'hasty': the solver object does not solve a small test model"):
        _attempt_nonlinear("pyomo", "hasty")


def test_an_object_of_the_newer_interface() -> None:
    solver = ContributedFactory("pounce")
    solver.config.solver_options["max_iter"] = 200
    hand_over_solver("newer", solver)
    assert _attempt_nonlinear("pyomo", "newer") == "found"
    hasty = ContributedFactory("pounce")
    hasty.config.solver_options["max_iter"] = 0
    hand_over_solver("newer_hasty", hasty)
    with pytest.raises(BadInput, match="'newer_hasty': the solver object"):
        _attempt_nonlinear("pyomo", "newer_hasty")


@pytest.mark.parametrize("solver", [pyo.SolverFactory("appsi_highs"), ContributedFactory("highs")])
def test_linear_programmes_take_objects_too(solver: object) -> None:
    hand_over_solver("my_highs", solver)
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=pyo.NonNegativeReals)
    model.total = pyo.Constraint(expr=model.x <= 3)
    found = linear_solver("my_highs", compile_linear_model(model, [model.x])).solve(np.array([-1.0]))
    assert found.objective == pytest.approx(-3.0)


def test_a_campaign_by_an_object_makes_the_moves_of_its_name() -> None:
    hand_over_solver("my_pounce", pyo.SolverFactory("pounce"))
    problem, paths = load_problem("branin2d"), []
    for solver in ("my_pounce", "pounce"):
        chosen = {"planner": {"nonlinear": {"interface": "pyomo", "solver": solver}}, "candidates": {"count": 5}}
        settings = settings_from(dict(problem.settings), chosen)
        paths.append(run_campaign(problem.changed(horizon=2, episodes=1), settings, seed=1).paths)
    np.testing.assert_array_equal(*paths)


@pytest.mark.parametrize(
    ("name", "solver", "message"),
    [
        ("my solver", pyo.SolverFactory("appsi_highs"), "use a word of letters"),
        ("mine", "ipopt", "has no method solve"),
    ],
)
def test_what_is_no_solver_is_refused(name: str, solver: object, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        hand_over_solver(name, solver)


SCRIPT = """
import importlib.util, sys
find = importlib.util.find_spec
if "without" in sys.argv:
    importlib.util.find_spec = lambda name, *rest: None if name == "idaes" else find(name, *rest)
from tcbo_pyomo.solvers.probes import _attempt_nonlinear
print(_attempt_nonlinear("pyomo", "ipopt"), "idaes" in sys.modules)
"""


@pytest.mark.parametrize("installed", ["with", "without"])
def test_ipopt_is_found_where_idaes_keeps_it(installed: str, tmp_path: Path) -> None:
    """Another solver with IPOPT's command line stands in for the executable that `idaes get-extensions` would fetch."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ipopt").symlink_to(POUNCE)
    environment = {**os.environ, "IDAES_DATA": str(tmp_path), "HOME": str(tmp_path)}
    command = [sys.executable, "-c", SCRIPT, installed]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.split() == ["found", str(installed == "with")], done.stderr


def test_without_it_the_advice_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IDAES_DATA", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInput, match=r"tcbo_pyomo\[idaes\]' and idaes get-extensions"):
        _attempt_nonlinear("pyomo", "ipopt")
