"""Backward induction with a priced budget against the linear programme, which solves the same subproblem another way."""

import numpy as np
import pytest
from coupled_plants import problem_with, random_budgets, random_plant
from hypothesis import given, settings
from hypothesis import strategies as st
from small_plans import START, problem_of, small_plan
from test_linear_programming import line

from tcbo_pyomo import Campaign, EndAt, ResourceBudget, VisitBudget, load_problem, run_campaign, settings_from
from tcbo_pyomo.errors import InfeasiblePlan
from tcbo_pyomo.models.constraints import Points
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.models.worst_case_budget import WorstCaseTail
from tcbo_pyomo.planning.finite.eager_move import EagerPlans
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.planning.finite.plan_check import check_visitation
from tcbo_pyomo.planning.finite.planner import FinitePlanner
from tcbo_pyomo.planning.finite.priced_budget import PricedBudget
from tcbo_pyomo.planning.finite.step_gradient import of_moves
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.settings import PlannerSettings

DP, LP = ({"planner": {"linear": {"solver": solver}}} for solver in ("dynamic_programming", "highs"))


def worth(plan, gradient, horizon):
    return float(plan.probability @ of_moves(gradient, plan.step == horizon - 1, plan.pair))


def walked(sets, oracle, gradient, steps, rng):
    """The situation after some moves of the likeliest path of a plan."""
    situation = START
    for _ in range(steps):
        pairs, shares = oracle.extreme_point(gradient, situation, rng).at_step(situation.step)
        pair = int(pairs[np.argmax(shares)])
        arrived = int(rng.choice(sets.process.successors_of(pair)))
        situation = Situation((*situation.path, arrived), (*situation.decisions, pair))
    return situation


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    successors=st.integers(1, 3),
    share=st.floats(0.0, 1.2),
    made=st.integers(0, 3),
    last_differs=st.booleans(),
    whole=st.booleans(),
)
def test_every_plan_is_worth_what_the_linear_programme_finds(seed, successors, share, made, last_differs, whole):
    rng, process, horizon = random_plant(seed, 9, 6, successors)
    (rule,) = random_budgets(rng, process, 1, whole)
    rule.limit *= share
    sets = EpisodeSets(process, (rule,), horizon)
    priced, programme = PricedBudget(sets, rule), LinearProgramming(sets, (rule,))
    gradient = -rng.random((2, process.number_of_pairs) if last_differs else process.number_of_pairs)
    if whole:
        gradient = gradient.round(1)  # Many policies are equally good.
    try:
        situation = walked(sets, programme, gradient, min(made, horizon - 1), rng)
        expected = programme.extreme_point(gradient, situation, rng)
    except InfeasiblePlan:
        return
    plan = priced.extreme_point(gradient, situation, rng)
    check_visitation(plan, sets, situation, "priced")
    best = worth(expected, gradient, horizon)
    assert worth(plan, gradient, horizon) == pytest.approx(best, abs=1e-6)
    tail = WorstCaseTail(rule, sets)
    assert tail.spent(situation) + tail.pair_cost[plan.pair] @ plan.probability <= rule.limit + 1e-7
    bounds, offset = priced.most_learned(gradient, situation), process.pair_offsets[situation.state]
    begun, _ = plan.at_step(situation.step)
    # Strong duality: at its own price the best plan meets its bound.
    assert bounds[begun - offset] == pytest.approx(np.full(len(begun), -best), abs=1e-6)
    for pair in process.pairs_of(situation.state):
        theirs, ours = (oracle.beginning_with(gradient, situation, pair) for oracle in (programme, priced))
        assert (ours is None) == (theirs is None)
        if ours is not None:
            check_visitation(ours, sets, situation, "priced")
            assert (ours.pair[ours.step == situation.step] == pair).all()
            value = worth(ours, gradient, horizon)
            assert value == pytest.approx(worth(theirs, gradient, horizon), abs=1e-6)
            assert -value <= bounds[pair - offset] + 1e-9


def test_a_policy_that_draws_its_move_uses_the_budget_up():
    """By hand: places 0, 1, 2 worth their square, two moves, 1.5 units of fuel.

    Going to 2 uses 2 and earns 1 + 4, going to 1 uses 1 and earns 1 + 1, staying uses no fuel and earns nothing.
    With 1.5 units on average the best policy draws: it goes to 2 with probability 3/4 and stays with probability 1/4.
    """
    process = line(3)
    fuel = ResourceBudget("fuel", lambda left, right: abs(right["x"] - left["x"]), 1.5)
    gradient = -(process.states[process.successor, 0] ** 2)
    plan = PricedBudget(EpisodeSets(process, (fuel,), 2), fuel).extreme_point(gradient, START, np.random.default_rng(0))
    assert worth(plan, gradient, 2) == pytest.approx(-0.75 * 5)
    arrived = dict(zip(process.successor[plan.pair[plan.step == 1]].tolist(), plan.probability[plan.step == 1], strict=True))
    assert arrived == pytest.approx({2: 0.75, 0: 0.25})


