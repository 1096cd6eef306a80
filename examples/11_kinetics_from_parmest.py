"""Kinetics fitted to a small table with parmest, then planned with: fit and covariance are the prior of the campaign."""

import contextlib

import numpy as np
import pandas as pd
import pyomo.environ as pyo
import pyomo_pounce  # noqa: F401  Registers the solver.
from pyomo.contrib.parmest import parmest
from pyomo.contrib.parmest.experiment import Experiment
from pyomo.opt import SolverFactory

from tcbo_pyomo import Campaign, Mechanism, Problem, SquaredExponential, grid_process
from tcbo_pyomo.knowledge.mechanism_in_words import explained_at, parameters_now


def product(x, theta):
    """A -> B -> C in a batch: B per A fed, with two rates that follow Arrhenius' law around 330 K."""
    warm = (x["temperature"] - 330.0) / 10.0
    k1, k2 = theta["k1"] * pyo.exp(theta["e1"] * warm), theta["k2"] * pyo.exp(theta["e2"] * warm)
    return k1 / (k1 - k2) * (pyo.exp(-k2 * x["time"]) - pyo.exp(-k1 * x["time"]))


# What was measured before: ten batches, synthetic, from rates that the fit has to find.
TRUE, NOISE = {"k1": 0.25, "e1": 0.45, "k2": 0.04, "e2": 0.9}, 0.01
generator = np.random.default_rng(11)
table = pd.DataFrame([{"time": t, "temperature": T} for t in (2.0, 4.0, 7.0, 10.0, 15.0) for T in (322.0, 334.0)])
table["B"] = [pyo.value(product(row, TRUE)) + NOISE * generator.standard_normal() for _, row in table.iterrows()]


class Batch(Experiment):
    """One row of the table as parmest wants it: a labelled model."""

    def __init__(self, row):
        self.row, self.model = row, None

    def get_labeled_model(self):
        m = self.model = pyo.ConcreteModel()
        m.k1, m.e1 = pyo.Var(initialize=0.2, bounds=(0.01, 2)), pyo.Var(initialize=0.3, bounds=(0, 3))
        m.k2, m.e2 = pyo.Var(initialize=0.05, bounds=(0.001, 1)), pyo.Var(initialize=0.6, bounds=(0, 3))
        m.B = pyo.Var(initialize=self.row["B"])
        names = ("k1", "e1", "k2", "e2")
        m.rows = pyo.Constraint(expr=product(self.row, {name: getattr(m, name) for name in names}) == m.B)
        m.experiment_outputs = pyo.Suffix()
        m.experiment_outputs[m.B] = self.row["B"]
        m.measurement_error = pyo.Suffix()
        m.measurement_error[m.B] = NOISE
        m.unknown_parameters = pyo.Suffix()
        m.unknown_parameters.update((getattr(m, name), pyo.value(getattr(m, name))) for name in names)
        return m


@contextlib.contextmanager
def ipopt_from_pip():
    """parmest asks for the solver `ipopt` by name; where no such program is installed, pounce from pip stands in for it."""
    own = SolverFactory.get_class("ipopt")
    if not SolverFactory("ipopt").available(exception_flag=False):
        SolverFactory.unregister("ipopt")
        SolverFactory.register("ipopt")(SolverFactory.get_class("pounce"))
    try:
        yield
    finally:
        SolverFactory.unregister("ipopt")
        SolverFactory.register("ipopt")(own)


estimator = parmest.Estimator([Batch(row) for row in table.to_dict("records")], obj_function="SSE")
with ipopt_from_pip():
    _, theta = estimator.theta_est()
    covariance = estimator.cov_est()

# A furnace that heats by at most 4 K from one batch to the next, and cannot cool down within a day.
axes = {"time": np.arange(2.0, 21.0, 2.0), "temperature": np.arange(318.0, 355.0, 4.0)}
process = grid_process(axes, {"time": (-2, -1, 0, 1, 2), "temperature": (0, 1)}, NOISE**2)
prior = Mechanism.from_estimate(product, theta, covariance, process.coordinates)
time, temperature = process.states.T
true_rates = [TRUE[f"k{i}"] * np.exp(TRUE[f"e{i}"] * (temperature - 330.0) / 10.0) for i in (1, 2)]
k1, k2 = true_rates
truth = k1 / (k1 - k2) * (np.exp(-k2 * time) - np.exp(-k1 * time))
problem = Problem(
    name="two_step_batch",
    process=process,
    start={"time": 10.0, "temperature": 318.0},
    horizon=8,
    episodes=2,
    # What the mechanism does not explain: 0.02 of B per A fed, for instance by mixing, which the fit has not seen.
    kernel=prior + SquaredExponential(variance=0.02**2, lengthscale=0.4),
    truth=truth - 0.03 * (temperature - 318.0) / 36.0,
    output="B",
)
campaign = Campaign(problem, seed=1)
for _ in range(problem.horizon * problem.episodes):
    move = campaign.ask()
    campaign.tell(move.number, problem.true_value(move.expected) + NOISE * generator.standard_normal())
for parameter in parameters_now(campaign.knowledge):
    print(f"{parameter.in_words()}, true {TRUE[parameter.name]}")
best = campaign.recommendation
print("recommended:", problem.describe(best))
mean, deviation = campaign.predict(problem.describe(best))
print(f"B = {mean:.3f} ± {deviation:.3f};", explained_at(campaign.knowledge, best).in_words(""))
assert problem.true_value(best) > problem.truth.max() - 0.02
