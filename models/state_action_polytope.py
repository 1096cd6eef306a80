"""The state-action polytope D (section 2.2): every policy of the plant as a linear programme over expected visits.

    visitation[h, x, a] >= 0
    sum_a visitation[h, x', a] = sum_{x, a} P(x'|x, a) visitation[h - 1, x, a]     (flow[h, x'])
    sum_a visitation[0, x, a] = 1 if x is the start, else 0                        (flow[0, x])

Only moves that can be reached and that can still meet the end exist as variables. They have no upper bound: it would be
redundant, and HiGHS is 10 to 100 times slower with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Integers
from tcbo_pyomo.models.constraints.from_function import as_rule
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.safe_sets import EpisodeSets
from tcbo_pyomo.plant.process import Process


def build_state_action_polytope(
    process: Process,
    start: Any,
    steps: int,
    constraints: Sequence[TransitionConstraint | Callable[[pyo.ConcreteModel], None]] = (),
    past: Sequence[int] = (),
    sets: EpisodeSets | None = None,
) -> pyo.ConcreteModel:
    """The polytope of all policies of an episode, with the constraints in it.

    Parameters
    ----------
    process
        The plant.
    start
        The state now, before step `len(past)` (label, index or `{coordinate: value}`).
    steps
        Moves of the whole episode, those already made included.
    constraints
        Rules of the plant, or functions that receive the model; each adds its linear components.
    past
        Pairs already made in this episode. The model has them, each with one visit, so that every sum over the episode
        counts what is already spent.
    sets
        The safe states of these constraints, if the caller already has them.

    Returns
    -------
    ConcreteModel
        Sets STEPS, STATES and MOVES (step, state, action); Param coordinate[state, name] in engineering units;
        Var visitation[step, state, action]; Expression arrival[step, state], the probability that the move of that
        step arrives there; Constraint flow[step, state]. `model.process`, and the arrays `model.move_step` and
        `model.move_pair` in the order of MOVES, lead back to the process; `model.added_by` names the rule of each
        component that a rule has added.
    """
    if not isinstance(steps, (int, np.integer)) or isinstance(steps, bool) or steps < max(1, len(past)):
        raise BadInput(
            f"steps {steps!r} must be a whole number of at least 1, with {len(past)} moves of the past in it"
        )
    state = process.state_index(start)
    rules = [as_rule(constraint) for constraint in constraints]
    sets = sets or EpisodeSets(process, rules, steps)
    pairs_by_step = [np.array([pair]) for pair in past] + sets.pairs_by_step(state, len(past))
    model = visitation_model(process, pairs_by_step, state, len(past))
    for variable in list(model.visitation.values())[: len(past)]:
        variable.setlb(1.0)
        variable.setub(1.0)
    for rule in rules:
        before = set(model.component_map())
        rule.add_to_polytope(model)
        model.added_by.update(dict.fromkeys(set(model.component_map()) - before, rule.name))
    return model


def visitation_model(
    process: Process, pairs_by_step: Sequence[Integers], start: int, first_step: int
) -> pyo.ConcreteModel:
    """The model of `build_state_action_polytope` before any rule is in it, with given pairs at each step.

    The visits flow from `start` on, from `first_step` on; what lies before it is given.
    """
    model = pyo.ConcreteModel(name="state_action_polytope")
    model.process = process
    model.move_step = np.repeat(np.arange(len(pairs_by_step)), [len(pairs) for pairs in pairs_by_step])
    model.move_pair = np.concatenate(pairs_by_step)
    model.budget_rows, model.added_by = {}, {}

    model.STEPS = pyo.RangeSet(0, len(pairs_by_step) - 1)
    model.STATES = pyo.Set(initialize=process.labels, ordered=True)
    model.MOVES = pyo.Set(dimen=3, initialize=_move_labels(model), ordered=True)
    model.coordinate = pyo.Param(
        model.STATES, [c.name for c in process.coordinates], initialize=_coordinate_values(process), within=pyo.Reals
    )
    model.visitation = pyo.Var(model.MOVES, domain=pyo.NonNegativeReals)
    _declare_flow(model, start, first_step)
    return model


def _move_labels(model: pyo.ConcreteModel) -> list[tuple[int, str, str]]:
    process = model.process
    states = process.pair_state[model.move_pair]
    actions = process.pair_action[model.move_pair]
    return [
        (step, process.labels[state], process.actions[action])
        for step, state, action in zip(model.move_step.tolist(), states.tolist(), actions.tolist(), strict=True)
    ]


def _coordinate_values(process: Process) -> dict[tuple[str, str], float]:
    names = [c.name for c in process.coordinates]
    rows = zip(process.labels, process.states.tolist(), strict=True)
    return {(label, name): value for label, row in rows for name, value in zip(names, row, strict=True)}


def _declare_flow(model: pyo.ConcreteModel, start: int, first_step: int) -> None:
    """Declare arrival[step, state] and flow[step, state]; rows exist where something can arrive or leave."""
    process = model.process
    leaving: dict[tuple[int, str], list[Any]] = {}
    arriving: dict[tuple[int, str], tuple[list[float], list[Any]]] = {}
    moves = zip(model.move_step.tolist(), model.move_pair.tolist(), model.visitation.values(), strict=True)
    labels, pair_state = process.labels, process.pair_state.tolist()
    offsets, successors = process.transitions.indptr.tolist(), process.transitions.indices.tolist()
    probabilities = process.transitions.data.tolist()
    for step, pair, variable in moves:
        leaving.setdefault((step, labels[pair_state[pair]]), []).append(variable)
        for entry in range(offsets[pair], offsets[pair + 1]):
            coefficients, variables = arriving.setdefault((step, labels[successors[entry]]), ([], []))
            coefficients.append(probabilities[entry])
            variables.append(variable)
    model.arrival = pyo.Expression(list(arriving), initialize={key: _linear(*terms) for key, terms in arriving.items()})

    def flow_rule(model: pyo.ConcreteModel, step: int, state: str) -> Any:
        out = leaving[step, state]
        if step == first_step:
            return _linear([1.0] * len(out), out) == (1.0 if state == labels[start] else 0.0)
        coefficients, variables = arriving[step - 1, state]
        return _linear([1.0] * len(out) + [-c for c in coefficients], out + variables) == 0.0

    # The past is given, not decided: its moves have a value each and need no flow.
    rows = [key for key in leaving if key[0] >= first_step]
    model.flow = pyo.Constraint(rows, rule=flow_rule)


def _linear(coefficients: list[float], variables: list[Any]) -> LinearExpression:
    return LinearExpression(linear_coefs=coefficients, linear_vars=variables)
