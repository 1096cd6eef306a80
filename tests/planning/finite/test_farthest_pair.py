"""The farthest pair against brute force, at every size and with ties."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from tcbo_pyomo.planning.finite import farthest_pair as module
from tcbo_pyomo.planning.finite.farthest_pair import farthest_pair


@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(1, 6), st.sampled_from([4, 16, 512]))
@settings(max_examples=100)
def test_equals_brute_force(seed, count, dimension, block):
    rows = np.random.default_rng(seed).normal(size=(count, dimension)) * np.random.default_rng(seed).random(dimension)
    original, module.BLOCK = module.BLOCK, block
    try:
        first, second, squared = farthest_pair(rows, np.random.default_rng(0))
    finally:
        module.BLOCK = original
    assert first < second
    assert squared == pytest.approx(pdist(rows).max() ** 2, rel=1e-12)
    assert squared == pytest.approx(((rows[first] - rows[second]) ** 2).sum())


@pytest.mark.parametrize("block", [2, 512])
def test_ties_are_broken_at_random(block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", block)
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    rng = np.random.default_rng(0)
    found = {farthest_pair(square, rng)[:2] for _ in range(100)}
    assert found == {(0, 3), (1, 2)}


def test_equal_rows_give_a_pair_at_distance_zero():
    assert farthest_pair(np.ones((3, 2)), np.random.default_rng(0))[2] == 0.0
    assert farthest_pair(np.ones((2000, 2)), np.random.default_rng(0))[2] == 0.0


def test_five_thousand_candidates_need_no_array_of_all_pairs():
    rows = np.random.default_rng(1).normal(size=(5000, 100))
    tracemalloc.start()
    _, _, squared = farthest_pair(rows, np.random.default_rng(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    brute = max(((rows[i] - rows[i + 1 :]) ** 2).sum(axis=1).max() for i in range(len(rows) - 1))
    assert squared == pytest.approx(brute, rel=1e-12)
    assert peak < 5000 * 5000 * 8 / 2
