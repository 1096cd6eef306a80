"""The audit of a campaign file whose plant is a Pyomo model: what the model cannot do, and what it forbids itself, is found."""

import numpy as np
import pytest

from tcbo_pyomo.cli import main as cli
from tcbo_pyomo.models import step_equations

TANK = """
import pyomo.dae as dae
import pyomo.environ as pyo
from tcbo_pyomo import ContinuousProblem, ModelInput, ModelState, SquaredExponential, dynamics_from_model

def tank():
    m = pyo.ConcreteModel()
    m.t = dae.ContinuousSet(bounds=(0, 2.5))
    m.T = pyo.Var(m.t, bounds=(250, 500), initialize=320)
    m.Tj = pyo.Var(m.t, bounds=(290, 390), initialize=320)
    m.dT = dae.DerivativeVar(m.T, wrt=m.t)
    m.heat = pyo.Constraint(m.t, rule=lambda m, t: m.dT[t] == {rate} * (m.Tj[t] - m.T[t]))
    m.not_too_hot = pyo.Constraint(m.t, rule=lambda m, t: m.T[t] <= {hottest})
    return m

def build(feedback=None, seed=0):
    dynamics = dynamics_from_model(tank, [ModelState("T", "T", 280, 400)], [ModelInput("jacket", "Tj", 290, 390)])
    return ContinuousProblem("tank", dynamics.coordinates, dynamics, {{"T": 310.0}}, 4, 2, SquaredExponential(1.0, 0.4), 1e-4)
"""


def after(temperature, jacket):
    """The equation solved by hand."""
    return jacket + (temperature - jacket) * np.exp(-0.2 * 2.5)


@pytest.fixture
def tcbo(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tank.py").write_text(TANK.format(rate=0.2, hottest=350.0))

    def called(*arguments):
        with pytest.raises(SystemExit) as stopped:
            cli.main(list(arguments))
        captured = capsys.readouterr()
        return stopped.value.code, " ".join(captured.out.split()), " ".join(captured.err.split())

    return called


def told(tcbo, *places):
    """A campaign whose moves ended at these temperatures."""
    assert tcbo("start", "rig.db", "tank.py", "--seed", "1")[0] == 0
    for place in places:
        assert tcbo("ask", "rig.db")[0] == 0
        assert tcbo("tell", "rig.db", "0.5", "--at", f"T={place:.4f}")[0] == 0


def test_a_limit_of_the_model_is_judged_without_its_code(tcbo, tmp_path):
    warm = after(310.0, 390.0)
    told(tcbo, warm, 360.0)
    (tmp_path / "tank.py").unlink()
    code, out, _ = tcbo("audit", "rig.db")
    assert code == 1 and "rig.db: 1 violation in 2 moves of tank" in out
    assert "the model's own limit not_too_hot" in out and "T=360" in out
    assert "not_too_hot" in tcbo("status", "rig.db")[1]


def test_a_move_that_no_input_makes_is_found(tcbo):
    assert after(310.0, 390.0) < 345.0
    told(tcbo, 345.0)
    code, out, _ = tcbo("audit", "rig.db")
    assert code == 1 and "no allowed action leads to T=345" in out


def test_a_campaign_that_keeps_everything_is_all_clear(tcbo):
    told(tcbo, after(310.0, 350.0), after(after(310.0, 350.0), 300.0))
    code, out, err = tcbo("audit", "rig.db")
    assert code == 0 and "no violations in 2 moves of tank" in out and "not" not in err
    assert "not everything" not in out


def test_the_code_judges_where_the_model_is_too_large_for_the_file(tcbo, monkeypatch):
    monkeypatch.setattr(step_equations, "MOST_NUMBERS", 10)
    told(tcbo, after(310.0, 390.0), 360.0)
    code, out, err = tcbo("audit", "rig.db")
    assert code == 0 and "not everything could be checked" in out
    assert "not checked: dynamics; the problem's own code checks the dynamics: tcbo audit rig.db --problem PROBLEM.py" in err
    code, out, err = tcbo("audit", "rig.db", "--problem", "tank.py")
    assert code == 1 and "1 violation in 2 moves" in out and "not_too_hot" in out and "not checked" not in err


@pytest.mark.parametrize("changed", [{"rate": 0.21, "hottest": 350.0}, {"rate": 0.2, "hottest": 360.0}])
def test_another_model_is_refused_until_it_is_recorded(tcbo, tmp_path, changed):
    told(tcbo, after(310.0, 390.0))
    (tmp_path / "tank.py").write_text(TANK.format(**changed))
    code, _, err = tcbo("ask", "rig.db")
    assert code == 2 and "dynamics was function tank, is function tank, with other numbers" in err
    assert tcbo("amend", "rig.db", "--yes")[0] == 0 and tcbo("ask", "rig.db")[0] == 0
