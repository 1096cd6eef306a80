"""Several measurements of one move: planned with, told as a series, recorded, taken back and exported."""

import csv
import itertools

import numpy as np
import pytest
from model_plants import cstr_after, cstr_dynamics, cstr_problem

from tcbo_pyomo import (
    BadInput,
    BlackBoxInput,
    BoxActions,
    Campaign,
    ContinuousProblem,
    Coordinate,
    LinearDynamics,
    ModelInput,
    NonlinearDynamics,
    Problem,
    Process,
    SquaredExponential,
    open_campaign,
    run_campaign,
    save_campaign,
    settings_from,
    start_campaign,
)
from tcbo_pyomo.checks.audit import audit_campaign
from tcbo_pyomo.checks.executed_path import episodes_of_table
from tcbo_pyomo.cli import main as cli
from tcbo_pyomo.explain.explanation import explain
from tcbo_pyomo.library import tank_cascade
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.planning.continuous.distance_objectives import DistanceObjective, Passing
from tcbo_pyomo.planning.continuous.measured_path import EndsOnly
from tcbo_pyomo.problem.declaration import declaration_of, declared_problem
from tcbo_pyomo.problem.declared_changes import declared_changes
from tcbo_pyomo.records.results_file import read_results
from tcbo_pyomo.records.run_folder import write_run

KERNEL = SquaredExponential(1.0, 0.3)


def box(**more):
    axes = (Coordinate("x", 0.0, 10.0), Coordinate("y", 0.0, 10.0))
    given = {"name": "box", "output": "signal", "coordinates": axes, "dynamics": LinearDynamics.free_moves(2, BoxActions(0.3))}
    given |= {"start": {"x": 1.0, "y": 2.0}, "horizon": 3, "episodes": 2, "kernel": KERNEL, "noise": 1e-3}
    return ContinuousProblem(**given | {"measured_at": 3, "truth": lambda p: np.sin(p[:, 0]) + p[:, 1]} | more)


def line(**more):
    """Nine states in a row; a move of up to three cells measures the cells that it passes."""
    labels = [str(x) for x in range(9)]
    jumps = [(i, j) for i in range(9) for j in range(i - 3, i + 4) if 0 <= j < 9]
    process = Process.from_moves(
        [Coordinate("x", 0, 8)], {x: [int(x)] for x in labels}, [(str(i), f"to {j}", str(j)) for i, j in jumps], 0.01
    )
    way = {(str(i), f"to {j}"): [str(k) for k in range(i, j, 1 if j > i else -1)][1:] for i, j in jumps}
    given = {"name": "line", "process": process, "start": "0", "horizon": 3, "episodes": 2, "kernel": KERNEL}
    return Problem(**given | {"on_the_way": way, "truth": np.sin(np.arange(9.0))} | more)


def regression(points, values, noise, wanted):
    """Mean and variance by the textbook formula."""
    gain = np.linalg.solve(KERNEL(points, points) + noise * np.eye(len(points)), KERNEL(points, wanted)).T
    return gain @ values, np.diag(KERNEL(wanted, wanted) - gain @ KERNEL(points, wanted))


def test_part_of_a_step_is_the_matrix_exponential():
    whole, state, action = tank_cascade.build().dynamics, np.array([0.1, -0.3]), np.array([0.7])
    first, second = (1.0 / tank_cascade.TIME_1, 1.0 / tank_cascade.TIME_2)
    now, steps = state.copy(), 200_000
    for _ in range(steps):  # Euler's method over a third of a step.
        slope = np.array([first * (0.5 * tank_cascade.AUTHORITY * action[0] - now[0]), second * (now[0] - now[1])])
        now = now + slope * tank_cascade.STEP / 3 / steps
    np.testing.assert_allclose(whole.part(1 / 3).next_state(state, action), now, atol=1e-6)
    rest = whole.part(2 / 3).next_state(whole.part(1 / 3).next_state(state, action), action)
    np.testing.assert_allclose(rest, whole.next_state(state, action), atol=1e-12)
    free = LinearDynamics.free_moves(2, BoxActions(0.3)).part(0.25)
    np.testing.assert_allclose(free.next_state(np.array([0.1, 0.2]), np.array([0.2, -0.2])), [0.15, 0.15])


