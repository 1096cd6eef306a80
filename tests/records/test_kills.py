"""Processes are killed at random instants: what was acknowledged is there, once, and the campaign goes on as before.

A part runs by default; all 1,000 tells and 200 asks with TCBO_ALL_KILLS=1.
"""

import os
import random
import time

import pytest
from small_campaigns import ALL_KILLS, finished, fork, kill, line, moves_of, result_of, started, uninterrupted
from waiting import PATIENCE, until_killed

from tcbo_pyomo.records import open_campaign

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


def killed(work, longest: float, instants: random.Random) -> list[int]:
    """Run `work(acknowledge)` in a process and kill it at a random instant; the numbers it acknowledged."""
    reader, writer = os.pipe()
    child = fork(lambda: work(lambda number: os.write(writer, b"%d\n" % number)))
    os.close(writer)
    first = os.read(reader, 100)  # It has started: the first line is 0.
    time.sleep(instants.uniform(0.0, longest))
    kill(child)
    text = first
    while chunk := os.read(reader, 10_000):
        text += chunk
    os.close(reader)
    return [int(word) for word in text.split()[1:]]


def duration(call) -> float:
    """Seconds that a call takes here and now."""
    began = time.monotonic()
    call()
    return time.monotonic() - began


def check(path, problem, acknowledged):
    """Every acknowledged result is there, none twice; asking again gives the same pending move."""
    campaign = open_campaign(path, problem)
    told = campaign.history.told
    assert set(acknowledged) <= set(told) and len(told) == len(set(told))
    assert all(move.value == result_of(move.number) for move in campaign.history.moves if move.value is not None)
    return campaign


def test_kills_during_tell(tmp_path):
    kills = 1000 if ALL_KILLS else 40
    problem = line(episodes=5000)
    campaign = started(tmp_path / "campaign.db", problem)
    instants, acknowledged = random.Random(7), []
    campaign.ask()
    once = duration(lambda: campaign.tell(1, result_of(1)))

    def work(acknowledge):
        acknowledge(0)
        while True:
            move = campaign.ask()
            campaign.tell(move.number, result_of(move.number), key=f"result of {move.number}")
            acknowledge(move.number)

    window = 8 * once
    for _ in range(kills):
        campaign.ask()  # So that the process begins with a tell.
        acknowledged += killed(work, window, instants)
        campaign = check(tmp_path / "campaign.db", problem, acknowledged)
        if not acknowledged:  # A busy machine: give the process longer before it is killed.
            window *= 1.5
    assert len(acknowledged) == len(set(acknowledged)) > 0
    # A result may be stored whose acknowledgement never arrived: telling it again changes nothing.
    for move in campaign.history.moves:
        if move.value is not None:
            assert not campaign.tell(move.number, result_of(move.number), key=f"result of {move.number}").new
            break
    pending = campaign.ask()
    campaign.tell(pending.number, result_of(pending.number))
    assert moves_of(campaign) == moves_of(uninterrupted(pending.number, problem))
    print(f"{kills} kills during tell, {len(acknowledged)} results acknowledged, none lost, none twice")


def test_kills_during_ask(tmp_path):
    kills = 200 if ALL_KILLS else 15
    problem = line(episodes=5000)
    campaign = started(tmp_path / "campaign.db", problem)
    instants, promised = random.Random(8), {}
    once = duration(campaign.ask)
    campaign.tell(1, result_of(1))

    def work(acknowledge):
        acknowledge(0)
        acknowledge(campaign.ask().expected + 1)
        until_killed()

    for _ in range(kills):
        number = len(campaign.history.moves) + 1
        for expected in killed(work, 4 * once, instants):
            promised[number] = expected - 1
        campaign = open_campaign(tmp_path / "campaign.db", problem)
        move = campaign.ask()
        assert move.number == number and promised.get(number, move.expected) == move.expected
        assert open_campaign(tmp_path / "campaign.db", problem).ask() == move
        campaign.tell(number, result_of(number))
    assert moves_of(campaign) == moves_of(uninterrupted(kills + 1, problem))
    print(f"{kills} kills during ask, {len(promised)} moves acknowledged, all the same afterwards")


def test_a_kill_during_the_start_leaves_a_whole_file_or_none(tmp_path):
    instants, made = random.Random(9), 0
    for number in range(100 if ALL_KILLS else 10):
        path = tmp_path / str(number) / "campaign.db"
        path.parent.mkdir()

        def work(acknowledge, path=path):
            acknowledge(0)
            started(path)
            until_killed()

        killed(work, 0.06, instants)
        if path.exists():
            made += 1
            assert open_campaign(path, line()).ask().number == 1
        else:
            started(path)
    print(f"{made} campaigns were complete when their process was killed")


def test_many_processes_tell_and_ask_at_once(tmp_path):
    processes, each = (16, 50) if ALL_KILLS else (6, 5)
    problem = line(episodes=5000)
    started(tmp_path / "campaign.db", problem)

    def work():
        # Beside other work a turn may be long in coming; that nobody waits for ever is tested elsewhere.
        campaign = open_campaign(tmp_path / "campaign.db", problem, PATIENCE)
        for _ in range(each):
            move = campaign.ask(new=True)
            assert campaign.tell(move.number, result_of(move.number)).new

    children = [fork(work) for _ in range(processes)]
    assert [finished(child) for child in children] == [0] * processes
    campaign = check(tmp_path / "campaign.db", problem, range(1, processes * each + 1))
    assert len(campaign.history.moves) == len(campaign.history.told) == processes * each
    assert not campaign.violations
    assert sorted(os.listdir(tmp_path)) == ["campaign.db"]
