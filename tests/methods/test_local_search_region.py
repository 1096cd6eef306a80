"""LSR: the local and the global branch, on beliefs for which the answer is known."""

import numpy as np
import pytest
from rival_plants import grid, measured, method_of, plane, rng

from tcbo_pyomo import settings_from
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.methods.local_search_region import WORTHWHILE
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.surrogate.acquisition import ImprovementSurface
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def line_of_length_one(**changes):
    dynamics = LinearDynamics.free_moves(1, BoxActions(0.1))
    axis = (Coordinate("x", 0.0, 1.0),)
    return plane(dynamics=dynamics, coordinates=axis, start={"x": 0.2}, kernel=SquaredExponential(1.0, 0.1), **changes)


def decide(problem, knowledge, seed=0, at=-0.3):
    method = method_of("local_search_region", problem, settings_from(dict(problem.settings)))
    return method.next_decision(Situation(((at,),)), knowledge, rng(seed))[0]


def improvement_around(surrogate, incumbent, at=-0.3):
    points = np.linspace(at - 0.1, at + 0.1, 401)[:, None]
    return points[:, 0], ImprovementSurface(surrogate, incumbent).value(points)[:, 0]


def test_a_worthwhile_local_improvement_is_gone_to():
    surrogate = ContinuousBelief(SquaredExponential(1.0, 0.1), 1)
    knowledge = measured(surrogate, [[-0.3], [-0.2], [-0.42]], [0.5, 0.9, 0.0])
    points, improvement = improvement_around(surrogate, 0.9)
    assert improvement.max() > WORTHWHILE
    # The best point is between the two measurements, nearer than the move may go.
    best = points[improvement.argmax()]
    assert -0.3 < best < -0.2
    assert decide(line_of_length_one(), knowledge) == pytest.approx(best + 0.3, abs=1e-3)


def test_without_a_worthwhile_one_the_global_maximiser_is_approached_with_a_clipped_move():
    # The left part is measured densely and low; only the far right is unknown.
    places = np.arange(-0.5, 0.21, 0.05)
    surrogate = ContinuousBelief(SquaredExponential(1.0, 0.1), 1)
    knowledge = measured(surrogate, places[:, None], np.zeros(len(places)), incumbent=1.0)
    assert improvement_around(surrogate, 1.0)[1].max() < WORTHWHILE
    assert decide(line_of_length_one(), knowledge) == pytest.approx(0.1)
    assert improvement_around(surrogate, 1.0, at=0.4)[1].max() > WORTHWHILE


def test_the_global_branch_stops_at_its_target():
    """All that is left to gain lies within one move, and is less than gamma: the move is not longer than needed."""
    places = np.array([*np.arange(-0.5, 0.31, 0.05), 0.4, 0.5])
    surrogate = ContinuousBelief(SquaredExponential(1.0, 0.1), 1)
    knowledge = measured(surrogate, places[:, None], np.zeros(len(places)), incumbent=0.25)
    points, improvement = improvement_around(surrogate, 0.25, 0.4)
    inside = points <= 0.5
    best = points[inside][improvement[inside].argmax()]
    assert improvement[inside].max() < WORTHWHILE
    assert decide(line_of_length_one(), knowledge, at=0.38) == pytest.approx(best - 0.38, abs=2e-3)


def test_pairs_that_make_no_sense_are_refused_with_the_reason():
    with pytest.raises(BadInput, match=r"local_search_region.*'grid' has a finite process; use mdp_expected"):
        method_of("local_search_region", grid(), settings_from({}))
    for feedback in ({"kind": "episodic"}, {"kind": "delayed", "delay": 3}):
        with pytest.raises(BadInput, match=f"local_search_region.*feedback is '{feedback['kind']}'.*truncated_snake"):
            method_of("local_search_region", plane(), settings_from({"feedback": feedback}))
