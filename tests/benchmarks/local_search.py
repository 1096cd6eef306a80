"""One step of local search on branin2d: ours, and our planned step, against BoTorch's and BoFire's where installed.

Neither is a dependency: a row whose package is missing is left out, aloud. The step is what a user waits for after a
result: condition on it and choose a point within reach of one move. BoTorch keeps the kernel fixed, as we do, and
searches with its documentation's usual 10 restarts from 512 raw samples; BoFire's strategy does what it does by default:
refit the hyper-parameters, then search locally and globally (LSR-BO, Paulson et al. 2023).
"""

from __future__ import annotations

import importlib.util
import warnings

import numpy as np
from timing import Comparison, compare

from tcbo_pyomo import Campaign, load_problem, settings_from
from tcbo_pyomo.campaign.simulated_plant import SimulatedPlant

MEASURED = 30


def missing() -> list[str]:
    """The packages whose rows are left out."""
    return [package for package in ("botorch", "bofire") if importlib.util.find_spec(package) is None]


def comparisons(repeats: int, quick: bool = False) -> list[Comparison]:
    """All rows of this file whose packages are installed."""
    rounds = max(2, repeats // 10)
    rows = []
    references = {
        "botorch": ("BoTorch: fixed GP, LogEI in one move's box", botorch_step),
        "bofire": ("BoFire: SoboStrategy with LSRBO", bofire_step),
    }
    for package, (name, reference) in references.items():
        if package in missing():
            continue
        for method in ("local_search_region", "mdp_bo"):
            run = OurStep(method, MEASURED + rounds + 2)
            rows.append(compare(f"step, branin2d, {method}", run.step, name, reference(run), rounds, ""))
    return rows


class OurStep:
    """A campaign with some measurements, and the result that arrives in each round."""

    def __init__(self, method: str, budget: int) -> None:
        self.problem = load_problem("branin2d", seed=1)
        self.campaign = Campaign(self.problem, settings_from(dict(self.problem.settings), {"method": method}), seed=1)
        self.plant = SimulatedPlant(self.problem, self.campaign.seed)
        walk = np.random.default_rng(2)
        for _ in range(MEASURED):
            # A random walk, so that every method has the same measurements to start from.
            move = self.campaign.ask() if not self.campaign.history.moves else self._random_move(walk)
            self._make(move)

    def _random_move(self, generator: np.random.Generator):
        situation = self.campaign.history.situation()
        state = np.array(situation.state)
        target = np.clip(state + generator.uniform(-0.05, 0.05, len(state)), -0.5, 0.5)
        decision = tuple((target - state).tolist())
        expected = self.problem.expected_arrival(situation.state, decision)
        return self.campaign.history.add(situation.state, situation.step + 1, decision, expected)

    def _make(self, move) -> None:
        self.campaign.arrive(move.number, self.plant.make(move))
        self.campaign.tell(move.number, self.plant.measure(move))

    def step(self, number: int) -> None:
        """Ask for a move, make it and tell its result."""
        self._make(self.campaign.ask())

    @property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Points in unit coordinates and values of everything told."""
        told = self.campaign.history.measurements
        return np.array([move.arrived for move, _ in told]) + 0.5, np.array([value for _, value in told])


def botorch_step(run: OurStep):
    """A function of the round that makes BoTorch's step on the same data."""
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from gpytorch.kernels import RBFKernel, ScaleKernel

    torch.set_num_threads(1)
    kernel = run.problem.kernel

    def step(number: int) -> None:
        points, values = (torch.as_tensor(array, dtype=torch.double) for array in run.data)
        covariance = ScaleKernel(RBFKernel()).double()
        covariance.outputscale, covariance.base_kernel.lengthscale = kernel.variance, kernel.lengthscale
        noise = torch.full_like(values[:, None], run.problem.noise)
        model = SingleTaskGP(points, values[:, None], noise, covar_module=covariance, outcome_transform=None)
        model.eval()
        here = points[-1]
        box = torch.stack([(here - 0.05).clamp(0.0, 1.0), (here + 0.05).clamp(0.0, 1.0)])
        improvement = LogExpectedImprovement(model, best_f=values.max())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            optimize_acqf(improvement, bounds=box, q=1, num_restarts=10, raw_samples=512)

    return step


def bofire_step(run: OurStep):
    """A function of the round that makes BoFire's step on the same data."""
    import pandas as pd
    import torch
    from bofire.data_models.domain.api import Domain, Inputs, Outputs
    from bofire.data_models.features.api import ContinuousInput, ContinuousOutput
    from bofire.data_models.objectives.api import MaximizeObjective
    from bofire.data_models.strategies.api import LSRBO, BotorchOptimizer, SoboStrategy
    from bofire.strategies.api import map as strategy_from

    torch.set_num_threads(1)
    keys = [coordinate.name for coordinate in run.problem.coordinates]
    inputs = [ContinuousInput(key=key, bounds=(0, 1), local_relative_bounds=(0.05, 0.05)) for key in keys]
    outputs = [ContinuousOutput(key="y", objective=MaximizeObjective())]
    domain = Domain(inputs=Inputs(features=inputs), outputs=Outputs(features=outputs))
    optimizer = BotorchOptimizer(local_search_config=LSRBO())

    def step(number: int) -> None:
        points, values = run.data
        experiments = pd.DataFrame(points, columns=keys).assign(y=values, valid_y=1)
        strategy = strategy_from(SoboStrategy(domain=domain, acquisition_optimizer=optimizer, seed=number))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            strategy.tell(experiments)
            strategy.ask(1)

    return step
