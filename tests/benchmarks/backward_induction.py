"""Backward induction against quantecon's on the same finite-horizon problem, and against the linear programme."""

from __future__ import annotations

import time

import numpy as np
from quantecon.markov import DiscreteDP
from quantecon.markov import backward_induction as quantecon_induction
from timing import Comparison, compare

from tcbo_pyomo import load_problem
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.plant.situation import Situation

NINE = {"x": [-1, 0, 1], "y": [-1, 0, 1]}
SIZES = {"100 states, H = 50": (10, 50), "10,000 states, H = 50": (100, 50)}


def comparisons(repeats: int, quick: bool = False) -> list[Comparison]:
    """All rows of this file; the laser with a tenth of its horizon when it must be quick."""
    rows = [_against_quantecon(label, *size, max(2, repeats // 4)) for label, size in SIZES.items()]
    return [*rows, _laser(10 if quick else 100, 2)]


def _against_quantecon(label: str, side: int, horizon: int, repeats: int) -> Comparison:
    process = grid_process({"x": range(side), "y": range(side)}, NINE, 1.0)
    oracle = DynamicProgramming(EpisodeSets(process, (), horizon))
    gradients = -np.random.default_rng(0).random((repeats + 1, process.number_of_pairs))
    pairs = process.pair_state, process.pair_action
    problems = [DiscreteDP(-gradient, process.transitions, 0.99, *pairs) for gradient in gradients]
    for problem in problems:
        problem.beta = 1.0
    np.testing.assert_allclose(oracle.values(gradients[0]), -quantecon_induction(problems[0], horizon)[0], rtol=1e-9)

    def ours(number: int) -> None:
        oracle.values(gradients[number])

    def theirs(number: int) -> None:
        quantecon_induction(problems[number], horizon)

    return compare(f"backward induction, {label}", ours, "quantecon backward_induction", theirs, repeats, "at most 1")


def _laser(horizon: int, repeats: int) -> Comparison:
    """Both oracles on the laser, for the same gradients; their values must agree."""
    problem = load_problem("free_electron_laser", seed=1)
    process = problem.process
    sets = problem.sets if horizon == problem.horizon else EpisodeSets(process, (), horizon)
    start, generator = Situation((problem.start_state,)), np.random.default_rng(0)
    weights = generator.random((repeats + 1, process.number_of_states))
    gradients = [-(process.information_rate @ weight) for weight in weights]
    exact, linear = DynamicProgramming(sets), LinearProgramming(sets, ())
    linear.compiled(start)  # Built once in a campaign; only re-plans are compared.
    reached: list[float] = []

    def ours(number: int) -> None:
        plan = exact.extreme_point(gradients[number], start, generator)
        reached.append(float(gradients[number][plan.pair] @ plan.probability))

    def reference(number: int) -> float:
        began = time.perf_counter()
        plan = linear.extreme_point(gradients[number], start, generator)
        seconds = time.perf_counter() - began
        value = float(gradients[number][plan.pair] @ plan.probability)
        if abs(value - reached[-1]) > 1e-6 * abs(value):
            raise ArithmeticError(f"backward induction found {reached[-1]!r}, the linear programme {value!r}")
        return seconds

    size = f"{horizon * process.number_of_pairs:,} pair-steps"
    return compare(f"laser, {size}, DP", ours, "laser LP (HiGHS), same value", reference, repeats, "at most 0.01")
