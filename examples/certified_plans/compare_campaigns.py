"""Does a better-solved plan give a better campaign? N = 1 against a certified gap, the same seeds and noise for both.

python compare_campaigns.py knorr_pyrazole --seeds 25 --gap 0.01 --output knorr.csv

One row per campaign and episode is added to the file as soon as a campaign ends; what the file has is not run again.
"""

import argparse
import os
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pandas as pd

from tcbo_pyomo import load_problem, run_campaign, settings_from


def campaign_rows(name, seed, planner, plan, episodes):
    """Regret and candidates after each episode of one campaign."""
    problem = load_problem(name, seed=seed)
    fast = {"planner": {"linear": {"solver": "dynamic_programming"}}}
    settings = settings_from(dict(problem.settings), fast, {"planner": planner, "episodes": episodes})
    began = time.perf_counter()
    result = run_campaign(problem, settings, seed)
    seconds = time.perf_counter() - began
    return [
        {
            "problem": name,
            "plan": plan,
            "seed": seed,
            "episode": summary.episode,
            "regret": summary.regret,
            "identified": summary.identified,
            "candidates": summary.candidates,
            "campaign_seconds": round(seconds, 1),
        }
        for summary in result.episodes
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("problem")
    parser.add_argument("--seeds", type=int, default=25)
    parser.add_argument("--gap", type=float, default=0.01)
    parser.add_argument("--episodes", type=int, default=None)
    parser.add_argument("--output", type=Path, required=True)
    chosen = parser.parse_args()
    table = pd.read_csv(chosen.output) if chosen.output.exists() else pd.DataFrame(columns=["problem", "plan", "seed"])
    plans = {"N = 1": {"components": 1}, f"gap {chosen.gap:g}": {"gap": chosen.gap}}
    for seed in range(1, chosen.seeds + 1):
        for plan, planner in plans.items():
            if ((table.problem == chosen.problem) & (table.plan == plan) & (table.seed == seed)).any():
                continue
            rows = pd.DataFrame(campaign_rows(chosen.problem, seed, planner, plan, chosen.episodes))
            rows.to_csv(chosen.output, mode="a", header=not chosen.output.exists(), index=False)
    table = pd.read_csv(chosen.output)
    summary = table.groupby(["plan", "episode"]).agg(
        campaigns=("seed", "nunique"),
        identified=("identified", "mean"),
        median_regret=("regret", "median"),
        mean_regret=("regret", "mean"),
        candidates=("candidates", "mean"),
    )
    print(summary.round(4).to_string())


if __name__ == "__main__":
    main()
