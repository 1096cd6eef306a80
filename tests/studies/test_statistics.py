"""Summaries and comparisons against numbers worked out by hand or by scipy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statistics_frames import comparisons, summary

from tcbo_pyomo.studies.statistics import moments, wilson_interval


def table(regrets, identified=None, problem="p", method="a", episodes=1, steps=4):
    """Runs whose regret at every move is given as a row per seed."""
    rows = []
    for seed, row in enumerate(regrets, start=1):
        for move, regret in enumerate(row, start=1):
            episode, step = (move - 1) // steps + 1, (move - 1) % steps + 1
            hit = None if identified is None else identified[seed - 1]
            rows.append([problem, "immediate", method, "", seed, episode, step, move, regret, hit, 5])
    columns = ["problem", "feedback", "method", "setting", "seed", "episode", "step", "move", "regret", "identified"]
    return pd.DataFrame(rows, columns=[*columns, "candidates"])


def test_wilson_interval_is_that_of_the_textbook():
    # Newcombe 1998, table I: 81 of 263 gives 0.2553 to 0.3662; 0 of 20 gives 0 to 0.1611; 29 of 29 from 0.8830.
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson_interval(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson_interval(29, 29) == pytest.approx((0.8830, 1.0), abs=5e-5)


def test_one_episode_is_looked_at_in_quarters_and_several_at_their_ends():
    assert moments(table([[1.0] * 10], steps=10)) == [3, 5, 8, 10]
    assert moments(table([[1.0] * 8], steps=4)) == [4, 8]


def test_summary_has_quantiles_rates_and_the_difference_to_the_first_case():
    first = [[4, 3, 2, 1.0], [4, 3, 2, 2.0], [4, 3, 2, 4.0]]
    second = [[4, 3, 2, 0.5], [4, 3, 2, 2.0], [4, 3, 2, 1.0]]
    runs = pd.concat([table(first, [True, False, False]), table(second, [True, True, False], method="b")])
    found = summary(runs)
    assert found["move"].tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    a, b = found[found["move"] == 4].itertuples()
    assert (a.regret_median, a.regret_mean, a.runs) == (2.0, pytest.approx(7 / 3), 3)
    assert (a.regret_q10, a.regret_q90) == (pytest.approx(1.2), pytest.approx(3.6))
    assert a.identified_rate == pytest.approx(1 / 3)
    assert (a.identified_low, a.identified_high) == pytest.approx(wilson_interval(1, 3))
    assert np.isnan(a.difference_mean)
    differences = np.array([-0.5, 0.0, -3.0])
    interval = stats.ttest_1samp(differences, 0.0).confidence_interval(0.95)
    assert b.difference_mean == pytest.approx(differences.mean())
    assert (b.difference_low, b.difference_high) == pytest.approx(tuple(interval))
    assert (b.better, b.worse) == (2, 0)


def test_comparisons_pair_the_seeds_that_both_cases_have():
    generator = np.random.default_rng(3)
    one, two = generator.random((12, 4)), generator.random((12, 4))
    runs = pd.concat([table(one), table(two[:9], method="b")])
    final = comparisons(runs).iloc[-1]
    gap = one[:9, 3] - two[:, 3][:9]
    assert (final["method"], final["against"], final["runs"]) == ("a", "b", 9)
    assert final["difference_mean"] == pytest.approx(gap.mean())
    assert final["difference_median"] == pytest.approx(np.median(gap))
    assert final["better"] + final["worse"] == 9
    assert final["sign_p"] == pytest.approx(stats.binomtest(int((gap < 0).sum()), 9).pvalue)


def test_unknown_truth_single_seed_and_equal_methods_give_no_nonsense():
    runs = pd.concat([table([[None] * 4]), table([[None] * 4], method="b")])
    assert summary(runs)["regret_median"].isna().all()
    assert comparisons(runs).empty
    one = pd.concat([table([[1.0] * 4]), table([[1.0] * 4], method="b")])
    final = comparisons(one).iloc[-1]
    assert final["difference_mean"] == 0.0
    assert np.isnan(final["difference_low"])
    assert (final["equal"], final["sign_p"]) == (1, 1.0)
    assert summary(one.iloc[:0]).empty
