"""What the rules of a finite process leave of its moves: dead ends, the end, states out of reach, budgets."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csgraph, csr_matrix

from tcbo_pyomo.checks.finding import Finding, some_of
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.models.constraints.budget import Budget, budgets_of
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.safe_sets import allowed_pairs
from tcbo_pyomo.models.worst_case_budget import WorstCaseTail
from tcbo_pyomo.problem.finite import Problem


def check_moves(problem: Problem) -> list[Finding]:
    """All findings about states and moves."""
    return [
        *(_constraint(problem, rule) for rule in problem.rules),
        _dead_ends(problem),
        _end(problem),
        _search_space(problem),
        _horizon(problem),
        *(_budget(problem, budget) for budget in budgets_of(problem.rules)),
    ]


def _constraint(problem: Problem, rule: TransitionConstraint) -> Finding:
    """How much one rule removes on its own."""
    process = problem.process
    effects = []
    removed = int((~allowed_pairs(process, [rule])).sum())
    if removed:
        effects.append(f"removes {removed} of {process.number_of_pairs} moves")
    early, late = (rule.allowed_states(process, step, problem.horizon) for step in (0, problem.horizon))
    forbidden = 0 if early is None else int((~early).sum())
    if forbidden:
        effects.append(f"forbids {forbidden} of {process.number_of_states} states")
    if late is not None and (~late).sum() > forbidden:
        effects.append(f"leaves {int(late.sum())} of {process.number_of_states} states to end in")
    if rule.couples_steps:
        effects.append("accumulates over the episode")
    return Finding("ok", rule.name, ", ".join(effects) or "removes no move: no move of the process breaks it")


def _dead_ends(problem: Problem) -> Finding:
    """States that the rules leave without any move."""
    allowed = problem.sets.allowed_states(0)
    dead = allowed & ~problem.sets.sure_to_reach(allowed)
    if not dead.any():
        return Finding("ok", "dead ends", "every state keeps at least one move")
    names = some_of([problem.process.labels[state] for state in np.flatnonzero(dead)])
    return Finding("warning", "dead ends", f"the rules leave no move in {names}; an episode can only end there")


def _end(problem: Problem) -> Finding:
    """How many moves it takes, whatever chance does, to a state where the episode may end."""
    safe, moves = problem.sets.allowed_states(problem.horizon), 0
    if (safe == problem.sets.allowed_states(0)).all():
        return Finding("ok", "end", "an episode may end wherever it may be")
    while not safe[problem.start_state]:
        safe |= problem.sets.sure_to_reach(safe)
        moves += 1
    return Finding("ok", "end", f"an end is {moves} moves from the start, an episode has {problem.horizon}")


def _search_space(problem: Problem) -> Finding:
    """States that no episode can visit although no rule forbids them, and which rule is behind it."""
    process, visited = problem.process, problem.search_space
    forbidden = ~problem.sets.allowed_states(0)
    count = f"{int(visited.sum())} of {process.number_of_states} states can be visited"
    if problem.inputs is not None:
        count = f"{count}, which have {int(problem.places.sum())} distinct inputs"
    if not problem.visitable.exact:
        count = f"at most {count}"
    never = ~visited & ~forbidden
    if not never.any():
        return Finding(
            "ok", "search space", f"{count}, {int(forbidden.sum())} are forbidden" if forbidden.any() else count
        )
    without = []
    for rule in problem.rules:
        others = [other for other in problem.rules if other is not rule]
        gained = int((problem.changed(constraints=others).search_space & never).sum())
        if gained:
            without.append(f"{gained} more without {rule.name}")
    why = ", ".join(without) or "no moves within the horizon lead there"
    names = some_of([process.labels[state] for state in np.flatnonzero(never)])
    return Finding("warning", "search space", f"{count}, never {names} ({why})")


def _horizon(problem: Problem) -> Finding:
    """Whether an episode is long enough for the state farthest away; what a rule forbids anyway is none of its business."""
    distance = moves_from_start(problem)
    counts = np.isfinite(distance) & (problem.search_space | (distance > problem.horizon))
    farthest = int(np.where(counts, distance, -1.0).argmax())
    text = (
        f"the farthest state '{problem.process.labels[farthest]}' is {distance[farthest]:g} moves from the start, "
        f"an episode has {problem.horizon}"
    )
    return Finding("warning" if distance[farthest] > problem.horizon else "ok", "horizon", text)


def moves_from_start(problem: Problem) -> Array:
    """The least number of moves to each state, with luck where chance decides; infinite where no moves lead."""
    process = problem.process
    kept = problem.sets.allowed_pairs[process.transition_pair]
    left, right = process.pair_state[process.transition_pair[kept]], process.transitions.indices[kept]
    number = process.number_of_states
    graph = csr_matrix((np.ones(len(left)), (left, right)), shape=(number, number))
    return csgraph.shortest_path(graph, unweighted=True, indices=problem.start_state)


def _budget(problem: Problem, budget: Budget) -> Finding:
    """Whether the most careful episode keeps a budget, whatever chance does."""
    needed = float(WorstCaseTail(budget, problem.sets).tail[0, problem.start_state])
    text = f"the cheapest episode needs {needed:g} in the worst case; the limit is {budget.limit:g}"
    if needed > budget.limit * (1 + 1e-9):
        return Finding("error", budget.name, f"{text}; raise the limit or shorten the episode")
    return Finding("ok", budget.name, text)
