"""States of a finite plant that share the inputs of the black box, against plants without them and against brute force."""

import itertools

import numpy as np
import pytest

from tcbo_pyomo import (
    BadInput,
    BlackBoxInput,
    Campaign,
    Coordinate,
    EndAt,
    Problem,
    Process,
    ResourceBudget,
    SquaredExponential,
    run_campaign,
    settings_from,
)
from tcbo_pyomo.checks.audit import audit_campaign
from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.problem.declaration import declaration_of, declared_problem
from tcbo_pyomo.report.figures.campaign_figure import campaign_figure
from tcbo_pyomo.report.page import render_report

SIZE, AGES = 7, 4
X, AGE = Coordinate("x", 0, SIZE - 1), Coordinate("age", 0, AGES - 1, "h")
TRUTH = np.sin(np.arange(SIZE) * 1.3) + 0.1 * np.arange(SIZE)
KERNEL = SquaredExponential(1.0, 0.25)


def steps():
    return [(i, j) for i in range(SIZE) for j in (i - 1, i, i + 1) if 0 <= j < SIZE]


def plain(**more):
    states = {f"x{i}": [i] for i in range(SIZE)}
    process = Process.from_moves([X], states, [(f"x{i}", f"to {j}", f"x{j}") for i, j in steps()], 1e-3)
    return problem_on(process, "x2", TRUTH, **more)


def aged(**more):
    """The same plant with a bed that grows older and forbids nothing."""
    states = {f"x{i} age {a}": [i, a] for i in range(SIZE) for a in range(AGES)}
    moves = [
        (f"x{i} age {a}", f"to {j}", f"x{j} age {min(a + 1, AGES - 1)}") for i, j in steps() for a in range(AGES)
    ]
    process = Process.from_moves([X, AGE], states, moves, 1e-3)
    return problem_on(process, "x2 age 0", np.repeat(TRUTH, AGES), **{"inputs": ["x"]} | more)


def problem_on(process, start_at, true, **more):
    given = {"name": "plant", "start": start_at, "horizon": 4, "episodes": 3, "kernel": KERNEL, "truth": true}
    return Problem(process=process, **given | more)


def seen(problem, states):
    return [problem.describe(state)["x"] for state in states]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"utility": {"objective": "regret"}},
        {"utility": {"objective": "differences"}},
        {"utility": {"form": "kernel", "objective": "g_allocation"}},
        {"utility": {"information": "departure"}},
        {"feedback": {"kind": "episodic"}},
        {"surrogate": {"features": "nystroem", "number": 5}},
        {"surrogate": {"features": "random_fourier", "number": 16}},
        {"surrogate": {"fit": "learn"}},
        {"method": "mdp_expected_improvement"},
        {"method": "local_ucb"},
        {"method": "rollout"},
    ],
    ids=str,
)
def test_an_age_that_matters_for_nothing_changes_no_number(settings):
    one, other = (run_campaign(p, settings_from(settings), seed=3) for p in (plain(), aged()))
    moves = [seen(r.problem, [m.arrived for m in r.campaign.history.moves]) for r in (one, other)]
    assert moves[0] == moves[1]
    assert seen(one.problem, one.candidate_states) == seen(other.problem, other.candidate_states)
    assert [s.regret for s in one.steps] == pytest.approx([s.regret for s in other.steps], abs=1e-12)
    assert [s.candidates for s in one.steps] == [s.candidates for s in other.steps]
    places = [{"x": float(x)} for x in range(SIZE)]
    np.testing.assert_allclose(one.campaign.predict(places), other.campaign.predict(places), rtol=1e-9)


def test_the_belief_is_the_regression_on_inputs():
    """Results at states of different age against the textbook formula on x alone."""
    problem = aged(constraints=[])
    campaign, values, places = Campaign(problem, seed=0), [], []
    for _ in range(6):
        move = campaign.ask()
        places.append(problem.describe(move.expected)["x"])
        values.append(float(TRUTH[int(places[-1])]) + 0.01 * len(values))
        campaign.tell(move.number, values[-1])
    at, every = (np.array(v)[:, None] / (SIZE - 1) - 0.5 for v in (places, range(SIZE)))
    gain = np.linalg.solve(KERNEL(at, at) + 1e-3 * np.eye(6), KERNEL(at, every)).T
    mean, deviation = campaign.predict([{"x": float(x)} for x in range(SIZE)])
    np.testing.assert_allclose(mean, gain @ values, atol=1e-9)
    np.testing.assert_allclose(deviation**2, np.diag(KERNEL(every, every) - gain @ KERNEL(at, every)), atol=1e-9)
    # All ages at once: states share the value and its uncertainty.
    belief = campaign.knowledge.belief
    for x in range(SIZE):
        rows = slice(AGES * x, AGES * (x + 1))
        assert np.ptp(belief.mean[rows]) == 0.0 and np.ptp(belief.variance[rows]) == 0.0


