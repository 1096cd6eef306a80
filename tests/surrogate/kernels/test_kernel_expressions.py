"""The Pyomo formula of every kernel: equal to its numbers, in value and derivatives; a user's kernel needs one file."""

from __future__ import annotations

import textwrap

import numpy as np
import pyomo.environ as pyo
import pytest
from continuous_plants import KERNELS as PLANT_KERNELS
from pyomo.core.expr.calculus.derivatives import Modes, differentiate

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.foundation.elementary_functions import exp, sqrt
from tcbo_pyomo.planning.continuous.compiled_trajectory import CompiledTrajectory
from tcbo_pyomo.planning.continuous.information_objective import InformationObjective
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.solvers.nonlinear.solver_by_name import nonlinear_solver
from tcbo_pyomo.surrogate.kernel_sums import sections
from tcbo_pyomo.surrogate.kernels import KERNELS

USER_KERNELS = """
    from dataclasses import dataclass

    import numpy as np

    from tcbo_pyomo.foundation.elementary_functions import exp
    from tcbo_pyomo.surrogate.kernels.kernel import Kernel
    from tcbo_pyomo.surrogate.kernels.single_feature import SingleFeature
    from tcbo_pyomo.surrogate.kernels.stationary import Stationary


    @dataclass(frozen=True)
    class Quadratic(Stationary):
        def correlation(self, distance):
            return 1.0 / (1.0 + distance**2)

        def slope(self, distance):
            return -2.0 / (1.0 + distance**2) ** 2

        def curvature(self, distance):
            return 8.0 / (1.0 + distance**2) ** 3


    @dataclass(frozen=True)
    class Bell(Stationary):
        def correlation(self, distance):
            return exp(-(distance**2))

        def slope(self, distance):
            return -2.0 * exp(-(distance**2))

        def curvature(self, distance):
            return 4.0 * exp(-(distance**2))


    class NumpyOnly(Bell):
        def correlation(self, distance):
            return np.exp(-(distance**2))


    @dataclass(frozen=True)
    class Slanted(SingleFeature):
        def feature(self, points):
            return points[:, 0]

        def feature_gradient(self, points):
            return np.eye(1, points.shape[1]).repeat(len(points), axis=0)

        def feature_hessian(self, points):
            return np.zeros((*points.shape, points.shape[1]))


    @dataclass(frozen=True)
    class Plain(Kernel):
        def __call__(self, left, right):
            return left @ right.T

        def diagonal(self, points):
            return (points**2).sum(axis=1)

        def gradient(self, left, right):
            return np.broadcast_to(right, (len(left), *right.shape))

        def hessian(self, left, right):
            return np.zeros((len(left), *right.shape, right.shape[1]))
"""


@pytest.fixture
def users_kernels(tmp_path, monkeypatch):
    (tmp_path / "own_formulas.py").write_text(textwrap.dedent(USER_KERNELS))
    monkeypatch.syspath_prepend(tmp_path)
    return lambda name: KERNELS.load(f"own_formulas:{name}")()


def as_numbers_and_as_pyomo(kernel, at_a_center):
    generator = np.random.default_rng(2)
    centers, weights = generator.uniform(-0.5, 0.5, (7, 2)), generator.normal(size=7)
    point = centers[0] if at_a_center else np.array([0.21, -0.13])
    model = pyo.ConcreteModel()
    model.x = pyo.Var([0, 1], initialize=dict(enumerate(point)))
    expression = kernel.expression([model.x[0], model.x[1]], centers, weights)
    gradient = differentiate(expression, wrt_list=[model.x[0], model.x[1]], mode=Modes.reverse_numeric)
    jet = sections(kernel, centers).jet(point[None, :], weights)
    return (pyo.value(expression), np.array(gradient)), (jet.value[0], jet.gradient[0])


def test_every_kernel_of_the_registry_is_tried():
    tried = {type(kernel).registry_name() for kernel in PLANT_KERNELS.values()}
    # A level alone is a number, which no solver plans with: it is tried as part of a sum. A mechanism is the user's formula:
    # test_linearisation.py tries it.
    assert tried | {"constant", "mechanism"} == set(KERNELS.names())


@pytest.mark.parametrize("at_a_center", [False, True])
@pytest.mark.parametrize("kernel", PLANT_KERNELS.values(), ids=list(PLANT_KERNELS))
def test_the_formula_has_the_value_and_gradient_of_the_numbers(kernel, at_a_center):
    formula, numbers = as_numbers_and_as_pyomo(kernel, at_a_center)
    assert formula[0] == pytest.approx(numbers[0], rel=1e-8)
    # At a centre the rounding of the root, 3e-6 lengthscales, is all there is of the gradient of that term.
    np.testing.assert_allclose(formula[1], numbers[1], rtol=1e-6, atol=1e-8 * np.abs(numbers[1]).max())


@pytest.mark.parametrize("name", ["Quadratic", "Bell"])
def test_a_users_kernel_gives_its_formula_by_its_correlation_alone(users_kernels, name):
    formula, numbers = as_numbers_and_as_pyomo(users_kernels(name), False)
    assert formula[0] == pytest.approx(numbers[0], rel=1e-8)
    np.testing.assert_allclose(formula[1], numbers[1], rtol=1e-6)


@pytest.mark.parametrize(("interface", "solver"), [("casadi", "ipopt"), ("pyomo", "pounce")])
def test_a_users_kernel_in_one_file_plans_through_every_interface(users_kernels, interface, solver):
    """From 0, two moves of at most 0.1 towards a single centre of information at 0.4: the path is 0.1, 0.2."""
    if interface == "pyomo":
        pytest.importorskip("pyomo_pounce")
    plane = (Coordinate("x", 0.0, 1.0),)
    compiled = CompiledTrajectory(plane, LinearDynamics.free_moves(1, BoxActions(0.1)), np.array([0.0]), 2, ())
    plan = nonlinear_solver(interface, solver, compiled.programme, compiled.terms)
    objective = InformationObjective(users_kernels("Bell"), np.array([[0.4]]), np.array([1.0]), 1.0)
    bounds = compiled.bounds(np.array([[0.0]]), np.empty((0, 1)))
    start = compiled.vector(np.array([[0.0], [0.05], [0.1]]), np.array([[0.05], [0.05]]))
    states, _ = compiled.read(plan.solve(objective, start, bounds).values)
    np.testing.assert_allclose(states.ravel(), [0.0, 0.1, 0.2], atol=1e-5)


@pytest.mark.parametrize(
    ("name", "missing"),
    [("NumpyOnly", "correlation_expression"), ("Slanted", "feature_expression"), ("Plain", "expression")],
)
def test_a_kernel_without_a_formula_is_one_line_that_says_what_to_do(users_kernels, name, missing):
    model = pyo.ConcreteModel()
    model.x = pyo.Var([0, 1])
    message = f"kernel 'own_formulas:{name}' has no Pyomo formula; give it `{missing}`, or use the interface 'casadi'"
    with pytest.raises(BadInput) as caught:
        users_kernels(name).expression([model.x[0], model.x[1]], np.ones((1, 2)), np.ones(1))
    assert str(caught.value) == message


def test_elementary_functions_of_numbers_arrays_and_expressions():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(initialize=0.25)
    for function, expected in ((exp, np.exp(0.25)), (sqrt, 0.5)):
        assert function(0.25) == function(np.float64(0.25)) == expected
        np.testing.assert_array_equal(function(np.full(2, 0.25)), np.full(2, expected))
        assert pyo.value(function(model.x)) == pytest.approx(expected)
        assert pyo.value(function(2 * model.x - 0.25)) == pytest.approx(expected)