@pytest.mark.parametrize(
    "problem", [box(), line(), box(inputs=["y"], truth=lambda p: p[:, 0])], ids=["box", "line", "hidden"]
)
def test_the_belief_knows_every_point_of_the_way(problem):
    result = run_campaign(problem, seed=1)
    table, campaign = result.experiments, result.campaign
    moves = [move for move in campaign.history.moves if move.step > 0]
    assert len(table) == sum(len(move.way) + 1 for move in moves) > len(moves)
    axes = problem.input_axes
    points = np.column_stack([(table[a.name] - a.lower) / a.width - 0.5 for a in axes])
    noise = 1e-3 if isinstance(problem, ContinuousProblem) else 0.01
    wanted = np.linspace(-0.5, 0.5, 9)[:, None] * np.ones(len(axes))
    mean, variance = regression(points, table[problem.output].to_numpy(), noise, wanted)
    places = [{a.name: a.lower + (w + 0.5) * a.width for a, w in zip(axes, row, strict=True)} for row in wanted]
    found, deviation = campaign.predict(places)
    np.testing.assert_allclose(found, mean, atol=1e-6)
    np.testing.assert_allclose(deviation**2, variance, atol=1e-6)


@pytest.mark.parametrize("form", ["features", "kernel"])
def test_every_path_on_the_line_teaches_what_it_passes(form):
    """The utility of all paths of two moves by the textbook formula, with the states passed."""
    problem = line(horizon=2, truth=None)
    settings = settings_from({"utility": {"form": form, "objective": "differences"}})
    campaign, process = Campaign(problem, settings, seed=0), problem.process
    first = campaign.ask()  # Pending: it is counted with its way.
    campaign.arrive(first.number)
    utility = campaign.knowledge.utility(np.random.default_rng(0))
    known = [*(state for _, state in first.way), first.arrived]
    points, checked = process.scaled_states, 0
    for pair in process.pairs_of(first.arrived):
        visited = np.array([*known, *problem.passed.get(pair, ()), process.successor[pair]])
        own = points[visited]
        gain = np.linalg.solve(KERNEL(own, own) + 0.01 * np.eye(len(visited)), KERNEL(own, points))
        covariance = KERNEL(points, points) - KERNEL(points, own) @ gain
        reach = np.flatnonzero(problem.places)
        spread = np.diag(covariance)[reach]
        worst = (spread[:, None] + spread - 2 * covariance[np.ix_(reach, reach)]).max()
        path = Visitation(np.array([1]), np.array([pair]), np.ones(1))
        assert utility.value(path) == pytest.approx(worst, rel=1e-5)
        checked += 1
    assert checked > 3


def test_the_next_move_is_worth_all_of_its_measurements():
    """With one move left the plan is the move with the largest tangent: summed over what it passes, by hand."""
    problem = line(horizon=1, truth=None, start="4")
    campaign = Campaign(problem, settings_from({"utility": {"objective": "differences"}}), seed=3)
    utility = campaign.knowledge.utility(np.random.default_rng(0))
    tangent, process = utility.linearise(), problem.process
    points = process.scaled_states
    covariance = KERNEL(points, points)
    squared = (covariance[tangent.first] - covariance[tangent.second]) ** 2
    for pair in range(process.number_of_pairs):
        visited = [*problem.passed.get(pair, ()), int(process.successor[pair])]
        assert tangent.gradient[pair] == pytest.approx(-squared[visited].sum() / 0.01, rel=1e-9)


@pytest.mark.parametrize("interface", ["casadi", "pyomo"])
def test_a_planned_path_counts_its_ways(interface):
    """The plan's objective against the sum of squared covariances over all points, worked out anew."""
    problem = tank_cascade.build().changed(measured_at=(0.25, 0.5, 1.0), horizon=4)
    nonlinear = {"interface": interface} | ({"solver": "pounce"} if interface == "pyomo" else {})
    settings = settings_from({"planner": {"first_move": "drawn", "nonlinear": nonlinear}, "candidates": {"count": 8}})
    campaign = Campaign(problem, settings, seed=2)
    for _ in range(2):
        move = campaign.ask()
        series = [(share, problem.true_value(place)) for share, place in move.way]
        campaign.tell(move.number, [*series, (1.0, problem.true_value(move.expected))])
    campaign.ask()
    planner = campaign.method.planner
    plan, step, moves = planner.previous, 2, len(planner.previous.actions)
    points = []
    for state, action in zip(plan.states[step:-1], plan.actions[step:], strict=True):
        points += [problem.dynamics.part(share).next_state(state, action) for share in (0.25, 0.5)]
        points.append(problem.dynamics.next_state(state, action))
    assert len(points) == 3 * (moves - step)
    tangent = campaign.method.last_plan.tangent
    belief = campaign.knowledge.belief
    covariance = belief.covariance_with(tangent.first, tangent.second).value(np.array(points))[:, 0]
    assert plan.value == pytest.approx(-(covariance**2).sum() / problem.noise, rel=1e-4)


