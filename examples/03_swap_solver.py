"""Swap the solver by settings: the same campaign by HiGHS, by dynamic programming, and by a SolverFactory name."""

import time

from tcbo_pyomo import load_problem, run_campaign, settings_from

problem = load_problem("knorr_pyrazole", feedback="immediate")
for solver in ("highs", "dynamic_programming", "appsi_highs"):
    settings = settings_from(dict(problem.settings), {"episodes": 1, "planner": {"linear": {"solver": solver}}})
    began = time.perf_counter()
    result = run_campaign(problem, settings, seed=1)
    took = time.perf_counter() - began
    print(
        f"{solver:20s} {took / problem.horizon * 1000:7.1f} ms per move, recommends {result.episodes[-1].recommendation}"
    )
print("which solvers work here: tcbo solvers")
