"""Local UCB: two standard deviations, one move."""

import numpy as np
import pytest
from rival_plants import known, line, measured, method_of, plane, rng

from tcbo_pyomo import settings_from
from tcbo_pyomo.plant.actions import BoxActions, NormActions
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def test_two_standard_deviations_decide_among_the_neighbours():
    problem = line()
    method = method_of("local_ucb", problem, settings_from({}))
    # 0.4 + 2 * 0.06 beats 0.5, 0.4 + 2 * 0.04 does not; state 4 is out of reach.
    for deviation, best in ((0.06, 3), (0.04, 1)):
        knowledge = known([0, 0.5, 0, 0.4, 9], [0, 0, 0, deviation, 0])
        assert problem.process.successor[method.next_decision(Situation((2,)), knowledge, rng())] == best


@pytest.mark.parametrize("limits", [BoxActions(0.1), NormActions(0.1)])
@pytest.mark.parametrize("seed", range(3))
def test_no_point_within_reach_is_better(limits, seed):
    problem = plane(limits, start={"x": 4.0, "y": 2.0})
    surrogate = ContinuousBelief(SquaredExponential(1.0, 0.12), 2)
    generator = rng(seed)
    knowledge = measured(surrogate, generator.uniform(-0.4, 0.2, (12, 2)), generator.standard_normal(12))
    here = np.array(problem.start_state)
    method = method_of("local_ucb", problem, settings_from(dict(problem.settings)))
    action = np.array(method.next_decision(Situation((problem.start_state,)), knowledge, generator))
    assert np.allclose(limits.named(2).clip(action), action, atol=1e-12)

    axis = np.linspace(-0.1, 0.1, 81)
    wanted = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    points = np.vstack([here + limits.named(2).clip(wanted), here + action])
    bound = surrogate.mean(points) + 2.0 * surrogate.standard_deviation(points)
    assert bound[-1] >= bound[:-1].max() - 1e-6