def test_the_explanation_counts_the_way():
    """What a path leaves of the variance, by the textbook formula with every point that it measures."""
    problem = box(truth=None, horizon=1)
    campaign = Campaign(problem, settings_from({"candidates": {"count": 5}}), seed=1)
    found = explain(campaign)
    move = campaign.ask()
    own = np.array([*(place for _, place in move.way), move.expected])
    pair = [np.array([p["x"], p["y"]]) / 10.0 - 0.5 for p in found.separates]
    ends = np.array(pair)
    gain = np.linalg.solve(KERNEL(own, own) + 1e-3 * np.eye(3), KERNEL(own, ends))
    covariance = KERNEL(ends, ends) - KERNEL(ends, own) @ gain
    left = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert found.scale == "pair" and found.utility_after == pytest.approx(left, rel=1e-4)


def test_objectives_of_ends_are_zero_on_the_way():
    inner = DistanceObjective(Passing(0, np.array([0.1, 0.2])), Passing(-1, np.array([0.3, 0.0]), 2.0))
    outer, generator = EndsOnly(inner, 3), np.random.default_rng(0)
    points = generator.uniform(-0.5, 0.5, (9, 2))
    assert outer.value(points) == pytest.approx(inner.value(points[2::3]))
    slope = outer.gradient(points)
    for row, column in itertools.product(range(9), range(2)):
        moved = points.copy()
        moved[row, column] += 1e-6
        assert slope[row, column] == pytest.approx((outer.value(moved) - outer.value(points)) / 1e-6, abs=1e-5)
    assert outer.hessian(points)[2].tolist() == [[2.0, 0.0], [0.0, 2.0]] and not outer.hessian(points)[3].any()


@pytest.mark.parametrize("profile", ["held", "ramped"])
def test_a_pyomo_model_is_measured_at_its_finite_elements(profile):
    rate = 0.5 if profile == "ramped" else None
    dynamics = cstr_dynamics(inputs=[ModelInput("flow", "flow_in", 0.1, 2.0, rate=rate, profile=profile)], elements=3)
    share = BlackBoxInput("share", lambda plant: plant["B"] / (plant["A"] + plant["B"] + 0.1), 0.0, 1.0)
    problem = cstr_problem(dynamics, horizon=2, start={"flow": 0.6} if rate else {})
    for given in (problem.changed(measured_at=3), problem.changed(measured_at=3, inputs=[share], truth=lambda p: p[:, 0])):
        campaign = Campaign(given, settings_from({"candidates": {"count": 8}}), seed=1)
        move = campaign.ask()
        begin, action = given.describe(move.origin), move.decision[0]

        def flow(t, begin=begin, action=action):
            return begin["flow"] + action * t if "flow" in begin else action

        for moment, place in move.way:
            there = given.describe(place)
            exact = cstr_after([begin["A"], begin["B"]], flow, moment)
            # The error of three finite elements grows with the flow: 1.1e-4 at 2, of concentrations up to 2.5.
            np.testing.assert_allclose([there["A"], there["B"]], exact, atol=2e-4)
            if "share" in there:
                assert there["share"] == pytest.approx(there["B"] / (there["A"] + there["B"] + 0.1))
        # A step lasts 1.0 in the model's unit of time: times of a series are in it.
        campaign.tell(move.number, {1 / 3: 0.1, 2 / 3: 0.2, 1.0: 0.3})
        assert [visit.arrived for visit in move.visits] == [*(place for _, place in move.way), move.arrived]
        campaign.ask()


def test_between_known_moments_a_way_is_straight_and_follows_the_end():
    problem = box(measured_at=2)
    campaign = Campaign(problem, seed=0)
    move = campaign.ask()
    expected = problem.describe(move.expected)
    elsewhere = {"x": expected["x"] + 0.4, "y": expected["y"]}
    campaign.tell(move.number, [(0.25, 1.0), (1.0, 2.0)], at=elsewhere)
    begin, there = (problem.describe(place) for place in (move.origin, move.visits[0].arrived))
    assert there["x"] == pytest.approx(begin["x"] + 0.25 * (expected["x"] - begin["x"]) + 0.1)
    assert there["y"] == pytest.approx(begin["y"] + 0.25 * (expected["y"] - begin["y"]))
    assert move.values == (1.0, 2.0) and problem.describe(move.arrived)["x"] == pytest.approx(elsewhere["x"])


