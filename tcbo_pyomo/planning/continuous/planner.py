"""The planner of continuous plants: Frank-Wolfe over trajectories, each found by the nonlinear programme (section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.profiling import timed
from tcbo_pyomo.planning.continuous.eager_move import EagerPaths
from tcbo_pyomo.planning.continuous.trajectory_oracle import TrajectoryOracle
from tcbo_pyomo.planning.continuous.trajectory_plan import PlanRecord, TrajectoryPlan
from tcbo_pyomo.planning.continuous.utility import PathMixture, PathTangent, TrajectoryUtility
from tcbo_pyomo.planning.frank_wolfe import frank_wolfe
from tcbo_pyomo.plant.situation import Location, Situation
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.settings import PlannerSettings

LOADED = PlanRecord("", "loaded", "", "", float("nan"), 0.0, ())


@dataclass(frozen=True)
class ContinuousPlan:
    """A mixture of trajectories for the rest of an episode and what led to it."""

    components: list[tuple[float, TrajectoryPlan]]
    tangent: PathTangent


class ContinuousPlanner:
    """Plans the rest of an episode on a continuous plant."""

    def __init__(self, problem: ContinuousProblem, settings: PlannerSettings) -> None:
        self.problem, self.settings = problem, settings
        if settings.gap is not None:
            raise BadInput(
                "planner.gap: a continuous plant has no certified gap, because its plans are not convex; use components"
            )
        self.oracle = TrajectoryOracle(problem, settings.nonlinear)
        # Only a single path has an eager first move.
        first_move = settings.continuous_first_move(problem.moves_can_be_undone)
        self.is_eager = first_move == "eager" and settings.components == 1
        self._eager_paths = EagerPaths(problem, self.oracle) if self.is_eager else None
        self.previous: TrajectoryPlan | None = None

    @timed("plan")
    def plan(self, utility: TrajectoryUtility, situation: Situation, generator: np.random.Generator) -> ContinuousPlan:
        """Minimise the utility over mixtures of trajectories of the rest of the episode."""
        path, actions = np.array(situation.path), np.array(situation.decisions)
        tangents: list[PathTangent] = []
        found: list[tuple[Array, TrajectoryPlan]] = []

        def extreme_point(tangent: PathTangent) -> PathMixture:
            tangents.append(tangent)
            plan = self.oracle.best_path(tangent.objective, path, actions, tangent.targets, self._unfinished(situation))
            ahead = self.oracle.measured_points(plan, len(actions))
            found.append((ahead, plan))
            return [(1.0, ahead)]

        mixture = frank_wolfe(utility, extreme_point, mix_paths, self.settings.components, self.settings.step_rule)
        components = [(weight, next(p for ahead, p in found if ahead is vertex[0][1])) for weight, vertex in mixture]
        if self._eager_paths is not None:
            begun = self._eager_paths.begin(components[0][1], tangents[0], utility, situation, generator)
            components = [(1.0, begun)]
        return ContinuousPlan(components, tangents[0])

    def choose(self, plan: ContinuousPlan, situation: Situation, generator: np.random.Generator) -> tuple[float, ...]:
        """The first action of a trajectory of the mixture: drawn, or the heaviest where the settings ask for the likeliest."""
        weights = np.array([weight for weight, _ in plan.components])
        if len(weights) == 1 or self.settings.first_move == "likeliest":
            chosen = int(weights.argmax())
        else:
            chosen = int(generator.choice(len(weights), p=weights / weights.sum()))
        self.previous = plan.components[chosen][1]
        return tuple(self.previous.actions[situation.step].tolist())

    @property
    def planned_with(self) -> str:
        """The nonlinear solver and its interface, as the settings name them."""
        return f"{self.settings.nonlinear.solver} (interface {self.settings.nonlinear.interface})"

    def _unfinished(self, situation: Situation) -> TrajectoryPlan | None:
        """The plan being followed: what is left of it is feasible, and one more warm start."""
        if self.previous is None or situation.step == 0:
            return None
        followed = self.previous.states[: situation.step + 1]
        return self.previous if np.allclose(followed, situation.path, rtol=0.0, atol=1e-5) else None

    def record(self, plan: ContinuousPlan) -> dict[str, Any]:
        """What is worth keeping of a plan, as plain data that does not depend on the clock."""
        return {
            "solver": self.oracle.solver.name,
            "components": len(plan.components),
            "utility": plan.tangent.value,
            "separates": [self.problem.describe_inputs(point) for point in plan.tangent.separated],
            "trajectories": [{"weight": weight, **component.facts()} for weight, component in plan.components],
        }

    def state(self) -> Any:
        """What a loaded campaign needs to plan the same: the plan being followed."""
        if self.previous is None:
            return None
        return {name: getattr(self.previous, name).tolist() for name in ("states", "actions", "columns")}

    def load(self, state: Any) -> None:
        """Take over what `state` returned."""
        if state is not None:
            arrays = {name: np.array(values) for name, values in state.items()}
            self.previous = TrajectoryPlan(**arrays, value=float("nan"), record=LOADED)

    def places_ahead(self, plan: ContinuousPlan | None, point: Location, step: int) -> list[Location]:
        """Points after this one on the path being followed; nothing where the plant has left it."""
        followed = self.previous
        if followed is None or not np.allclose(followed.states[step], point, rtol=0.0, atol=1e-6):
            return []
        return [tuple(state.tolist()) for state in followed.states[step + 1 :]]


def mix_paths(parts: list[tuple[float, PathMixture]]) -> PathMixture:
    """The mixture of mixtures."""
    return [(share * weight, path) for share, mixture in parts for weight, path in mixture]
