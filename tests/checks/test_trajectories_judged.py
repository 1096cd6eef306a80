"""Continuous plants: rules that are rows only, and dynamics, held against executed paths."""

import numpy as np
import pyomo.environ as pyo
import pytest
from continuous_plants import PLANE

from tcbo_pyomo import Campaign, ContinuousProblem
from tcbo_pyomo.checks.audit import audit_episodes, full_audit, unaudited
from tcbo_pyomo.checks.executed_path import ExecutedEpisode, episodes_of_campaign, executed_path
from tcbo_pyomo.models.actions_behind import MODEL_TOLERANCE
from tcbo_pyomo.models.constraints import FromFunction
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import NonlinearDynamics
from tcbo_pyomo.report.page import render_report
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

HORIZON = 3


def lag(model, step):
    """x follows the set-point with a lag that depends on y; y is moved."""
    x, y = model.physical[step, "x"], model.physical[step, "y"]
    keep = pyo.exp(-0.5 - 0.1 * y)
    return {"x": model.action[step, "set"] + (x - model.action[step, "set"]) * keep, "y": y + model.action[step, "dy"]}


def by_hand(point, action):
    keep = np.exp(-0.5 - 0.1 * point[1])
    return np.array([action[0] + (point[0] - action[0]) * keep, point[1] + action[1]])


def plant(*rules):
    dynamics = NonlinearDynamics(PLANE, lag, BoxActions({"set": (0.0, 10.0), "dy": 1.0}))
    start, kernel = {"x": 2.0, "y": 2.0}, SquaredExponential(1.0, 0.3)
    return ContinuousProblem("lag", PLANE, dynamics, start, HORIZON, 1, kernel, 0.01, rules, output="z")


def episode(problem, points, complete, actions=()):
    path = executed_path(problem, np.array(points), complete, actions)
    return ExecutedEpisode(1, tuple(range(1, len(points))), path)


def random_path(generator):
    points, actions = [np.array([2.0, 2.0])], []
    for _ in range(HORIZON):
        actions.append((float(generator.uniform(0, 10)), float(generator.uniform(-0.6, 0.9))))
        points.append(np.clip(by_hand(points[-1], actions[-1]), [0, 0], [10, 5]))
    return points, actions


def dose(model):
    total = sum(model.physical[p, "x"] ** 2 for p in model.POINTS if p > 0)
    model.dose = pyo.Constraint(expr=total <= 60.0)


def gentle(model):
    model.gentle = pyo.Constraint(model.STEPS, rule=lambda m, h: m.action[h, "set"] - m.physical[h, "x"] <= 4.5)


def excess(model):
    """Variables of its own: what x has above 4 adds up to at most 3."""
    model.above = pyo.Var(model.POINTS, domain=pyo.NonNegativeReals)
    model.reaches = pyo.Constraint(model.POINTS, rule=lambda m, p: m.above[p] >= m.physical[p, "x"] - 4.0)
    model.total = pyo.Constraint(expr=sum(model.above.values()) <= 3.0)


RULES = [
    (dose, lambda x, a: (x[1:, 0] ** 2).sum() <= 60.0),
    (gentle, lambda x, a: (a[:, 0] - x[:-1, 0] <= 4.5).all()),
    (excess, lambda x, a: np.maximum(0.0, x[:, 0] - 4.0).sum() <= 3.0),
]


@pytest.mark.parametrize("known", [True, False], ids=["actions asked for", "points alone"])
def test_rows_and_dynamics_agree_with_an_independent_evaluation(known):
    generator, problems = np.random.default_rng(5), [plant(FromFunction(add)) for add, _ in RULES]
    broken = np.zeros(len(RULES), dtype=int)
    for _ in range(60 if known else 15):
        points, actions = random_path(generator)
        for index, (problem, (_, keeps)) in enumerate(zip(problems, RULES, strict=True)):
            found = full_audit(problem, [episode(problem, points, True, actions if known else ())])
            assert found.unjudged == () and found.misses == ()
            assert bool(found.findings) is not bool(keeps(np.array(points), np.array(actions)))
            broken[index] += bool(found.findings)
    assert (broken > 0).all()


def test_a_move_that_no_allowed_action_makes_is_found():
    problem = plant()
    assert unaudited(problem) == []
    (finding,) = audit_episodes(problem, [episode(problem, [(2.0, 2.0), (9.0, 2.0)], False)])
    assert finding.constraint == "plant" and finding.value == "no allowed action leads to x=9, y=2"
    # Within the tolerance of a model the plant did what it says.
    nearly = by_hand(np.array([2.0, 2.0]), (6.0, 0.5)) + np.array([0.9 * MODEL_TOLERANCE * 10, 0.0])
    audit = full_audit(problem, [episode(problem, [(2.0, 2.0), nearly], False, [(6.0, 0.5)])])
    assert audit.findings == () and audit.misses == () and audit.all_clear


def test_a_plant_that_did_something_else_is_reported_though_nothing_is_broken():
    problem = plant(FromFunction(gentle))
    elsewhere = by_hand(np.array([2.0, 2.0]), (6.0, 0.5))
    audit = full_audit(problem, [episode(problem, [(2.0, 2.0), elsewhere], False, [(3.0, 0.0)])])
    (miss,) = audit.misses
    assert (miss.row, miss.step, audit.findings) == (1, 1, ()) and "the model predicts" in miss.value
    # The rows are judged with the action that explains the move, not with the one asked for.
    far = by_hand(np.array([2.0, 2.0]), (9.0, 0.5))
    (found,) = audit_episodes(problem, [episode(problem, [(2.0, 2.0), far], False, [(3.0, 0.0)])])
    assert found.value.startswith("gentle[0] is 7")


def test_a_running_episode_is_held_against_the_best_that_can_still_come():
    problem = plant(FromFunction(dose))
    (rule,) = problem.rules
    begun = episode(problem, [(2.0, 2.0), (6.0, 2.0)], False).path
    (row,) = rule.rows(begun)
    assert row.is_open and row.broken_at is None and row.value == pytest.approx(36.0)
    (line,) = rule.usage([begun], begun)
    assert line.used == "at least 36 when this episode ends" and line.share is None
    (broken,) = rule.violations(episode(problem, [(2.0, 2.0), (6.0, 2.0), (8.0, 2.0)], False).path)
    assert broken.step == 1 and "dose is 100" in broken.message


def test_nothing_is_green_that_was_not_judged():
    def product_of_own(model):
        model.a, model.b = pyo.Var(initialize=1.0), pyo.Var(initialize=1.0)
        model.tied = pyo.Constraint(expr=model.a * model.b == model.physical[1, "x"])

    problem = plant(FromFunction(product_of_own))
    campaign = Campaign(problem, seed=1)
    campaign.tell(campaign.ask().number, 0.1)
    campaign.tell(campaign.ask().number, 0.1)
    audit = full_audit(problem, episodes_of_campaign(campaign))
    assert audit.unjudged == ("product_of_own: tied",) and not audit.all_clear
    page = render_report(campaign)
    assert "not everything could be checked: product_of_own: tied" in page and "<td>not checked</td>" in page
    assert 'class="calm"' not in page and "kept by every move" not in page
