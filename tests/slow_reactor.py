"""A stirred reactor with thermal inertia: in twelve moves it gets to some 307 to 340 K, its axis has 300 to 345 K."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import NonlinearDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

COORDINATES = (Coordinate("temperature", 300.0, 345.0, "K"), Coordinate("flow", 1.0, 3.0, "L/min"))
FEED, STEP, HEAT, VOLUME = 310.0, 0.35, 6000.0, 10.0
JACKET, CHANGE = (290.0, 350.0), (-0.15, 0.15)
START = (328.0, 2.0)
MOVES = 12


def after(temperature, flow, jacket, change, exp):
    """The next temperature and flow: feed, jacket and a mildly exothermic reaction over one step."""
    released = HEAT * exp(-2500.0 / temperature) / (1.0 + 0.2 * flow)
    warming = flow / VOLUME * (FEED - temperature) + 0.2 * (jacket - temperature) + released
    return temperature + STEP * warming, flow + change


def dynamics_of(model: pyo.ConcreteModel, step: int) -> dict[str, object]:
    temperature, flow = model.physical[step, "temperature"], model.physical[step, "flow"]
    jacket, change = model.action[step, "jacket"], model.action[step, "flow_change"]
    return dict(zip(("temperature", "flow"), after(temperature, flow, jacket, change, pyo.exp), strict=True))


def cold_is_best(points: Array) -> Array:
    """Grows towards the cold edge of the axis, which the reactor does not get to."""
    return 1.0 - ((points[:, 0] - 300.0) / 45.0) ** 2 - 0.3 * (points[:, 1] - 2.3) ** 2


def hot_is_best(points: Array) -> Array:
    """Grows towards the hot edge of the axis."""
    return 1.0 - ((points[:, 0] - 345.0) / 45.0) ** 2 - 0.3 * (points[:, 1] - 1.4) ** 2


def slow_reactor(truth=cold_is_best, episodes: int = 2, **fields) -> ContinuousProblem:
    actions = BoxActions({"jacket": JACKET, "flow_change": CHANGE})
    return ContinuousProblem(
        name="slow_reactor",
        coordinates=COORDINATES,
        dynamics=NonlinearDynamics(COORDINATES, dynamics_of, actions),
        start=dict(zip(("temperature", "flow"), START, strict=True)),
        horizon=MOVES,
        episodes=episodes,
        kernel=SquaredExponential(0.3, 0.4),
        noise=1e-4,
        truth=truth,
        **fields,
    )


def build(feedback=None, seed=0) -> ContinuousProblem:
    """As the problem file of a user."""
    return slow_reactor(hot_is_best, episodes=1)


def brute_force(drawn: int = 200_000) -> Array:
    """Points (engineering units) after every move of many action sequences that stay within the axes.

    Jackets: every pair of three levels switched once, at every move, and random levels; flows: constant and random changes.
    """
    generator, switches = np.random.default_rng(0), np.arange(MOVES + 1)
    levels = np.linspace(*JACKET, 3)
    pairs = np.array([(a, b, s) for a in levels for b in levels for s in switches])
    first, second, switch = (pairs[generator.integers(len(pairs), size=drawn)].T)[:, :, None]
    jackets = np.where(np.arange(MOVES) < switch, first, second)
    jackets[: drawn // 3] = generator.choice(np.linspace(*JACKET, 5), (drawn // 3, MOVES))
    changes = generator.uniform(*CHANGE, (drawn, 1)) * np.ones(MOVES)
    changes[::3] = generator.uniform(*CHANGE, changes[::3].shape)
    state, alive, points = np.tile(START, (drawn, 1)), np.ones(drawn, dtype=bool), []
    for move in range(MOVES):
        state = np.column_stack(after(*state.T, jackets[:, move], changes[:, move], np.exp))
        alive &= ((state >= [300.0, 1.0]) & (state <= [345.0, 3.0])).all(axis=1)
        points.append(state[alive])
    return np.concatenate(points)
