"""The Temperature Control Lab on the desk: two heaters, two sensors with inertia. `TCLab()` makes it hardware."""

import random
import time

import numpy as np
import pyomo.dae as dae
import pyomo.environ as pyo
from tclab import TCLabModel

from tcbo_pyomo import Campaign, ContinuousProblem, ModelInput, ModelState, SquaredExponential, dynamics_from_model

AMBIENT, STEP = 21.0, 60.0  # degrees C, seconds
POWER = {1: 200.0 / 5720.0, 2: 100.0 / 5720.0}  # K/s per % of the heaters


def heater_board():
    """The energy balances of both heaters H and of the sensors T that lag behind them."""
    model = pyo.ConcreteModel()
    model.time = dae.ContinuousSet(bounds=(0.0, STEP))
    model.side = pyo.Set(initialize=[1, 2])
    model.T, model.H = (pyo.Var(model.time, model.side, initialize=AMBIENT) for _ in range(2))
    model.Q = pyo.Var(model.time, model.side, bounds=(0.0, 100.0), initialize=0.0)
    model.dT, model.dH = (dae.DerivativeVar(v, wrt=model.time) for v in (model.T, model.H))

    @model.Constraint(model.time, model.side)
    def heater(m, t, i):
        gained = POWER[i] * m.Q[t, i] + (m.H[t, 3 - i] - m.H[t, i]) / 100
        return m.dH[t, i] == gained + (AMBIENT - m.H[t, i]) / 20

    @model.Constraint(model.time, model.side)
    def sensor(m, t, i):
        return m.dT[t, i] == (m.H[t, i] - m.T[t, i]) / 140

    return model


dynamics = dynamics_from_model(
    heater_board,
    states=[ModelState(f"T{i}", f"T[*,{i}]", 20.0, 60.0, "degC") for i in (1, 2)]
    + [ModelState(f"H{i}", f"H[*,{i}]", 20.0, 100.0, "degC") for i in (1, 2)],
    inputs=[ModelInput(f"Q{i}", f"Q[*,{i}]") for i in (1, 2)],
)
problem = ContinuousProblem(
    name="tclab",
    coordinates=dynamics.coordinates,
    dynamics=dynamics,
    start=dynamics.start,
    horizon=8,
    episodes=1,
    # What is measured depends on the sensors' temperatures; along the heaters' it does not change.
    kernel=SquaredExponential(variance=1.0, lengthscale=(0.3, 0.3, 30.0, 30.0)),
    noise=1e-2,
    output="quality",
)


def quality(warm, cool):
    """Stands for the experiment on the board, best at 45 and 30 degrees C."""
    return float(np.exp(-(((warm - 45.0) / 12.0) ** 2) - ((cool - 30.0) / 8.0) ** 2))


def let_pass(lab, seconds):
    """A real board needs the time; the simulator is moved on by hand."""
    lab.update(lab.tlast + seconds) if isinstance(lab, TCLabModel) else time.sleep(seconds)


random.seed(1)  # of the simulated sensors
campaign = Campaign(problem, seed=1)
with TCLabModel(synced=False) as lab:
    for _ in range(problem.horizon):
        move = campaign.ask()
        heating = dict(zip(dynamics.actions.names, move.decision, strict=True))
        lab.Q1(heating["Q1"])
        lab.Q2(heating["Q2"])
        let_pass(lab, STEP)
        # The sensors say where the plant has come to; the heaters have none, the model says it.
        warm, cool = lab.T1, lab.T2
        place = problem.describe(move.expected) | {"T1": max(warm, 20.0), "T2": max(cool, 20.0)}
        campaign.tell(move.number, quality(warm, cool), at=place)
        asked = ", ".join(f"{name} {value:.0f} %" for name, value in heating.items())
        foreseen = problem.describe(move.expected)
        print(f"{asked}: T1 {warm:.1f} (planned {foreseen['T1']:.1f}), T2 {cool:.1f} (planned {foreseen['T2']:.1f})")
table = campaign.experiments()
print(table[["T1", "T2", "quality"]].round(3).to_string(index=False))
print("best so far:", table.loc[table["quality"].idxmax(), ["T1", "T2", "quality"]].round(2).to_dict())
