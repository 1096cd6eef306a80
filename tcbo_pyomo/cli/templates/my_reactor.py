"""my_reactor: change the numbers below to those of your plant, then

    tcbo check my_reactor/my_reactor.py --output moves.png     check it
    tcbo run my_reactor/my_reactor.py                          simulate a campaign

Everything is written in engineering units. The example is a reactor whose temperature can be changed by 10 K per
experiment and by 60 K per episode, and whose flow rate may only be lowered within an episode.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tcbo_pyomo import (
    ForbiddenRegion,
    NonIncreasing,
    PlainPrior,
    Polygon,
    Problem,
    ResourceBudget,
    grid_process,
)

DESCRIPTION = "A small reactor to start from"

# 1. The set-points: the values each input can take, and its unit.
TEMPERATURES = [300.0, 310.0, 320.0, 330.0, 340.0, 350.0, 360.0]
FLOW_RATES = [1.0, 2.0, 3.0, 4.0, 5.0]
UNITS = {"temperature": "K", "flow_rate": "mL/min"}

# 2. The moves of one step, in grid cells: temperature one cell down, none or one up, and so on.
MOVES = {"temperature": [-1, 0, 1], "flow_rate": [-1, 0, 1]}

# 3. The standard deviation of a repeated measurement, in the unit of the output; None if you do not know it.
MEASUREMENT_SD = 0.03

# 4. What you know about the output before the first measurement. In which range do you expect results? Too wide is better
#    than too narrow. Which change of an input changes the output markedly, such as {"temperature": 20.0}? The model learns
#    what you leave out, starting from a third of the axis. Is the output positive, and does it vary over orders of magnitude?
RANGE = (0.0, 1.2)
CHANGES_WITHIN: dict[str, float] = {}
POSITIVE = False

# 5. What you are after: "maximise" or "minimise" the output, or bring it to a value, {"target": 0.5}.
GOAL: Any = "maximise"

PRIOR = PlainPrior(RANGE, MEASUREMENT_SD, CHANGES_WITHIN, POSITIVE)


def build(feedback: str | None = None, seed: int = 0) -> Problem:
    """The problem; `feedback` and `seed` come from the command line."""
    process = grid_process(
        axes={"temperature": TEMPERATURES, "flow_rate": FLOW_RATES},
        moves=MOVES,
        noise_variance=PRIOR.noise_variance,
        units=UNITS,
    )
    return Problem(
        name="my_reactor",
        process=process,
        # 6. Where every episode starts, how many moves it has, how many episodes there are.
        start={"temperature": 300.0, "flow_rate": 5.0},
        horizon=10,
        episodes=4,
        prior=PRIOR,
        goal=GOAL,
        # 7. The rules of the plant. Others: EndAt, MaximumStep, NonDecreasing, VisitBudget, or your own class.
        constraints=[
            NonIncreasing("flow_rate"),
            # Hot and slow: the product decomposes and blocks the tube.
            ForbiddenRegion(Polygon(("temperature", "flow_rate"), [(344.0, 0.5), (366.0, 0.5), (366.0, 2.7)])),
            ResourceBudget("heat", heat_exchanged, limit=60.0),
        ],
        # 8. For a simulation: the true value of every state. A real plant has none: ask and tell (run.py).
        truth=pretended_yield(process.states),
        settings={"feedback": {"kind": feedback or "immediate"}},
        output="product_yield",
        description=DESCRIPTION,
    )


def heat_exchanged(left: Mapping[str, Any], right: Mapping[str, Any]) -> Any:
    """What a move uses of the budget: kelvins up or down; both arguments are `{input: values}`."""
    return abs(right["temperature"] - left["temperature"])


def pretended_yield(points: np.ndarray) -> np.ndarray:
    """Stands for the plant: the yield at n x 2 points (temperature in K, flow rate in mL/min)."""
    temperature, flow_rate = points.T
    hill = np.exp(-(((temperature - 340.0) / 25.0) ** 2)) * np.exp(-(((flow_rate - 2.0) / 2.0) ** 2))
    return RANGE[0] + 0.8 * (RANGE[1] - RANGE[0]) * hill
