"""Budgets in simulated campaigns, against all paths written out."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest
from rival_plants import grid, line

from tcbo_pyomo import Campaign, settings_from
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.models.constraints import EndAt, ResourceBudget
from tcbo_pyomo.rehearsal.batched_induction import BatchedInduction, Costs
from tcbo_pyomo.rehearsal.chances import draw_chances
from tcbo_pyomo.rehearsal.members import members_of
from tcbo_pyomo.rehearsal.simulated_budgets import BudgetTables, SimulatedBudgets
from tcbo_pyomo.rehearsal.simulated_campaigns import FinitePlant, rehearse
from tcbo_pyomo.rehearsal.standpoint import standpoint_of


def travelled(left, right):
    return abs(right["x"] - left["x"])


def best_within(problem, reward, limit, spent):
    """The most that a path can collect within a budget, by writing out all of them."""
    successor, offsets = problem.process.successor, problem.process.pair_offsets
    best = -np.inf
    for choice in itertools.product(range(3), repeat=problem.horizon):
        state, total, used = problem.start_state, 0.0, spent
        for move in choice:
            pairs = range(offsets[state], offsets[state + 1])
            if move >= len(pairs):
                break
            arrived = int(successor[pairs[move]])
            total, used, state = total + reward[arrived], used + abs(arrived - state), arrived
        else:
            best = max(best, total if used <= limit + 1e-9 else -np.inf)
    return best


@pytest.mark.parametrize("seed", range(8))
def test_at_its_price_a_plan_keeps_the_budget_and_loses_little(seed):
    limit, spent = 3.0, 0.5
    problem = line(states=7, horizon=6, start=3, constraints=(ResourceBudget("fuel", travelled, limit),))
    reward = np.random.default_rng(seed).random((7, 1))
    induction = BatchedInduction(problem.sets)
    budgets = SimulatedBudgets(BudgetTables(problem), [spent], 1)
    costs = budgets.priced(Costs(-reward), induction, np.array([3]), 0)
    state, total, used = 3, 0.0, spent
    for step in range(problem.horizon):
        pairs = problem.process.pairs_of(state)
        to_go = induction.of_pairs(induction.values_after(costs, step), costs, step)[pairs.start : pairs.stop, 0]
        arrived = int(problem.process.successor[pairs[int(to_go.argmin())]])
        total, used, state = total + reward[arrived, 0], used + abs(arrived - state), arrived
    assert used <= limit + 1e-9
    # A price finds the corners of the trade-off between reward and use; the best path may lie between two of them.
    best = best_within(problem, reward[:, 0], limit, spent)
    assert best >= total - 1e-12 and total >= 0.75 * best


@pytest.mark.parametrize("feedback", ["immediate", "episodic"])
def test_no_simulated_episode_uses_more_than_its_budget(feedback):
    rules = (ResourceBudget("fuel", travelled, 4.0), ResourceBudget("up", _climbed, 3.0), EndAt({"x": 1}))
    problem = grid(rules, horizon=6, start=5, episodes=3)
    settings = settings_from({"method": "rollout", "feedback": {"kind": feedback}})
    campaign = Campaign(problem, settings, 1)
    standpoint = standpoint_of(campaign.knowledge)
    chances = draw_chances(standpoint, 12, np.random.SeedSequence(2))
    plant = FinitePlant(problem, standpoint.noise_variance)
    for member in members_of(settings):
        found = rehearse(member.simulated(standpoint.band_width), plant, standpoint, chances)
        paths = found.visited.reshape(3, 6, 12)
        for path in paths.transpose(0, 2, 1).reshape(-1, 6):
            points = problem.process.states[[5, *path]]
            assert np.abs(np.diff(points[:, 0])).sum() <= 4.0 and np.maximum(np.diff(points[:, 1]), 0).sum() <= 3.0
            assert points[-1, 0] == 1.0
        assert found.regret.shape == (3, 12) and (found.regret >= 0).all()


def _climbed(left, right):
    return (abs(right["y"] - left["y"]) + right["y"] - left["y"]) / 2


def test_a_rule_that_couples_moves_in_its_own_way_is_refused():
    def half_the_visits(model):
        model.few = pyo.Constraint(expr=sum(model.visitation.values()) <= 10)

    problem = grid((half_the_visits,))
    with pytest.raises(BadInput, match=r"cannot be simulated ahead.*use method mdp_bo"):
        Campaign(problem, settings_from({"method": "rollout"}))