@pytest.mark.parametrize("problem", [box(truth=None), line(truth=None)], ids=["box", "line"])
def test_a_file_keeps_takes_back_and_exports_a_series(tmp_path, problem, monkeypatch):
    monkeypatch.chdir(tmp_path)
    campaign = start_campaign("c.db", problem, seed=1)
    for value in (0.1, 0.5):
        move = campaign.ask()
        length = len(move.way) + 1
        series = [((k + 1) / length, value + 0.01 * k) for k in range(length)]
        receipt = campaign.tell(move.number, series, key=f"move {move.number}")
        assert receipt.new and receipt.value == pytest.approx(value + 0.01 * (length - 1))
        again = campaign.tell(move.number, series)
        assert not again.new and not campaign.tell(move.number, series, key=f"move {move.number}").new
    told, kept = list(campaign.history.told), campaign.predict(problem.describe(move.expected))
    opened = open_campaign("c.db", problem=problem)
    assert opened.history.told == told and opened.predict(problem.describe(move.expected)) == kept
    assert [m.along for m in opened.history.moves] == [m.along for m in campaign.history.moves]
    assert audit_campaign(opened.campaign) == []
    opened.export("all.csv")
    with open("all.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(told) and [float(r["moment"]) for r in rows if r["move"] == "2"][-1] == 1.0
    opened.undo(2)
    assert opened.history.told == told[:-1]
    opened.tell(2, 0.7, time=1.0)
    campaign.refresh()
    save_campaign(campaign.campaign, "copy.json")
    loaded = open_campaign("copy.json", problem)
    assert loaded.predict(problem.describe(move.expected)) == opened.predict(problem.describe(move.expected))
    assert loaded.ask().decision == opened.ask().decision


@pytest.mark.parametrize("problem", [box(episodes=1), line(episodes=1)], ids=["box", "line"])
def test_a_run_folder_and_its_table_know_the_moments(tmp_path, problem):
    result = run_campaign(problem, seed=2)
    write_run(result, tmp_path / "run")
    again = open_campaign(tmp_path / "run", problem)
    assert [m.values for m in again.history.moves] == [m.values for m in result.campaign.history.moves]
    place = problem.describe(result.campaign.recommendation)
    assert again.predict(place) == pytest.approx(result.campaign.predict(place), rel=1e-6)
    episodes = episodes_of_table(problem, tmp_path / "run" / "experiments.csv")
    assert [episode.path.moves for episode in episodes] == [3]


def test_another_rate_of_measurement_is_a_change():
    one, other = (declaration_of(box(measured_at=number, truth=None)) for number in (2, 3))
    assert [c.what for c in declared_changes(one, other)] == ["moments at which a move is measured"]
    plain, passing = declaration_of(line(on_the_way=None)), declaration_of(line())
    (change,) = declared_changes(plain, passing)
    assert (change.what, change.before) == ("states measured on the way", "none") and "moves" in change.after
    again = declared_problem(passing)
    assert again.passed == line().passed and again.way(0, 2) == line().way(0, 2)


def test_a_table_with_time_stamps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    campaign = start_campaign("c.db", box(truth=None), seed=1)
    campaign.ask()
    (tmp_path / "series.csv").write_text("move,time,signal\n1,0.2,0.3\n1,0.6,0.4\n1,,0.5\n")
    campaign.tell_many(read_results("series.csv", campaign.problem, campaign.history))
    assert campaign.history.moves[0].values == (0.3, 0.4, 0.5)
    assert [None if a is None else a[0] for a in campaign.history.moves[0].along] == [0.2, 0.6, None]
    for text, message in (
        ("move,time,signal\n1,1.2,0.3\n", r"time 1\.2 of the move, 1 is its end; it must be above 0 and at most 1"),
        ("move,time,signal\n1,soon,0.3\n", "row 2, column 'time': 'soon'"),
        ("move,time (s),signal\n1,0.5,0.3\n", "column 'time': unit 's'"),
    ):
        (tmp_path / "wrong.csv").write_text(text)
        with pytest.raises(BadInput, match=message) as refused:
            campaign.tell_many(read_results("wrong.csv", campaign.problem, campaign.history))
        assert "\n" not in str(refused.value)
    assert campaign.history.moves[0].values == (0.3, 0.4, 0.5)


def curved(model, step):
    return {"x": model.physical[step, "x"] + model.action[step, "u"], "y": model.physical[step, "y"]}


AXES = (Coordinate("x", 0.0, 10.0), Coordinate("y", 0.0, 10.0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: box(measured_at=0), r"measured_at 0 must be a whole number .* or rising shares"),
        (lambda: box(measured_at=(0.5, 0.4, 1.0)), "rising shares"),
        (lambda: box(measured_at=(0.5, 0.9)), "that end with 1"),
        (lambda: box(measured_at="often"), "rising shares"),
        (
            lambda: box(dynamics=NonlinearDynamics(AXES, curved, BoxActions({"u": 1.0}))),
            "NonlinearDynamics say where a move ends, not where the plant is on the way",
        ),
        (
            lambda: box(dynamics=LinearDynamics(-0.5 * np.eye(2), np.eye(2), BoxActions(0.3))),
            "no motion in continuous time makes these steps",
        ),
        (lambda: line(on_the_way={("0", "up"): ["1"]}), r"on_the_way: no move \('0', 'up'\); known"),
        (lambda: line(on_the_way={("0", "to 2"): ["one"]}), "unknown state 'one'"),
        (lambda: line(on_the_way={("0", "to 2"): "1"}), "give a list of states"),
        (lambda: Campaign(line(), settings_from({"method": "rollout"})), "simulates one measurement per move"),
    ],
)
def test_wrong_declarations_are_one_line(make, message):
    with pytest.raises(BadInput, match=message) as refused:
        make()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("series", "message"),
    [
        ([], "must be rising numbers, at least one"),
        ([(0.5, 1.0), (0.5, 2.0)], "must be rising numbers"),
        ([0.5, 1.0], r"0\.5 in its series must be \(time since the move began, value\)"),
        ([(0.5, float("nan"))], "nan"),
        ([(1.5, 1.0)], "at most 1"),
        ([(0.5, 1.0), (0.0, 2.0)], "must be rising numbers"),
    ],
)
def test_a_wrong_series_changes_nothing(series, message):
    campaign = Campaign(box(truth=None), seed=0)
    move = campaign.ask()
    with pytest.raises(BadInput, match=message):
        campaign.tell(move.number, series)
    assert not campaign.history.told and move.arrived is None
    plain = Campaign(box(truth=None, measured_at=1), seed=0)
    first = plain.ask()
    with pytest.raises(BadInput, match="its moves are measured where they end; give `measured_at`"):
        plain.tell(first.number, [(0.5, 1.0), (1.0, 2.0)])
    assert first.arrived is None


