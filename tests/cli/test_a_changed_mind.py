"""`tcbo amend` as a stranger uses it: prior, range, noise and limits change on the way, and all data stay."""

import json

import pytest
from test_campaign_commands import tcbo  # noqa: F401  A fixture.

OWN = """
from tcbo_pyomo import {rule}PlainPrior, Problem, grid_process

PRIOR = PlainPrior(range={range}, measurement_sd={sd}{within})


def build(feedback=None, seed=0):
    process = grid_process({{"x": [float(i) for i in range({states})], "y": [0.0, 1.0, 2.0]}},
                           {{"x": [-1, 0, 1], "y": [-1, 0, 1]}}, PRIOR.noise_variance, {{"x": "min"}})
    return Problem(name="mind", process=process, start={{"x": 0.0, "y": 0.0}}, horizon=4, episodes=3, prior=PRIOR,
                   constraints=[{constraint}], output="rate", output_unit="%",
                   settings={{"planner": {{"linear": {{"solver": "dynamic_programming"}}}}}})
"""
FIRST = {"rule": "", "range": "(0, 50)", "sd": "1.0", "within": "", "states": 5, "constraint": ""}
PAST = "x (s),y,rate\n60,1,20\n150,2,31\n240,0,24\n"


@pytest.fixture
def campaign(tcbo, tmp_path):  # noqa: F811
    (tmp_path / "mind.py").write_text(OWN.format(**FIRST))
    (tmp_path / "past.csv").write_text(PAST)
    assert tcbo("start", "c.db", "mind.py", "--data", "past.csv")[0] == 0
    for value in ("12", "17.5", "22", "24"):
        tcbo("ask", "c.db")
        assert tcbo("tell", "c.db", value)[0] == 0
    return tcbo


def table(campaign):
    campaign("export", "c.db", "all.csv", "--force")
    return [line.split(",") for line in open("all.csv").read().splitlines()[1:]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"range": "(0, 120)"}, "answers about the output was 0 to 50, measurement sd 1, is 0 to 120, measurement sd 1"),
        ({"sd": "4.0"}, "noise variance was 1, is 16"),
        ({"sd": "None"}, "is 0 to 50, measurement sd unknown"),
        ({"within": ', changes_within={"x": 2.0}'}, "is 0 to 50, measurement sd 1, changes within x 2"),
        ({"states": 7}, "coordinate x was 0 to 4 min, is 0 to 6 min"),
        ({"rule": "NonDecreasing, ", "constraint": 'NonDecreasing("x")'}, "rule NonDecreasing was none, is x may not fall"),
    ],
)
def test_one_thing_changes_and_all_data_stay(campaign, tmp_path, change, said):
    before = table(campaign)
    believed = json.loads(campaign("best", "c.db", "--json")[1])
    (tmp_path / "mind.py").write_text(OWN.format(**{**FIRST, **change}))
    code, _, err = campaign("ask", "c.db")
    assert code == 2 and "the problem differs from the recorded one" in err and "squared_exponential" not in err
    code, out, err = campaign("amend", "c.db", "--yes")
    assert code == 0, err
    assert said in out and "squared_exponential" not in out
    assert [row[3:6] for row in table(campaign)] == [row[3:6] for row in before]
    after = json.loads(campaign("best", "c.db", "--json")[1])
    assert (after["measurements"], after["past_results"]) == (4, 3)
    if "constraint" not in change:
        assert after != believed
    assert campaign("ask", "c.db")[0] == 0 and campaign("audit", "c.db")[0] == 0
    assert campaign("undo", "c.db")[1].startswith("undone: the tell of move 4")


def test_an_axis_that_the_data_do_not_know_is_another_campaign(campaign, tmp_path):
    (tmp_path / "mind.py").write_text(OWN.format(**FIRST).replace('"y"', '"z"'))
    code, _, err = campaign("amend", "c.db", "--yes")
    assert code == 2 and "other coordinates need a new campaign" in err
