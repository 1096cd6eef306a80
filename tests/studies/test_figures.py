"""The figures of a study: their numbers against a plain computation, their scales, paths and words."""

import numpy as np
import pandas as pd
import pytest
import study_tables
from matplotlib.figure import Figure
from study_tables import BRANIN, GRID, KNORR, LASER, MANY, SNAR, paths_table, runs_table, timings_table

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.report.figures.canvas import figure_of
from tcbo_pyomo.studies.figures import (
    ablation_figure,
    candidates_figure,
    identification_figure,
    label,
    paths_figure,
    regret_figure,
    solve_time_figure,
    solve_time_table,
    traces_figure,
)
from tcbo_pyomo.studies.figures.labels import setting_values

RUNS, TIMINGS, PATHS = runs_table(), timings_table(), paths_table()


def median_line(axes, name):
    (line,) = [line for line in axes.lines if line.get_label() == name]
    return line


def edges(axes, name):
    """Lower and upper edge of a series' band: the two lines that were drawn before its median."""
    lines = list(axes.lines)
    place = lines.index(median_line(axes, name))
    return [line.get_ydata() for line in lines[place - 2 : place]]


def by_seed(table, case, method, column, setting="", rows=lambda part: part):
    """seeds x times, gathered run by run."""
    part = table[(table.problem == case[0]) & (table.feedback == case[1]) & (table.method == method)]
    part = part[part.setting == setting]
    return np.array(
        [rows(part[part.seed == seed])[column].tolist() for seed in sorted(part.seed.unique())], dtype=float
    )


