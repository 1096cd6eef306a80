"""Rules written only as Pyomo rows: the audit against an evaluation of its own, on random executed paths."""

import numpy as np
import pyomo.environ as pyo
import pytest
from random_processes import random_process

from tcbo_pyomo import Problem
from tcbo_pyomo.checks.audit import audit_episodes, full_audit, unaudited
from tcbo_pyomo.checks.executed_path import ExecutedEpisode, executed_path
from tcbo_pyomo.models.constraints import FromFunction
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

HORIZON = 5
PATHS = {1: 1000, 3: 250}
"""By the number of outcomes of a move; rules with variables of their own take a small linear programme per path."""


def random_rule(kind, generator, process):
    """A function that adds rows, and an independent one that says whether a path (states, pairs) keeps them."""
    weight = generator.uniform(-1.0, 2.0, process.number_of_pairs)
    place = generator.uniform(-1.0, 2.0, process.number_of_states)
    limit = float(generator.uniform(0.5, 2.5))
    pair_of = {
        (process.labels[process.pair_state[pair]], process.actions[process.pair_action[pair]]): pair
        for pair in range(process.number_of_pairs)
    }
    state_of = {label: index for index, label in enumerate(process.labels)}

    def use(model):
        return sum(weight[pair_of[move[1:]]] * model.visitation[move] for move in model.MOVES)

    def at_most(model):
        model.at_most = pyo.Constraint(expr=use(model) <= limit)

    def at_least(model):
        model.at_least = pyo.Constraint(expr=use(model) >= limit - 1.0)

    def between(model):
        model.between = pyo.Constraint(expr=(-limit, use(model) - 0.5, limit))

    def arrivals(model):
        total = sum(place[state_of[key[1]]] * model.arrival[key] for key in model.arrival)
        model.arrivals = pyo.Constraint(expr=total <= limit)

    def per_step(model):
        def row(model, step):
            terms = [weight[pair_of[m[1:]]] * model.visitation[m] for m in model.MOVES if m[0] == step]
            return sum(terms) <= limit / 2

        model.per_step = pyo.Constraint(model.STEPS, rule=row)

    def fixed(model):
        for move in model.MOVES:
            if move[0] == 2 and weight[pair_of[move[1:]]] > 1.0:
                model.visitation[move].fix(0.0)

    def bounded(model):
        for move in model.MOVES:
            if weight[pair_of[move[1:]]] > 1.6:
                model.visitation[move].setub(0.5)

    def excess(model):
        """Variables of its own: the sum of what each step has above 0.3 is limited."""
        model.above = pyo.Var(model.STEPS, domain=pyo.NonNegativeReals)

        def row(model, step):
            terms = [weight[pair_of[m[1:]]] * model.visitation[m] for m in model.MOVES if m[0] == step]
            return model.above[step] >= sum(terms) - 0.3

        model.reaches = pyo.Constraint(model.STEPS, rule=row)
        model.total = pyo.Constraint(expr=sum(model.above.values()) <= limit)

    def batches(model):
        """A whole number of its own: packs of 0.7 are bought, at most three."""
        model.packs = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(0, 3))
        model.bought = pyo.Constraint(expr=0.7 * model.packs >= use(model))
        model.paid = pyo.Constraint(expr=model.packs <= round(limit))

    def in_block(model):
        model.own = pyo.Block()
        model.own.rows = pyo.ConstraintList()
        model.own.rows.add(use(model) <= limit)
        model.own.rows.add(use(model) >= -1.0)

    def spent(states, pairs):
        return sum(weight[pair] for pair in pairs)

    kept = {
        at_most: lambda s, p: spent(s, p) <= limit,
        at_least: lambda s, p: spent(s, p) >= limit - 1.0,
        between: lambda s, p: -limit <= spent(s, p) - 0.5 <= limit,
        arrivals: lambda s, p: sum(place[state] for state in s[1:]) <= limit,
        per_step: lambda s, p: all(weight[pair] <= limit / 2 for pair in p),
        fixed: lambda s, p: not weight[p[2]] > 1.0,
        bounded: lambda s, p: not any(weight[pair] > 1.6 for pair in p),
        excess: lambda s, p: sum(max(0.0, weight[pair] - 0.3) for pair in p) <= limit,
        batches: lambda s, p: max(0, np.ceil(spent(s, p) / 0.7 - 1e-9)) <= min(3, round(limit)),
        in_block: lambda s, p: -1.0 <= spent(s, p) <= limit,
    }
    return list(kept.items())[kind]


