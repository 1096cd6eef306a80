"""A step under rules that couple the moves of an episode, against the linear programmes it cannot do without.

These are the programme of the best plan and, where another move is made first, the one of the plan that begins with it:
the time that HiGHS itself (`run`) needs for them, in the same step. The polytope is built and compiled before. The plant is a
reactor of 216, 504 or 2,000 states with one to three rules: a budget, and rows of a user's own.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyomo.environ as pyo
from timing import Comparison, compare

from tcbo_pyomo import (
    Campaign,
    Problem,
    ResourceBudget,
    TransitionConstraint,
    grid_process,
    load_problem,
    settings_from,
)
from tcbo_pyomo.campaign.simulation import Simulation
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

SHAPES = {"216 states": (6, 6, 6), "504 states": (7, 8, 9), "2,000 states": (10, 10, 20)}
HORIZON = 12
SETTINGS = {"planner": {"linear": {"solver": "highs"}}}
BY_PRICE = {"linear": {"solver": "dynamic_programming"}}


class TemperatureChanges(TransitionConstraint):
    """At most so many moves of an episode change the temperature."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def add_to_polytope(self, model: pyo.ConcreteModel) -> None:
        process = model.process
        temperature = process.states[:, 0]
        changes = temperature[process.pair_state] != temperature[process.successor]
        moves = zip(model.move_pair, model.visitation.values(), strict=True)
        model.temperature_changes = pyo.Constraint(expr=sum(v for pair, v in moves if changes[pair]) <= self.limit)


class Heat(TransitionConstraint):
    """What an episode may use for heating: more for a hotter place."""

    def __init__(self, limit: float) -> None:
        self.limit = limit

    def add_to_polytope(self, model: pyo.ConcreteModel) -> None:
        use = (model.process.states[model.process.pair_state, 0] - 50.0) / 10.0
        moves = zip(model.move_pair, model.visitation.values(), strict=True)
        model.heat = pyo.Constraint(expr=sum(float(use[pair]) * v for pair, v in moves if use[pair]) <= self.limit)


def reactor(shape: tuple[int, int, int], rules: int) -> Problem:
    """A reactor with the first `rules` of three coupling rules."""
    names, ends = ("temperature", "flow", "ratio"), (50.0 + 10.0 * (shape[0] - 1), 2.0, 1.0)
    starts = (50.0, 1.0, 0.0)
    axes = {
        name: np.linspace(low, high, number).round(6).tolist()
        for name, low, high, number in zip(names, starts, ends, shape, strict=True)
    }
    process = grid_process(axes, {name: (-1, 0, 1) for name in names}, 0.01)
    feed = ResourceBudget("feed", lambda left, right: 0.1 + abs(right["flow"] - left["flow"]), 2.0)
    truth = np.exp(-8.0 * ((process.scaled_states - [-0.1, -0.1, 0.2]) ** 2).sum(axis=1))
    chosen = (feed, TemperatureChanges(3), Heat(20.0))[:rules]
    start = {"temperature": 60.0, "flow": 1.0, "ratio": 0.0}
    return Problem("reactor", process, start, HORIZON, 3, SquaredExponential(1.0, 0.3), chosen, truth=truth)


class Watch:
    """Notes how long HiGHS itself runs for each plan, and which of them a step cannot do without."""

    def __init__(self) -> None:
        self.solved: list[tuple[int | None, float]] = []
        watch, solved, bounds = self, LinearProgramming._solved, LinearProgramming._bounds

        def noted_bounds(oracle, situation: Situation, first_pair: int | None):
            watch.first_pair = first_pair
            return bounds(oracle, situation, first_pair)

        def noted(oracle, *arguments):
            pair = watch.first_pair
            visitation = solved(oracle, *arguments)
            watch.solved.append((pair, oracle.last_solution.seconds))
            return visitation

        LinearProgramming._solved, LinearProgramming._bounds = noted, noted_bounds
        self._before = solved, bounds

    def stop(self) -> None:
        """Leave everything as it was."""
        LinearProgramming._solved, LinearProgramming._bounds = self._before

    def needed(self, made: int) -> float:
        """Seconds of the best plan and of the one that begins with the move made."""
        best = sum(seconds for pair, seconds in self.solved if pair is None)
        own = [seconds for pair, seconds in self.solved if pair == made]
        return best + (own[-1] if own else 0.0)


def comparisons(repeats: int, quick: bool = False) -> list[Comparison]:
    """All rows of this file; only the smallest plant when it must be quick."""
    rows = []
    for label, shape in list(SHAPES.items())[: 1 if quick else None]:
        steps = max(3, min(repeats // 4, {216: 10, 504: 6}.get(int(np.prod(shape)), 3)))
        for rules in (2,) if quick else (1, 2, 3):
            problem = reactor(shape, rules)
            problem.polytope  # noqa: B018 (built and compiled once, apart)
            name = f"{label}, {rules} rule{'s' if rules > 1 else ''}"
            rows.append(_first_ask(f"first ask, {name}", problem))
            rows.append(_steps(f"step, {name}", problem, steps))
    steps = 3 if quick else max(5, repeats // 2)
    highs, drawn = {"linear": {"solver": "highs"}}, {"first_move": "drawn"}
    return [
        *rows,
        _fuel_lake("default", highs, "MDP-BO (first_move: drawn)", {**highs, **drawn}, steps, "at most 2"),
        _fuel_lake("dynamic_programming", BY_PRICE, "highs", highs, steps, "at most 0.2"),
    ]


def _first_ask(name: str, problem: Problem) -> Comparison:
    needed = 0.0

    def ours(number: int) -> float:
        nonlocal needed
        problem.__dict__.pop("visitable", None)
        campaign, watch = Campaign(problem, settings_from(SETTINGS), number), Watch()
        began = time.perf_counter()
        move = campaign.ask()
        took, needed = time.perf_counter() - began, watch.needed(move.decision)
        watch.stop()
        return took

    return compare(name, ours, "HiGHS's run() of its two programmes", lambda number: needed, 2, "at most 3")


def _steps(name: str, problem: Problem, steps: int) -> Comparison:
    simulation, needed = Simulation(Campaign(problem, settings_from(SETTINGS), 1)), 0.0

    def ours(number: int) -> float:
        nonlocal needed
        watch = Watch()
        began = time.perf_counter()
        move = simulation._make_move()
        took, needed = time.perf_counter() - began, watch.needed(move.decision)
        watch.stop()
        return took

    return compare(name, ours, "HiGHS's run() of its two programmes", lambda number: needed, steps, "at most 3")


def _fuel_lake(
    name: str, planner: dict[str, Any], reference: str, other: dict[str, Any], repeats: int, promise: str
) -> Comparison:
    problem = load_problem("fuel_lake")
    ours, theirs = (
        Simulation(Campaign(problem, settings_from(dict(problem.settings), {"planner": chosen}), 1))
        for chosen in (planner, other)
    )
    return compare(
        f"step, fuel_lake, {name}",
        lambda number: ours._make_move() and None,
        reference,
        lambda number: theirs._make_move() and None,
        repeats,
        promise,
    )
