"""Audit: hand-made paths with known violations, bad tables, and clean campaigns of shipped problems."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from tcbo_pyomo import (
    Campaign,
    ContinuousProblem,
    Coordinate,
    Problem,
    grid_process,
    load_problem,
    run_campaign,
    save_campaign,
    settings_from,
)
from tcbo_pyomo.checks.audit import audit_campaign, audit_path, unaudited
from tcbo_pyomo.cli.main import app
from tcbo_pyomo.errors import BadInput, DamagedFile
from tcbo_pyomo.models.constraints import (
    Box,
    Circle,
    EndAt,
    ForbiddenRegion,
    MaximumStep,
    NonDecreasing,
    ResourceBudget,
    TransitionConstraint,
    VisitBudget,
)
from tcbo_pyomo.plant.actions import BoxActions, NormActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.records import open_campaign
from tcbo_pyomo.records.run_folder import write_run
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

KERNEL = SquaredExponential(1.0, 0.3)


def travelled(left, right):
    return abs(right["x"] - left["x"]) + abs(right["y"] - left["y"])


def grid(*constraints, horizon=4):
    """Five by five; every move of at most three cells exists, so that the rules alone decide."""
    far = [-3, -2, -1, 0, 1, 2, 3]
    axes = {"x": [0, 1, 2, 3, 4], "y": [0, 1, 2, 3, 4]}
    process = grid_process(axes, {"x": far, "y": far}, 0.01, units={"x": "min"})
    return Problem("grid", process, {"x": 0, "y": 0}, horizon, 2, KERNEL, constraints, output="z")


def path(*points):
    return [{"x": x, "y": y} for x, y in points]


def found(problem, *points):
    return [(f.step, f.constraint) for f in audit_path(problem, path(*points))]


@pytest.mark.parametrize(
    ("rule", "points", "expected"),
    [
        (MaximumStep({"x": (1, 2)}), [(0, 0), (2, 0), (0, 0), (3, 3)], [(2, "MaximumStep"), (3, "MaximumStep")]),
        (NonDecreasing("x"), [(0, 0), (1, 0), (1, 3), (0, 3)], [(3, "NonDecreasing")]),
        (ForbiddenRegion(Box({"x": (2, 2), "y": (0, 4)})), [(0, 0), (1, 1), (3, 1), (3, 3)], [(2, "ForbiddenRegion")]),
        (ForbiddenRegion(Circle({"x": 3, "y": 3}, 0.5)), [(0, 0), (1, 1), (3, 3)], [(2, "ForbiddenRegion")]),
        (ResourceBudget("fuel", travelled, 5), [(0, 0), (3, 0), (3, 2), (3, 3), (3, 4)], [(3, "ResourceBudget(fuel)")]),
        (VisitBudget(Box({"x": (2, 4)}), 1), [(0, 0), (2, 0), (2, 1), (0, 1)], [(2, "VisitBudget(visits)")]),
        (EndAt({"x": 0, "y": 0}), [(0, 0), (1, 0), (1, 1), (1, 0), (1, 0)], [(4, "EndAt")]),
        (EndAt({"x": 0, "y": 0}), [(0, 0), (1, 0), (1, 1)], []),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, TransitionConstraint) else "",
)
def test_each_declared_constraint_is_found_at_its_step(rule, points, expected):
    assert found(grid(rule), *points) == expected


def test_a_finding_has_row_limit_and_value():
    problem = grid(MaximumStep({"x": 1}))
    (finding,) = audit_path(problem, path((0, 0), (1, 0), (3, 0)))
    assert (finding.row, finding.episode, finding.step) == (2, 1, 2)
    assert finding.limit == "x -1 to +1 min per move"
    assert finding.value == "x (min) changed by 2, allowed is -1 to 1"


def test_the_start_the_length_and_the_moves_of_the_process_are_rules_too():
    problem = grid(horizon=2)
    assert found(problem, (1, 1), (1, 2)) == [(1, "start")]
    assert found(problem, (0, 0), (1, 0), (2, 0), (3, 0)) == [(3, "horizon")]
    assert found(problem, (0, 0), (4, 0)) == [(1, "plant")]
    with pytest.raises(BadInput, match="no state at x=0\\.5"):
        audit_path(problem, path((0, 0), (0.5, 0)))
    with pytest.raises(BadInput, match="at least one state"):
        audit_path(problem, [])


class NoDiagonals(TransitionConstraint):
    """A user's rule that says only what it removes."""

    def allowed_transitions(self, process):
        left = process.states[process.pair_state[process.transition_pair]]
        return (np.abs(process.states[process.transitions.indices] - left) > 0).sum(axis=1) < 2


