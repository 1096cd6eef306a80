"""What the check of a plan refuses: one test per way in which visits may be wrong, for paths and for mixtures."""

import numpy as np
import pytest

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.models.constraints.end_at import EndAt
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.visitation import Visitation, mix
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.plan_check import check_visitation
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.plant.situation import Situation

PROCESS = grid_process({"x": range(4), "y": range(4)}, {"x": [-1, 0, 1], "y": [-1, 0, 1]}, 1.0)
SETS = EpisodeSets(PROCESS, (EndAt({"x": 0, "y": 0}),), 6)
START = Situation((0,))


def path(seed):
    gradient = -np.random.default_rng(seed).random(PROCESS.number_of_pairs)
    return DynamicProgramming(SETS).extreme_point(gradient, START, np.random.default_rng(0))


PLANS = {"path": path(1), "mixture": mix([(0.3, path(1)), (0.7, path(2))])}


def changed(plan, **arrays):
    return Visitation(**{name: arrays.get(name, getattr(plan, name)) for name in ("step", "pair", "probability")})


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_a_plan_is_accepted_and_its_damage_refused(plan):
    check_visitation(plan, SETS, START, "test")
    heavier = plan.probability.copy()
    heavier[0] += 1e-3
    with pytest.raises(SolverFailed, match="violates the balance of visits"):
        check_visitation(changed(plan, probability=heavier), SETS, START, "test")
    with pytest.raises(SolverFailed, match="negative or not finite"):
        check_visitation(changed(plan, probability=-plan.probability), SETS, START, "test")
    with pytest.raises(SolverFailed, match="not allowed"):
        check_visitation(changed(plan, step=plan.step + 1), SETS, START, "test")
    with pytest.raises(SolverFailed, match="violates the balance of visits"):
        check_visitation(plan, SETS, Situation((5,)), "test")


def test_a_plan_that_ends_elsewhere_is_refused():
    free = DynamicProgramming(EpisodeSets(PROCESS, (), 6))
    away = -np.where(PROCESS.successor == PROCESS.number_of_states - 1, 1.0, 0.0)
    with pytest.raises(SolverFailed, match="may end in"):
        check_visitation(free.extreme_point(away, START, np.random.default_rng(0)), SETS, START, "test")
