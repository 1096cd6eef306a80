"""Saved campaigns: complete or refused, never half loaded and never half written."""

import errno
import hashlib
import json
import os
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.campaign.simulation import Simulation
from tcbo_pyomo.errors import BadInput, DamagedFile, DiskError
from tcbo_pyomo.foundation.atomic_file import write_atomically
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.models.constraints import Box, EndAt, ForbiddenRegion, MaximumStep, ResourceBudget, VisitBudget
from tcbo_pyomo.plant.actions import BoxActions
from tcbo_pyomo.plant.dynamics import LinearDynamics
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.plant.process import Process
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.records import open_campaign
from tcbo_pyomo.records.json_file import resume_simulation, save_campaign, save_simulation
from tcbo_pyomo.records.problem_source import problem_fingerprint
from tcbo_pyomo.settings import settings_from
from tcbo_pyomo.surrogate.kernels.matern_five_halves import MaternFiveHalves
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

SETTINGS = settings_from({"planner": {"linear": {"solver": "dynamic_programming"}}})


def line(values=(0, 1, 2, 3), moves=(-1, 0, 1), noise=0.01):
    return grid_process({"x": list(values)}, {"x": list(moves)}, noise)


def problem(**changes):
    fields = dict(
        name="line",
        process=line(),
        start={"x": 0},
        horizon=3,
        episodes=3,
        kernel=SquaredExponential(1.0, 0.3),
    )
    return Problem(**{**fields, **changes})


def played(seed=4, settings=SETTINGS):
    """A campaign after five moves: four told out of order, the fifth pending, the sixth asked for."""
    campaign = Campaign(problem(), settings, seed)
    for _ in range(5):
        campaign.arrive(campaign.ask().number)
    for number, value in ((3, 1e-7), (1, -0.25), (4, 1 / 3), (2, 12)):
        campaign.tell(number, value)
    campaign.ask()
    return campaign


def plain(campaign):
    """The whole state as JSON text, in which every digit counts."""
    return json.dumps(campaign.state())


@pytest.fixture(scope="module")
def original():
    return played()


@pytest.fixture(scope="module")
def file(original, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "campaign.json"
    save_campaign(original, path)
    return path


def rest_of(campaign):
    """The moves to the end of the campaign, each told a result at once."""
    made = []
    while not campaign.finished:
        move = campaign.ask()
        campaign.tell(move.number, 0.1 * move.number)
        made.append((move.number, move.origin, move.decision, move.arrived))
    return made


def test_what_is_loaded_is_what_was_saved_bit_for_bit(file, original):
    loaded = open_campaign(file, problem())
    assert plain(loaded) == plain(original)
    assert (loaded.knowledge.belief.mean == original.knowledge.belief.mean).all()
    assert loaded.experiments().equals(original.experiments())
    assert loaded.ask().number == 6 and [move.number for move in loaded.history.pending] == [5]


def test_a_loaded_campaign_goes_on_with_the_same_moves(file):
    assert rest_of(open_campaign(file, problem())) == rest_of(played())


def test_settings_and_numpy_seeds_are_saved_too(tmp_path):
    settings = settings_from(
        SETTINGS.model_dump(),
        {"episodes": 2, "start": "x=1", "constraints": [{"use": "maximum_step", "limits": {"x": [1, 0]}}]},
    )
    campaign = Campaign(problem(), settings, np.int64(3))
    campaign.tell(np.int64(campaign.ask().number), np.float32(0.5))
    save_campaign(campaign, tmp_path / "campaign.json")
    loaded = open_campaign(tmp_path / "campaign.json", problem())
    assert plain(loaded) == plain(campaign)
    assert loaded.problem.episodes == 2 and loaded.problem.start_state == 1 and loaded.seed == 3


@given(st.data())
def test_a_changed_byte_is_noticed_or_changes_nothing(file, original, data):
    """Upper case in 1E-07 or a tab for a blank are the only changes that may pass: they mean the same."""
    raw = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    assert noticed_or_harmless(file, bytes(raw), original)


@given(st.data())
def test_a_file_cut_off_or_with_a_piece_missing_is_noticed(file, original, data):
    raw = file.read_bytes()
    first, last = sorted(data.draw(st.tuples(st.integers(0, len(raw)), st.integers(0, len(raw)))))
    assert noticed_or_harmless(file, raw[:first] + raw[last:], original)


def noticed_or_harmless(file, raw, original):
    damaged = file.with_name("damaged.json")
    damaged.write_bytes(raw)
    try:
        return plain(open_campaign(damaged, problem())) == plain(original)
    except (DamagedFile, BadInput) as error:
        return str(error).startswith(str(damaged)) and "\n" not in str(error)


def test_each_changed_digit_of_a_measurement_is_noticed(file):
    text = file.read_text()
    assert text.count("-0.25") == 1
    damaged = file.with_name("digit.json")
    damaged.write_text(text.replace("-0.25", "-0.26"))
    with pytest.raises(DamagedFile, match="checksum"):
        open_campaign(damaged, problem())


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        "[]",
        "null",
        "3",
        '"text"',
        "{",
        "[" * 100_000,
        '{"format": "tcbo_campaign"}',
        "\ufeff{}",
        "not json",
    ],
)
def test_any_other_file_is_refused(content, tmp_path):
    (tmp_path / "other.json").write_text(content, encoding="utf-8")
    with pytest.raises(DamagedFile, match="is not a saved campaign, or is damaged"):
        open_campaign(tmp_path / "other.json", problem())


