"""A run that is interrupted anywhere goes on with the moves of an uninterrupted one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE

from tcbo_pyomo import Campaign, load_problem, run_campaign, settings_from
from tcbo_pyomo.campaign.simulation import Simulation
from tcbo_pyomo.records import open_campaign
from tcbo_pyomo.records.json_file import resume_simulation, save_simulation

DP = {"planner": {"linear": {"solver": "dynamic_programming"}}, "episodes": 2}


class InterruptedAfter:
    """A callback-like counter that raises KeyboardInterrupt at the n-th call of a function."""

    def __init__(self, function, calls):
        self.function, self.left = function, calls

    def __call__(self, *arguments):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return self.function(*arguments)


@pytest.mark.parametrize("where", ["make", "measure"])
@pytest.mark.parametrize("calls", [1, 7, 14])
@pytest.mark.parametrize("feedback", ["immediate", "episodic"])
def test_interrupted_runs_go_on_bit_for_bit(tmp_path, where, calls, feedback):
    problem = load_problem("knorr_pyrazole", feedback)
    settings = settings_from(dict(problem.settings), DP)
    whole = run_campaign(problem, settings, 3)
    stopped = Simulation(Campaign(problem, settings, 3))
    setattr(stopped.plant, where, InterruptedAfter(getattr(stopped.plant, where), calls))
    with pytest.raises(KeyboardInterrupt):
        stopped.run()
    save_simulation(stopped, tmp_path / "unfinished.json")
    resumed = resume_simulation(tmp_path / "unfinished.json", problem).run()
    assert resumed.experiments.equals(whole.experiments)
    assert resumed.episodes == whole.episodes and resumed.steps == whole.steps


SLOW_HILL = """
import sys
from tcbo_pyomo import load_problem

def build(feedback=None, seed=0):
    problem = load_problem("branin2d", feedback)

    def truth(points):
        print("measured", file=sys.stderr, flush=True)
        return problem.truth(points)

    return problem.changed(truth=truth)
"""


def _ordinary_signals():
    """Tests may run where requests to end are ignored, which children inherit."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for request in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(request, signal.SIG_DFL)


@pytest.mark.parametrize("request_", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_stops_a_continuous_run_within_seconds_and_it_can_be_resumed(tmp_path, request_):
    (tmp_path / "hill.py").write_text(SLOW_HILL)
    command = [sys.executable, "-m", "tcbo_pyomo", "run", "hill.py", "--seed", "2", "--output", "run"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    process = subprocess.Popen(
        [*command, "--set", "candidates.count=5"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_ordinary_signals,
    )
    for _ in range(12):  # a few moves are made, each judged after it
        assert process.stderr.readline().strip() == "measured"
    process.send_signal(request_)
    _, err = process.communicate(timeout=PATIENCE)
    # It ends within its plan, or soon after if the machine is too busy to deliver the signal at once.
    assert err.count("measured") < 10
    assert process.returncode == 130 and "Traceback" not in err and "--resume" in err
    problem = load_problem("branin2d")
    made = open_campaign(tmp_path / "run", problem).history.moves
    assert 3 < len(made) < 101
    again = Simulation(Campaign(problem, settings_from(dict(problem.settings), {"candidates": {"count": 5}}), 2))
    for move in made:
        asked = again.campaign.ask()
        assert asked.expected == move.arrived
        again.campaign.arrive(asked.number, again.plant.make(asked))
        again.campaign.tell(asked.number, again.plant.measure(asked))
