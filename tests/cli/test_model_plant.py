"""A campaign on a plant that is a Pyomo model, from the command line: the operator is told what to set."""

import json

import numpy as np
import pytest
from model_plants import cstr_after

from tcbo_pyomo.cli import main as cli

PROBLEM = """
from pyomo.contrib.mpc.examples.cstr.model import make_model
from tcbo_pyomo import ContinuousProblem, ModelInput, ModelState, SquaredExponential, dynamics_from_model

def reactor():
    model = make_model(horizon=1.0)
    model.conc_in[:, "A"].fix(5.0)
    model.conc_in[:, "B"].fix(0.01)
    return model

def build(feedback=None, seed=0):
    dynamics = dynamics_from_model(
        reactor,
        [ModelState("A", "conc[*,A]", 0.0, 5.0, "mol/l"), ModelState("B", "conc[*,B]", 0.0, 5.0, "mol/l")],
        [ModelInput("flow", "flow_in", 0.1, 2.0)],
    )
    return ContinuousProblem(name="cstr", coordinates=dynamics.coordinates, dynamics=dynamics, start={"A": 1.0, "B": 0.0},
                             horizon=3, episodes=2, kernel=SquaredExponential(1.0, 0.4), noise=1e-4)
"""


@pytest.fixture
def tcbo(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cstr.py").write_text(PROBLEM)

    def called(*arguments, code=0):
        with pytest.raises(SystemExit) as stopped:
            cli.main(list(arguments))
        captured = capsys.readouterr()
        assert stopped.value.code == code, captured.err
        return captured.out

    return called


def test_the_operator_is_told_what_to_set(tcbo):
    tcbo("start", "rig.db", "cstr.py", "--seed", "1")
    asked = json.loads(tcbo("ask", "rig.db", "--json"))["moves"][0]
    flow = asked["inputs"]["flow"]
    assert 0.1 <= flow <= 2.0
    assert f"step 1): set flow = {flow:.6g} -> A = " in tcbo("ask", "rig.db")
    tcbo("tell", "rig.db", "0.3")
    tcbo("ask", "rig.db")
    tcbo("tell", "rig.db", "0.2", "--at", "A=2.0", "--at", "B=1.4")
    assert "from A = 2 mol/l, B = 1.4 mol/l" in tcbo("explain", "rig.db")
    # By the differential equations no flow leads there from where the first one led, to 1 % of the axes.
    first = cstr_after(np.array([1.0, 0.0]), lambda t: flow)
    ends = [cstr_after(first, lambda t, second=second: second) for second in np.linspace(0.1, 2.0, 39)]
    assert min(np.abs(end - [2.0, 1.4]).max() for end in ends) > 0.01 * 5.0
    assert "no allowed action leads to A=2, B=1.4" in tcbo("audit", "rig.db", code=1)
    assert "discretisation error over 3 steps" in " ".join(tcbo("check", "cstr.py").split())
