"""Names, plain data and hyper-parameters of kernels."""

from __future__ import annotations

import dataclasses
import json
import textwrap

import numpy as np
import pytest

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.surrogate.features import state_factor
from tcbo_pyomo.surrogate.kernels import KERNELS, kernel_from_dict
from tcbo_pyomo.surrogate.kernels.constant import Constant
from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves
from tcbo_pyomo.surrogate.kernels.reaction_kinetics import ReactionKinetics
from tcbo_pyomo.surrogate.kernels.scaled import Scaled
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential
from tcbo_pyomo.surrogate.kernels.sum import Sum

USER_KERNEL = """
    from dataclasses import dataclass

    import numpy as np

    from tcbo_pyomo.surrogate.kernels.stationary import Stationary


    @dataclass(frozen=True)
    class Quadratic(Stationary):
        variance: float = 2.0

        def correlation(self, distance):
            return 1.0 / (1.0 + distance**2)

        def slope(self, distance):
            return -2.0 / (1.0 + distance**2) ** 2

        def curvature(self, distance):
            return 8.0 / (1.0 + distance**2) ** 3


    class NotOne:
        pass
"""


def test_every_file_is_found_by_its_name():
    assert {"matern_five_halves", "reaction_kinetics", "squared_exponential"} <= set(KERNELS.names())
    assert not {"kernel", "stationary", "single_feature"} & set(KERNELS.names())
    for name in KERNELS.names():
        assert KERNELS.load(name).registry_name() == name
    assert KERNELS.load("sum") is Sum


@pytest.mark.parametrize("name", ["squared_exponentail", "kernel", "stationary", "a.b", "../sum", "a/b:C", "", 3])
def test_unknown_names_list_the_known_ones(name):
    with pytest.raises(BadInput, match=r"unknown kernel .*known: .*squared_exponential"):
        KERNELS.load(name)


def test_a_close_name_is_suggested():
    with pytest.raises(BadInput, match=r"unknown kernel 'matern_5_halves'; did you mean 'matern_five_halves'\?"):
        KERNELS.load("matern_5_halves")


def test_a_users_kernel_is_one_class_in_one_file(tmp_path, monkeypatch, points, differences):
    (tmp_path / "study_kernels.py").write_text(textwrap.dedent(USER_KERNEL))
    monkeypatch.syspath_prepend(tmp_path)
    kernel = KERNELS.load("study_kernels:Quadratic")(lengthscale=0.3)
    assert kernel.to_dict() == {"name": "study_kernels:Quadratic", "variance": 2.0, "lengthscale": 0.3}
    assert kernel_from_dict(kernel.to_dict()) == kernel
    assert kernel.with_parameters({"variance": 3.0}).parameters == {"variance": 3.0, "lengthscale": 0.3}
    numeric = differences(lambda x: kernel.gradient(x, points + 0.1), points)
    np.testing.assert_allclose(kernel.hessian(points, points + 0.1), numeric, rtol=1e-6, atol=1e-5)
    generator = np.random.default_rng(1)
    factor = state_factor(kernel, points, "exact", None, generator)
    np.testing.assert_allclose(factor @ factor.T, kernel(points, points), atol=1e-13)
    with pytest.raises(BadInput, match=r"kernel 'study_kernels:Quadratic' gives no frequencies; use features 'exact'"):
        state_factor(kernel, points, "random_fourier", 64, generator)
    with pytest.raises(BadInput, match=r"kernel 'study_kernels:NotOne' is not a subclass of Kernel"):
        KERNELS.load("study_kernels:NotOne")
    with pytest.raises(BadInput, match="'study_kernels' has no 'Missing'"):
        KERNELS.load("study_kernels:Missing")
    with pytest.raises(BadInput, match="cannot import 'no_such_study'"):
        KERNELS.load("no_such_study:Kernel")


