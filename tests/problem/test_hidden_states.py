"""States that the black box does not see, and inputs that are actions or expressions, against answers known by hand."""

import numpy as np
import pytest

from tcbo_pyomo import (
    BadInput,
    BlackBoxInput,
    BoxActions,
    Campaign,
    ContinuousProblem,
    Coordinate,
    MaximumStep,
    NonlinearDynamics,
    SquaredExponential,
)
from tcbo_pyomo.checks.audit import audit_campaign
from tcbo_pyomo.problem.declaration import declaration_of, declared_problem

X, Y, AGE = Coordinate("x", 0.0, 10.0), Coordinate("y", 0.0, 1.0), Coordinate("age", 0.0, 50.0, "h")
# No start in the middle of the box: left and right would be equally good, and rounding would choose.
ACTIONS = BoxActions({"push": (-1.0, 1.0), "valve": (0.0, 1.0)})


def seen_only(model, step):
    x, y = (model.physical[step, name] for name in ("x", "y"))
    return {"x": x + model.action[step, "push"] * (1 - 0.5 * y), "y": 0.7 * y + 0.3 * model.action[step, "valve"]}


def with_age(model, step):
    return {**seen_only(model, step), "age": 0.9 * model.physical[step, "age"] + 0.5 * model.action[step, "valve"]}


def problem_on(coordinates, function, start, **more):
    return ContinuousProblem(
        name="plant",
        coordinates=coordinates,
        dynamics=NonlinearDynamics(coordinates, function, ACTIONS),
        start=start,
        **{"horizon": 4, "episodes": 1, "noise": 1e-3, "output": "f"} | more,
        kernel=SquaredExponential(variance=1.0, lengthscale=0.3),
        truth=lambda points: np.sin(points[:, 0]) + np.cos(3 * points[:, -1]),
    )


def plain(**more):
    return problem_on((X, Y), seen_only, {"x": 3.7, "y": 0.5}, **more)


def hidden(**more):
    return problem_on((X, Y, AGE), with_age, {"x": 3.7, "y": 0.5, "age": 10.0}, inputs=["x", "y"], **more)


def finished(problem):
    campaign, generator = Campaign(problem, seed=1), np.random.default_rng(5)
    while not campaign.finished:
        move = campaign.ask()
        campaign.tell(move.number, problem.true_value(move.expected) + 0.03 * generator.standard_normal())
    return campaign


def assert_same_moves(one, other, number=3):
    """The first moves are equal to what IPOPT stops at; all lead to the same place, to 0.5 % of each axis.

    Two programmes of different size end at slightly different points of a flat optimum, and results follow from these.
    """
    decisions = ([move.decision for move in campaign.history.moves[:number]] for campaign in (one, other))
    np.testing.assert_allclose(*decisions, atol=1e-3)
    seen = (c.problem.observed(np.array([move.arrived for move in c.history.moves])) for c in (one, other))
    np.testing.assert_allclose(*seen, atol=5e-3)


def test_a_hidden_state_that_matters_for_nothing_changes_no_move():
    campaign = finished(hidden())
    assert_same_moves(campaign, finished(plain()))
    route, best = campaign.route, campaign.problem.describe(campaign.recommendation)
    assert set(best) == {"x", "y", "age"} and route[-1]["at"] == best
    assert all(len(candidate) == 2 for candidate in campaign.candidates)
    assert campaign.predict({"x": 3.0, "y": 0.4}) == campaign.predict({"x": 3.0, "y": 0.4, "age": 40.0})


def test_an_expression_that_is_a_coordinate_changes_no_move():
    same = BlackBoxInput("position", lambda plant: plant["x"], 0.0, 10.0)
    campaign = finished(plain(inputs=[same, "y"]))
    assert_same_moves(campaign, finished(plain()))
    assert list(campaign.problem.describe_inputs((0.0, 0.0))) == ["position", "y"]


VOLUME, HEAT = Coordinate("volume", 1.0, 20.0, "L"), Coordinate("heat", 20.0, 120.0, "K")


def fill(model, step):
    change = model.action[step, "feed"] - model.action[step, "flow"]
    return {"volume": model.physical[step, "volume"] + 2.0 * change, "heat": model.physical[step, "heat"]}


