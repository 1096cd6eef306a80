"""MDP-EI: the planner for the sum of rewards, on cases worked by hand and against the enumeration of all paths."""

import itertools

import numpy as np
import pytest
from rival_plants import DP, grid, known, line, method_of, plane, rng

from tcbo_pyomo import settings_from
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.models.constraints import EndAt, ResourceBudget
from tcbo_pyomo.plant.situation import Situation
from tcbo_pyomo.surrogate.improvement import expected_improvement

SOLVERS = pytest.mark.parametrize("solver", ["dynamic_programming", "highs"])


def method_on(problem, solver="highs"):
    return method_of("mdp_expected_improvement", problem, settings_from({"planner": {"linear": {"solver": solver}}}))


@SOLVERS
def test_a_poor_step_is_taken_for_the_sake_of_the_next_one(solver):
    # To 4 by way of 3: 0.1 + 1.0; staying at the good neighbour 1: 0.5 + 0.5. With no data the incumbent is 0.
    problem, knowledge = line(), known([0, 0.5, 0, 0.1, 1.0], np.zeros(5))
    method = method_on(problem, solver)
    assert problem.process.successor[method.next_decision(Situation((2,)), knowledge, rng())] == 3
    # With one move left the neighbour is better.
    last = line(horizon=1)
    assert last.process.successor[method_on(last, solver).next_decision(Situation((2,)), knowledge, rng())] == 1


def test_the_incumbent_is_what_counts():
    # Against an incumbent of 0.5 the certain 0.5 is worth nothing, and the uncertain states are.
    knowledge = known([0, 0.5, 0, 0.1, 0.1], [0, 0, 0, 0.2, 0.2], told=[0.5, 0.2])
    problem = line(horizon=1)
    method = method_on(problem)
    assert problem.process.successor[method.next_decision(Situation((2,)), knowledge, rng())] == 3
    worth = expected_improvement(np.array([0.1]), np.array([0.2]), 0.5)[0]
    assert method.last_plan.tangent.value == pytest.approx(worth, rel=1e-12)


@SOLVERS
@pytest.mark.parametrize("constraints", [(), (EndAt({"x": 0}),)])
def test_the_plan_is_the_best_of_all_paths(solver, constraints):
    problem = grid(constraints, horizon=4, start=6)
    process, mean = problem.process, rng(5).random(25)
    best = 0.0
    for actions in itertools.product(range(9), repeat=4):
        state, reward = 6, 0.0
        for action in actions:
            pairs = [p for p in process.pairs_of(state) if process.pair_action[p] == action]
            if not pairs:
                break
            state = int(process.successor[pairs[0]])
            reward += mean[state]
        else:
            if not constraints or problem.process.states[state, 0] == 0:
                best = max(best, reward)
    method = method_on(problem, solver)
    method.next_decision(Situation((6,)), known(mean, np.zeros(25)), rng())
    visits = method.last_plan.policy.visitation.expected_counts(process.number_of_pairs)
    assert visits @ (process.transitions @ mean) == pytest.approx(best, rel=1e-9)


def test_several_budgets_need_the_linear_programme_and_a_continuous_plant_is_refused():
    fuel, time = (ResourceBudget(name, lambda left, right: abs(right["x"] - left["x"]), 1.0) for name in ("fuel", "time"))
    method_of("mdp_expected_improvement", line(constraints=(fuel,)), settings_from(DP))
    with pytest.raises(BadInput, match="dynamic_programming"):
        method_of("mdp_expected_improvement", line(constraints=(fuel, time)), settings_from(DP))
    with pytest.raises(BadInput, match=r"mdp_expected_improvement.*'plane' is continuous; use local_search_region"):
        method_of("mdp_expected_improvement", plane(), settings_from({}))
