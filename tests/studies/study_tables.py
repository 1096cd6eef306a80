"""Made-up tables of a study that look like real ones: several problems, methods, grid points, labels of all kinds."""

import numpy as np
import pandas as pd

from tcbo_pyomo import Problem
from tcbo_pyomo.library import load_problem

SEEDS = 7
RUN = ["problem", "feedback", "method", "setting", "seed", "episode", "step"]
KNORR = ("knorr_pyrazole", "episodic")
BRANIN = ("branin2d", "immediate")
LASER = ("free_electron_laser", "immediate")
SNAR = ("snar", "delayed 25")
GRID = ("lake_ypacarai", "episodic")
LONG = "a rather long label that somebody has chosen for the method no. "
MANY = [(("many", "episodic"), f"m_{i}" if i % 2 else f"{LONG}{i}", "", 24, 3, True) for i in range(9)]


def study_cases():
    """(problem, feedback), method, setting, episodes, moves per episode, whether the maximum can be identified."""
    for method in ("mdp_bo", "greedy_ucb", "costs $5 to $9"):
        yield KNORR, method, "", 6, 10, True
    for method in ("mdp_bo", "local_search_region", "truncated_snake"):
        yield BRANIN, method, "", 1, 40, False
    for method in ("mdp_bo", "stateless"):
        yield LASER, method, "", 1, 30, True
    for method in ("MDP-BO-TS", "truncated_snake"):
        yield SNAR, method, "", 1, 50, False
    for components in (1, 10, 25):
        for rule in ("credible_band", "thompson_sampling"):
            yield GRID, "mdp_bo", f"planner.components={components}, candidates.rule={rule}", 5, 12, True


def runs_table(cases=None, seeds=SEEDS):
    generator = np.random.default_rng(5)
    rows = []
    for number, ((problem, feedback), method, setting, episodes, horizon, finite) in enumerate(cases or study_cases()):
        for seed in range(1, seeds + 1):
            level = generator.uniform(0.5, 2.0)
            for move in range(1, episodes * horizon + 1):
                level *= np.exp(-generator.exponential(0.03 + 0.02 * (number % 3)))
                found = finite and level < 0.15
                regret = 0.0 if found else level
                candidates = 0 if method == "truncated_snake" else int(2 + 40 * level)
                episode, step = divmod(move - 1, horizon)
                rows.append(
                    (problem, feedback, method, setting, seed, episode + 1, step + 1, move, regret,
                     bool(found) if finite else None, candidates)
                )  # fmt: skip
    return pd.DataFrame(rows, columns=[*RUN, "move", "regret", "identified", "candidates"])


def timings_table(cases=None, seeds=SEEDS):
    generator = np.random.default_rng(6)
    rows = []
    for number, ((problem, feedback), method, setting, episodes, horizon, _) in enumerate(cases or study_cases()):
        for seed in range(1, seeds + 1):
            for episode in range(1, episodes + 1):
                for step in range(1, horizon + 1):
                    seconds = 10.0 ** (number % 4 - 4 + generator.normal(0.0, 0.2))
                    rows.append((problem, feedback, method, setting, seed, episode, step, seconds))
    return pd.DataFrame(rows, columns=[*RUN, "seconds"])


def paths_table(cases=None, seeds=2):
    """Random walks between states, or in the box; they obey no rules, which is nothing to a figure."""
    generator = np.random.default_rng(7)
    rows = []
    for (problem, feedback), method, setting, episodes, horizon, _ in cases or study_cases():
        built = load_problem(problem, feedback.split()[0])
        lower, width = (np.array([getattr(c, name) for c in built.coordinates]) for name in ("lower", "width"))
        for seed in range(1, seeds + 1):
            for episode in range(1, episodes + 1):
                place = lower
                for step in range(horizon + 1):
                    if isinstance(built, Problem):
                        nearest = np.abs((built.process.states - place) / width).sum(axis=1).argmin()
                        place = built.process.states[nearest]
                    rows.append([problem, feedback, method, setting, seed, episode, step, *place])
                    place = np.clip(place + width * generator.uniform(-0.1, 0.15, len(place)), lower, lower + width)
    most = max(len(row) for row in rows) - len(RUN)
    columns = [*RUN, *(f"coordinate_{number}" for number in range(1, most + 1))]
    return pd.DataFrame([row + [None] * (len(columns) - len(row)) for row in rows], columns=columns)


def write_study(folder, **tables):
    """The tables as a study writes them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
    return folder