PLANT = """
from tcbo_pyomo import BoxActions, ContinuousProblem, Coordinate, LinearDynamics, SquaredExponential

def build(feedback=None, seed=0):
    return ContinuousProblem(name="line", coordinates=(Coordinate("x", 0, 10, "mm"),), start={"x": 2}, horizon=3, episodes=2,
                             dynamics=LinearDynamics.free_moves(1, BoxActions(0.3)), measured_at=(0.5, 1), noise=0.01,
                             kernel=SquaredExponential(1.0, 0.3), output="signal")
"""


def test_the_command_line_takes_times(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plant.py").write_text(PLANT)

    def tcbo(*arguments, code=0):
        with pytest.raises(SystemExit) as stopped:
            cli.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert stopped.value.code == code, captured.err
        return captured.err if code else captured.out

    tcbo("start", "c.db", "plant.py", "--seed", 1)
    tcbo("ask", "c.db")
    tcbo("tell", "c.db", 0.3, "--time", 0.5)
    tcbo("tell", "c.db", 0.4, "--move", 1, "--time", 1)
    assert "2 measurements" in tcbo("status", "c.db")
    refused = tcbo("tell", "c.db", 0.4, "--move", 1, "--time", 2, code=2)
    assert "time 2.0 of the move, 1 is its end" in refused and refused.count("\n") == 1
    tcbo("ask", "c.db")
    (tmp_path / "series.csv").write_text("move,time,signal\n2,0.5,0.4\n2,1,0.6\n")
    tcbo("tell", "c.db", "--csv", "series.csv")
    tcbo("export", "c.db", "table.csv")
    assert (tmp_path / "table.csv").read_text().splitlines()[0].startswith("move,episode,step,moment,x (mm),signal")
    assert "no violations in 2 moves" in tcbo("audit", "c.db")
    assert "no violations" in tcbo("audit", "table.csv", "--problem", "plant.py")
    tcbo("report", "c.db", "--output", "page.html")
    tcbo("undo", "c.db", "--move", 2)
    assert "3 measurements" in tcbo("status", "c.db")
