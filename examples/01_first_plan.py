"""A first plan: a small reactor whose residence time may only grow, planned over ten moves. Run: python 01_first_plan.py"""

import numpy as np

from tcbo_pyomo import Campaign, NonDecreasing, Problem, SquaredExponential, grid_process, settings_from

# The plant: a grid in engineering units, and the moves it can make in one step.
plant = grid_process(
    axes={"residence_time": np.linspace(0, 20, 6), "temperature": np.linspace(60, 100, 5)},
    moves={"residence_time": [-1, 0, 1], "temperature": [-1, 0, 1]},
    noise_variance=1e-3,
    units={"residence_time": "min", "temperature": "K"},
)

# The problem: where episodes start, how long they are, what the plant forbids, what we believe before measuring.
problem = Problem(
    name="first_plan",
    process=plant,
    start={"residence_time": 0, "temperature": 60},
    horizon=10,
    episodes=2,
    kernel=SquaredExponential(variance=1.0, lengthscale=0.3),
    constraints=[NonDecreasing("residence_time")],
)

# One plan over the whole episode, before anything is measured.
campaign = Campaign(problem, settings_from({"feedback": {"kind": "episodic"}}), seed=1)
for move in campaign.ask_episode():
    values = plant.describe(move.arrived)
    print(f"move {move.number:2d}: " + ", ".join(f"{name} = {value:g}" for name, value in values.items()))
