"""What learning costs: a simulated campaign that learns its prior, against the same campaign that keeps it.

A ratio of 2 means that learning, with the beliefs that it makes anew, costs as much as all planning.
"""

from __future__ import annotations

from timing import Comparison, compare

from tcbo_pyomo import Campaign, load_problem, settings_from
from tcbo_pyomo.campaign.simulation import Simulation
from tcbo_pyomo.surrogate import learner

SYSTEMS = {"knorr_pyrazole": (0.0, 0.6), "lake_ypacarai": (0.0, 2.0), "branin2d": (-6.0, 2.0)}
MOVES = 60


def comparisons(repeats: int, quick: bool = False) -> list[Comparison]:
    """All rows of this file."""
    moves, times = (10, 2) if quick else (MOVES, max(3, repeats // 8))
    return [_row(name, limits, moves, times) for name, limits in SYSTEMS.items()]


def _row(name: str, limits: tuple[float, float], moves: int, repeats: int) -> Comparison:
    def campaign(fit: str, number: int) -> None:
        learner._learned.cache_clear()
        problem = load_problem(name, None, number)
        own = {"surrogate": {"prior": {"range": limits}, "fit": fit}}
        simulation = Simulation(Campaign(problem, settings_from(dict(problem.settings), own), number))
        for _ in range(moves):
            simulation._make_move()

    def ours(number: int) -> None:
        campaign("learn", number)

    def reference(number: int) -> None:
        campaign("never", number)

    return compare(f"{moves} moves of {name} with learning", ours, "the prior kept", reference, repeats, "at most 2")
