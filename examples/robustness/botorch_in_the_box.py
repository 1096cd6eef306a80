"""BoTorch with its defaults on the same plants: `python botorch_in_the_box.py FOLDER SEEDS [SYSTEM ...]`

For comparison only, and no part of this package or its extras: make an environment of its own and install

    pip install torch==2.13.0 botorch     # and this package, for the plants

Every move goes where the upper confidence bound is largest within the box that one move can reach; the model is BoTorch's
`SingleTaskGP` with its default priors, fitted again after every result, and the recommendation has the largest posterior mean
on the whole domain. Results come at once. Nothing is declared but the bounds. FOLDER/botorch.csv has one row per move, which
`table.py FOLDER` shows beside the other methods; runs that it holds already are not repeated.
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from botorch.acquisition import PosteriorMean, UpperConfidenceBound
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from tcbo_pyomo import ContinuousProblem, load_problem

SYSTEMS = {"branin2d": 0.05, "hartmann3d": 0.1, "levy4d": 0.1, "michalewicz2d": 0.05, "snar": 0.1}
"""The largest move in each coordinate, as a share of its axis."""
BETA = 4.0
"""Mean plus two standard deviations."""
SEARCH = {"q": 1, "num_restarts": 10, "raw_samples": 256}
NAME = "BoTorch in the box"
COLUMNS = ["problem", "feedback", "method", "seed", "move", "regret"]


def main(folder: Path, seeds: range, systems: list[str]) -> None:
    """Make the runs that are missing."""
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "botorch.csv"
    known = _known(file)
    for system in systems:
        for seed in seeds:
            if (system, seed) in known:
                continue
            began = time.process_time()
            regrets = run(load_problem(system, "immediate", seed), SYSTEMS[system], seed)
            rows = [[system, "immediate", NAME, seed, move, regret] for move, regret in regrets]
            new = not file.exists()
            with file.open("a", newline="") as out:
                csv.writer(out).writerows([COLUMNS, *rows] if new else rows)
            seconds = time.process_time() - began
            print(f"{system}, seed {seed}: regret {regrets[-1][1]:.4g}, {seconds:.0f} s of processor time", flush=True)


def run(problem: ContinuousProblem, box: float, seed: int) -> list[tuple[int, float]]:
    """One campaign; the regret of the recommendation after half of the moves, and after all of them."""
    torch.manual_seed(seed)
    generator = np.random.default_rng(seed)
    point = torch.tensor(problem.start_state) + 0.5
    points, values, regrets = [], [], []
    whole = torch.stack([torch.zeros_like(point), torch.ones_like(point)])
    for move in range(problem.horizon + 1):
        if move > 0:
            near = torch.stack([(point - box).clamp(min=0.0), (point + box).clamp(max=1.0)])
            point = _best(UpperConfidenceBound(_model(points, values), beta=BETA), near)
        points.append(point)
        truth = problem.true_value(tuple((point - 0.5).tolist()))
        values.append(truth + np.sqrt(problem.noise) * generator.standard_normal())
        if move in (problem.horizon // 2, problem.horizon):
            best = _best(PosteriorMean(_model(points, values)), whole)
            regrets.append((move, problem.regret(tuple((best - 0.5).tolist()))))
    return regrets


def _model(points: list[torch.Tensor], values: list[float]) -> SingleTaskGP:
    """With BoTorch's own priors, scaling of the output and learned noise."""
    model = SingleTaskGP(torch.stack(points), torch.tensor(values)[:, None])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # A single value has no standard deviation; a fit that fails is tried again.
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def _best(acquisition: torch.nn.Module, bounds: torch.Tensor) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return optimize_acqf(acquisition, bounds, **SEARCH)[0][0].detach()


def _known(file: Path) -> set[tuple[str, int]]:
    if not file.exists():
        return set()
    with file.open(newline="") as lines:
        return {(row["problem"], int(row["seed"])) for row in csv.DictReader(lines)}


if __name__ == "__main__":
    first, _, last = sys.argv[2].partition("..")
    main(Path(sys.argv[1]), range(int(first), int(last or first) + 1), sys.argv[3:] or list(SYSTEMS))
