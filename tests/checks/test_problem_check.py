"""`tcbo check`: each finding on a problem made to show it, and what the command prints and returns."""

import sys
import textwrap

import numpy as np
import pytest
from learning_plants import FAST, finite

from tcbo_pyomo import Coordinate, PlainPrior, Problem, Process, grid_process, load_problem, settings_from
from tcbo_pyomo.checks.problem_check import check_problem
from tcbo_pyomo.cli.main import main
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.library import problem_names
from tcbo_pyomo.models.constraints import (
    Box,
    Circle,
    EndAt,
    ForbiddenRegion,
    MaximumStep,
    NonDecreasing,
    Polygon,
    ResourceBudget,
    VisitBudget,
    Wall,
)
from tcbo_pyomo.report.figures.move_graph_figure import move_graph_figure
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def grid_problem(**fields):
    """A 5 x 3 grid with moves of one cell."""
    given = {
        "name": "grid",
        "process": grid_process({"x": [0, 1, 2, 3, 4], "y": [0, 1, 2]}, {"x": [-1, 0, 1], "y": [-1, 0, 1]}, 0.01),
        "start": {"x": 0, "y": 0},
        "horizon": 6,
        "episodes": 1,
        "kernel": SquaredExponential(1.0, 0.3),
        "output": "value",
    }
    return Problem(**{**given, **fields})


def found(problem, subject, settings=None):
    findings = check_problem(problem, settings_from(dict(problem.settings), settings or {}))
    return [(finding.level, finding.message) for finding in findings if finding.subject == subject]


def only(problem, subject, settings=None):
    (finding,) = found(problem, subject, settings)
    return finding


def test_a_sound_problem_has_only_ok_findings():
    problem = grid_problem()
    assert {f.level for f in check_problem(problem, settings_from({}))} == {"ok"}
    assert only(problem, "search space") == ("ok", "15 of 15 states can be visited")
    assert only(problem, "horizon")[1].startswith("the farthest state 'x=4, y=0' is 4 moves from the start")
    assert only(problem, "truth") == ("ok", "unknown: use ask and tell; it cannot be simulated")


@pytest.mark.parametrize("name", problem_names())
def test_every_shipped_problem_passes(name):
    problem = load_problem(name)
    plain = isinstance(problem, Problem) and not any(rule.couples_steps for rule in problem.rules)
    quick = {"planner": {"linear": {"solver": "dynamic_programming"}}} if plain else {}
    findings = check_problem(problem, settings_from(dict(problem.settings), quick))
    remarks = [f"{finding.subject}: {finding.message}" for finding in findings if finding.level != "ok"]
    if name == "fuel_lake":
        # By its definition the fuel is not enough for every place and the way back.
        assert remarks.pop().startswith("search space: 87 of 100 states can be visited, never '18'")
    assert remarks == []


def test_how_much_each_constraint_removes():
    problem = grid_problem(constraints=[NonDecreasing("x"), ForbiddenRegion(Box({"x": (2, 2), "y": (0, 0)}))])
    moves = problem.process.number_of_pairs
    assert moves == 13 * 7
    assert only(problem, "NonDecreasing") == ("ok", f"removes {4 * 7} of {moves} moves")
    assert only(problem, "ForbiddenRegion")[1].endswith("forbids 1 of 15 states")
    assert only(problem, "search space") == ("ok", "14 of 15 states can be visited, 1 are forbidden")
    assert "removes no move" in only(grid_problem(constraints=[MaximumStep({"x": 1})]), "MaximumStep")[1]


def test_states_never_visited_and_the_rule_behind_it():
    problem = grid_problem(start={"x": 2, "y": 1}, constraints=[NonDecreasing("x")])
    level, message = only(problem, "search space")
    assert level == "warning"
    assert message.startswith("9 of 15 states can be visited, never 'x=0, y=0', 'x=0, y=1', 'x=0, y=2' and 3 more")
    assert message.endswith("(6 more without NonDecreasing)")


def few_changes(model):
    """A user's rule, in Pyomo only: x changes at most once in an episode."""
    import pyomo.environ as pyo

    changes = [model.visitation[move] for move in model.MOVES if "x" in move[2]]
    model.few_changes = pyo.Constraint(expr=sum(changes) <= 1)


def test_states_out_of_reach_under_rules_that_add_up():
    travel = ResourceBudget("travel", lambda left, right: abs(right["x"] - left["x"]), 2)
    level, message = only(grid_problem(constraints=[travel]), "search space")
    assert level == "warning" and message.startswith("9 of 15 states can be visited, never 'x=3, y=0'")
    assert message.endswith("(6 more without ResourceBudget(travel))")
    level, message = only(grid_problem(constraints=[few_changes]), "search space")
    assert level == "warning" and message.startswith("6 of 15 states can be visited, never 'x=2, y=0'")
    assert message.endswith("(9 more without few_changes)")


