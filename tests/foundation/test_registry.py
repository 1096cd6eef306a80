"""The file name is the registry, "module:Class" is a user's own, and nothing else is loaded."""

import sys

import pytest

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.registry import files_of, load_user_object
from tcbo_pyomo.methods.protocol import METHODS
from tcbo_pyomo.models.constraints import EndAt, MaximumStep, TransitionConstraint
from tcbo_pyomo.problem.with_settings import CONSTRAINTS
from tcbo_pyomo.surrogate.kernels import KERNELS
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

RULE = "from tcbo_pyomo.models.constraints import TransitionConstraint\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder of a user, forgotten after the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("own_"):
            del sys.modules[name]


def test_the_names_are_the_files_whose_class_has_the_face():
    assert {"end_at", "forbidden_region", "maximum_step", "visit_budget"} <= set(CONSTRAINTS.names())
    for name in CONSTRAINTS.names():
        assert issubclass(CONSTRAINTS.load(name), TransitionConstraint)
    # Base classes and wrappers stand in the same folder and are not listed.
    assert "transition_constraint" in files_of(CONSTRAINTS.package)
    assert not {"transition_constraint", "from_function"} & set(CONSTRAINTS.names())
    assert not {"kernel", "stationary", "single_feature"} & set(KERNELS.names())


def test_a_file_name_gives_the_class_of_that_name():
    assert CONSTRAINTS.load("end_at") is EndAt
    assert CONSTRAINTS.load("maximum_step") is MaximumStep
    assert KERNELS.load("squared_exponential") is SquaredExponential


def test_a_class_without_the_face_is_refused_in_one_line(folder):
    (folder / "own_limits.py").write_text("class CoolingRate:\n    pass\n\n\ndef heating():\n    pass\n")
    with pytest.raises(BadInput, match="constraint 'own_limits:CoolingRate' is not a subclass of TransitionConstraint"):
        CONSTRAINTS.load("own_limits:CoolingRate")
    with pytest.raises(BadInput, match="constraint 'own_limits:heating' is not a class"):
        CONSTRAINTS.load("own_limits:heating")
    with pytest.raises(BadInput, match=r"method 'own_limits:CoolingRate' is not a method: it has no .*next_decision"):
        METHODS.load("own_limits:CoolingRate")


def test_an_unknown_name_lists_the_names_there_are_and_the_closest_first():
    with pytest.raises(BadInput) as caught:
        CONSTRAINTS.load("maximum_stp")
    message = str(caught.value)
    assert message.startswith("unknown constraint 'maximum_stp'; did you mean 'maximum_step'? known: ")
    assert "end_at, " in message and message.endswith("or 'my_module:MyClass'")


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../end_at",
        "./end_at",
        "end_at.py",
        "constraints.end_at",
        "tcbo_pyomo.models.constraints.end_at",
        "/etc/passwd",
        "own_limits.CoolingRate",
        "own_limits/limits:CoolingRate",
        "../own_limits:CoolingRate",
        ".own_limits:CoolingRate",
        "own_limits:",
        ":CoolingRate",
        "own_limits:Cooling.Rate",
        "own_limits:CoolingRate:x",
        "own_limits:CoolingRate\n",
        "end_at\n",
        "End_At",
        "__init__",
        "_version",
    ],
)
def test_names_with_dots_and_slashes_that_are_not_of_the_form_are_refused(name, folder):
    (folder / "own_limits.py").write_text("raise SystemExit('this file must not run')")
    with pytest.raises(BadInput, match="unknown constraint"):
        CONSTRAINTS.load(name)


def test_a_users_class_is_found_in_the_working_folder_and_in_packages_there(folder):
    (folder / "own_limits.py").write_text(f"{RULE}class CoolingRate(TransitionConstraint):\n    unit = 'K/min'\n")
    (folder / "own_study").mkdir()
    (folder / "own_study" / "rates.py").write_text(f"{RULE}class HeatingRate(TransitionConstraint):\n    pass\n")
    assert CONSTRAINTS.load("own_limits:CoolingRate").unit == "K/min"
    assert CONSTRAINTS.load("own_study.rates:HeatingRate").__name__ == "HeatingRate"


def test_a_file_in_the_working_folder_hides_nothing_installed(folder, monkeypatch):
    monkeypatch.delitem(sys.modules, "fractions", raising=False)
    (folder / "fractions.py").write_text("class Fraction:\n    fake = True\n")
    assert not hasattr(load_user_object("cost", "fractions:Fraction"), "fake")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'own_limits' has no 'CoolingRate'"),
        ("import no_such_module_anywhere", "cannot import 'own_limits' .*no_such_module_anywhere"),
        ("class CoolingRate(:", r"cannot import 'own_limits' \(SyntaxError.*line 1"),
        ("1 / 0", r"cannot import 'own_limits' \(ZeroDivisionError"),
    ],
)
def test_a_users_file_that_does_not_work_is_one_clear_error(folder, text, message):
    (folder / "own_limits.py").write_text(text)
    with pytest.raises(BadInput, match=f"constraint 'own_limits:CoolingRate': .*{message}"):
        CONSTRAINTS.load("own_limits:CoolingRate")


def test_a_missing_users_file_is_one_clear_error(folder):
    with pytest.raises(BadInput, match="cannot import 'own_nothing'"):
        CONSTRAINTS.load("own_nothing:CoolingRate")
