"""The equations of a step as plain data: the same step as that of the code, and of the differential equations."""

import json

import numpy as np
import pytest
from model_plants import cstr_after, cstr_dynamics, cstr_problem

from tcbo_pyomo import ContinuousProblem
from tcbo_pyomo.foundation.coordinates import physical, scaled
from tcbo_pyomo.models.step_equations import facts_of, same_equations
from tcbo_pyomo.problem.declaration import declaration_of, declared_problem, opaque_parts
from tcbo_pyomo.problem.declared_changes import declared_changes


def stored(problem: ContinuousProblem) -> ContinuousProblem:
    """The problem as a campaign file has it."""
    return declared_problem(json.loads(json.dumps(declaration_of(problem))))


def test_a_stored_step_is_that_of_the_differential_equations():
    problem = cstr_problem(cstr_dynamics())
    found, generator = stored(problem), np.random.default_rng(0)
    for _ in range(10):
        state, flow = generator.uniform(0.2, 2.0, 2), generator.uniform(0.1, 2.0)
        after = found.judge._next_state(scaled(problem.coordinates, state), np.array([flow]))
        wanted = cstr_after(state, lambda t, flow=flow: flow)
        np.testing.assert_allclose(physical(problem.coordinates, after[None])[0], wanted, atol=2e-3)


def test_a_stored_step_is_that_of_the_code():
    problem = cstr_problem(cstr_dynamics())
    found, generator = stored(problem), np.random.default_rng(1)
    assert opaque_parts(declaration_of(problem)) == []
    for _ in range(10):
        state, action = generator.uniform(-0.4, 0.4, 2), generator.uniform(0.1, 2.0, 1)
        wanted = problem.judge._next_state(state, action)
        np.testing.assert_allclose(found.judge._next_state(state, action), wanted, atol=1e-9)


def test_rounding_is_no_change_and_another_number_is_one():
    problem = cstr_problem(cstr_dynamics())
    old = json.loads(json.dumps(declaration_of(problem)))
    assert declared_changes(old, declaration_of(cstr_problem(cstr_dynamics()))) == []
    step = old["plant"]["dynamics"]["step"]
    assert same_equations(step, {**step, "unknowns": [{**one, "guess": one["guess"] + 1.0} for one in step["unknowns"]]})

    def scaled_by(tree, factor):
        if isinstance(tree, list):
            return [tree[0], *(part if isinstance(part, int) else scaled_by(part, factor) for part in tree[1:])]
        return tree * factor if isinstance(tree, float) else tree

    for factor, same in ((1 + 1e-12, True), (1 + 1e-6, False)):
        other = {**step, "equations": scaled_by(["+", *step["equations"]], factor)[1:]}
        assert same_equations(step, other) is same
        assert (facts_of(step) == facts_of(other)) is same


def test_a_file_without_equations_is_not_called_changed():
    problem = cstr_problem(cstr_dynamics())
    old = json.loads(json.dumps(declaration_of(problem)))
    del old["plant"]["dynamics"]["step"]
    assert declared_changes(old, declaration_of(problem)) == []
    assert declared_problem(old).judge.judges_moves is False


@pytest.mark.parametrize("word", ["exp", "log", "sqrt", "sin", "abs", "floor"])
def test_every_function_means_the_same_to_numpy_and_casadi(word):
    import casadi

    from tcbo_pyomo.models.expression_data import FUNCTIONS
    from tcbo_pyomo.solvers.nonlinear.stored_equations import _casadi_functions

    x = casadi.SX.sym("x")
    value = casadi.Function("f", [x], [_casadi_functions()[word](x)])(0.7)
    assert float(value) == pytest.approx(float(FUNCTIONS[word](0.7)), rel=1e-15)