def test_plain_data_come_back_exactly(kernel, points):
    again = kernel_from_dict(json.loads(json.dumps(kernel.to_dict())))
    assert again == kernel and hash(again) == hash(kernel)
    np.testing.assert_array_equal(again(points, points), kernel(points, points))
    assert kernel_from_dict({"name": "squared_exponential", "lengthscale": [0.1, 1]}).lengthscale == (
        0.1,
        1.0,
    )
    odd = SquaredExponential(1 / 3, (np.float64(0.1) * 3, 2**-1074))
    assert kernel_from_dict(json.loads(json.dumps(odd.to_dict()))) == odd


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"variance": 1.0}, "must be a mapping with a 'name'; known: constant, matern"),
        ("squared_exponential", "must be a mapping with a 'name'"),
        ({"name": "sum", "kernels": []}, r"kernel 'sum': kernels \(\) must be a non-empty tuple of kernels"),
        ({"name": "scaled", "factor": 2.0}, "kernel 'scaled': missing field.s. kernel"),
        ({"name": "scaled", "factor": 2.0, "kernel": 1}, "kernel 'scaled': kernel 1 must be a kernel"),
        (
            {"name": "scaled", "factor": 0.0, "kernel": {"name": "squared_exponential"}},
            "factor 0.0 must be a positive",
        ),
        (
            {"name": "squared_exponential", "lenghtscale": 1},
            "unknown field 'lenghtscale'; did you mean 'lengthscale'?",
        ),
        (
            {"name": "squared_exponential", "lengthscale": -1},
            "lengthscale -1 must be a positive finite number",
        ),
        (
            {"name": "squared_exponential", "lengthscale": []},
            r"lengthscale \(\) must be a positive finite number",
        ),
        ({"name": "squared_exponential", "lengthscale": [1, 0]}, r"lengthscale \(1, 0\) must be a positive"),
        (
            {"name": "squared_exponential", "variance": [1, 2]},
            r"variance \(1, 2\) must be a positive finite number",
        ),
        (
            {"name": "matern_five_halves", "variance": float("nan")},
            "'matern_five_halves': variance nan must be",
        ),
        (
            {"name": "matern_five_halves", "variance": "1e-3"},
            "variance '1e-3' must be a positive finite number",
        ),
        ({"name": "matern_five_halves", "variance": True}, "variance True must be a positive finite number"),
    ],
)
def test_bad_data_are_refused_by_name_and_value(data, message):
    with pytest.raises(BadInput, match=message):
        kernel_from_dict(data)


def test_a_lengthscale_for_another_dimension_is_refused(points):
    with pytest.raises(BadInput, match=r"lengthscale \(1.0, 1.0, 1.0\) must be one number, or 2 numbers"):
        SquaredExponential(1.0, (1.0, 1.0, 1.0))(points, points)


def test_parameters_have_dotted_names_and_can_be_changed(kernel, points):
    changed = kernel.with_parameters({name: 1.5 * value for name, value in kernel.parameters.items()})
    assert type(changed) is type(kernel)
    assert changed.parameters == {name: 1.5 * value for name, value in kernel.parameters.items()}
    assert changed.with_parameters(kernel.parameters) == kernel
    assert kernel.with_parameters({}) == kernel


def test_names_of_nested_parameters():
    smooth = SquaredExponential(1.0, (0.1, 0.2))
    assert Sum((ReactionKinetics(), Scaled(2.0, smooth))).parameters == {
        "0.weight_variance": 0.0225,
        "1.factor": 2.0,
        "1.kernel.variance": 1.0,
        "1.kernel.lengthscale.0": 0.1,
        "1.kernel.lengthscale.1": 0.2,
    }
    changed = Sum((smooth, smooth)).with_parameters({"1.lengthscale.0": 0.5})
    assert changed == Sum((smooth, SquaredExponential(1.0, (0.5, 0.2))))


def test_unknown_parameters_and_changes_in_place_are_refused(kernel):
    with pytest.raises(BadInput, match=r"no parameter 'lengthscal'; .*known: "):
        kernel.with_parameters({"lengthscal": 1.0})
    field = dataclasses.fields(kernel)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(kernel, field, 1.0)


def test_sums_and_multiples_are_written_as_in_a_formula():
    a, b, c = SquaredExponential(0.5, 0.2), MaternFiveHalves(1.0, 0.3), Constant(0.0, 2.0)
    assert a + b == Sum((a, b))
    assert a + b + c == a + (b + c) == Sum((a, b, c))
    assert 2.0 * a == a * 2 == np.float64(2.0) * a == Scaled(2.0, a)
    assert 0.5 * (a + b) + c == Sum((Scaled(0.5, Sum((a, b))), c))
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (4, 2))
    np.testing.assert_array_equal((a + 3.0 * b)(points, points), a(points, points) + 3.0 * b(points, points))
    for wrong in (lambda: a + 1.0, lambda: a * b, lambda: a * True, lambda: a * np.ones(2)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(BadInput, match=r"factor -1.0 must be a positive finite number"):
        -1.0 * a