def test_a_missing_file_or_a_folder_is_bad_input(tmp_path):
    with pytest.raises(BadInput, match=r"nothing.json' does not exist; give a CAMPAIGN.db, a saved campaign"):
        open_campaign(tmp_path / "nothing.json", problem())
    with pytest.raises(BadInput, match="give the folder of a finished `tcbo run --output`"):
        open_campaign(tmp_path, problem())


def test_bounds_and_horizon_may_be_numpy_numbers(tmp_path):
    moves = [("a", "stay", "a"), ("a", "go", "b"), ("b", "stay", "b")]
    process = Process.from_moves([Coordinate("x", np.int64(0), np.int64(2))], {"a": [0], "b": [2]}, moves, 0.1)
    numpy_numbers = problem(process=process, start="a", horizon=np.int64(2))
    save_campaign(Campaign(numpy_numbers, SETTINGS), tmp_path / "campaign.json")
    assert open_campaign(tmp_path / "campaign.json", numpy_numbers).ask().number == 1


def test_an_unfinished_simulation_opens_as_the_campaign_after_its_last_move(tmp_path):
    simulated = problem(truth=np.zeros(4))
    simulation = Simulation(Campaign(simulated, SETTINGS))

    def stop(episode, step):
        if (episode, step) == (2, 1):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulation.run(stop)
    save_simulation(simulation, tmp_path / "unfinished.json")
    for place in (tmp_path / "unfinished.json", tmp_path):
        opened = open_campaign(place, simulated)
        assert plain(opened) == plain(simulation.campaign) and opened.plans == simulation.campaign.plans
        assert sorted(opened.plans) == [1, 2, 3, 4]


def test_a_saved_campaign_is_not_an_unfinished_run(file):
    with pytest.raises(BadInput, match="is a saved campaign, not an unfinished run; open it with open_campaign"):
        resume_simulation(file, problem())


def test_a_saved_campaign_needs_its_problem(file):
    with pytest.raises(BadInput, match="holds a campaign without its problem; name the problem with --problem"):
        open_campaign(file)


def test_a_file_of_a_newer_version_says_so(file):
    document = json.loads(file.read_text())
    newer = file.with_name("newer.json")
    newer.write_text(json.dumps({**document, "version": 3}))
    with pytest.raises(BadInput, match=r"written in format 3, this version reads 2; update tcbo_pyomo"):
        open_campaign(newer, problem())


fuel = {"cost": lambda left, right: abs(right["x"] - left["x"]), "limit": 3.0}
OTHER_PROBLEMS = {
    "name": {"name": "lane"},
    "start": {"start": {"x": 1}},
    "horizon": {"horizon": 4},
    "kernel": {"kernel": SquaredExponential(1.0, 0.4)},
    "family of kernels": {"kernel": MaternFiveHalves(1.0, 0.3)},
    "confidence width": {"confidence_width": 2.0},
    "fewer states": {"process": line(values=(0, 1))},
    "points": {"process": line(values=(0, 1, 2, 4))},
    "moves": {"process": line(moves=(-2, 0, 1))},
    "noise": {"process": line(noise=0.02)},
    "end": {"constraints": [EndAt({"x": 2})]},
    "other end": {"constraints": [EndAt({"x": 1})]},
    "budget": {"constraints": [ResourceBudget("fuel", **fuel)]},
    "limit of a budget": {"constraints": [ResourceBudget("fuel", **{**fuel, "limit": 2.0})]},
    "cost of a budget": {"constraints": [ResourceBudget("fuel", **{**fuel, "cost": lambda left, right: 1.0})]},
    "visits": {"constraints": [VisitBudget(Box({"x": (1, 2)}), 1)]},
    "region of visits": {"constraints": [VisitBudget(Box({"x": (2, 3)}), 1)]},
}


@pytest.mark.parametrize("changes", OTHER_PROBLEMS.values(), ids=list(OTHER_PROBLEMS))
def test_another_problem_is_refused(file, changes):
    with pytest.raises(BadInput, match=r"was saved for another problem than the present '.*'"):
        open_campaign(file, problem(**changes))