def test_where_only_a_bound_is_known_it_says_at_most():
    """Chance moves the boat, and two budgets hold at once."""
    river = load_problem("river")
    drift = ResourceBudget("drift", lambda left, right: abs(right["downstream"] - left["downstream"]), 700)
    across = ResourceBudget("across", lambda left, right: abs(right["across"] - left["across"]), 10)
    bounded = river.changed(constraints=[*river.constraints, drift, across])
    level, message = only(bounded, "search space")
    assert level == "warning" and message.startswith("at most 45 of 75 states can be visited")


def test_horizon_too_short_to_cross():
    problem = grid_problem(horizon=2)
    level, message = only(problem, "horizon")
    assert level == "warning" and message.endswith("is 4 moves from the start, an episode has 2")
    assert only(problem, "search space")[0] == "warning"
    assert "no moves within the horizon lead there" in only(problem, "search space")[1]


def test_the_farthest_state_is_one_that_the_rules_allow():
    travel = ResourceBudget("travel", lambda left, right: abs(right["x"] - left["x"]), 2)
    level, message = only(grid_problem(constraints=[travel]), "horizon")
    assert level == "ok" and "x=3" not in message and "x=4" not in message and "is 2 moves from the start" in message


def test_end_and_how_far_it_is():
    problem = grid_problem(constraints=[EndAt({"x": 4})])
    assert only(problem, "EndAt") == ("ok", "leaves 3 of 15 states to end in")
    assert only(problem, "end") == ("ok", "an end is 4 moves from the start, an episode has 6")
    river = load_problem("river")
    assert only(river, "end")[1].startswith("an end is 14 moves")  # Surely, without the help of the current.


def test_dead_end_left_by_the_rules():
    line = Process.from_moves(
        [Coordinate("x", 0, 2)],
        {"a": [0], "b": [1], "c": [2]},
        [("a", "on", "b"), ("a", "wait", "a"), ("b", "on", "c"), ("c", "back", "b")],
        0.01,
    )
    problem = grid_problem(process=line, start="a", horizon=3, constraints=[NonDecreasing("x")])
    level, message = only(problem, "dead ends")
    assert level == "warning" and "'c'" in message


@pytest.mark.parametrize(
    ("noise", "level", "words"),
    [(0.01, "ok", "0.1, of the prior 1"), (4.0, "warning", "check the units"), (1e-14, "warning", "too small")],
)
def test_scale_of_the_noise(noise, level, words):
    process = grid_process({"x": [0, 1, 2], "y": [0, 1]}, {"x": [-1, 0, 1], "y": [-1, 0, 1]}, noise)
    answer = only(grid_problem(process=process), "noise")
    assert answer[0] == level and words in answer[1]


def test_maximum_out_of_reach():
    truth = np.zeros(15)
    truth[0] = 1.0
    problem = grid_problem(start={"x": 2, "y": 1}, constraints=[NonDecreasing("x")], truth=truth)
    assert only(problem, "truth")[0] == "warning"
    assert only(grid_problem(truth=truth), "truth") == ("ok", "the maximum is 'x=0, y=0'")


def test_budgets_that_cannot_be_kept():
    def work(left, right):
        return 1.0 + abs(right["x"] - left["x"])

    kept = grid_problem(constraints=[ResourceBudget("work", work, 6.0)])
    assert found(kept, "ResourceBudget(work)")[1] == (
        "ok",
        "the cheapest episode needs 6 in the worst case; the limit is 6",
    )
    broken = grid_problem(constraints=[ResourceBudget("work", work, 5.0)])
    assert found(broken, "ResourceBudget(work)")[1][0] == "error"
    assert only(broken, "first plan")[0] == "error"


def test_two_rules_that_only_conflict_together():
    everywhere = VisitBudget(lambda values: values["x"] >= 0, limit=6, name="all")
    problem = grid_problem(constraints=[everywhere, lambda model: setattr(model, "never", _nothing(model))])
    level, message = only(problem, "first plan")
    assert level == "error" and "never" in message


def _nothing(model):
    import pyomo.environ as pyo

    return pyo.Constraint(expr=sum(model.visitation[move] for move in model.MOVES) <= 3)


def test_constraints_of_the_settings_are_checked_too():
    rule = {"constraints": [{"use": "non_decreasing", "coordinate": "x"}]}
    assert only(grid_problem(start={"x": 2, "y": 1}), "search space", rule)[0] == "warning"
    unknown = {"constraints": [{"use": "non_decreasing", "coordinate": "z"}]}
    assert only(grid_problem(), "constraints", unknown)[0] == "error"