def rows_problem(process, *constraints):
    return Problem("rows", process, 0, HORIZON, 1, SquaredExponential(1.0, 0.3), constraints, output="z")


def random_path(process, generator):
    """States and pairs of an episode made by chance."""
    states, pairs = [0], []
    for _ in range(HORIZON):
        pairs.append(int(generator.choice(process.pairs_of(states[-1]))))
        states.append(int(process.draw_successor(pairs[-1], generator)))
    return states, pairs


@pytest.mark.parametrize("successors", [1, 3], ids=["deterministic", "random moves"])
def test_audit_agrees_with_an_independent_evaluation(successors):
    generator = np.random.default_rng(12 + successors)
    process = random_process(successors, 8, 4, successors)
    kinds = [*range(10), 3, 7]
    rules = [random_rule(kind, generator, process) for kind in kinds]
    constraints = [FromFunction(add) for add, _ in rules]
    problems = [rows_problem(process, rule) for rule in constraints]
    assert all(unaudited(one) == [] for one in problems)
    # A path that chance makes twice is judged once.
    paths = dict.fromkeys(tuple(map(tuple, random_path(process, generator))) for _ in range(PATHS[successors]))
    broken = np.zeros(len(rules), dtype=int)
    for states, pairs in paths:
        for index, (one, (_, keeps)) in enumerate(zip(problems, rules, strict=True)):
            # The audit knows the decisions, as in a campaign.
            path = executed_path(one, one.points(states), True, pairs)
            found = audit_episodes(one, [ExecutedEpisode(1, tuple(range(1, HORIZON + 1)), path)])
            assert bool(found) is not bool(keeps(states, pairs)), (rules[index][0].__name__, states, pairs)
            broken[index] += bool(found)
    assert ((broken > 0) & (broken < len(paths))).all(), broken


def test_a_row_is_reported_at_the_first_step_that_no_continuation_repairs():
    generator = np.random.default_rng(3)
    process = random_process(5, 5, 3, 1)
    rules = [random_rule(kind, generator, process) for kind in (0, 7)]
    for add, keeps in rules:
        problem = rows_problem(process, FromFunction(add))
        for _ in range(20):
            states, pairs = random_path(process, generator)
            path = executed_path(problem, problem.points(states), True, pairs)
            found = problem.rules[0].violations(path)
            assert bool(found) is not keeps(states, pairs)
            if found:
                # A part of the path is judged as the beginning of an episode that goes on.
                for step in range(HORIZON):
                    part = executed_path(problem, problem.points(states[: step + 2]), False, pairs[: step + 1])
                    if problem.rules[0].violations(part):
                        assert step >= found[0].step
                        break


def test_nothing_is_clear_that_was_not_judged():
    process = random_process(5, 5, 3, 1)

    def nonlinear(model):
        first = next(iter(model.visitation.values()))
        model.squared = pyo.Constraint(expr=first**2 <= 1)

    problem = rows_problem(process, FromFunction(nonlinear))
    states, pairs = random_path(process, np.random.default_rng(0))
    path = executed_path(problem, problem.points(states), True, pairs)
    audit = full_audit(problem, [ExecutedEpisode(1, tuple(range(1, HORIZON + 1)), path)])
    assert audit.unjudged == ("nonlinear: squared",) and not audit.findings and not audit.all_clear
