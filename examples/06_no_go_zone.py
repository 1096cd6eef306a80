"""A continuous plant with a circular no-go zone and a nonlinear rule of your own; draws the path over the posterior mean."""

import numpy as np
import pyomo.environ as pyo

from tcbo_pyomo import (
    Circle,
    ContinuousProblem,
    Coordinate,
    EndAt,
    ForbiddenRegion,
    LinearDynamics,
    NormActions,
    SquaredExponential,
    TransitionConstraint,
    Violation,
    campaign_figure,
    run_campaign,
    settings_from,
)
from tcbo_pyomo.models.episode_path import EpisodePath

PRESSURE = (Coordinate("pressure", 1.0, 11.0, "bar"), Coordinate("temperature", 300.0, 400.0, "K"))


class BelowBoiling(TransitionConstraint):
    """The solvent must stay liquid: T <= T_boil(p), a curve (any smooth Pyomo expression will do)."""

    def add_to_trajectory(self, model):
        def liquid(model, point):
            return model.physical[point, "temperature"] <= 330 + 25 * pyo.log(model.physical[point, "pressure"])

        model.liquid = pyo.Constraint(model.POINTS, rule=liquid)

    def allowed_points(self, coordinates, points):
        """Where a maximum may be sought."""
        return points[:, 1] <= 330 + 25 * np.log(points[:, 0])

    def violations(self, path):
        above = path.points[:, 1] - 330 - 25 * np.log(path.points[:, 0])
        return [Violation(self.name, int(above.argmax()), f"{above.max():.2g} K too hot")] if above.max() > 1e-4 else []


def yield_of(points):
    """The black box of this example: a ridge behind the no-go zone."""
    pressure, temperature = points.T
    return np.exp(-(((pressure - 8.0) / 3.0) ** 2) - ((temperature - 360.0) / 25.0) ** 2)


problem = ContinuousProblem(
    name="no_go_zone",
    coordinates=PRESSURE,
    dynamics=LinearDynamics.free_moves(2, NormActions(0.12)),
    start={"pressure": 2.0, "temperature": 310.0},
    horizon=20,
    episodes=1,
    kernel=SquaredExponential(variance=0.2, lengthscale=0.25),
    noise=1e-4,
    constraints=[
        ForbiddenRegion(Circle({"pressure": 5.0, "temperature": 335.0}, {"pressure": 1.5, "temperature": 15.0})),
        BelowBoiling(),
        EndAt({"pressure": 3.0}),
    ],
    truth=yield_of,
    maximum=1.0,
    output="yield",
)
settings = settings_from({"candidates": {"rule": "upper_confidence", "count": 10}})
result = run_campaign(problem, settings, seed=1)
points = np.array([list(problem.describe(point).values()) for point in result.paths[0]])
for rule in problem.rules:
    assert not rule.violations(EpisodePath(problem.coordinates, points, complete=True))
print("path (bar, K):", [tuple(np.round(point, 2).tolist()) for point in points])
print("recommended:", result.episodes[-1].recommendation, "regret", round(result.episodes[-1].regret, 4))
campaign_figure(result).figure.savefig("no_go_zone.png", dpi=150)
