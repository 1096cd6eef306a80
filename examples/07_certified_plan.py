"""How good is a plan, and what do the limits cost? A boat with little fuel. Run: python 07_certified_plan.py"""

import numpy as np

from tcbo_pyomo import (
    Campaign,
    EndAt,
    MaximumStep,
    Problem,
    ResourceBudget,
    SquaredExponential,
    grid_process,
    settings_from,
)
from tcbo_pyomo.explain.as_text import explanation_text
from tcbo_pyomo.explain.explanation import explain
from tcbo_pyomo.explain.what_if import what_if
from tcbo_pyomo.explain.what_if_text import what_if_text

# A lake of 5 x 5 places; the boat may go up to two places along an axis, and has to be back at the end.
lake = grid_process(
    axes={"east": np.linspace(0, 400, 5), "north": np.linspace(0, 400, 5)},
    moves={"east": [-2, -1, 0, 1, 2], "north": [-2, -1, 0, 1, 2]},
    noise_variance=0.01,
    units={"east": "m", "north": "m"},
)
port = {"east": 0, "north": 0}


def fuel(left, right):
    """Litres: a hundredth of the metres along each axis."""
    return (abs(right["east"] - left["east"]) + abs(right["north"] - left["north"])) / 100


problem = Problem(
    name="survey",
    process=lake,
    start=port,
    horizon=8,
    episodes=2,
    kernel=SquaredExponential(variance=1.0, lengthscale=0.4),
    constraints=[MaximumStep({"east": 100, "north": 100}), EndAt(port), ResourceBudget("fuel", fuel, limit=9)],
)

# The paper plans with one linearisation. What does that path teach, what would others, and what do the limits cost?
campaign = Campaign(problem, settings_from({"utility": {"objective": "differences"}}), seed=1)
print(explanation_text(explain(campaign), problem.coordinates))

# A plan that is proven to be within 1 % of the best.
certified = Campaign(problem, settings_from({"planner": {"gap": 0.01}}), seed=1)
certified.ask()
print("\nwith planner: {gap: 0.01}:", certified.method.last_plan.certificate)

# What would another limit buy?
for name, value in (("fuel_budget", 12), ("maximum_step.east", "0.2 km"), ("horizon", 10)):
    print(what_if_text(what_if(campaign, {name: value})))
