"""The Pyomo model that users read is the one that is compiled, and the one that a SolverFactory solver is given."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_processes import processes

from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.constraints import FromFunction, ResourceBudget
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.plant.situation import Situation

LINE = Process.from_moves(
    [Coordinate("x", 0.0, 4.0)],
    {f"at{x}": [float(x)] for x in range(5)},
    [
        (f"at{x}", action, f"at{x + change}")
        for x in range(5)
        for action, change in (("down", -1), ("stay", 0), ("up", 1))
        if 0 <= x + change < 5
    ],
    1.0,
)
FUEL = ResourceBudget("fuel", lambda left, right: abs(right["x"] - left["x"]), limit=3)


def pair_called(state: str, action: str) -> int:
    (pair,) = [p for p in range(LINE.number_of_pairs) if LINE.pair_name(p) == f"'{state}' -> '{action}'"]
    return pair


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Any, str]]]:
    """What a SolverFactory solver receives: the model, and the LP file it would write at that moment."""
    received: list[tuple[Any, str]] = []

    class Watching:
        def __init__(self, **_: Any) -> None:
            self._solver, self.options = pyo.SolverFactory("appsi_highs"), {}

        def available(self, exception_flag: bool = True) -> bool:
            return True

        def solve(self, model: pyo.ConcreteModel, **arguments: Any) -> Any:
            model.write("watched.lp", io_options={"symbolic_solver_labels": True})
            received.append((model, Path("watched.lp").read_text(encoding="utf-8")))
            return self._solver.solve(model, **arguments)

    monkeypatch.setitem(pyo.SolverFactory._cls, "watching", Watching)
    monkeypatch.setitem(pyo.SolverFactory._doc, "watching", "a solver that is watched")
    yield received


def test_one_model_is_read_compiled_and_solved(seen, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rules = (FUEL,)
    sets = EpisodeSets(LINE, rules, 4)
    oracle = LinearProgramming(sets, rules, "watching")
    gradient = -np.random.default_rng(0).random(LINE.number_of_pairs)
    oracle.extreme_point(gradient, Situation((0,)), np.random.default_rng(0))
    polytope, solver = oracle.compiled(Situation((0,)))
    ((model, file),) = seen
    assert model is polytope.model is polytope.programme.model is solver.programme.model
    assert all(
        column is move for column, move in zip(polytope.programme.columns, model.visitation.values(), strict=False)
    )
    assert {id(row) for row in polytope.programme.rows} >= {id(row) for row in model.flow.values()}
    objectives = list(model.component_data_objects(pyo.Objective, active=True))
    assert [objective.name for objective in objectives] == ["expected_gain"]
    for name in ("expected_gain", "visitation(0_at0_up)", "flow(0_at0)", "fuel_budget"):
        assert name in file, name


def test_a_later_plan_changes_bounds_of_the_same_components_and_puts_them_back(seen, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rules = (FUEL,)
    oracle = LinearProgramming(EpisodeSets(LINE, rules, 4), rules, "watching")
    up = [pair_called("at0", "up"), pair_called("at1", "up")]
    gradient = -np.random.default_rng(1).random(LINE.number_of_pairs)
    rng = np.random.default_rng(0)
    oracle.extreme_point(gradient, Situation((0,)), rng)
    model, before = seen[0]
    oracle.extreme_point(gradient, Situation((0, 1, 2), tuple(up)), rng)
    again, after = seen[1]
    assert again is model and before != after
    # The past is held at one visit while the solver has the model, the flow of past steps is freed.
    assert "flow(0_at0)" in before and "flow(0_at0)" not in after and "flow(2_at2)" in after
    assert model.flow[0, "at0"].active and (model.flow[0, "at0"].lb, model.flow[0, "at0"].ub) == (1.0, 1.0)
    assert all(variable.bounds == (0, None) for variable in model.visitation.values())
    assert model.visitation[0, "at0", "up"].value == pytest.approx(1.0)


@given(processes(max_states=7), st.integers(2, 5), st.integers(0, 10**6))
@settings(max_examples=20)
def test_highs_any_pyomo_solver_and_backward_induction_agree_at_every_step(process, horizon, seed):
    rng = np.random.default_rng(seed)
    sets = EpisodeSets(process, (), horizon)
    exact = DynamicProgramming(sets)
    oracles = [LinearProgramming(sets, (), name) for name in ("highs", "appsi_highs")]
    situation = Situation((0,))
    for step in range(horizon):
        gradient = -rng.random(process.number_of_pairs)
        expected = exact.values(gradient, step)[0, situation.state]
        for oracle in oracles:
            visits = oracle.extreme_point(gradient, situation, rng).expected_counts(len(gradient))
            assert visits @ gradient == pytest.approx(expected, rel=1e-7, abs=1e-9)
        pair = int(exact.extreme_point(gradient, situation, rng).pair[0])
        arrived = process.draw_successor(pair, rng)
        situation = Situation((*situation.path, arrived), (*situation.decisions, pair))


def test_rows_with_constants_and_fixed_variables_count_the_same_for_every_solver():
    """A user's rows with a constant in the body, two sides, an own variable, a fixed one, and an objective of their own."""

    def own(model: pyo.ConcreteModel) -> None:
        model.reserve = pyo.Var(bounds=(0, 2))
        model.held = pyo.Var(initialize=0.5)
        model.held.fix()
        steps_up = sum(variable for (_, _, action), variable in model.visitation.items() if action == "up")
        model.climb = pyo.Constraint(expr=pyo.inequality(0.0, steps_up + model.held - 1.0 + model.reserve, 1.25))
        model.visitation[1, "at1", "up"].fix(0.25)
        model.wish = pyo.Objective(expr=-model.reserve)

    rules = (FUEL, FromFunction(own))
    sets = EpisodeSets(LINE, rules, 4)
    gradient = -np.arange(LINE.number_of_pairs, dtype=float)
    values = {}
    for name in ("highs", "appsi_highs"):
        oracle = LinearProgramming(sets, rules, name)
        rng = np.random.default_rng(0)
        first = oracle.extreme_point(gradient, Situation((0,)), rng)
        later = oracle.extreme_point(gradient, Situation((0, 0), (pair_called("at0", "stay"),)), rng)
        values[name] = [visits.expected_counts(len(gradient)) @ gradient for visits in (first, later)]
    assert values["highs"] == pytest.approx(values["appsi_highs"], rel=1e-8)
