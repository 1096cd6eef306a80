"""Small problems, and knowledge worked out by hand, that the tests of the rivals share."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from tcbo_pyomo import Problem, grid_process, settings_from
from tcbo_pyomo.campaign.assembly import method_for
from tcbo_pyomo.errors import InfeasiblePlan
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.knowledge.history import History
from tcbo_pyomo.planning.finite.feasible_moves import FeasibleMoves
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

DP = {"planner": {"linear": {"solver": "dynamic_programming"}}}
PLANE = (Coordinate("x", 0.0, 10.0), Coordinate("y", 0.0, 5.0))


def line(states=5, noise=0.01, horizon=2, start=2, **changes):
    """States 0 .. n - 1 in a row; a move goes one to the left, stays, or goes one to the right."""
    process = grid_process({"x": list(range(states))}, {"x": [-1, 0, 1]}, noise)
    truth = np.sin(np.arange(float(states)))
    fields = dict(process=process, start=start, horizon=horizon, episodes=2, truth=truth)
    return Problem(**{"name": "line", "kernel": SquaredExponential(1.0, 0.2), "output": "f", **fields, **changes})


def grid(constraints=(), horizon=4, start=0, noise=0.01, **changes):
    """A 5 x 5 grid with moves of one step in each coordinate."""
    process = grid_process({"x": [0, 1, 2, 3, 4], "y": [0, 1, 2, 3, 4]}, {"x": [-1, 0, 1], "y": [-1, 0, 1]}, noise)
    truth = np.sin(np.arange(25.0))
    fields = dict(process=process, start=start, horizon=horizon, episodes=2, constraints=constraints, truth=truth)
    return Problem(**{"name": "grid", "kernel": SquaredExponential(1.0, 0.3), "output": "f", **fields, **changes})


def move_noise(left, right):
    """Measurements after a long move are noisier."""
    return 0.01 + 0.1 * np.abs(right - left).sum(axis=1)


def plane(limits=None, constraints=(), dynamics=None, **changes):
    """A continuous plane of 10 by 5, the action the move unless other dynamics are given."""
    fields = dict(
        name="plane",
        coordinates=PLANE,
        dynamics=dynamics or LinearDynamics.free_moves(2, limits or BoxActions(0.1)),
        start={"x": 1.0, "y": 1.0},
        horizon=4,
        episodes=1,
        kernel=SquaredExponential(1.0, 0.2),
        noise=0.01,
        constraints=constraints,
        truth=lambda points: np.sin(points[:, 0]) + np.cos(points[:, 1]),
        settings={"candidates": {"rule": "upper_confidence"}},
        output="f",
    )
    return ContinuousProblem(**{**fields, **changes})


def told_history(values):
    """A history in which each value was told after a move of its own; None stands for a pending one."""
    history = History(start=0, horizon=1000)
    for value in values:
        move = history.add(0, len(history.moves) + 1, 0, 0)
        move.arrived, move.value = 0, value
        if value is not None:
            history.told.append(move.number)
    return history


def known(mean, deviation, told=()):
    """Knowledge of a finite process with the mean and standard deviation of each state, and values told so far."""
    history = told_history(told)
    belief = SimpleNamespace(mean=np.array(mean, float), standard_deviation=np.array(deviation, float))
    return SimpleNamespace(design=belief, belief=belief, history=history, incumbent=_largest(history), goal=MAXIMISE)


def measured(surrogate, points, values, incumbent=None):
    """Knowledge of a continuous plant after measurements with little noise; `incumbent` is one more value told."""
    for point, value in zip(points, values, strict=True):
        surrogate.observe(point, value, 1e-6)
    history = told_history((*values, *([] if incumbent is None else [incumbent])))
    return SimpleNamespace(design=surrogate, belief=surrogate, history=history, incumbent=_largest(history), goal=MAXIMISE)


def _largest(history):
    """The largest value told, 0 before the first one."""
    return max((value for _, value in history.measurements), default=0.0)


def rng(seed=0):
    return np.random.default_rng(seed)


def chosen_settings(problem, method, **more):
    """The problem's own settings with a method."""
    return settings_from(dict(problem.settings), {"method": method}, more)


def method_of(name, problem, settings=None):
    """A method as a campaign makes it."""
    settings = (settings or settings_from({})).model_copy(update={"method": name})
    return method_for(problem, settings)[0]


def feasible_pairs(problem, situation):
    """All pairs of the present state that may be used now; at least one, or the situation is infeasible."""
    moves = FeasibleMoves(problem)
    found = [pair for pair in moves.affordable(situation).tolist() if moves.completes(situation, pair)]
    if not found:
        raise InfeasiblePlan("no move is left")
    return found
