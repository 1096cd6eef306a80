"""Safe states and reachable moves against enumeration of all paths in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_processes import processes

from tcbo_pyomo.errors import InfeasiblePlan
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.constraints import Box, EndAt, ForbiddenRegion, MaximumStep, NonDecreasing, Points
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint
from tcbo_pyomo.models.safe_sets import EpisodeSets, leads_only_to
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.plant.process import Process


class Table(TransitionConstraint):
    """A rule written out: forbidden (state, arrived) moves and forbidden (step, state) places."""

    def __init__(self, moves, places):
        self.moves, self.places = moves, places

    def allowed_transitions(self, process):
        sources = process.pair_state[process.transition_pair]
        return np.array([move not in self.moves for move in zip(sources, process.transitions.indices, strict=True)])

    def allowed_states(self, process, step, horizon):
        return np.array([(step, state) not in self.places for state in range(process.number_of_states)])


@st.composite
def episodes(draw, deterministic):
    """A small process, random rules on it, the states where an episode may end, and a horizon."""
    process = draw(processes(max_states=5, deterministic=deterministic))
    horizon, states = draw(st.integers(1, 4)), process.number_of_states
    one = st.integers(0, states - 1)
    moves = draw(st.sets(st.tuples(one, one), max_size=4))
    places = draw(st.sets(st.tuples(st.integers(0, horizon), one), max_size=4))
    end = draw(st.none() | one)
    rules = [Table(moves, places)]
    if end is not None:
        rules.append(EndAt(process.describe(end)))
        places = places | {(horizon, state) for state in range(states) if state != end}
    return EpisodeSets(process, rules, horizon), moves, places


def successors(process, pair):
    return [state for state, chance in enumerate(process.transitions.toarray()[pair]) if chance > 0]


def all_paths(process, state, step, horizon, moves, places):
    """Every allowed path of a deterministic process as a list of pairs, by trying everything."""
    if (step, state) in places:
        return []
    if step == horizon:
        return [[]]
    paths = []
    for pair in np.flatnonzero(process.pair_state == state):
        (arrived,) = successors(process, pair)
        if (state, arrived) not in moves:
            paths += [[int(pair), *rest] for rest in all_paths(process, arrived, step + 1, horizon, moves, places)]
    return paths


def surely(process, state, step, horizon, moves, places):
    """Whether some choice of moves obeys all rules up to the end in every outcome of chance."""
    if (step, state) in places:
        return False
    return step == horizon or any(
        sure_move(process, pair, step, horizon, moves, places) for pair in np.flatnonzero(process.pair_state == state)
    )


def sure_move(process, pair, step, horizon, moves, places):
    state = process.pair_state[pair]
    return all(
        (state, arrived) not in moves and surely(process, arrived, step + 1, horizon, moves, places)
        for arrived in successors(process, pair)
    )


@given(episodes(deterministic=True))
def test_safe_states_of_a_deterministic_process_are_those_with_an_allowed_path(episode):
    sets, moves, places = episode
    for step in range(sets.horizon + 1):
        for state in range(sets.process.number_of_states):
            paths = all_paths(sets.process, state, step, sets.horizon, moves, places)
            assert sets.safe[step, state] == bool(paths)


@given(episodes(deterministic=True), st.data())
def test_reachable_moves_of_a_deterministic_process_are_those_on_an_allowed_path(episode, data):
    sets, moves, places = episode
    step = data.draw(st.integers(0, sets.horizon - 1))
    for state in range(sets.process.number_of_states):
        paths = all_paths(sets.process, state, step, sets.horizon, moves, places)
        if paths:
            expected = [sorted({path[position] for path in paths}) for position in range(sets.horizon - step)]
            assert [pairs.tolist() for pairs in sets.pairs_by_step(state, step)] == expected
        else:
            with pytest.raises(InfeasiblePlan):
                sets.pairs_by_step(state, step)


@given(episodes(deterministic=False))
def test_safe_states_of_a_random_process_hold_in_every_outcome(episode):
    sets, moves, places = episode
    for step in range(sets.horizon + 1):
        for state in range(sets.process.number_of_states):
            assert sets.safe[step, state] == surely(sets.process, state, step, sets.horizon, moves, places)


@given(episodes(deterministic=False))
def test_reachable_moves_of_a_random_process_are_those_of_sure_moves_only(episode):
    sets, moves, places = episode
    for start in np.flatnonzero(sets.safe[0]):
        here, expected = {start}, []
        for step in range(sets.horizon):
            usable = [
                pair
                for pair in range(sets.process.number_of_pairs)
                if sets.process.pair_state[pair] in here
                and sure_move(sets.process, pair, step, sets.horizon, moves, places)
            ]
            expected.append(usable)
            here = {arrived for pair in usable for arrived in successors(sets.process, pair)}
        assert [pairs.tolist() for pairs in sets.pairs_by_step(start)] == expected
        met = {
            start,
            *(arrived for usable in expected for pair in usable for arrived in successors(sets.process, pair)),
        }
        assert set(np.flatnonzero(sets.states_met(start))) == met


@given(processes(), st.data())
def test_leads_only_to_looks_at_every_outcome(process, data):
    chosen = data.draw(st.lists(st.booleans(), min_size=process.number_of_states, max_size=process.number_of_states))
    expected = [all(chosen[s] for s in successors(process, pair)) for pair in range(process.number_of_pairs)]
    assert leads_only_to(process, np.array(chosen)).tolist() == expected


LINE = grid_process({"x": range(7), "y": [0, 1]}, {"x": [-2, -1, 0, 1, 2], "y": [0, 1]}, 1.0)
FIRST = LINE.state_index({"x": 0, "y": 0})


def complaint(process, constraints, horizon, state, step=0):
    with pytest.raises(InfeasiblePlan) as caught:
        EpisodeSets(process, constraints, horizon).require_safe(state, step)
    return str(caught.value)


def test_an_end_too_far_away_names_the_rules_in_conflict_only():
    # Two cells per move are possible and one is allowed: five cells away is too far for four moves.
    rules = [NonDecreasing("y"), MaximumStep({"x": 1}), EndAt({"x": 5})]
    message = complaint(LINE, rules, 4, FIRST)
    assert "no plan of 4 moves from state 'x=0, y=0' (step 0)" in message
    assert "MaximumStep, EndAt" in message and "NonDecreasing" not in message
    assert "at step 3 (the first impossible step)" in message
    EpisodeSets(LINE, rules, 5).require_safe(FIRST, 0)


def test_the_first_step_that_cannot_be_made_is_the_one_into_the_zone():
    # Forward only, one cell per move, and x = 3 is closed: steps 0 and 1 can be made, step 2 cannot.
    moves = [(f"{i}", "on", f"{min(i + 1, 6)}") for i in range(7)]
    process = Process.from_moves([Coordinate("x", 0, 6)], {f"{i}": [float(i)] for i in range(7)}, moves, 1.0)
    zone = ForbiddenRegion(Points([{"x": 3}]))
    assert "under ForbiddenRegion no allowed state can be reached at step 2" in complaint(process, [zone], 6, 0)
    assert "no plan of 5 moves from state '1' (step 1)" in complaint(process, [zone], 6, 1, step=1)
    assert "at step 2 (the first" in complaint(process, [zone], 6, 1, step=1)


def test_where_no_move_at_all_is_allowed_the_first_step_is_the_one_that_cannot_be_made():
    process = grid_process({"x": range(7)}, {"x": [2, -2]}, 1.0)
    assert "under MaximumStep no allowed state can be reached at step 0" in complaint(
        process, [EndAt({"x": 4}), MaximumStep({"x": 1})], 3, 0
    )


def test_a_start_inside_a_zone_names_the_zone():
    rules = [EndAt({"x": 6}), ForbiddenRegion(Box({"x": (0, 1)}))]
    assert "the state itself is forbidden by ForbiddenRegion" in complaint(LINE, rules, 2, FIRST)


def test_a_random_move_that_may_miss_the_end_is_no_plan():
    chances = {("a", "throw"): {"a": 0.5, "b": 0.5}, ("b", "stay"): {"b": 1.0}}
    process = Process.from_probabilities([Coordinate("x", 0, 1)], {"a": [0.0], "b": [1.0]}, chances, 1.0)
    message = complaint(process, [EndAt({"x": 1})], 3, 0)
    assert "under EndAt no allowed state can be reached with certainty at step 2" in message
    assert EpisodeSets(process, [EndAt({"x": 1})], 3).safe[:, 1].all()


def test_a_plan_at_the_last_step_looks_only_at_what_is_left():
    sets = EpisodeSets(LINE, [EndAt({"x": 4})], 5)
    near = LINE.state_index({"x": 3, "y": 1})
    assert [LINE.pair_name(pair) for pair in sets.pairs_by_step(near, 4)[0]] == ["'x=3, y=1' -> 'x+1'"]
    assert sets.pairs_by_step(LINE.state_index({"x": 4, "y": 0}), 5) == []
    assert "the state itself is forbidden by EndAt" in complaint(LINE, [EndAt({"x": 4})], 5, near, step=5)
