"""Free moves without limits of their own: one move leads anywhere in the box, and a rule limits it in engineering units."""

import numpy as np

from tcbo_pyomo import Campaign, ContinuousProblem, Coordinate, LinearDynamics, MaximumStep, PlainPrior, settings_from


def enzyme(rules):
    return ContinuousProblem(
        name="enzyme",
        coordinates=(Coordinate("temperature", 30, 55, "degC"), Coordinate("pH", 6.5, 8.5)),
        dynamics=LinearDynamics.free_moves(2),
        start={"temperature": 35, "pH": 7.0},
        horizon=3,
        episodes=1,
        prior=PlainPrior(range=(0, 100), measurement_sd=1.0),
        constraints=rules,
    )


def test_any_corner_is_one_move_from_any_other():
    dynamics = LinearDynamics.free_moves(3)
    lower, upper = dynamics.actions.bounds()
    for corner in np.array(np.meshgrid(*[[-0.5, 0.5]] * 3)).reshape(3, -1).T:
        move = -2 * corner
        assert (lower <= move).all() and (move <= upper).all()
        assert np.array_equal(dynamics.next_state(corner, move), -corner)


def test_a_rule_in_engineering_units_is_the_limit():
    problem = enzyme([MaximumStep({"temperature": 4, "pH": 0.3})])
    campaign = Campaign(problem, settings_from({"candidates": {"count": 5}}), seed=1)
    place = {"temperature": 35.0, "pH": 7.0}
    for _ in range(3):
        move = campaign.ask()
        arrived = problem.describe(move.expected)
        assert abs(arrived["temperature"] - place["temperature"]) <= 4 + 1e-4
        assert abs(arrived["pH"] - place["pH"]) <= 0.3 + 1e-5
        campaign.tell(move.number, 40.0)
        place = arrived