def legend_names(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


# ---- numbers


@pytest.mark.parametrize(
    ("method", "name"), [("mdp_bo", "MDP-BO"), ("greedy_ucb", "Greedy-UCB"), ("costs $5 to $9", r"costs \$5 to \$9")]
)
def test_regret_by_episodes_is_the_median_at_their_ends(method, name):
    axes = regret_figure(RUNS, *KNORR)
    values = by_seed(RUNS, KNORR, method, "regret", rows=lambda part: part[part.step == 10])
    assert values.shape == (7, 6)
    assert np.array_equal(median_line(axes, name).get_xdata(), [1, 2, 3, 4, 5, 6])
    assert np.allclose(median_line(axes, name).get_ydata(), np.median(values, axis=0), atol=0)
    low, high = edges(axes, name)
    assert np.allclose([low, high], np.quantile(values, [0.1, 0.9], axis=0))
    assert axes.get_xlabel() == "episode (10 moves each)"


def test_regret_by_moves_where_there_is_one_episode():
    axes = regret_figure(RUNS, *BRANIN)
    values = by_seed(RUNS, BRANIN, "local_search_region", "regret")
    line = median_line(axes, "LSR")
    assert np.array_equal(line.get_xdata(), np.arange(1, 41))
    assert np.allclose(line.get_ydata(), np.median(values, axis=0), atol=0)
    assert np.allclose(edges(axes, "LSR"), np.quantile(values, [0.1, 0.9], axis=0))
    assert (axes.get_xlabel(), axes.get_yscale()) == ("move", "log")


def test_episodes_of_different_length_are_compared_by_moves():
    table = pd.concat([runs_table([(KNORR, "mdp_bo", "", 6, 10, True)]), runs_table([(KNORR, "x", "", 3, 20, True)])])
    axes = regret_figure(table, *KNORR)
    assert axes.get_xlabel() == "move"
    assert len(median_line(axes, "x").get_xdata()) == 60


def test_one_seed_has_no_band():
    figure = figure_of(regret_figure(runs_table(seeds=1), *KNORR))
    assert len(figure.axes[0].lines) == 3
    assert figure.axes[0].get_title().endswith("\n1 seed")


def test_runs_that_failed_are_not_hidden():
    lost = RUNS[~((RUNS.method == "greedy_ucb") & (RUNS.seed > 5))]
    figure = figure_of(regret_figure(lost, *KNORR))
    assert "5 to 7 seeds" in figure.axes[0].get_title()
    values = by_seed(lost, KNORR, "greedy_ucb", "regret", rows=lambda part: part[part.step == 10])
    assert np.allclose(median_line(figure.axes[0], "Greedy-UCB").get_ydata(), np.median(values, axis=0), atol=0)


# Wilson's interval by hand, as in tables of it: 0/10, 8/10 and 10/10.
@pytest.mark.parametrize(("hits", "low", "high"), [(0, 0.0, 0.27753), (8, 0.49016, 0.94332), (10, 0.72247, 1.0)])
def test_identification_has_shares_and_wilson_intervals(hits, low, high):
    table = runs_table([(KNORR, "mdp_bo", "", 2, 3, True)], seeds=10)
    table["identified"] = (table.seed <= hits) & (table.episode == 2)
    axes = identification_figure(table, *KNORR)
    heights = [bar.get_height() for bar in axes.patches]
    assert np.allclose(heights, [0.0, 10.0 * hits])
    (intervals,) = [c for c in axes.collections if hasattr(c, "get_segments")]
    ends = [[point[1] for point in segment] for segment in intervals.get_segments()]
    assert np.allclose(ends, [[0.0, 27.753], [100 * low, 100 * high]], atol=2e-3)


def test_identification_counts_runs_at_the_ends_of_episodes():
    axes = identification_figure(RUNS, *KNORR)
    assert [text.get_text() for text in axes.get_xticklabels()] == list("123456")
    for container, method in zip(axes.containers[::2], ("mdp_bo", "greedy_ucb", "costs $5 to $9"), strict=True):
        share = by_seed(RUNS, KNORR, method, "identified", rows=lambda part: part[part.step == 10]).mean(axis=0)
        assert np.allclose([bar.get_height() for bar in container], 100 * share)
    assert share.min() < share.max()


def test_identification_at_quarters_of_the_moves():
    axes = identification_figure(RUNS, *LASER)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["25 %", "50 %", "75 %", "100 %"]
    values = by_seed(RUNS, LASER, "stateless", "identified")[:, [7, 14, 22, 29]]  # moves 8, 15, 23 and 30 of 30
    assert np.allclose([bar.get_height() for bar in axes.containers[2]], 100 * values.mean(axis=0))
    assert axes.get_xlabel() == "share of the moves made (of 30)"


def test_no_bar_can_be_mistaken_for_another():
    axes = identification_figure(RUNS, *KNORR)
    looks = {(bar.get_facecolor(), bar.get_hatch()) for bar in axes.patches}
    assert len(looks) == 3 and len({hatch for _, hatch in looks}) == 3


def test_candidates_are_medians_over_moves():
    figure = figure_of(candidates_figure(RUNS, *KNORR))
    axes = figure.axes[0]
    values = by_seed(RUNS, KNORR, "greedy_ucb", "candidates")
    assert np.allclose(median_line(axes, "Greedy-UCB").get_ydata(), np.median(values, axis=0))
    assert np.allclose(edges(axes, "Greedy-UCB"), np.quantile(values, [0.1, 0.9], axis=0))
    assert axes.get_xlabel() == "move (10 per episode)"
    assert axes.get_ylabel() == "candidates for the maximum (number)"


def test_methods_without_candidates_are_named_and_left_out():
    figure = figure_of(candidates_figure(RUNS, *SNAR))
    assert legend_names(figure) == ["MDP-BO-TS"]
    assert "without candidates: TrSnAKe" in figure.axes[0].get_title()
    with pytest.raises(BadInput, match="no method keeps candidates"):
        candidates_figure(RUNS.assign(candidates=0), *SNAR)


def test_ablation_has_a_panel_per_key_and_a_line_per_value():
    figure = ablation_figure(RUNS, *GRID)
    components, rule = figure.axes
    assert components.get_title().replace("\n", " ") == "MDP-BO: planner components (with all candidates rule)"
    names = [[text.get_text() for text in axes.get_legend().get_texts()] for axes in (components, rule)]
    assert names == [["1", "10", "25"], ["credible band", "thompson sampling"]]
    part = RUNS[(RUNS.problem == GRID[0]) & RUNS.setting.str.contains("components=10,") & (RUNS.step == 12)]
    expected = [np.median(part[part.episode == episode].regret) for episode in range(1, 6)]
    assert len(part) == 2 * 7 * 5
    assert np.allclose(median_line(components, "10").get_ydata(), expected, atol=0)


def test_ablation_shows_runs_outside_the_grid_as_the_studys_own():
    cases = [(KNORR, "mdp_bo", setting, 3, 4, True) for setting in ("", "planner.components=5")]
    (axes,) = ablation_figure(runs_table(cases), *KNORR).axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["as the study sets it", "5"]
    with pytest.raises(BadInput, match="column 'setting' is empty"):
        ablation_figure(RUNS, *KNORR)


def test_settings_are_parsed_at_the_commas_between_keys():
    assert setting_values("a.b=[1, 2], c=x y") == {"a.b": "[1, 2]", "c": "x y"}
    assert setting_values("") == {}


def test_solve_times_are_quantiles():
    table = solve_time_table(TIMINGS)
    assert len(table) == len(list(study_tables.study_cases()))
    for row in table.itertuples():
        part = TIMINGS[(TIMINGS.problem == row.problem) & (TIMINGS.method == row.method)]
        seconds = part[part.setting == row.setting].seconds.to_numpy()
        assert row.plans == len(seconds)
        expected = np.quantile(seconds, [0.1, 0.5, 0.9])
        assert np.allclose([row.low_seconds, row.median_seconds, row.high_seconds], expected, rtol=1e-12)


def test_solve_times_are_drawn_and_written():
    table = pd.DataFrame(
        {
            "problem": "p",
            "feedback": "immediate",
            "method": ["mdp_bo", "random_walk"],
            "setting": "",
            "seconds": [2.0, 4e-5],
        }
    )
    axes = solve_time_figure(table)
    assert [text.get_text() for text in axes.texts] == ["2 s (2 s to 2 s), 1 plan", "40 µs (40 µs to 40 µs), 1 plan"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["p, immediate feedback", "MDP-BO", "Random walk"]
    assert (axes.get_xlabel(), axes.get_xscale()) == ("time per plan (s)", "log")


# ---- scales


def regret_axes(values, finite=True):
    cases = [(KNORR, "mdp_bo", "", len(values), 1, True)]
    table = runs_table(cases, seeds=1).assign(regret=values, identified=[v == 0 for v in values] if finite else None)
    return regret_figure(table, *KNORR, unit="mg/L")


def tick_texts(axes):
    return [axes.yaxis.get_major_formatter()(tick) for tick in axes.get_yticks()]


def test_regret_within_a_decade_has_a_linear_axis_with_zero():
    axes = regret_axes([0.9, 0.5, 0.2])
    assert axes.get_yscale() == "linear"
    assert axes.get_ylim()[0] <= 0.0
    assert axes.get_ylabel() == "regret of the recommendation (mg/L)"


def test_regret_over_decades_has_a_logarithmic_axis():
    axes = regret_axes([0.9, 0.05, 0.002])
    assert axes.get_yscale() == "log"
    assert tick_texts(axes) == ["0.01", "0.1", "1"]


def test_exact_zeros_stay_in_the_picture_and_say_what_they_are():
    axes = regret_axes([0.9, 0.004, 0.0])
    assert axes.get_yscale() == "symlog"
    assert np.array_equal(median_line(axes, "MDP-BO").get_ydata(), [0.9, 0.004, 0.0])
    assert tick_texts(axes)[0] == "0\n(identified)"
    assert axes.get_ylim()[0] < 0.0
    assert axes.get_ylabel().endswith("(logarithmic above 0.002)")


def test_rounding_noise_does_not_stretch_the_axis():
    axes = regret_axes([0.9, 1e-14, -1e-9], finite=False)
    assert axes.get_yscale() == "symlog"
    assert min(tick for tick in axes.get_yticks() if tick > 0) >= 1e-7
    assert tick_texts(axes)[0] == "0"


def test_regret_that_is_zero_throughout():
    assert regret_axes([0.0, 0.0]).get_yscale() == "linear"


# ---- paths


def test_paths_on_a_finite_landscape():
    figure = paths_figure(PATHS, *KNORR)
    panels = figure.axes[:3]
    assert [axes.get_title() for axes in panels] == ["MDP-BO", "Greedy-UCB", r"costs \$5 to \$9"]
    assert figure.axes[-1].get_ylabel() == "true product"
    names = legend_names(figure)
    assert {"states", "true maximum", "start", *(f"episode {i}" for i in range(1, 7))} == set(names)
    assert panels[0].get_xlabel() == "residence time (min)"
    (star,) = [c for c in panels[1].collections if c.get_label() == "true maximum"]
    problem = load_problem(*KNORR)
    assert np.array_equal(star.get_offsets(), problem.process.states[[problem.best_state]])
    walked = PATHS[
        (PATHS.problem == KNORR[0]) & (PATHS.method == "greedy_ucb") & (PATHS.seed == 1) & (PATHS.episode == 2)
    ]
    (line,) = [line for line in panels[1].lines if line.get_label() == "episode 2"]
    places = walked[["coordinate_1", "coordinate_2"]].to_numpy(float)
    # The shift that keeps paths apart is less than half a cell of the grid.
    assert np.abs((np.column_stack(line.get_data()) - places) / [4.0, 0.1]).max() < 0.5


def test_paths_on_a_continuous_landscape_show_all_three_maxima_of_branin():
    axes = paths_figure(PATHS, *BRANIN, seed=2).axes[0]
    (stars,) = [c for c in axes.collections if c.get_label() == "true maximum"]
    # The textbook's maximisers (-pi, 12.275), (pi, 2.275) and (9.42478, 2.475), on the unit square.
    known = np.array([(5.0 - np.pi, 12.275), (5.0 + np.pi, 2.275), (14.42478, 2.475)]) / 15.0
    found = np.asarray(stars.get_offsets())
    assert len(found) == 3
    assert all(np.abs(found - place).max(axis=1).min() < 0.02 for place in known)
    walked = PATHS[(PATHS.problem == BRANIN[0]) & (PATHS.method == "mdp_bo") & (PATHS.seed == 2)]
    (dots,) = [c for c in axes.collections if c.get_label() == "path (dark to light)"]
    assert np.allclose(dots.get_offsets(), walked[["coordinate_1", "coordinate_2"]].to_numpy(float))


def test_walls_are_drawn_and_explained():
    assert "forbidden" in legend_names(paths_figure(PATHS, *GRID))


def test_the_landscape_is_that_of_the_seed():
    drawn = []
    for seed in (1, 2):
        contours = paths_figure(PATHS, *LASER, seed=seed).axes[0].collections[0]
        drawn.append(np.concatenate([path.vertices for path in contours.get_paths()]))
    assert drawn[0].shape != drawn[1].shape or not np.allclose(*drawn)


def test_more_than_two_coordinates_are_traces_with_units():
    figure = paths_figure(PATHS, *SNAR)
    names = ["temperature (degC)", "concentration (mol/L)", "residence time (min)", "equivalents"]
    assert [axes.get_ylabel() for axes in figure.axes] == names
    walked = PATHS[(PATHS.problem == SNAR[0]) & (PATHS.method == "MDP-BO-TS") & (PATHS.seed == 1)]
    line = median_line(figure.axes[2], "MDP-BO-TS")
    assert np.array_equal(line.get_xdata(), np.arange(51))
    assert np.allclose(line.get_ydata(), walked.coordinate_3.to_numpy(float))


def test_traces_have_a_gap_between_episodes():
    line = median_line(traces_figure(PATHS, *KNORR).axes[0], "MDP-BO")
    assert np.isnan(line.get_xdata()).sum() == 5
    assert np.nanmax(line.get_xdata()) == 60


def test_the_seed_that_most_series_have_is_drawn():
    part = PATHS[~((PATHS.seed == 1) & (PATHS.method == "greedy_ucb"))]
    assert "seed 2" in paths_figure(part, *KNORR).get_suptitle()
    with pytest.raises(BadInput, match=r"no rows with seed 99.*known: 1, 2"):
        paths_figure(PATHS, *KNORR, seed=99)


# ---- words


def test_methods_have_the_papers_names_and_other_labels_stay():
    names = {
        "mdp_bo": "MDP-BO", "mdp_expected_improvement": "MDP-EI", "greedy_ucb": "Greedy-UCB",
        "local_search_region": "LSR", "truncated_snake": "TrSnAKe", "local_ucb": "Local-UCB",
        "stateless": "State-less BO", "random_walk": "Random walk", "MDP-BO-TS": "MDP-BO-TS", "my_own": "my_own",
    }  # fmt: skip
    assert {name: label(name) for name in names} == names


def test_series_with_one_name_are_told_apart():
    table = runs_table([(KNORR, method, "", 2, 3, True) for method in ("mdp_bo", "MDP-BO")])
    assert legend_names(figure_of(regret_figure(table, *KNORR))) == ["MDP-BO (1)", "MDP-BO (2)"]


def test_a_method_looks_the_same_in_all_figures_of_a_study():
    lines = [median_line(regret_figure(RUNS, *case), "TrSnAKe") for case in (BRANIN, SNAR)]
    assert lines[0].get_color() == lines[1].get_color()
    assert lines[0].get_marker() == lines[1].get_marker()


def test_up_to_nine_lines_differ_without_colours():
    figure = figure_of(regret_figure(runs_table(MANY), "many", "episodic"))
    lines = [median_line(figure.axes[0], name) for name in legend_names(figure)]
    assert len({line.get_marker() for line in lines}) == 9
    assert len({(line.get_linestyle(), str(line._dash_pattern)) for line in lines}) == 4


@pytest.mark.parametrize(
    "draw",
    [
        lambda **on: regret_figure(RUNS, *KNORR, **on),
        lambda **on: identification_figure(RUNS, *KNORR, **on),
        lambda **on: candidates_figure(RUNS, *KNORR, **on),
        lambda **on: solve_time_figure(TIMINGS, **on),
    ],
)
def test_each_plot_is_drawn_on_axes_that_are_given_as_on_its_own(draw):
    figure = Figure(figsize=(14, 6))
    left, right = figure.subplots(1, 2)
    alone = draw()
    assert draw(ax=right) is right and not left.has_data() and not figure.legends
    assert figure_of(alone) is not figure
    shown = [line.get_xydata() for line in alone.lines]
    again = [line.get_xydata() for line in right.lines]
    assert len(shown) == len(again)
    for one, other in zip(shown, again, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (alone.get_xlabel(), alone.get_ylabel()) == (right.get_xlabel(), right.get_ylabel())
    if figure_of(alone).legends:
        names = [text.get_text() for text in right.get_legend().get_texts()]
        assert names == legend_names(figure_of(alone))
