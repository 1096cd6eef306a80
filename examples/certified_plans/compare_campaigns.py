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
from scipy import stats

from tcbo_pyomo import load_problem, run_campaign, settings_from


def campaign_rows(name, seed, planner, plan, episodes):
    """Regret and candidates after each episode of one campaign."""
    problem = load_problem(name, seed=seed)
    # Moves are drawn from the plan, as in the paper: it is the plans that are compared.
    fast = {"planner": {"first_move": "drawn", "linear": {"solver": "dynamic_programming"}}}
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


def comparison(table, plain, certified):
    """Both plans after each episode, and the mean difference of the regret with its 95 % interval (paired by seed)."""
    rows = []
    for (name, episode), group in table.groupby(["problem", "episode"]):
        regret = group.pivot(index="seed", columns="plan", values="regret").dropna()
        difference = regret[certified] - regret[plain]
        row = {"system": f"{name} ({len(regret)} seeds)", "after episode": episode}
        for plan in (plain, certified):
            identified = group[(group.plan == plan) & group.seed.isin(regret.index)].identified.mean()
            row[f"{plan}: mean regret, identified"] = f"{regret[plan].mean():.4f}, {identified:.0%}"
        half = stats.t.ppf(0.975, len(regret) - 1) * difference.sem() if len(regret) > 1 else float("nan")
        rows.append({**row, "paired difference, 95 %": f"{difference.mean():+.4f} ± {half:.4f}"})
    return pd.DataFrame(rows)


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
    print(comparison(pd.read_csv(chosen.output), *plans).to_string(index=False))


if __name__ == "__main__":
    main()
