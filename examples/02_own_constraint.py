"""Your own constraint: a class in one file, and the same as a function that adds a linear Pyomo component."""

import numpy as np
import pyomo.environ as pyo

from tcbo_pyomo import TransitionConstraint, load_problem, run_campaign, settings_from
from tcbo_pyomo.checks.audit import audit_campaign


class RatioChanges(TransitionConstraint):
    """The feed ratio may be changed at most `limit` times in an episode (each change wastes a flush of reagent)."""

    couples_steps = True

    def __init__(self, limit):
        self.limit = limit

    def add_to_polytope(self, model):
        changes = [model.visitation[step, state, action] for step, state, action in model.MOVES if "ratio" in action]
        model.ratio_changes = pyo.Constraint(expr=sum(changes) <= self.limit)


def gentle_start(model):
    """In the first three steps the ratio stays at or below 0.2: a plain function, any linear Pyomo component."""
    early = [
        model.arrival[step, state]
        for step, state in model.arrival
        if step < 3 and model.coordinate[state, "ratio"] > 0.2
    ]
    model.gentle_start = pyo.Constraint(expr=sum(early) <= 0 if early else pyo.Constraint.Feasible)


problem = load_problem("knorr_pyrazole")
problem = problem.changed(constraints=[*problem.constraints, RatioChanges(limit=4), gentle_start])
# The maximum is sought only where an episode can go under all of these rules.
print(f"{problem.search_space.sum()} of {problem.process.number_of_states} states can be visited")
result = run_campaign(problem, settings_from(dict(problem.settings), {"episodes": 3}), seed=1)
for episode, path in enumerate(result.paths, 1):
    points = problem.process.states[path]
    print(f"episode {episode}: ratios {points[:, 1].tolist()}, changes {np.count_nonzero(np.diff(points[:, 1]))}")
# The same Pyomo rows judge the executed moves: nothing more has to be written for the audit.
print("violations:", audit_campaign(result.campaign))
print("recommended:", result.episodes[-1].recommendation)