def tank(**more):
    limits = BoxActions({"feed": (0.5, 2.0), "flow": (0.5, 2.0)})
    time = BlackBoxInput("residence_time", lambda plant: plant["volume"] / plant["flow"], 0.5, 40.0, "min")
    return ContinuousProblem(
        **{
            "name": "tank",
            "coordinates": (VOLUME, HEAT),
            "dynamics": NonlinearDynamics((VOLUME, HEAT), fill, limits),
            "start": {"volume": 8.0, "heat": 60.0, "flow": 0.5},
            "inputs": [time],
            "horizon": 3,
            "episodes": 2,
            "kernel": SquaredExponential(1.0, 0.4),
            "noise": 1e-4,
        }
        | more
    )


def test_the_residence_time_by_hand():
    problem = tank()
    assert problem.describe(problem.start_state) == {"volume": 8.0, "heat": 60.0, "residence_time": 16.0}
    after = problem.describe(problem.expected_arrival(problem.start_state, (1.5, 0.8)))
    # 8 + 2 (1.5 - 0.8) = 9.4 L, and 9.4 / 0.8 = 11.75 min.
    assert after["volume"] == pytest.approx(9.4) and after["residence_time"] == pytest.approx(11.75)


@pytest.mark.parametrize("read", [lambda problem: problem, lambda problem: declared_problem(declaration_of(problem))])
def test_whatever_was_measured_corrects_the_state(read):
    problem = tank()
    expected = problem.expected_arrival(problem.start_state, (1.5, 0.8))
    problem = read(problem)

    def corrected(**at):
        return problem.describe(problem.arrival(at, expected, (1.5, 0.8)))

    assert corrected(volume=8.0) == pytest.approx({"volume": 8.0, "heat": 60.0, "residence_time": 10.0})
    assert corrected(heat=50.0)["residence_time"] == pytest.approx(11.75)
    assert corrected(residence_time=12.5) == pytest.approx({"volume": 9.4, "heat": 60.0, "residence_time": 12.5})
    # A table that was filled in: the volume was overwritten, the time beside it was not.
    assert corrected(volume=8.0, residence_time=11.75)["residence_time"] == pytest.approx(10.0)


def test_the_audit_judges_rules_on_hidden_states_and_takes_corrections_for_no_breach():
    campaign = Campaign(tank(constraints=[MaximumStep({"volume": 2.5})]), seed=0)
    first = campaign.ask()
    campaign.tell(first.number, 0.1, at={"heat": 55.0})
    assert not audit_campaign(campaign)
    second = campaign.ask()
    campaign.tell(second.number, 0.2, at={"volume": campaign.problem.describe(second.origin)["volume"] - 3.0})
    assert [violation.constraint for violation in audit_campaign(campaign)] == ["MaximumStep"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"inputs": ["volum"]}, "unknown state or action 'volum'"),
        ({"inputs": []}, "none given"),
        ({"inputs": ["heat", "heat"]}, "'heat' is given twice"),
        ({"inputs": "heat"}, "must be a list"),
        ({"inputs": [3]}, "3 must be the name of a state or action"),
        ({"inputs": [BlackBoxInput("heat", lambda plant: 1.0, 0, 1)]}, "choose another name"),
        (
            {"inputs": [BlackBoxInput("ratio", lambda plant: plant["mass"], 0, 1)]},
            "uses 'mass', which is not a state or action",
        ),
        ({"inputs": [BlackBoxInput("ratio", lambda plant: 1 / 0, 0, 1)]}, "ZeroDivisionError"),
        ({"start": {"volume": 8.0, "heat": 60.0}}, "depends on the action flow"),
        ({"start": {"volume": 1.0, "heat": 60.0, "flow": 2.1}}, "outside"),
    ],
)
def test_wrong_inputs_are_one_line(wrong, message):
    with pytest.raises(BadInput, match=message) as refused:
        tank(**wrong)
    assert "\n" not in str(refused.value)
    with pytest.raises(BadInput, match="must be a function"):
        BlackBoxInput("ratio", 3.0, 0, 1)


def test_what_a_solver_leaves_of_zero_is_shown_as_zero():
    assert plain().instruction((-4.6e-08, 0.25)) == "push 0, valve 0.25"
    assert plain().instruction((-0.01, 9e-07)) == "push -0.01, valve 0"