def test_all_these_problems_differ_and_more_episodes_or_truth_do_not_count():
    prints = {problem_fingerprint(problem(**changes)) for changes in OTHER_PROBLEMS.values()}
    assert len(prints) == len(OTHER_PROBLEMS)
    same = problem(episodes=9, truth=np.zeros(4), description="text", output="yield")
    assert problem_fingerprint(same) == problem_fingerprint(problem())


def tank(step=0.5, zone=(4, 6), fuel=3.0):
    """A continuous plant whose limits are numbers behind the names of its rules."""
    return ContinuousProblem(
        name="tank",
        coordinates=[Coordinate("x", 0.0, 10.0), Coordinate("w", 0.0, 1.0)],
        dynamics=LinearDynamics.free_moves(2, BoxActions(0.5)),
        start={"x": 1.0, "w": 0.5},
        horizon=3,
        episodes=2,
        kernel=SquaredExponential(1.0, 0.3),
        noise=0.01,
        truth=lambda points: 0.1 * points[:, 0],
        maximum=1.0,
        constraints=[
            MaximumStep({"x": step}),
            ForbiddenRegion(Box({"x": zone})),
            ResourceBudget("fuel", cost=lambda left, right: (right["x"] - left["x"]) ** 2, limit=fuel),
        ],
    )


@pytest.mark.parametrize("kept_as", ["campaign", "interrupted run"])
def test_other_limits_of_a_continuous_plant_are_refused_and_named(tmp_path, kept_as):
    campaign = Campaign(tank(), settings_from({}), 1)
    campaign.tell(campaign.ask().number, 0.2)
    path = tmp_path / "campaign.json"
    if kept_as == "campaign":
        save_campaign(campaign, path)
    else:
        save_simulation(Simulation(campaign), path)
    assert plain(open_campaign(path, tank())) == plain(campaign)
    for changes, named in (
        ({"step": 5.0}, "rule MaximumStep was x .*0.5.*is x .*5"),
        ({"zone": (8, 9)}, "rule ForbiddenRegion was .*4.*, is .*8"),
        ({"fuel": 30.0}, r"rule ResourceBudget\(fuel\) was at most 3 per episode, is at most 30 per episode"),
    ):
        with pytest.raises(BadInput, match=rf"was saved for another problem than the present 'tank'; {named}.*; load"):
            open_campaign(path, tank(**changes))


def test_a_file_of_an_older_version_without_its_limits_still_opens(file, original):
    document = json.loads(file.read_text())
    del document["content"]["declared"]
    text = json.dumps(document["content"])
    older = file.with_name("older.json")
    older.write_text(json.dumps({**document, "sha256": hashlib.sha256(text.encode()).hexdigest()}))
    assert plain(open_campaign(older, problem())) == plain(original)
    with pytest.raises(BadInput, match="was saved for another problem"):
        open_campaign(older, problem(horizon=4))


def test_a_campaign_may_be_loaded_with_more_episodes(file):
    assert open_campaign(file, problem(episodes=5)).problem.episodes == 5


def test_a_saved_file_cannot_run_anything(tmp_path, file):
    """Even one with a right checksum: its settings may name constraints, not call functions."""
    document = json.loads(file.read_text())
    entry = {"use": "subprocess:Popen", "args": f"touch {tmp_path / 'ran'}", "shell": True}
    document["content"]["settings"]["constraints"] = [entry]
    text = json.dumps(document["content"])
    document["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (tmp_path / "evil.json").write_text(json.dumps(document))
    with pytest.raises(BadInput, match="not a subclass of TransitionConstraint"):
        open_campaign(tmp_path / "evil.json", problem())
    assert not (tmp_path / "ran").exists()


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "state.json"
    write_atomically(path, b"old")
    write_atomically(path, b"new and longer")
    assert path.read_bytes() == b"new and longer"
    assert os.listdir(tmp_path) == ["state.json"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_the_old_file_stays_when_writing_fails(tmp_path, monkeypatch, original, call):
    path = tmp_path / "campaign.json"
    save_campaign(original, path)
    before = path.read_bytes()

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(DiskError, match=r"campaign.json: cannot be written \(No space left on device\).*unchanged"):
        save_campaign(original, path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["campaign.json"]


def test_an_interrupt_while_writing_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    write_atomically(path, b"old")

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["state.json"]


def test_a_folder_that_is_missing_or_no_folder_is_a_disk_error(tmp_path, original):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for path in (
        tmp_path / "missing" / "campaign.json",
        tmp_path / "file" / "campaign.json",
        tmp_path / "folder",
    ):
        with pytest.raises(DiskError, match="cannot be written"):
            save_campaign(original, path)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_without_permission_is_a_disk_error(tmp_path, original):
    tmp_path.chmod(0o500)
    with pytest.raises(DiskError, match="Permission denied"):
        save_campaign(original, tmp_path / "campaign.json")