@pytest.fixture
def tcbo(capsys, tmp_path, monkeypatch):
    """Run a command in an empty folder; returns exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def called(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main(list(arguments))
        captured = capsys.readouterr()
        return stopped.value.code, captured.out, captured.err

    return called


def test_command_prints_a_table_and_draws(tcbo, tmp_path):
    code, out, err = tcbo("check", "knorr_pyrazole", "--output", "moves.png")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "knorr_pyrazole: no errors, no warnings; the moves are drawn in moves.png"
    assert (tmp_path / "moves.png").read_bytes().startswith(b"\x89PNG")


def test_command_returns_0_with_warnings_and_2_with_errors(tcbo, tmp_path):
    text = """
        from tcbo_pyomo import load_problem
        from tcbo_pyomo.models.constraints import EndAt

        def build(feedback=None, seed=0):
            return load_problem("knorr_pyrazole", feedback).changed(horizon=5, constraints=[{rule}])
    """
    (tmp_path / "short.py").write_text(textwrap.dedent(text.format(rule="")))
    code, out, _ = tcbo("check", "short.py")
    assert code == 0 and out.endswith("short.py: no errors, 3 warnings\n")
    (tmp_path / "far.py").write_text(textwrap.dedent(text.format(rule="EndAt({'residence_time': 40})")))
    code, out, err = tcbo("check", "far.py", "--output", "far.png")
    assert (code, err) == (2, "")
    assert "EndAt" in out and out.endswith("far.py: 1 error, no warnings\n")
    assert not (tmp_path / "far.png").exists()
    assert tcbo("check", "nowhere.py")[0] == 2


def test_command_reads_settings(tcbo, tmp_path):
    (tmp_path / "s.yaml").write_text("feedback: {kind: immediate}\nstart: {residence_time: 20, ratio: 0.5}\n")
    code, out, _ = tcbo("check", "knorr_pyrazole", "--settings", "s.yaml")
    assert code == 0 and "more without NonDecreasing" not in out and "warning" in out
    (tmp_path / "bad.yaml").write_text("planner: {solver: highs}\n")
    code, out, _ = tcbo("check", "knorr_pyrazole", "--settings", "bad.yaml")
    assert code == 2 and "unknown setting 'planner.solver'" in out


def test_command_refuses_a_picture_it_cannot_write(tcbo):
    assert tcbo("check", "knorr_pyrazole", "--output", "moves.doc")[0] == 2
    code, _, err = tcbo("check", "knorr_pyrazole", "--output", "nowhere/moves.png")
    assert code == 6 and err.count("\n") == 1


def labels_of(axes):
    return [text.get_text() for text in axes.figure.legends[0].get_texts()]


def test_picture_of_the_lake_counts_what_the_walls_remove():
    lake = load_problem("lake_ypacarai")
    assert labels_of(move_graph_figure(lake)) == [
        "moves removed by the rules (24)",
        "moves allowed (496)",
        "states (100)",
        "end (1)",
        "start",
    ]


def test_picture_of_a_large_process_shows_the_moves_of_the_start():
    assert labels_of(move_graph_figure(load_problem("free_electron_laser")))[0] == "moves allowed (99)"


def test_picture_with_every_kind_of_region_and_on_given_axes():
    from matplotlib.figure import Figure

    regions = [
        Box({"x": (2.8, 3.2)}),
        Circle({"y": 2, "x": 4}, {"x": 0.3, "y": 0.4}),
        Polygon(("y", "x"), [(1.8, 1.8), (1.8, 2.2), (2.2, 2.0)]),
        Wall(("x", "y"), (0.5, -0.5), (0.5, 0.5)),
    ]
    problem = grid_problem(constraints=[ForbiddenRegion(region) for region in regions])
    axes = Figure().subplots()
    assert move_graph_figure(problem, ax=axes) is axes
    box, ellipse, triangle = (patch.get_xy() for patch in axes.patches)
    assert (box.min(axis=0).tolist(), box.max(axis=0).tolist()) == ([2.8, 0.0], [3.2, 2.0])
    np.testing.assert_allclose(np.ptp(ellipse, axis=0), [0.6, 0.8])
    assert triangle[:3].tolist() == [[1.8, 1.8], [2.2, 1.8], [2.0, 2.2]]
    wall = next(line for line in axes.lines if len(line.get_xdata()) == 2)
    assert wall.get_xydata().tolist() == [[0.5, -0.5], [0.5, 0.5]]


def test_picture_of_one_coordinate_and_of_a_continuous_problem():
    line = grid_process({"x": [0, 1, 2]}, {"x": [0, 1]}, 0.01)
    problem = grid_problem(process=line, start={"x": 0}, horizon=2)
    assert "moves allowed (2)" in labels_of(move_graph_figure(problem))
    with pytest.raises(BadInput, match="continuous"):
        move_graph_figure(load_problem("branin2d"))


def test_plain_answers_are_shown_and_held_against_a_known_truth():
    findings = {finding.subject: finding for finding in check_problem(finite(), settings_from(FAST))}
    assert findings["prior"].message == "rate expected from 0 to 100; lengthscales and noise are learned from the results"
    narrow = finite(prior=PlainPrior((0.0, 40.0), 1.0))
    (doubt,) = [finding for finding in check_problem(narrow, settings_from(FAST)) if finding.subject == "prior"]
    assert doubt.level == "warning" and "outside the range" in doubt.message


def test_an_answer_about_the_noise_that_the_plant_does_not_know_is_said():
    differing = finite(prior=PlainPrior((0.0, 100.0), 3.0))
    (doubt,) = [finding for finding in check_problem(differing, settings_from(FAST)) if finding.subject == "prior"]
    said = "measurement_sd 3 of the prior, and the noise of the plant has 1, which counts"
    assert doubt.level == "warning" and said in doubt.message
