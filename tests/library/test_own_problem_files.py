"""Loading problems by name and from a user's own file: what works, and one clear error for everything else."""

import textwrap

import pytest

from tcbo_pyomo.errors import BadInput, InfeasiblePlan
from tcbo_pyomo.library import load_problem, problem_names

GOOD = """
    from dataclasses import dataclass
    import neighbour
    from tcbo_pyomo.library import load_problem

    @dataclass
    class Choice:
        episodes: int

    def build(feedback=None, seed=0):
        return load_problem("knorr_pyrazole", feedback).changed(name=f"mine{seed}", episodes=neighbour.EPISODES)
"""


@pytest.fixture
def write(tmp_path):
    def written(text, name="mine.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return str(path)

    return written


def test_own_file_with_a_module_beside_it(write):
    write("EPISODES = 3", "neighbour.py")
    problem = load_problem(write(GOOD), feedback="immediate", seed=7)
    assert (problem.name, problem.episodes) == ("mine7", 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\ny = x / 0\n", "line 2: ZeroDivisionError: division by zero"),
        ("def build(:\n", "line 1: SyntaxError"),
        ("import no_such_module_anywhere\n", "line 1: ModuleNotFoundError"),
        ("import sys\nsys.exit(3)\n", "line 2: SystemExit: 3"),
        ("x = 1\n", "must define a function build"),
        ("build = 3\n", "must define a function build"),
        ("def build():\n    return None\n", "build(feedback=None, seed=0)"),
        ("def build(feedback=None, seed=0):\n    return 5\n", "returned a int"),
        ("def build(feedback=None, seed=0):\n\n    raise RuntimeError('pump is off')\n", "line 3: RuntimeError: pump"),
        (
            "from tcbo_pyomo.library import load_problem\ndef build(feedback=None, seed=0):\n"
            "    return load_problem('knorr_pyrazole').changed(horizon=0)\n",
            "line 3: problem 'knorr_pyrazole': horizon 0",
        ),
    ],
)
def test_errors_in_an_own_file_name_file_and_line(write, text, message):
    path = write(text)
    with pytest.raises(BadInput) as caught:
        load_problem(path)
    assert message in str(caught.value)
    assert path in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_infeasible_problem_stays_infeasible(write):
    path = write(
        """
        from tcbo_pyomo.models.constraints.end_at import EndAt
        from tcbo_pyomo.library import load_problem

        def build(feedback=None, seed=0):
            too_far = EndAt({"residence_time": 40, "ratio": 1})
            return load_problem("knorr_pyrazole").changed(constraints=[too_far], horizon=5)
        """
    )
    with pytest.raises(InfeasiblePlan, match="line 7"):
        load_problem(path)


@pytest.mark.parametrize("name", ["knorr", "no such", "", "../knorr_pyrazole", "os", "knorr_pyrazole.py", "/tmp"])
def test_unknown_names(name):
    with pytest.raises(BadInput, match=r"unknown problem|does not exist"):
        load_problem(name)


def test_unknown_name_is_suggested():
    with pytest.raises(BadInput, match="did you mean 'knorr_pyrazole'"):
        load_problem("knorr_pyrazol")


def test_unknown_feedback():
    with pytest.raises(BadInput, match="unknown feedback 'episodical'; did you mean 'episodic'"):
        load_problem("knorr_pyrazole", feedback="episodical")


def test_every_shipped_problem_has_a_description_and_builds():
    from importlib import import_module

    assert "knorr_pyrazole" in problem_names()
    for name in problem_names():
        assert import_module(f"tcbo_pyomo.library.{name}").DESCRIPTION
        assert load_problem(name).name == name
