"""The river: probabilities by hand, visitation of the LP against simulated boats, policies that are truly random."""

import numpy as np
import pytest

from tcbo_pyomo import Campaign, run_campaign, settings_from
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.models.visitation import mix
from tcbo_pyomo.planning.finite.dynamic_programming import DynamicProgramming
from tcbo_pyomo.planning.finite.linear_programming import LinearProgramming
from tcbo_pyomo.planning.finite.policy import Policy
from tcbo_pyomo.plant.situation import Situation

BOATS = 10_000


@pytest.fixture(scope="module")
def river():
    return load_problem("river")


def outcomes(process, downstream, across, action):
    """{(downstream, across): probability} of one action."""
    state = process.state_index({"downstream": downstream, "across": across})
    for pair in process.pairs_of(state):
        if process.actions[process.pair_action[pair]] == action:
            row = process.transitions[[pair]]
            return {tuple(process.states[s]): p for s, p in zip(row.indices, row.data, strict=True)}
    return None


def test_the_current_by_hand(river):
    process = river.process
    assert outcomes(process, 100, 20, "hold") == pytest.approx({(100, 20): 0.4, (150, 20): 0.6})
    assert outcomes(process, 100, 0, "drift") == pytest.approx({(150, 0): 0.8, (200, 0): 0.2})
    assert outcomes(process, 100, 10, "cross left") == pytest.approx({(100, 20): 0.6, (150, 20): 0.4})
    assert outcomes(process, 100, 20, "cross right") == pytest.approx({(100, 10): 0.4, (150, 10): 0.6})
    assert outcomes(process, 100, 0, "cross right") is None
    assert outcomes(process, 650, 0, "drift") == {(700, 0): 1.0}
    assert outcomes(process, 700, 20, "hold") == {(700, 20): 1.0}
    assert not process.deterministic
    assert (np.diff(process.transitions.indptr) == 2).mean() > 0.8


def test_no_move_leads_upstream_and_all_states_can_be_visited(river):
    process = river.process
    left = process.states[process.pair_state[process.transition_pair], 0]
    assert (process.states[process.transitions.indices, 0] >= left).all()
    assert river.search_space.all()


def test_known_maximum(river):
    assert river.describe(river.best_state) == {"downstream": 500.0, "across": 10.0}
    values = {}
    for x in range(0, 701, 50):
        for y in range(0, 41, 10):
            first = 0.9 * np.exp(-((x - 250) ** 2) / 20000 - (y - 40) ** 2 / 288)
            values[x, y] = first + np.exp(-((x - 500) ** 2) / 20000 - (y - 10) ** 2 / 288)
    assert max(values, key=values.get) == (500, 10)
    for (x, y), value in values.items():
        state = river.process.state_index({"downstream": x, "across": y})
        assert river.true_value(state) == pytest.approx(value, rel=1e-12)


def test_information_is_the_expectation_over_successors(river):
    process = river.process
    state = process.state_index({"downstream": 100, "across": 20})
    pair = process.pairs_of(state)[0]
    rate = process.information_rate[[pair]]
    assert rate.data.sum() == pytest.approx(1 / 0.04)
    np.testing.assert_allclose(rate.data, process.transitions[[pair]].data / 0.04)


@pytest.fixture(scope="module")
def random_policy(river):
    """A policy that mixes three extreme points of the polytope."""
    rng = np.random.default_rng(5)
    programme = LinearProgramming(river.sets, river.rules)
    situation = Situation((river.start_state,), ())
    gradients = -rng.random((3, river.process.number_of_pairs))
    parts = [programme.extreme_point(gradient, situation, rng) for gradient in gradients]
    for gradient, part in zip(gradients, parts, strict=True):
        best = DynamicProgramming(river.sets).values(gradient)[0, river.start_state]
        assert gradient[part.pair] @ part.probability == pytest.approx(best, rel=1e-9)
    return Policy(river.process, mix([(0.5, parts[0]), (0.3, parts[1]), (0.2, parts[2])]))


def test_visitation_of_the_programme_equals_that_of_simulated_boats(river, random_policy):
    process, rng = river.process, np.random.default_rng(11)
    expected = random_policy.visitation
    boats = np.full(BOATS, river.start_state)
    seen = np.zeros((river.horizon, process.number_of_pairs))
    split = 0
    for step in range(river.horizon):
        arrived = np.empty_like(boats)
        for state in np.unique(boats):
            here = np.flatnonzero(boats == state)
            pairs, probabilities = random_policy.action_probabilities(step, int(state))
            split += len(pairs) > 1
            chosen = rng.choice(pairs, size=len(here), p=probabilities)
            np.add.at(seen[step], chosen, 1.0 / BOATS)
            for pair in np.unique(chosen):
                row = process.transitions[[pair]]
                those = here[chosen == pair]
                arrived[those] = rng.choice(row.indices, size=len(those), p=row.data)
        boats = arrived
    assert split > 10  # The policy itself is random, not only the current.
    planned = np.zeros_like(seen)
    planned[expected.step, expected.pair] = expected.probability
    np.testing.assert_allclose(planned.sum(axis=1), 1.0, atol=1e-9)
    assert not seen[planned == 0].any()
    error = np.sqrt(planned * (1 - planned) / BOATS)
    compared = planned * BOATS > 20
    score = (seen - planned)[compared] / error[compared]
    assert np.abs(score).max() < 4.5
    assert 0.8 < np.sqrt((score**2).mean()) < 1.2
    assert (process.states[boats, 0] == 700.0).all()


def test_shipped_settings_give_random_policies(river):
    campaign = Campaign(river, settings_from(dict(river.settings)), seed=1)
    move = campaign.ask()
    assert move.expected is None
    policy = campaign.method.last_plan.policy
    _, count = np.unique(
        np.stack([policy.visitation.step, river.process.pair_state[policy.visitation.pair]]), axis=1, return_counts=True
    )
    assert (count > 1).any()


def test_short_campaign_ends_at_the_weir_whatever_the_current_does(river):
    settings = settings_from(
        dict(river.settings), {"episodes": 2, "planner": {"components": 1, "linear": {"solver": "dynamic_programming"}}}
    )
    carried = 0
    for seed in (1, 2):
        for path in run_campaign(river, settings, seed).paths:
            points = river.process.states[path]
            assert points[-1, 0] == 700.0
            assert (np.diff(points[:, 0]) >= 0).all() and (np.diff(points[:, 0]) <= 100).all()
            assert (np.abs(np.diff(points[:, 1])) <= 10).all()
            carried += int((np.diff(points[:, 0]) == 100).sum())
    assert carried > 0