def turning(**more):
    """A cart on a line that turns round only at the ends: its direction is a coordinate that no result depends on."""
    position, direction = Coordinate("x", 0, 4), Coordinate("direction", -1, 1)
    states = {f"{x}{sign}": [x, 1 if sign == "+" else -1] for x in range(5) for sign in "+-"}
    moves = [(f"{x}+", "go", f"{x + 1}+") for x in range(4)] + [(f"{x}-", "go", f"{x - 1}-") for x in range(1, 5)]
    moves += [("4+", "turn", "4-"), ("0-", "turn", "0+")]
    moves += [(f"{x}{sign}", "wait", f"{x}{sign}") for x in range(5) for sign in "+-"]
    process = Process.from_moves([position, direction], states, moves, 0.05)
    given = {"name": "cart", "process": process, "start": "1+", "horizon": 4, "episodes": 2, "inputs": ["x"]}
    return Problem(**given | {"kernel": SquaredExponential(1.0, 0.5)} | more)


def test_the_utility_of_every_path_is_that_of_its_inputs():
    """Every path of the cart: the largest variance of a difference by the textbook formula, on positions alone."""
    problem = turning()
    process, line = problem.process, np.linspace(-0.5, 0.5, 5)[:, None]
    differences = {"utility": {"objective": "differences"}}
    utility = Campaign(problem, settings_from(differences), seed=1).knowledge.utility(np.random.default_rng(0))
    values = []
    for choice in itertools.product(range(2), repeat=problem.horizon):
        state, taken, visits = problem.start_state, [], np.zeros(5)
        for which in choice:
            taken.append(process.pairs_of(state)[which])
            state = int(process.successor[taken[-1]])
            visits[int(process.states[state, 0])] += 1
        posterior = np.linalg.inv(np.linalg.inv(problem.kernel(line, line)) + np.diag(visits / 0.05))[1:, 1:]
        spread = np.diag(posterior)  # 0 lies behind the cart, too far for an episode.
        values.append((spread[:, None] + spread - 2 * posterior).max())
        path = Visitation(np.arange(len(taken)), np.array(taken), np.ones(len(taken)))
        assert utility.value(path) == pytest.approx(values[-1], rel=1e-6)
    campaign = Campaign(problem, settings_from(differences, {"planner": {"gap": 1e-4}}), seed=1)
    first = campaign.ask()
    certificate = campaign.plans[first.number]["certificate"]
    assert certificate["lower"] <= min(values) + 1e-9


def test_candidates_and_recommendation_are_the_states_that_an_episode_comes_to_first():
    problem = turning(horizon=6)
    campaign = Campaign(problem, seed=0)
    labels = [problem.process.labels[state] for state in campaign.candidates]
    # From 1+ to 4+, where it turns; 0 is met after eight moves only.
    assert sorted(labels) == ["1+", "2+", "3+", "4+"]
    while not campaign.finished:
        move = campaign.ask()
        campaign.tell(move.number, -float((problem.describe(move.expected)["x"] - 4) ** 2))
    assert problem.describe(campaign.recommendation) == {"x": 4.0, "direction": 1.0}
    assert [step["at"]["x"] for step in campaign.route] == [2.0, 3.0, 4.0]
    budget = ResourceBudget("way", lambda here, there: abs(there["x"] - here["x"]), 5.0)
    assert Campaign(turning(constraints=[budget]), seed=0).route is None


def test_whatever_was_measured_of_the_place():
    problem = turning()
    expected = problem.locate("3+")
    assert problem.arrival({"x": 3}, expected, None) == expected
    assert problem.process.labels[problem.arrival({"x": 2}, expected, None)] == "2+"
    assert problem.process.labels[problem.arrival({"direction": -1}, expected, None)] == "3-"
    assert problem.process.labels[problem.arrival({"x": 0, "direction": -1}, expected, None)] == "0-"
    assert problem.place_seen({"x": 2}) in (problem.locate("2+"), problem.locate("2-"))
    with pytest.raises(BadInput, match=r"2 states are at .*'2\+', '2-'; say also direction"):
        problem.locate({"x": 2})
    with pytest.raises(BadInput, match=r"no state at x=2\.5; the nearest is"):
        problem.arrival({"x": 2.5}, expected, None)
    with pytest.raises(BadInput, match=r"missing input\(s\) x; the output depends on x"):
        problem.place_seen({"direction": 1})
    with pytest.raises(BadInput, match="unknown coordinate 'xx'"):
        problem.arrival({"xx": 2.5}, expected, None)