def test_where_the_price_does_not_bind_the_plan_is_a_path():
    process = line(5)
    rule = VisitBudget(Points([{"x": 2}]), 4)
    gradient = -process.states[process.successor, 0]
    oracle = PricedBudget(EpisodeSets(process, (rule,), 4), rule)
    plan = oracle.extreme_point(gradient, START, np.random.default_rng(0))
    assert plan.is_path and process.successor[plan.pair].tolist() == [1, 2, 3, 4]


def test_a_budget_that_cannot_be_kept_and_a_move_too_dear_say_so():
    process = line(5)
    fuel = ResourceBudget("fuel", lambda left, right: abs(right["x"] - left["x"]), 2.0)
    sets = EpisodeSets(process, (fuel, EndAt({"x": 4})), 4)
    gradient = np.zeros(process.number_of_pairs)
    with pytest.raises(InfeasiblePlan, match=r"ResourceBudget\(fuel\).*raise the limit"):
        PricedBudget(sets, fuel).extreme_point(gradient, START, np.random.default_rng(0))
    short = ResourceBudget("fuel", lambda left, right: abs(right["x"] - left["x"]), 0.5)
    oracle = PricedBudget(EpisodeSets(process, (short,), 4), short)
    up = next(pair for pair in process.pairs_of(0) if process.successor[pair] == 1)
    assert oracle.beginning_with(gradient, START, up) is None
    with pytest.raises(InfeasiblePlan, match="begins with the move"):
        oracle.extreme_point(gradient, START, np.random.default_rng(0), up)


@pytest.mark.parametrize("seed", range(8))
def test_the_eager_plan_is_that_of_the_linear_programme(seed):
    case = small_plan(seed, 25, 8, budget=2.0, successors=1)
    problem = problem_of(case, (case.budget,), 8)
    tangent, first = case.utility().linearise(None), []
    for oracle in (PricedBudget(problem.sets, case.budget), LinearProgramming(problem.sets, problem.rules)):
        plan = EagerPlans(problem, oracle).extreme_point(tangent, START, np.random.default_rng(0))
        first.append((worth(plan, tangent.gradient, 8), sorted(plan.pair[plan.step == 0].tolist())))
    assert first[0][0] == pytest.approx(first[1][0], rel=1e-7)
    assert first[0][1] == first[1][1]


def test_a_campaign_with_fuel_goes_the_way_that_highs_plans():
    problem = load_problem("fuel_lake")
    paths = [
        run_campaign(problem, settings_from(dict(problem.settings), {"episodes": 1}, chosen), seed=1).paths
        for chosen in (DP, LP)
    ]
    np.testing.assert_array_equal(*paths)


@pytest.mark.parametrize("components", [1, 3])
def test_campaigns_under_chance_keep_the_budget_and_say_what_planned_them(components):
    rng, process, horizon = random_plant(5, 8, 6, 3)
    rule = ResourceBudget("fuel", lambda left, right: abs(right["x"] - left["x"]), 0.4)
    problem = problem_with(process, [rule], horizon)
    campaign = Campaign(problem, settings_from(DP, {"planner": {"components": components}, "episodes": 2}), seed=1)
    assert campaign.method.planned_with() == "dynamic_programming (named in the settings)"
    used = 0.0
    while not campaign.finished:
        move = campaign.ask()
        arrived = int(rng.choice(process.successors_of(move.decision)))
        left = process.states[process.pair_state[move.decision], 0]
        used = abs(process.states[arrived, 0] - left) + (used if move.step > 1 else 0.0)
        assert used <= rule.limit + 1e-9
        campaign.tell(move.number, float(rng.normal()), at=problem.describe(arrived))
    assert len(campaign.history.moves) == 2 * horizon


def test_certified_plans_take_it_too():
    case = small_plan(3, 12, 6, budget=1.5)
    problem = problem_of(case, (case.budget,), 6)
    uppers = []
    for chosen in (DP, LP):
        planner = FinitePlanner(problem, PlannerSettings.model_validate({**chosen["planner"], "gap": 1e-4}))
        assert isinstance(planner.oracle, PricedBudget) == (chosen is DP)
        uppers.append(planner.certified(case.utility(), START, np.random.default_rng(0), 1e-4).certificate.upper)
    assert uppers[0] == pytest.approx(uppers[1], rel=3e-4)
