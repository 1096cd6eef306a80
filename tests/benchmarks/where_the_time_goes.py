"""Shares of a step: the planner's own overhead on finite plants, and IPOPT's share of a trajectory re-plan.

By the clock on the wall, on a machine that is otherwise idle: the processor's own clock takes up to a microsecond per reading,
which would be counted as overhead, and a step has some twenty of them.
"""

from __future__ import annotations

from timing import Comparison, compare

from tcbo_pyomo import Campaign, load_problem, run_campaign, settings_from
from tcbo_pyomo.campaign.simulated_plant import SimulatedPlant
from tcbo_pyomo.foundation.profiling import Section, Timings, profile

CASES = {
    "Knorr, highs": ("knorr_pyrazole", "highs", 3, "at most 0.3"),
    "Knorr, DP": ("knorr_pyrazole", "dynamic_programming", 10, "at most 0.3"),
    "lake, highs": ("lake_ypacarai", "highs", 1, "at most 0.1"),
    "lake, DP": ("lake_ypacarai", "dynamic_programming", 5, "at most 0.1"),
    "laser, DP": ("free_electron_laser", "dynamic_programming", 1, "at most 0.1"),
}
STEPS = 8


def comparisons(repeats: int, quick: bool = False) -> list[Comparison]:
    """All rows of this file."""
    rounds = max(1, repeats // 10)
    return [*(_overhead(label, *case, rounds) for label, case in CASES.items()), _ipopt_share(rounds)]


def _overhead(label: str, name: str, solver: str, episodes: int, promise: str, repeats: int) -> Comparison:
    """Seconds of a campaign's steps that are neither linear algebra nor a solver, against the seconds of the steps."""
    problem = load_problem(name, seed=1)
    chosen = {"planner": {"linear": {"solver": solver}}, "episodes": episodes}
    settings = settings_from(dict(problem.settings), chosen)
    seen: list[Timings] = []

    def ours(number: int) -> float:
        with profile() as timings:
            run_campaign(problem, settings, seed=number + 1)
        seen.append(timings)
        return timings.planner_seconds[0]

    def whole(_: int) -> float:
        return seen[-1].planner_seconds[1]

    return compare(f"planner's own overhead, {label}", ours, "all steps of the campaign", whole, repeats, promise)


def _ipopt_share(repeats: int) -> Comparison:
    """IPOPT itself and the objective that it calls, against whole re-plans: utility, warm starts and checks included."""
    problem = load_problem("branin2d", seed=1)
    seen: list[Section] = []

    def ours(number: int) -> float:
        campaign = Campaign(problem, settings_from(dict(problem.settings)), seed=number + 1)
        plant = SimulatedPlant(problem, campaign.seed)
        with profile() as timings:
            for _ in range(STEPS):
                move = campaign.ask()
                campaign.arrive(move.number, plant.make(move))
                campaign.tell(move.number, plant.measure(move))
        seen.append(next(section for _, section in timings.root.walk() if section.name == "plan"))
        return seen[-1].spent_on(("NLP solve", "NLP objective"))

    def whole(_: int) -> float:
        return seen[-1].seconds

    return compare("inside IPOPT and its objective, branin2d", ours, "whole re-plans", whole, repeats, "at least 0.6")