def test_states_that_differ_by_their_label_alone():
    """A direction of travel that is in the labels only: places are known again, and the audit sees possible moves."""
    states = {f"{x}{sign}": [x] for x in range(5) for sign in "+-"}
    cart = turning().process
    names = cart.labels
    pairs = zip(cart.pair_state, cart.pair_action, cart.successor, strict=True)
    moves = [(names[left], cart.actions[action], names[right]) for left, action, right in pairs]
    process = Process.from_moves([Coordinate("x", 0, 4)], states, moves, 0.05)
    problem = turning(process=process, inputs=["x"], horizon=8)
    assert problem.size == "10 states, 5 distinct inputs"
    campaign = Campaign(problem, seed=2)
    while not campaign.finished:
        move = campaign.ask()
        campaign.tell(move.number, 0.1 * move.number, at=problem.describe(move.expected))
        assert campaign.history.moves[-1].arrived == move.expected
    assert audit_campaign(campaign) == []
    with pytest.raises(BadInput, match="give the label of the state"):
        problem.arrival({"x": 2}, problem.locate("4-"), None)


def test_an_expression_of_the_coordinates_is_a_further_one():
    volume, flow = Coordinate("volume", 1, 4, "L"), Coordinate("flow", 1, 2, "L/min")
    places = {f"{v} at {q}": [v, q] for v in (1, 2, 4) for q in (1, 2)}
    moves = [(a, f"to {b}", b) for a in places for b in places]
    process = Process.from_moves([volume, flow], places, moves, 1e-3)
    time = BlackBoxInput("residence_time", lambda plant: plant["volume"] / plant["flow"], 0.5, 4.0, "min")
    given = {"name": "tank", "horizon": 3, "episodes": 1, "kernel": KERNEL}
    problem = Problem(process=process, start={"volume": 1, "flow": 2}, inputs=[time], **given)
    assert problem.describe(problem.start_state) == {"volume": 1.0, "flow": 2.0, "residence_time": 0.5}
    # 1/1 = 2/2 and 2/1 = 4/2: four values for six states.
    assert problem.size == "6 states, 4 distinct inputs"
    assert problem.arrival({"volume": 4}, problem.locate("2 at 2"), None) == problem.locate("4 at 2")
    assert problem.changed(horizon=2).input_axes[0].name == "residence_time"
    with pytest.raises(BadInput, match=r"residence_time = 4\.0 lies outside"):
        narrow = BlackBoxInput("residence_time", lambda plant: plant["volume"] / plant["flow"], 0.5, 3.0, "min")
        Problem(process=process, start="1 at 2", inputs=[narrow], **given)


def test_a_file_knows_what_is_hidden():
    problem = aged()
    data = declaration_of(problem)
    again = declared_problem(data)
    assert [axis.name for axis in again.input_axes] == ["x"] and again.places.tolist() == problem.places.tolist()
    assert again.size == problem.size and declaration_of(again) == data
    assert "inputs" not in declaration_of(plain())["plant"]
    assert problem.identity()[0] != aged(inputs=None).identity()[0]


def test_the_page_and_the_figure_show_inputs(tmp_path):
    result = run_campaign(turning(truth=np.array([0.0, 0, 1, 1, 2, 2, 3, 3, 4, 4]), horizon=3), seed=0)
    page = render_report(result.campaign)
    assert "The output depends on x; this state has these inputs." in page
    assert "How to get to the recommendation" in page
    axes = campaign_figure(result)
    assert axes.get_xlabel() == "x" and not axes.get_ylabel()


def test_a_drawn_truth_is_shared():
    problem = aged().with_drawn_truth(np.random.default_rng(4))
    assert all(np.ptp(problem.truth[AGES * x : AGES * (x + 1)]) == 0.0 for x in range(SIZE))
    np.testing.assert_allclose(problem.truth[::AGES], plain().with_drawn_truth(np.random.default_rng(4)).truth)


def test_an_end_is_kept_in_hidden_coordinates():
    problem = turning(horizon=6, constraints=[EndAt({"x": 3, "direction": -1})])
    result = run_campaign(problem.changed(truth=np.zeros(10)), seed=1)
    ends = [path[-1] for path in result.paths]
    assert {problem.process.labels[state] for state in ends} == {"3-"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"inputs": ["y"]}, "unknown coordinate 'y'"),
        ({"inputs": []}, "none given"),
        ({"inputs": ["x", "x"]}, "'x' is given twice"),
        ({"inputs": "x"}, "must be a list of names, each of a coordinate"),
        ({"inputs": [3]}, "3 must be the name of a coordinate"),
        ({"inputs": [BlackBoxInput("x", lambda plant: 1.0, 0, 1)]}, "has a coordinate of that name"),
        ({"inputs": [BlackBoxInput("z", lambda plant: plant["q"], 0, 1)]}, "input 'z': its expression failed: KeyError: 'q'"),
        ({"truth": np.arange(28.0)}, "truth is 0 at 'x0 age 0' and 1 at 'x0 age 1', which have the same inputs"),
        ({"start": {"x": 2}}, "start: 4 states are at"),
    ],
)
def test_wrong_inputs_are_one_line(wrong, message):
    with pytest.raises(BadInput, match=message) as refused:
        aged(**wrong)
    assert "\n" not in str(refused.value)
