"""Finished campaigns made by hand, so that reports are tested without planning."""

import numpy as np
import pandas as pd
import pytest

from tcbo_pyomo.problems import load_problem
from tcbo_pyomo.settings import settings_from
from tcbo_pyomo.simulation import CampaignResult, EpisodeSummary


def finished(problem, number=3, seed=1):
    """A campaign of random feasible walks whose recommendation is the last state."""
    generator = np.random.default_rng(seed)
    process = problem.process
    paths = []
    for _ in range(number):
        path = [problem.start_state]
        for _ in range(problem.horizon):
            pair = generator.choice(list(process.pairs_of(path[-1])))
            path.append(int(process.successors_of(pair)[0]))
        paths.append(path)
    rows = [
        {"episode": e, "step": h, **process.describe(state), problem.output: generator.standard_normal()}
        for e, path in enumerate(paths, 1)
        for h, state in enumerate(path[1:], 1)
    ]
    last = process.number_of_states - 1
    summaries = [EpisodeSummary(e, process.describe(last), problem.regret(last), None, 2) for e in range(1, number + 1)]
    settings = settings_from(dict(problem.settings))
    return CampaignResult(problem, settings, seed, pd.DataFrame(rows), summaries, paths, [0, last])


@pytest.fixture(scope="session")
def knorr_result():
    return finished(load_problem("knorr_pyrazole"), number=10)


@pytest.fixture(scope="session")
def finish():
    return finished
