"""The first move of a plan: gains against plain conditioning, eager moves against every path and against cvxpy."""

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_plans import START, binding_limit, problem_of, small_plan

from tcbo_pyomo import Campaign, load_problem
from tcbo_pyomo.campaign.simulation import SimulatedPlant, run_campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.models.constraints import MaximumStep
from tcbo_pyomo.models.visitation import Visitation, mix
from tcbo_pyomo.planning.finite.eager_move import EagerPlans, gains_of, leads_everywhere
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.planning.finite.planner import FinitePlanner, Plan
from tcbo_pyomo.planning.finite.policy import Policy
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.settings import PlannerSettings, settings_from

RNG = np.random.default_rng(0)


def rest_by_recursion(process, gradient, state, steps):
    """The smallest sum of gradients over the rest of an episode, move by move."""
    if steps == 0:
        return 0.0
    return min(move_by_recursion(process, gradient, pair, steps) for pair in process.pairs_of(state))


def move_by_recursion(process, gradient, pair, steps):
    row = process.transitions[[pair]]
    ahead = zip(row.indices, row.data, strict=True)
    return gradient[pair] + sum(p * rest_by_recursion(process, gradient, int(x), steps - 1) for x, p in ahead)


@pytest.mark.parametrize("objective", ["differences", "g_allocation"])
@given(seed=st.integers(0, 10_000), successors=st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_the_gain_is_what_one_measurement_takes_off_the_variance(objective, seed, successors):
    case = small_plan(seed, 8, 4, successors=successors)
    process, tangent = case.process, case.utility(objective).linearise(None)
    covariance = case.features @ case.features.T
    direction = np.eye(8)[tangent.first] - (0.0 if tangent.second is None else np.eye(8)[tangent.second])
    before = direction @ covariance @ direction
    for pair, gain in zip(process.pairs_of(0), gains_of(process, tangent, 0), strict=True):
        expected = 0.0
        row = process.transitions[[pair]]
        for state, probability in zip(row.indices, row.data, strict=True):
            seen = np.eye(8)[state]
            noise = process.noise_of(pair, int(state))
            after = covariance - np.outer(covariance @ seen, covariance @ seen) / (seen @ covariance @ seen + noise)
            expected += probability * (before - direction @ after @ direction)
        assert gain == pytest.approx(expected, rel=1e-8, abs=1e-12)


@given(seed=st.integers(0, 10_000), successors=st.integers(1, 2), horizon=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_the_eager_move_has_the_largest_gain_of_those_that_put_the_plan_off_by_one(seed, successors, horizon):
    case = small_plan(seed, 7, horizon, successors=successors)
    process, tangent = case.process, case.utility().linearise(None)
    problem = problem_of(case, horizon=horizon)
    plan = EagerPlans(problem, case.oracle()).extreme_point(tangent, START, RNG)
    learned = {p: -move_by_recursion(process, tangent.gradient, p, horizon) for p in process.pairs_of(0)}
    gains = dict(zip(process.pairs_of(0), gains_of(process, tangent, 0), strict=True))
    least = max(learned.values()) * (1 - 1 / horizon)
    (made,), _ = plan.at_step(0)
    assert learned[made] >= least - 1e-9
    assert gains[made] >= max(gains[p] for p in learned if learned[p] >= least + 1e-9) - 1e-12
    # From there on nothing is given up, and the linear programme says the same.
    assert -tangent.gradient @ plan.expected_counts(process.number_of_pairs) == pytest.approx(learned[made], rel=1e-9)
    by_programme = EagerPlans(problem, LinearProgramming(case.sets, ())).extreme_point(tangent, START, RNG)
    assert gains[by_programme.at_step(0)[0].item()] == pytest.approx(gains[made], rel=1e-9)


def forced_optimum(case, gradient, horizon, pair):
    """What the best policy within the budget learns when it begins with a pair; -inf where there is none."""
    process = case.process
    states, pairs = process.number_of_states, process.number_of_pairs
    leave = np.zeros((states, pairs))
    leave[process.pair_state, np.arange(pairs)] = 1.0
    visits = cvxpy.Variable((horizon, pairs), nonneg=True)
    rules = [leave @ visits[0] == np.eye(states)[0], visits[0, pair] == 1.0]
    rules += [leave @ visits[h] == process.transitions.T @ visits[h - 1] for h in range(1, horizon)]
    rules.append(case.tail.pair_cost @ cvxpy.sum(visits, axis=0) <= case.budget.limit)
    found = cvxpy.Problem(cvxpy.Minimize(gradient @ cvxpy.sum(visits, axis=0)), rules).solve(solver=cvxpy.HIGHS)
    return -float(found)


@pytest.mark.parametrize("seed", [1, 3, 4, 8, 11])
@pytest.mark.parametrize("successors", [1, 2])
def test_under_a_budget_the_eager_move_is_found_by_planning_with_it(seed, successors):
    horizon = 6
    case = small_plan(seed, 12, horizon, binding_limit(seed, 12, horizon, successors=successors), successors=successors)
    tangent = case.utility().linearise(None)
    plans = EagerPlans(problem_of(case, (case.budget,), horizon), case.oracle())
    plan = plans.extreme_point(tangent, START, RNG)
    allowed = [p for p in case.process.pairs_of(0) if p not in case.barred]
    learned = {p: forced_optimum(case, tangent.gradient, horizon, p) for p in allowed}
    gains = dict(zip(case.process.pairs_of(0), gains_of(case.process, tangent, 0), strict=True))
    least = max(learned.values()) * (1 - 1 / horizon)
    made, share = plan.at_step(0)
    eligible = [p for p in allowed if learned[p] >= least * (1 + 1e-6)]
    assert all(learned[p] >= least * (1 - 1e-6) for p in made)
    assert share @ [gains[p] for p in made] >= max(gains[p] for p in eligible) * (1 - 1e-9)


def mixture():
    """A planner and a plan that makes one of three moves, the one that learns most with the smallest probability."""
    case = next(c for c in (small_plan(s, 8, 3, successors=1) for s in range(50)) if len(c.process.pairs_of(0)) >= 3)
    tangent = case.utility().linearise(None)
    order = np.argsort(gains_of(case.process, tangent, 0), kind="stable")[-3:]
    pairs = np.array(case.process.pairs_of(0))[order]
    parts = [
        (w, Visitation(np.array([0]), np.array([p]), np.ones(1))) for w, p in zip((0.3, 0.5, 0.2), pairs, strict=True)
    ]
    return case, Plan(Policy(case.process, mix(parts)), parts, tangent), pairs


def test_the_first_move_of_a_mixture():
    case, plan, pairs = mixture()
    problem = problem_of(case, horizon=3)

    def moves(first_move, draws):
        planner = FinitePlanner(
            problem, settings_from({"planner": {"first_move": first_move, "components": 3}}).planner
        )
        generator = np.random.default_rng(1)
        return [planner.choose(plan, START, generator) for _ in range(draws)]

    assert set(moves("eager", 5)) == {pairs[2]}
    assert set(moves("likeliest", 5)) == {pairs[1]}
    drawn = np.array(moves("drawn", 4000))
    shares = [(drawn == pair).mean() for pair in pairs]
    np.testing.assert_allclose(shares, [0.3, 0.5, 0.2], atol=0.03)


def test_the_last_move_is_made_for_its_gain():
    """With one move left every move puts the plan off by no more than all of it."""
    case = small_plan(5, 10, 4, successors=1)
    tangent, state = case.utility().linearise(None), 3
    situation = Situation((0, 0, 0, state), tuple([case.process.pairs_of(0)[0]] * 3))
    plan = EagerPlans(problem_of(case, horizon=4), case.oracle()).extreme_point(tangent, situation, RNG)
    best = case.process.pairs_of(state)[int(gains_of(case.process, tangent, state).argmax())]
    assert plan.pair.tolist() == [best] and plan.step.tolist() == [3]


def test_eager_moves_let_the_laser_stay():
    """Plans of one component jump and never stay (README of the reproduction); eager ones measure where they are."""

    def stays_and_regret(first_move):
        stays, regrets = [], []
        for seed in (201, 202, 203, 204):
            problem = load_problem("free_electron_laser", None, seed)
            plans = {"planner": {"first_move": first_move}, "utility": {"objective": "differences"}}
            chosen = settings_from(dict(problem.settings), plans)
            result = run_campaign(problem, chosen, seed)
            states = [move.arrived for move in result.campaign.history.made]
            stays.append(np.mean(np.diff(states) == 0))
            regrets.append(result.steps[-1].regret)
        return np.mean(stays), np.mean(regrets)

    (drawn_stays, drawn_regret), (eager_stays, eager_regret) = stays_and_regret("drawn"), stays_and_regret("eager")
    assert drawn_stays < 0.1 < 0.3 < eager_stays
    assert eager_regret < 0.5 * drawn_regret


def test_an_unknown_first_move_is_refused():
    with pytest.raises(BadInput, match=r"planner.first_move.*'greedy'.*eager.*drawn.*likeliest"):
        settings_from({"planner": {"first_move": "greedy"}})


def test_eager_is_the_default_and_drawn_the_papers():
    assert PlannerSettings().finite_first_move == "eager"
    case = small_plan(2, 10, 4, successors=1)
    planner = FinitePlanner(problem_of(case, horizon=4), PlannerSettings(first_move="drawn"))
    tangent = case.utility().linearise(None)
    plan = planner.plan(case.utility(), START, np.random.default_rng(0))
    best = min(move_by_recursion(case.process, tangent.gradient, p, 4) for p in case.process.pairs_of(0))
    assert tangent.gradient @ mix(plan.components).expected_counts(case.process.number_of_pairs) == pytest.approx(best)


def test_where_every_place_is_one_move_away_the_largest_upper_bound_is_taken():
    """On the laser, for variances of differences, against the bound computed from the belief itself."""
    problem = load_problem("free_electron_laser", None, 301)
    assert leads_everywhere(problem).all()
    chosen = settings_from(dict(problem.settings), {"utility": {"objective": "differences"}})
    campaign = Campaign(problem, chosen, seed=301)
    plant = SimulatedPlant(problem, 301)
    for _ in range(30):
        belief = campaign.knowledge.belief
        bound = belief.mean + 2.0 * belief.standard_deviation
        move = campaign.ask()
        assert bound[move.expected] == pytest.approx(bound.max(), rel=1e-9)
        campaign.arrive(move.number, plant.make(move))
        campaign.tell(move.number, plant.measure(move))


def test_a_wall_or_a_chance_and_nothing_leads_everywhere():
    case = small_plan(1, 6, 3, successors=2)
    assert not leads_everywhere(problem_of(case, horizon=3)).any()
    knorr = load_problem("knorr_pyrazole")
    assert not leads_everywhere(knorr).any()
    beam = load_problem("free_electron_laser", None, 1)
    held = beam.changed(constraints=(MaximumStep({"quadrupole_1": 0.5}),))
    # Steps of half the range: only from the middle could both ends be met, and no column of the grid is in the middle.
    assert not leads_everywhere(held).any()
