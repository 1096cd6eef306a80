"""The best point within one move, for surfaces whose answer is known in closed form."""

import numpy as np
import pytest
from continuous_plants import REACTOR, reactor_dynamics
from rival_plants import plane, rng

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.models.constraints import MaximumStep, NonDecreasing
from tcbo_pyomo.planning.continuous.best_next_point import AfterMove, best_next_point
from tcbo_pyomo.planning.continuous.one_step_moves import Reach
from tcbo_pyomo.plant.actions import BoxActions, NormActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.plant.situation import Situation


class Hill:
    """-|x - top|^2."""

    count = 1

    def __init__(self, top):
        self.top = np.array(top)

    def rough(self):
        return self

    def value(self, points):
        return -((points - self.top) ** 2).sum(axis=1, keepdims=True)

    def value_and_gradient(self, points, owner):
        return self.value(points)[:, 0], -2.0 * (points - self.top)


def best(problem, top, path=None):
    reach = Reach(problem, Situation(path or (problem.start_state,)))
    return best_next_point(Hill(top), reach, rng())


START = np.array([-0.4, -0.3])


def test_in_a_box_every_coordinate_goes_as_far_as_it_may():
    point, value = best(plane(BoxActions(0.1)), (0.0, -0.25))
    assert np.allclose(point, [-0.3, -0.25], atol=1e-6) and value == pytest.approx(-0.09, abs=1e-6)


def test_the_bounds_of_the_coordinates_are_bounds_of_the_move():
    assert np.allclose(best(plane(BoxActions(0.3)), (-0.9, -0.9))[0], [-0.5, -0.5], atol=1e-6)


def test_in_a_ball_the_nearest_point_of_the_sphere_is_found():
    point, _ = best(plane(NormActions(0.1)), (0.2, 0.3))
    assert np.allclose(point, START + 0.1 * np.array([0.6, 0.6]) / np.hypot(0.6, 0.6), atol=1e-4)
    assert np.allclose(best(plane(NormActions(0.1)), (-0.37, -0.28))[0], [-0.37, -0.28], atol=1e-6)


def test_rules_of_the_plant_are_obeyed_and_used_up():
    rules = (NonDecreasing("x"), MaximumStep({"y": 0.1}))
    point, _ = best(plane(BoxActions(0.1), rules), (-0.5, 0.0))
    assert point[0] >= -0.4 - 1e-6 and point[1] <= -0.28 + 1e-6
    assert np.allclose(point, [-0.4, -0.28], atol=1e-5)


def test_linear_dynamics_are_inverted():
    dynamics = LinearDynamics(np.diag([0.5, 0.9]), np.array([[1.0, 0.0], [0.5, 1.0]]), BoxActions(0.2))
    point, value = best(plane(dynamics=dynamics), (-0.1, -0.2))
    assert np.allclose(point, [-0.1, -0.2], atol=1e-5) and value == pytest.approx(0.0, abs=1e-9)


def test_nonlinear_dynamics_reach_what_a_search_of_the_actions_finds():
    dynamics = reactor_dynamics()
    problem = plane(dynamics=dynamics, coordinates=REACTOR, start={"temperature": 60.0, "residence": 4.0})
    reach = Reach(problem, Situation((problem.start_state,)))
    point, value = best(problem, (0.5, -0.14))
    spread = np.stack(np.meshgrid(np.linspace(20, 120, 41), np.linspace(-0.5, 0.5, 41)), axis=-1).reshape(-1, 2)
    arrivals = reach.arrivals(spread)
    inside = np.abs(arrivals).max(axis=1) <= 0.5
    assert value >= Hill((0.5, -0.14)).value(arrivals[inside]).max() - 1e-6
    assert np.abs(point).max() <= 0.5 + 1e-9


def test_actions_for_which_the_plant_has_no_answer_are_not_taken():
    class Stubborn:
        """The action is the move, but the equations cannot be solved for a rise of y above 0.03."""

        is_free_move = False

        actions = BoxActions(0.1).named(2)

        def check_dimension(self, coordinates):
            """Fits any plane."""

        def next_state(self, state, action):
            if action[1] > 0.03:
                raise SolverFailed("no solution")
            return np.asarray(state) + action

    point, _ = best(plane(dynamics=Stubborn()), (0.0, 0.0))
    assert np.allclose(point - START, [0.1, 0.03], atol=1e-4)


@pytest.mark.parametrize("limits", [BoxActions(0.1), NormActions(0.1)])
def test_gradients_are_those_of_finite_differences(limits):
    reach = Reach(plane(limits), Situation((tuple(START),)))
    after, actions = AfterMove(Hill((0.2, 0.1)), reach), rng(2).uniform(-0.1, 0.1, (10, 2))
    _, gradient = after.value_and_gradient(actions, np.zeros(10, dtype=int))
    for axis in range(2):
        step = 1e-6 * np.eye(2)[axis]
        slope = (after.value(actions + step) - after.value(actions - step))[:, 0] / 2e-6
        inside = np.abs(np.abs(actions) - 0.1).min(axis=1) > 1e-5
        assert np.allclose(slope[inside], gradient[inside, axis], atol=1e-6)