class Mute(TransitionConstraint):
    """A user's rule that is Pyomo only."""

    def add_to_polytope(self, model):
        """Nothing."""


class Broken(TransitionConstraint):
    def violations(self, path):
        return 1 / 0


def test_a_users_rule_about_single_moves_is_audited_by_what_it_removes():
    problem = grid(NoDiagonals(), Mute())
    assert found(problem, (0, 0), (1, 0), (2, 1)) == [(2, "NoDiagonals")]
    assert unaudited(problem) == ["Mute"]
    with pytest.raises(BadInput, match=r"'Broken'.*episode 1.*ZeroDivisionError"):
        audit_path(grid(Broken()), path((0, 0), (1, 0)))


def box(dynamics, *constraints):
    axes = (Coordinate("x", 0.0, 10.0, "K"), Coordinate("y", 0.0, 10.0))
    return ContinuousProblem("box", axes, dynamics, {"x": 5, "y": 5}, 3, 1, KERNEL, 0.01, constraints, output="z")


def test_continuous_moves_are_held_against_the_limits_of_the_actions():
    problem = box(LinearDynamics.free_moves(2, NormActions(0.1)), MaximumStep({"x": 0.5}))
    assert found(problem, (5, 5), (5, 6), (5.5, 6.5)) == []
    assert found(problem, (5, 5), (5.4, 6), (5.4, 7.2)) == [(1, "plant"), (2, "plant")]
    assert found(problem, (5, 5), (5.6, 5)) == [(1, "MaximumStep")]
    lagging = box(LinearDynamics(np.diag([1.0, 0.5]), np.array([[1.0], [0.0]]), BoxActions(0.2)))
    assert [f.value for f in audit_path(lagging, path((5, 5), (6, 7)))] == ["no action leads to x=6, y=7"]


@pytest.fixture
def table(tmp_path):
    def write(text):
        file = tmp_path / "log.csv"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    return write


def test_a_table_of_set_points_with_units_and_blank_lines(table):
    problem = grid(MaximumStep({"x": 1}), EndAt({"x": 0}), horizon=2)
    file = table("remark,y,x (s)\nfine,0,60\n\ntoo far,0,180\n,0,60\n,1,0\n")
    assert [(f.row, f.episode, f.step, f.constraint) for f in audit_path(problem, file)] == [
        (4, 1, 2, "MaximumStep"),
        (4, 1, 2, "EndAt"),
    ]


def test_episode_and_step_columns_say_where_episodes_begin(table):
    problem = grid(MaximumStep({"x": 1}), horizon=3)
    assert audit_path(problem, table("episode,x,y\n1,1,0\n1,2,0\n2,1,0\n")) == []
    assert audit_path(problem, table("step,x,y\n0,0,0\n1,1,0\n2,2,0\n1,1,0\n")) == []
    assert audit_path(problem, table("step,x,y\n1,1,0\n2,2,0\n2,2,0\n3,3,0\n")) == []
    (finding,) = audit_path(problem, table("episode,step,x,y\n1,0,3,3\n1,1,2,3\n"))
    assert (finding.row, finding.constraint, finding.limit, finding.value) == (3, "start", "(0, 0)", "(3, 3)")
    (outside,) = audit_path(problem, table("x,y\n0.5,0\n"))
    assert (outside.row, outside.constraint, outside.value) == (2, "plant", "no state at x=0.5, y=0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("x,y\n", "no measurements below it"),
        ("x\n1\n", "no column 'y'"),
        ("x,y\n1,abc\n", "row 2, column 'y': 'abc' is not a number"),
        ("x,y\n1,0\n1,nan\n", "row 3, column 'y': 'nan' is not a finite number"),
        ("x,y\n1,inf\n", "is not a finite number"),
        ("x,y\n1\n", "row 2: 1 cells, the header has 2"),
        ("x,x,y\n1,1,0\n", "column 'x' occurs twice"),
        ("x (kg),y\n1,0\n", "unit 'kg' does not convert to 'min'"),
        ("x|y\n1|0\n", "no column 'x'"),
        (b"x,y\n\xff,0\n", "row 2: not UTF-8"),
        ("episode,x,y\n1.5,1,0\n", "row 2, column 'episode': 1.5 must be a whole number of at least 1"),
        ("episode,x,y\n0,1,0\n", "column 'episode': 0 must be"),
        ("episode,x,y\n2,1,0\n1,1,0\n", "row 3: episode 1 comes after 2"),
        ("step,x,y\n2,1,0\n", "row 2: the episode begins with step 2"),
        ("step,x,y\n1,1,0\n3,1,0\n", "row 3: step 3 follows step 1"),
        ("episode,step,x,y\n1,1,1,0\n1,1,2,0\n", "row 3: step 1 follows step 1"),
    ],
)
def test_a_bad_table_is_one_clear_message(table, text, message):
    with pytest.raises(BadInput) as caught:
        audit_path(grid(), table(text))
    assert message in str(caught.value) and "log.csv" in str(caught.value) and "\n" not in str(caught.value)


