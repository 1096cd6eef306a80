"""Pyomo's own CSTR as a plant, horizon 10: a re-plan against the same model built and solved in Pyomo at every step."""

from __future__ import annotations

import time

import numpy as np
import pyomo.environ as pyo
from pyomo.contrib.mpc.examples.cstr.model import make_model
from timing import Comparison, compare

from tcbo_pyomo import (
    Campaign,
    ContinuousProblem,
    ModelInput,
    ModelState,
    SquaredExponential,
    build_trajectory,
    dynamics_from_model,
    settings_from,
)
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import Section, profile
from tcbo_pyomo.planning.continuous.information_objective import InformationObjective
from tcbo_pyomo.planning.continuous.shortest_path import coasting_path
from tcbo_pyomo.planning.continuous.trajectory_oracle import TrajectoryOracle
from tcbo_pyomo.settings import NonlinearSolverSettings

HORIZON = 10
STATES = [ModelState("A", "conc[*,A]", 0.0, 5.0), ModelState("B", "conc[*,B]", 0.0, 5.0)]
INPUTS = [ModelInput("flow", "flow_in", 0.1, 2.0)]


def reactor() -> pyo.ConcreteModel:
    """The model as it ships, with its feed fixed as in its own example."""
    model = make_model(horizon=1.0)
    model.conc_in[:, "A"].fix(5.0)
    model.conc_in[:, "B"].fix(0.01)
    return model


def problem() -> ContinuousProblem:
    """A campaign of one episode on it."""
    dynamics = dynamics_from_model(reactor, STATES, INPUTS)
    return ContinuousProblem(
        name="pyomo_cstr",
        coordinates=dynamics.coordinates,
        dynamics=dynamics,
        start={"A": 1.0, "B": 0.0},
        horizon=HORIZON,
        episodes=1,
        kernel=SquaredExponential(variance=1.0, lengthscale=0.3),
        noise=1e-4,
        truth=lambda points: np.sin(points[:, 0]) + np.cos(2.0 * points[:, 1]),
    )


def comparisons(repeats: int, quick: bool = False) -> list[Comparison]:
    """All rows of this file; 10 and 64 measurements are those of a first and of a seventh episode."""
    rounds = max(1, repeats // 5)
    return [_share_of_solver(rounds), *(_against_pyomo(known, rounds) for known in (10, 64))]


def _share_of_solver(repeats: int) -> Comparison:
    """Seconds inside IPOPT, casadi and the objective they call, against whole re-plans of a campaign."""
    plant = problem()
    seen: list[Section] = []

    def ours(number: int) -> float:
        campaign = Campaign(plant, settings_from({}), seed=number + 1)
        campaign.tell(campaign.ask().number, 0.0)
        with profile() as timings:
            for _ in range(HORIZON - 2):
                move = campaign.ask()
                campaign.tell(move.number, plant.true_value(move.expected))
        seen.append(next(section for _, section in timings.root.walk() if section.name == "plan"))
        return seen[-1].spent_on(("NLP solve", "NLP objective", "one step"))

    def whole(_: int) -> float:
        return seen[-1].seconds

    return compare("inside IPOPT and casadi, Pyomo's CSTR", ours, "whole re-plans", whole, repeats, "at least 0.6")


def _against_pyomo(known: int, repeats: int) -> Comparison:
    """One solve of the compiled trajectory, against building it in Pyomo and handing it to a SolverFactory solver.

    A measurement has come in, the last of `known`: both begin with the plan that was made before it.
    """
    import pyomo_pounce  # noqa: F401  Registers the solver.

    plant = problem()
    oracle = TrajectoryOracle(plant, NonlinearSolverSettings())
    compiled, start = oracle.compiled, np.asarray(plant.start_state)
    coasting = compiled.vector(*coasting_path(plant.dynamics, start, HORIZON, np.array([1.0])))
    bounds = compiled.bounds(start[None, :], np.empty((0, 1)))
    gaps: list[float] = []

    def objective(number: int, measured: int) -> InformationObjective:
        generator = np.random.default_rng(1000 + number)  # Others than those on which the options were chosen.
        centres = generator.uniform(-0.4, 0.2, (known + 2, 2))
        weights = np.r_[1.0, -1.0, 0.05 * generator.normal(size=known)]
        return InformationObjective(plant.kernel, centres[: measured + 2], weights[: measured + 2], plant.noise)

    def before(number: int) -> Array:
        return oracle.solver.solve(objective(number, known - 1), coasting, bounds).values

    def ours(number: int) -> float:
        aim, followed = objective(number, known), before(number)
        began = time.perf_counter()
        gaps.append(oracle.solver.solve(aim, followed, bounds).objective)
        return time.perf_counter() - began

    def theirs(number: int) -> float:
        aim, followed = objective(number, known), before(number)
        programme = compiled.programme
        values = dict(zip(programme.column_names, followed.tolist(), strict=True))
        values |= dict(zip((v.name for v in programme.defined), programme.defined_values(followed), strict=True))
        factor = 1.0 / abs(aim.value(compiled.terms.points(followed, 0)))
        began = time.perf_counter()
        model = build_trajectory(plant.coordinates, plant.dynamics, start, HORIZON)
        for variable in model.component_data_objects(pyo.Var):
            if variable.name in values:
                variable.set_value(values[variable.name], skip_validation=True)
        model.aim = pyo.Objective(expr=factor * aim.expression(model, range(1, HORIZON + 1)))
        pyo.SolverFactory("pounce").solve(model)
        seconds = time.perf_counter() - began
        points = np.array([[model.state[h, c.name].value for c in plant.coordinates] for h in range(1, HORIZON + 1)])
        gaps[-1] = abs(gaps[-1] / float(aim.value(points)) - 1.0)
        return seconds

    label = f"re-plan of Pyomo's CSTR, H = 10, {known} known"
    row = compare(label, ours, "built in Pyomo, pounce", theirs, repeats, "at most 0.05")
    print(f"  {label}: the same optimum to 1e-4 in {np.mean(np.array(gaps) < 1e-4):.0%} of {len(gaps)} plans")
    return row
