"""A nonlinear solver that does nothing is noticed: in the terminal, in status and in the report."""

import json

import pytest

from tcbo_pyomo.cli.main import main
from tcbo_pyomo.planning.fall_backs import fall_backs

SLOW = ("--set", "planner.nonlinear.time_limit=1e-9", "--set", "candidates.count=5")


def plan(*solves, start=-2.0):
    return {"trajectories": [{"warm_start_value": start, "solves": list(solves)}]}


def solve(status, value=None, feasible=True):
    return {"status": status, "value": value, "feasible": feasible}


def test_what_counts_as_a_fall_back():
    kept = [
        plan(solve("optimal", -2.0)),
        plan(solve("iteration limit", -2.1)),
        plan(solve("time limit", None, False), solve("locallyOptimal", -2.0)),
        {"solver": "highs", "components": 1},
        None,
    ]
    fallen = [
        plan(solve("time limit", -2.0)),
        plan(solve("time limit", -2.0 - 1e-9), solve("SolverFailed: no", None, False)),
        plan(solve("optimal", -3.0, False)),
    ]
    assert (fall_backs(kept).plans, fall_backs(kept).number) == (3, 0)
    found = fall_backs([*kept, *fallen])
    assert (found.plans, found.number) == (6, 3)
    assert "3 of 6 plans fell back to a warm start" in str(found) and "time limit 2 x" in str(found)


@pytest.fixture
def tcbo(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as exit_:
            main(list(arguments))
        out, err = capsys.readouterr()
        assert exit_.value.code == 0, err
        return out, err

    return call


def test_an_always_failing_solver_is_said_in_the_terminal_and_in_the_report(tcbo, tmp_path):
    _, err = tcbo("run", "michalewicz2d", "--episodes", "1", *SLOW, "--output", "run")
    assert "warning: " in err and "plans fell back to a warm start" in err and "time limit" in err
    tcbo("report", "run", "--output", "page.html")
    assert "plans fell back to a warm start" in (tmp_path / "page.html").read_text()


def test_a_real_campaign_says_it_at_every_ask_and_in_its_status(tcbo):
    tcbo("start", "c.db", "michalewicz2d", *SLOW)
    tcbo("ask", "c.db")
    tcbo("tell", "c.db", "0.1")
    out, err = tcbo("ask", "c.db", "--json")
    assert "1 of 1 plans fell back to a warm start" in err and json.loads(out)["moves"]
    tcbo("tell", "c.db", "0.1")
    tcbo("ask", "c.db")
    assert "warning: 2 of 2 plans fell back" in tcbo("status", "c.db")[0]
    assert json.loads(tcbo("status", "c.db", "--json")[0])["fall_backs"] == 2


def test_a_solver_that_works_is_not_complained_of(tcbo):
    tcbo("start", "c.db", "michalewicz2d", "--set", "candidates.count=5")
    tcbo("ask", "c.db")
    tcbo("tell", "c.db", "0.1")
    assert tcbo("ask", "c.db")[1] == ""
    assert "fell back" not in tcbo("status", "c.db")[0]


def test_a_study_says_it_too(tcbo, tmp_path):
    settings = "{planner: {nonlinear: {time_limit: 1.0e-9}}, candidates: {count: 5}, episodes: 1}"
    (tmp_path / "s.yaml").write_text(f"name: s\nproblems: [michalewicz2d]\nsettings: {settings}\nseeds: [1]\n")
    from tcbo_pyomo.studies import read_study, run_study

    with pytest.MonkeyPatch.context() as patch:
        said = []
        patch.setattr("tcbo_pyomo.studies.study_runner.log.warning", lambda text, *values: said.append(text % values))
        run_study(read_study("s.yaml"), "s", workers=1)
    assert len(said) == 1 and said[0].startswith("in 1 of 1 runs plans fell back to warm starts; in michalewicz2d")


RIVALS = ("local_search_region", "truncated_snake", "local_ucb", "random_walk")


@pytest.mark.parametrize("method", RIVALS)
def test_rivals_that_steer_with_the_nonlinear_solver_say_it_too(tcbo, method, tmp_path):
    # Their way to the place they want leads around obstacles: a trajectory programme, as the planner's.
    tcbo(
        "start", "c.db", "hartmann3d_obstacles", *SLOW, "--set", f"method={method}", "--set", "feedback.kind=immediate"
    )
    said = []
    for _ in range(3):
        said.append("plans fell back to a warm start" in tcbo("ask", "c.db")[1])
        tcbo("tell", "c.db", "0.1")
    status = json.loads(tcbo("status", "c.db", "--json")[0])
    assert status["fall_backs"] == sum(said) >= 1
    assert "plans fell back to a warm start" in tcbo("status", "c.db")[0]
    tcbo("report", "c.db", "--output", "page.html")
    assert "plans fell back to a warm start" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("method", ["local_ucb", "truncated_snake"])
def test_rivals_whose_solver_works_do_not_complain(tcbo, method):
    tcbo("start", "c.db", "hartmann3d_obstacles", "--set", f"method={method}")
    for _ in range(2):
        assert tcbo("ask", "c.db")[1] == ""
        tcbo("tell", "c.db", "0.1")
    assert "fell back" not in tcbo("status", "c.db")[0]


def test_rivals_that_only_cut_their_moves_have_no_plans(tcbo):
    tcbo("start", "c.db", "michalewicz2d", *SLOW, "--set", "method=local_ucb")
    tcbo("ask", "c.db")
    tcbo("tell", "c.db", "0.1")
    assert tcbo("ask", "c.db")[1] == ""
    assert "fell back" not in tcbo("status", "c.db")[0]
