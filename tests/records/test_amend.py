"""Amending a running campaign: changed limits are noticed, recorded with both sides, and hold from then on."""

import json

import numpy as np
import pytest
from rival_plants import plane
from small_campaigns import SETTINGS, line, moves_of, result_of, started

from tcbo_pyomo import Campaign
from tcbo_pyomo.checks.audit import audit_campaign
from tcbo_pyomo.errors import BadInput, Busy
from tcbo_pyomo.models.constraints import EndAt, MaximumStep
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.records import open_campaign, start_campaign
from tcbo_pyomo.settings import settings_from
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

RIG = """
from limits import STEP
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.constraints import MaximumStep
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


def build(feedback=None, seed=0):
    return ContinuousProblem("rig", (Coordinate("x", 0.0, 10.0, "m"),), LinearDynamics.free_moves(1, BoxActions(1.0)),
                             {"x": 0.0}, 4, 3, SquaredExponential(1.0, 0.2), 0.01, [MaximumStep({"x": STEP})], output="f")
"""


@pytest.fixture
def file(tmp_path):
    return tmp_path / "campaign.db"


def wide(**changes):
    """As `line`, with moves of up to two cells."""
    process = grid_process({"x": list(range(7))}, {"x": [-2, -1, 0, 1, 2]}, 0.01, units={"x": "minute"})
    return line(**{"process": process, "constraints": [MaximumStep({"x": 2})], **changes})


def told(campaign, moves):
    for _ in range(moves):
        number = campaign.ask().number
        campaign.tell(number, result_of(number) / 60)
    return campaign


def again(campaign, problem):
    """The campaign as another process finds it, the same in every digit."""
    opened = open_campaign(campaign.path, problem)
    assert json.dumps(opened.campaign.state()) == json.dumps(campaign.campaign.state())
    assert opened.violations == campaign.violations
    return opened