def walked(name, moves, seed=1):
    problem = load_problem(name)
    campaign = Campaign(problem, settings_from(dict(problem.settings)), seed)
    for _ in range(moves):
        move = campaign.ask()
        at = None
        if move.expected is None:
            at = int(problem.process.successors_of(move.decision)[-1])
        campaign.tell(move.number, 0.1 * move.number, at=at)
    return campaign


@pytest.mark.parametrize(
    ("name", "moves"),
    [("knorr_pyrazole", 12), ("lake_ypacarai", 5), ("river", 21), ("branin2d", 4), ("thermal_reactor", 3)],
)
def test_campaigns_of_shipped_problems_are_clean(name, moves, tmp_path):
    campaign = walked(name, moves)
    assert audit_campaign(campaign) == []
    file = tmp_path / "experiments.csv"
    campaign.experiments().to_csv(file, index=False)
    assert audit_path(campaign.problem, file) == []


def test_a_plant_that_went_elsewhere_is_found():
    campaign = Campaign(load_problem("knorr_pyrazole"), seed=1)
    move = campaign.ask()
    campaign.tell(move.number, 0.1, at={"residence_time": 12, "ratio": 0.5})
    assert {f.constraint for f in audit_campaign(campaign)} == {"plant", "MaximumStep"}


@pytest.fixture
def command():
    def run(*arguments):
        return CliRunner().invoke(app, ["audit", *map(str, arguments)])

    return run


def test_the_command_says_clean_with_0_and_violations_with_1(command, tmp_path, table):
    campaign = walked("knorr_pyrazole", 3)
    saved = tmp_path / "campaign.json"
    save_campaign(campaign, saved)
    clean = command(saved, "--problem", "knorr_pyrazole")
    assert clean.exit_code == 0 and "no violations in 3 moves of knorr_pyrazole" in clean.output
    broken = command(table("residence_time,ratio\n0,0.3\n"), "--problem", "knorr_pyrazole")
    assert broken.exit_code == 1
    assert "MaximumStep" in broken.output and "2 violations in 1 move of knorr_pyrazole" in broken.output


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("missing.json", None, BadInput),
        ("log.csv", "x\n1\n", BadInput),
        ("saved.json", "{}", BadInput),
        ("empty.db", "", Exception),
    ],
)
def test_the_command_refuses_what_it_cannot_read(command, tmp_path, name, content, error):
    file = tmp_path / name
    if content is not None:
        file.write_text(content)
    result = command(file)
    assert isinstance(result.exception, error) and "\n" not in str(result.exception)


def test_sources_are_read_back(tmp_path):
    with pytest.raises(DamagedFile, match="not a saved campaign"):
        (tmp_path / "saved.json").write_text("{}")
        open_campaign(tmp_path / "saved.json", "knorr_pyrazole")
    with pytest.raises(BadInput, match="folder of a finished"):
        open_campaign(tmp_path)
    (tmp_path / "result.json").write_text(json.dumps({"problem": "knorr_pyrazole", "seed": 1}))
    with pytest.raises(DamagedFile, match="no usable 'settings'"):
        open_campaign(tmp_path)


def test_a_run_folder_is_replayed_into_the_same_beliefs(tmp_path):
    problem = load_problem("knorr_pyrazole")
    result = run_campaign(problem, settings_from(dict(problem.settings), {"episodes": 2}), seed=3)
    write_run(result, tmp_path / "run")
    source = open_campaign(tmp_path / "run")
    assert source.recommendation == result.campaign.recommendation
    assert np.array_equal(source.knowledge.belief.mean, result.campaign.knowledge.belief.mean)
    assert source.candidates == result.campaign.candidates
    assert sorted(source.plans) == list(range(1, 21)) and source.plans[1]["solver"] == "highs"
    assert audit_campaign(source) == []
