"""The tables and verdicts of the reproduction: from the shipped results as in its README, and against plain arithmetic."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tcbo_pyomo import Campaign, load_problem, read_study, settings_from
from tcbo_pyomo.studies.study_tables import RUN_COLUMNS

FOLDER = Path(__file__).parents[2] / "examples" / "reproduction"
README = FOLDER / "README.md"


@pytest.fixture(scope="module")
def claims():
    """The scripts of the folder, as `python claims.py` finds them."""
    names = ("claims", "claim_tables", "statements", "verdicts", "literal_total")
    sys.path.insert(0, str(FOLDER))
    try:
        import claims

        yield claims
    finally:
        sys.path.remove(str(FOLDER))
        for name in names:
            sys.modules.pop(name, None)


def test_the_readme_has_the_tables_and_verdicts_of_the_shipped_results(claims):
    text, found = README.read_text(encoding="utf-8"), dict(claims.blocks(FOLDER / "small_results"))
    assert {"knorr", "knorr verdicts", "laser", "laser verdicts"} <= set(found)
    for name, block in found.items():
        if name != "verdicts":  # The summary of all claims has those of studies that are too large to ship as well.
            assert f"<!-- {name} -->\n{block}\n<!-- end -->" in text, f"the README's {name} is not what the results say"
    summary = text.partition("<!-- verdicts -->")[2].partition("<!-- end -->")[0]
    for line in found["verdicts"].splitlines():
        assert line in summary


def test_every_study_file_can_be_read_and_is_printed(claims):
    names = {read_study(file).name for file in FOLDER.glob("*.yaml")}
    assert names == set(claims.STUDIES)


def runs_of(values, identified, problem="knorr_pyrazole", feedback="episodic", methods=("MDP-BO", "greedy_ucb")):
    """A study of ten episodes with one move each, where every run is as good after each of them."""
    rows = [
        (problem, feedback, method, "", seed, episode, 1, episode, values[i][seed], identified[i][seed], 5)
        for i, method in enumerate(methods)
        for seed in range(len(values[i]))
        for episode in range(1, 11)
    ]
    return pd.DataFrame(rows, columns=RUN_COLUMNS)


def written_study(folder, runs):
    (folder / "knorr").mkdir(parents=True)
    runs.to_csv(folder / "knorr" / "runs.csv", index=False)


def test_a_verdict_is_that_of_plain_arithmetic(claims, tmp_path):
    rng = np.random.default_rng(1)
    values = rng.random((2, 30)) * [[0.1], [0.5]]
    identified = np.array([rng.random(30) < 0.7, rng.random(30) < 0.1])
    written_study(tmp_path, runs_of(values, identified))
    found = dict(claims.blocks(tmp_path))
    (line,) = [line for line in found["knorr verdicts"].splitlines() if "Greedy-UCB" in line]
    row = line.split(" | ")
    gap = identified[0].astype(float) - identified[1]
    half = stats.t.ppf(0.975, 29) * stats.sem(gap)
    assert row[2] == "30"
    assert row[4] == f"{gap.mean():+.1%} ± {half:.1%}"
    assert row[5] == ("holds |" if gap.mean() > half else "open |")
    wilson = stats.binomtest(int(identified[0].sum()), 30).proportion_ci(method="wilson")
    assert f"{identified[0].mean():.0%} ({100 * wilson.low:.0f} to {100 * wilson.high:.0f})" in row[3]
    difference = values[1] - values[0]
    half = stats.t.ppf(0.975, 29) * stats.sem(difference)
    assert f"{difference.mean():+.2g} ± {half:.2g} |" in found["knorr"]


@pytest.mark.parametrize(
    ("expects", "low", "high", "expected"),
    [
        ("ahead", 0.1, 0.2, "holds"),
        ("ahead", -0.1, 0.2, "open"),
        ("ahead", -0.2, -0.1, "does not hold"),
        ("equal", -0.1, 0.2, "no difference found"),
        ("equal", 0.1, 0.2, "does not hold"),
        ("equal", -0.2, -0.1, "does not hold"),
    ],
)
def test_the_word_follows_from_the_interval(claims, expects, low, high, expected):
    assert sys.modules["verdicts"].word(expects, low, high) == expected


def test_the_small_results_say_the_same_and_the_readme_is_written(claims, tmp_path):
    rng = np.random.default_rng(2)
    written_study(tmp_path / "whole", runs_of(rng.random((2, 9)), rng.random((2, 9)) < 0.5))
    claims.main(tmp_path / "whole", "--small", str(tmp_path / "small"))
    whole, small = (dict(claims.blocks(tmp_path / name)) for name in ("whole", "small"))
    assert whole == small
    readme = tmp_path / "README.md"
    readme.write_text(
        "before\n<!-- knorr -->\nold\n<!-- end -->\n<!-- lake -->\nkept\n<!-- end -->\n", encoding="utf-8"
    )
    claims.main(tmp_path / "small", str(readme))
    expected = f"before\n<!-- knorr -->\n{small['knorr']}\n<!-- end -->\n<!-- lake -->\nkept\n<!-- end -->\n"
    assert readme.read_text(encoding="utf-8") == expected


def test_small_results_can_be_made_in_parts(claims, tmp_path):
    rng = np.random.default_rng(3)
    runs = runs_of(rng.random((2, 9)), rng.random((2, 9)) < 0.5)
    written_study(tmp_path / "whole", runs)
    for name, some in (("first", runs["seed"] < 6), ("second", runs["seed"] >= 4)):
        written_study(tmp_path / name, runs[some])
        claims.main(tmp_path / name, "--small", str(tmp_path / "small"))
    assert dict(claims.blocks(tmp_path / "whole")) == dict(claims.blocks(tmp_path / "small"))


@pytest.mark.parametrize(("episodes", "same"), [(1, True), (3, False)])
def test_the_literal_weight_of_the_prior_is_ours_in_the_last_episode(claims, episodes, same):
    """With T the whole budget the prior counts for (t + 1) / T of itself: a third in the first of three episodes."""
    import literal_total

    problem = load_problem("knorr_pyrazole")
    fast = {"preset": "paper", "planner": {"linear": {"solver": "dynamic_programming"}}, "episodes": episodes}
    campaign = Campaign(problem, settings_from(dict(problem.settings), fast), 1)
    points = problem.process.scaled_states
    found = literal_total.utility_of(campaign.knowledge, campaign.generator).posterior(np.ones(len(points)))
    kernel = problem.kernel(points, points) * episodes
    expected = kernel - kernel @ np.linalg.solve(kernel + np.eye(len(points)), kernel)
    np.testing.assert_allclose(found.covariance_of(np.arange(len(points))), expected, atol=1e-8)
    ours = campaign.knowledge.utility(campaign.generator).posterior(None)
    theirs = literal_total.utility_of(campaign.knowledge, campaign.generator).posterior(None)
    states = np.arange(len(points))
    assert np.allclose(ours.covariance_of(states), theirs.covariance_of(states)) == same