def test_a_limit_that_changes_in_an_imported_module_is_refused_until_it_is_amended(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rig.py").write_text(RIG)
    (tmp_path / "limits.py").write_text("STEP = 0.5\n")
    start_campaign("rig.db", "rig.py", settings_from({"candidates": {"count": 4}}), 1)
    first = open_campaign("rig.db").ask()
    (tmp_path / "limits.py").write_text("STEP = 5.0\n")
    import sys

    sys.modules.pop("limits")
    opened = open_campaign("rig.db")
    opened.tell(first.number, 0.3)  # What happened is recorded whatever the limits are now.
    with pytest.raises(
        BadInput, match=r"rule MaximumStep was x -0.5 to \+0.5 m per move, is x -5 to \+5 m per move; restore it"
    ):
        opened.ask()
    assert open_campaign("rig.db").status().moves_made == 1
    changes = opened.amend()
    assert [change.what for change in changes] == ["rule MaximumStep", "file limits.py"]
    assert opened.ask().number == 2
    opened.tell(2, 0.4, at={"x": 5.4})  # 4.9 from the first: within the limits that hold now.
    assert opened.violations == {} and audit_campaign(open_campaign("rig.db").campaign) == []
    assert open_campaign("rig.db").definition.row == 4
    sys.modules.pop("limits")


def test_each_move_is_judged_by_the_limits_that_held_when_it_was_asked_for(file):
    campaign = started(file)
    told(campaign, 1)
    campaign.amend(wide())
    campaign.ask()
    start = campaign.history.moves[0].arrived
    campaign.tell(2, 0.1, at={"x": start + 2 if start + 2 < 7 else start - 2})
    assert campaign.violations == {}
    back = line()
    campaign.amend(back)
    campaign.ask()
    here = campaign.history.moves[1].arrived
    campaign.tell(3, 0.1, at={"x": here - 2 if here >= 2 else here + 2})
    assert list(campaign.violations) == [3]
    assert {finding.row for finding in audit_campaign(campaign.campaign)} == {3}
    assert [campaign.definitions.asked_under[number] for number in (1, 2, 3)] == [1, 4, 7]
    assert [row.body["under"] for row in campaign._ledger.rows if row.kind == "ask"] == [1, 4, 7]
    again(campaign, back)


@pytest.mark.parametrize(
    "change",
    [
        {"kernel": SquaredExponential(4.0, 0.5)},
        {"horizon": 5},
        {"horizon": 2},
        {"horizon": 1},
        {"episodes": 3},
        {"constraints": [MaximumStep({"x": 1}), EndAt({"x": 2})]},
        {"start": {"x": 4}},
        {"process": grid_process({"x": list(range(7))}, {"x": [-1, 0, 1]}, 0.09, units={"x": "minute"})},
        {"process": grid_process({"x": [-1, *range(8)]}, {"x": [-1, 0, 1]}, 0.01, units={"x": "minute"})},
    ],
)
@pytest.mark.parametrize("before", [0, 2, 4])
def test_it_goes_on_with_all_data_and_the_same_way_whoever_reads_it(file, change, before):
    campaign = told(started(file), before)
    changed = line(**change)
    changes = campaign.amend(changed)
    assert changes and campaign.ask() == again(campaign, changed).ask()
    told(campaign, 5 if "episodes" not in change else 3)
    opened = again(campaign, changed)
    assert opened.status().measurements == len(campaign.history.told) and opened.violations == {}
    values = [move.value for move in campaign.history.moves if move.value is not None]
    assert values[:before] == [result_of(number) / 60 for number in range(1, before + 1)]
    steps = [(move.episode, move.step) for move in opened.history.moves]
    assert steps == sorted(set(steps))
    if "horizon" in change:
        late = [step for episode, step in steps if episode > opened.history.moves[before].episode]
        assert not late or max(late) <= change["horizon"]
        assert opened.status().moves_in_all == opened.history.moves_of(40)
    opened.undo()
    assert again(opened, changed).history.told == campaign.history.told[:-1]


def test_a_wrong_prior_is_changed_in_the_middle_and_all_results_count_again(file):
    campaign = told(started(file), 4)
    better = line(kernel=SquaredExponential(9.0, 0.15))
    campaign.amend(better)
    fresh = Campaign(better, SETTINGS, 4)
    for move in campaign.history.moves:
        fresh.knowledge.belief.observe(move.arrived, move.value, 0.01)
    assert np.allclose(campaign.predict({"x": 5}), [float(v[0]) for v in fresh.knowledge.belief.predict([5])])
    assert campaign.campaign.knowledge.kernel == better.kernel and again(campaign, better).best() == campaign.best()


def test_settings_are_amended_by_name(file):
    campaign = told(started(file), 2)
    changes = campaign.amend(line(), {"method": "greedy_ucb", "episodes": 50})
    assert {change.what: change.after for change in changes} == {
        "episodes": "50",
        "setting method": "greedy_ucb",
        "setting episodes": "50",
    }
    assert campaign.status().method == "greedy_ucb" and campaign.status().episodes == 50
    told(campaign, 2)
    assert again(campaign, line()).settings.method == "greedy_ucb"


def test_states_and_bounds_may_change_as_long_as_visited_places_remain(file, tmp_path):
    campaign = told(started(file), 3)
    places = [campaign.problem.describe(move.arrived) for move in campaign.history.moves]
    process = grid_process({"x": [-2, -1, *range(8)]}, {"x": [-2, -1, 0, 1, 2]}, 0.01, units={"x": "minute"})
    larger = line(process=process, constraints=[MaximumStep({"x": 2})])
    campaign.amend(larger)
    assert [campaign.problem.describe(move.arrived) for move in campaign.history.moves] == places
    assert campaign.violations == {} and audit_campaign(campaign.campaign) == []
    told(campaign, 3)
    again(campaign, larger)
    visited = int(places[0]["x"])
    without = [x for x in range(7) if x != visited]
    gap = line(process=grid_process({"x": without}, {"x": [-1, 0, 1]}, 0.01, units={"x": "minute"}),
               start={"x": 2 if visited != 2 else 3}, constraints=[])  # fmt: skip
    with pytest.raises(BadInput, match=r"move \d+ was at 'x=\d', which the new problem does not have"):
        campaign.amend(gap)
    box = start_campaign(
        tmp_path / "box.db", plane(), settings_from({"candidates": {"rule": "upper_confidence", "count": 3}})
    )
    told(box, 1)
    before = box.problem.describe(box.history.moves[0].arrived)
    axes = tuple(c.__class__(c.name, c.lower - 5.0, c.upper + 5.0, c.unit) for c in plane().coordinates)
    box.amend(plane(coordinates=axes))
    assert box.problem.describe(box.history.moves[0].arrived) == pytest.approx(before)
    assert box.violations == {} and audit_campaign(box.campaign) == []


def test_what_is_no_amendment_is_refused(file):
    campaign = told(started(file), 1)
    rows = campaign._ledger.position
    with pytest.raises(BadInput, match="nothing has changed"):
        campaign.amend(line())
    other = grid_process({"z": list(range(7))}, {"z": [-1, 0, 1]}, 0.01)
    with pytest.raises(BadInput, match="other coordinates need a new campaign"):
        campaign.amend(line(process=other, start={"z": 2}, constraints=[]))
    with pytest.raises(BadInput, match="unknown method"):
        campaign.amend(line(), {"method": "no_such_method"})
    with pytest.raises(BadInput, match="the plant was finite and is continuous"):
        campaign.amend(plane(coordinates=line().coordinates[:1], dynamics=plane(BoxActions(0.1)).dynamics.free_moves(
            1, BoxActions(0.1)), start={"x": 1.0}))  # fmt: skip
    assert campaign.amend(wide(), confirm=lambda changes: False) == []
    assert open_campaign(file, line())._ledger.position == rows and campaign.ask().number == 2


def test_two_who_amend_at_once_do_not_overwrite_each_other(file):
    one, other = started(file), open_campaign(file, line())

    def meanwhile(changes):
        other.amend(wide())
        return True

    with pytest.raises(Busy, match="another process amended it meanwhile"):
        one.amend(line(horizon=5), confirm=meanwhile)
    assert open_campaign(file, wide()).ask().number == 1 and one.definition.row == 2


def test_another_process_goes_on_under_the_amendment(file):
    one, other = started(file), open_campaign(file, line())
    told(one, 2)
    one.amend(wide(), {"episodes": 41})
    with pytest.raises(BadInput, match="differs from the recorded one"):
        other.ask()
    assert other.status().episodes == 41
    other = open_campaign(file, wide())
    assert other.ask() == one.ask() and moves_of(other) == moves_of(one)


def test_an_outstanding_move_stays_as_it_was_asked(file):
    campaign = started(file)
    move = campaign.ask()
    campaign.amend(wide())
    assert campaign.ask().expected == move.expected and campaign.definitions.asked_under[1] == 1
    campaign.skip()
    campaign.ask()
    assert campaign.definitions.asked_under[2] == 3


def test_a_problem_that_builds_differently_each_time_is_not_started(tmp_path):
    for text, named in (
        ("MaximumStep({'x': 1 + random.random()})", "rule MaximumStep was x"),
        ("MaximumStep({'x': 1})], episodes=random.randint(1, 10**9), truth=[", "episodes was"),
    ):
        (tmp_path / "odd.py").write_text(
            "import random\n"
            "from tcbo_pyomo.models.constraints import MaximumStep\n"
            "from small_campaigns import line\n"
            "def build(feedback=None, seed=0):\n"
            f"    return line(**dict(constraints=[{text.partition('], episodes')[0]}]"
            + (", episodes=random.randint(1, 10**9)" if "episodes" in text else "")
            + "))\n"
        )
        with pytest.raises(
            BadInput, match=rf"odd.py' builds a different problem each time: {named}.*no campaign was started"
        ):
            start_campaign(tmp_path / "odd.db", tmp_path / "odd.py", SETTINGS, 1)
        assert not (tmp_path / "odd.db").exists()


def test_random_numbers_of_an_imported_module_are_seen_too(tmp_path):
    (tmp_path / "odd_numbers.py").write_text("import random\nSTEP = 1 + random.random()\n")
    (tmp_path / "odd.py").write_text(
        "import odd_numbers\n"
        "from tcbo_pyomo.models.constraints import MaximumStep\n"
        "from small_campaigns import line\n"
        "def build(feedback=None, seed=0):\n"
        "    return line(constraints=[MaximumStep({'x': odd_numbers.STEP})])\n"
    )
    with pytest.raises(BadInput, match=r"odd.py' builds a different problem each time: rule MaximumStep was x"):
        start_campaign(tmp_path / "odd.db", tmp_path / "odd.py", SETTINGS, 1)
    assert not (tmp_path / "odd.db").exists()


@pytest.mark.parametrize(
    "names", ["{'temperature', 'flow', 'ratio'}", "dict(temperature=1, flow=2, ratio=3).keys() - {'none'}"]
)
def test_an_order_that_differs_from_process_to_process_is_seen_at_the_start(tmp_path, names):
    (tmp_path / "odd.py").write_text(
        "from tcbo_pyomo import Problem, SquaredExponential, grid_process\n"
        "def build(feedback=None, seed=0):\n"
        f"    axes = {{name: [0, 1] for name in {names}}}\n"
        "    plant = grid_process(axes, dict.fromkeys(axes, [0, 1]), 0.01)\n"
        "    return Problem('odd', plant, dict.fromkeys(axes, 0), 3, 2, SquaredExponential(1.0, 0.3))\n"
    )
    with pytest.raises(BadInput, match=r"each time: order of the coordinates was .* in another process; sort what you"):
        start_campaign(tmp_path / "odd.db", tmp_path / "odd.py", SETTINGS, 1)
    assert not (tmp_path / "odd.db").exists()
    (tmp_path / "even.py").write_text((tmp_path / "odd.py").read_text().replace(names, f"sorted({names})"))
    assert start_campaign(tmp_path / "even.db", tmp_path / "even.py", SETTINGS, 1).ask().number == 1


def test_a_file_that_another_process_cannot_build_is_refused_at_the_start(tmp_path):
    (tmp_path / "odd.py").write_text(
        "import os\n"
        "from small_campaigns import line\n"
        "def build(feedback=None, seed=0):\n"
        "    assert set() is not None and os.environ.get('PYTHONHASHSEED') != '1', 'only here'\n"
        "    return line()\n"
    )
    with pytest.raises(BadInput, match=r"odd.py' cannot be built in another process: .*only here"):
        start_campaign(tmp_path / "odd.db", tmp_path / "odd.py", SETTINGS, 1)


def test_status_and_report_say_what_was_changed_and_when(file, tmp_path):
    from tcbo_pyomo.cli._campaign_texts import status_as_text
    from tcbo_pyomo.report.page import render_report

    campaign = told(started(file), 2)
    assert campaign.status().amendments == () and "amended" not in render_report(campaign.live())
    campaign.amend(wide())
    told(campaign, 1)
    campaign.amend(None, {"episodes": 5})
    opened = open_campaign(file, wide())
    first, second = opened.status().amendments
    assert first.startswith("after move 2: ") and "MaximumStep" in first and " was " in first and ", is " in first
    assert "noise" not in first  # It is the same everywhere, though there are more moves now.
    assert second.startswith("after move 3: ") and "episodes" in second
    assert f"amended {first}\n" in status_as_text(opened.status())
    for shown in (render_report(opened.campaign), render_report(opened.live())):
        assert "amended" in shown and "after move 2: " in shown and "after move 3: " in shown
