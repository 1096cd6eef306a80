"""A small campaign for the tests of records, and processes that work on its file."""

from __future__ import annotations

import json
import os
import signal
import traceback
from pathlib import Path

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.models.constraints import EndAt, MaximumStep
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.records import open_campaign, start_campaign
from tcbo_pyomo.settings import settings_from
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

ALL_KILLS = os.environ.get("TCBO_ALL_KILLS") == "1"
"""Whether the numbers of the closing note are run, which take minutes, or a part of them."""
SETTINGS = settings_from({"planner": {"linear": {"solver": "dynamic_programming"}}})


def line(episodes: int = 40, **changes) -> Problem:
    """Seven places in a row; each episode of three moves starts at 2 and ends where it likes."""
    process = grid_process({"x": list(range(7))}, {"x": [-1, 0, 1]}, 0.01, units={"x": "minute"})
    fields = dict(
        name="line",
        process=process,
        start={"x": 2},
        horizon=3,
        episodes=episodes,
        kernel=SquaredExponential(1.0, 0.3),
        constraints=[MaximumStep({"x": 1})],
        output="yield_",
        output_unit="g/l",
    )
    return Problem(**{**fields, **changes})


def home(episodes: int = 40) -> Problem:
    """As `line`, but back at the start at the end of an episode."""
    return line(episodes, constraints=[MaximumStep({"x": 1}), EndAt({"x": 2})], name="home")


LONG = line(horizon=4)
"""As `line`, with four moves per episode."""


def started(path: Path, problem: Problem | None = None, seed: int = 4):
    return start_campaign(path, problem or line(), SETTINGS, seed)


def state(campaign) -> str:
    return json.dumps(campaign.campaign.state())


def again(campaign):
    """The campaign as another process finds it; it must be the same in every digit."""
    opened = open_campaign(campaign.path, campaign.problem)
    assert state(opened) == state(campaign) and opened.violations == campaign.violations
    return opened


def result_of(number: int) -> float:
    """The result of a move: any function of its number will do, if its digits matter."""
    return ((number * 7919) % 1000) / 7.0 - 60.0


def uninterrupted(moves: int, problem: Problem | None = None, seed: int = 4) -> Campaign:
    """The campaign in memory after so many moves, each told at once."""
    campaign = Campaign(problem or line(), SETTINGS, seed)
    for _ in range(moves):
        campaign.tell(campaign.ask().number, result_of(len(campaign.history.moves)))
    return campaign


def moves_of(campaign) -> list[tuple]:
    return [(m.number, m.episode, m.step, m.origin, m.decision, m.expected) for m in campaign.history.moves]


def fork(work) -> int:
    """Run `work` in a process of its own; its number. It never returns into the test."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def finished(child: int) -> int:
    """Wait for a process; its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
