"""A compiled linear solver is one file: its name is the setting, its answers are checked like any other's."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from linear_models import corridor

import tcbo_pyomo.solvers.linear as folder
from tcbo_pyomo import load_problem, run_campaign, settings_from
from tcbo_pyomo.errors import BadInput, SolverFailed
from tcbo_pyomo.solvers.linear.highs import Highs
from tcbo_pyomo.solvers.linear.programme import compile_linear_model
from tcbo_pyomo.solvers.linear.solver_by_name import COMPILED, linear_solver

SOLVER = '''
"""scipy's linprog on the compiled arrays."""

import time

import numpy as np
from scipy.optimize import LinearConstraint, milp, Bounds as Box

from tcbo_pyomo.solvers.linear.solver import Answer, LinearSolver, Verdict


class ScipyMilp(LinearSolver):
    name = "scipy_milp"

    def optimise(self, cost, bounds):
        started = time.perf_counter()
        rows = LinearConstraint(self.programme.matrix, bounds.row_lower, bounds.row_upper)
        answer = milp(cost, bounds=Box(bounds.column_lower, bounds.column_upper), constraints=rows)
        verdict = {0: Verdict.OPTIMAL, 2: Verdict.INFEASIBLE}.get(answer.status, Verdict.FAILED)
        values = answer.x if verdict is Verdict.OPTIMAL else None
        if "wrong" in self.options:
            values = values + 1.0
        return Answer(verdict, answer.message, time.perf_counter() - started, values=values)


class Half(LinearSolver):
    """Nothing but a name."""


class Other:
    """No solver at all."""
'''


@pytest.fixture
def file_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scipy_milp.py").write_text(SOLVER, encoding="utf-8")
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "tcbo_pyomo.solvers.linear.scipy_milp", raising=False)


@pytest.fixture
def programme():
    model = corridor()
    return compile_linear_model(model, list(model.visitation.values()))


def test_the_registry_lists_exactly_the_compiled_solvers():
    assert COMPILED.names() == ["highs"]
    assert COMPILED.load("highs") is Highs


def test_a_file_is_a_solver(file_of_ones_own, programme):
    assert COMPILED.names() == ["highs", "scipy_milp"]
    cost = -np.random.default_rng(0).random(len(programme.columns))
    own = linear_solver("scipy_milp", programme, time_limit=3)
    assert own.name == "scipy_milp" and own.time_limit == 3
    assert own.solve(cost).objective == pytest.approx(Highs(programme).solve(cost).objective, rel=1e-9)
    with pytest.raises(SolverFailed, match="scipy_milp called it optimal"):
        linear_solver("scipy_milp", programme, {"wrong": True}).solve(cost)


def test_a_campaign_plans_with_it(file_of_ones_own):
    problem = load_problem("knorr_pyrazole", None, 1)
    layers = [{"episodes": 1, "planner": {"linear": {"solver": name}}} for name in ("highs", "scipy_milp")]
    ours, own = (run_campaign(problem, settings_from(dict(problem.settings), layer), seed=1) for layer in layers)
    assert own.campaign.method.planner.oracle.name == "scipy_milp"
    assert [move.arrived for move in own.campaign.history.moves] == [
        move.arrived for move in ours.campaign.history.moves
    ]


def test_a_users_class_by_module_and_name(tmp_path, programme, monkeypatch):
    (tmp_path / "my_solvers.py").write_text(SOLVER, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    cost = -np.random.default_rng(1).random(len(programme.columns))
    own = linear_solver("my_solvers:ScipyMilp", programme)
    assert own.solve(cost).objective == pytest.approx(Highs(programme).solve(cost).objective, rel=1e-9)
    assert sys.modules["my_solvers"].Half.name == "Half"  # What messages call a solver that does not say it.
    with pytest.raises(BadInput, match=r"'my_solvers:Half' is not complete: optimise missing"):
        linear_solver("my_solvers:Half", programme)
    with pytest.raises(BadInput, match=r"'my_solvers:Other' is not a subclass of LinearSolver"):
        linear_solver("my_solvers:Other", programme)
    monkeypatch.delitem(sys.modules, "my_solvers")
