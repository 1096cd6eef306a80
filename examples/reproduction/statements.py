"""The claims of the paper as statements that a study can decide: one method against another, at one moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

SYNTHETIC = ("branin2d", "hartmann3d", "hartmann6d", "michalewicz2d", "michalewicz3d", "levy4d")
LATE = "delayed 25"


@dataclass(frozen=True)
class Statement:
    """What the paper says about one method and another.

    Attributes
    ----------
    claim
        Its number and words.
    study, problem, feedback
        Where it is measured.
    one, other
        The two cases: a method, or a point of the grid.
    when
        The episode, the move of a campaign of one episode, or 0 for the end.
    measure
        "identified", "regret", "spread" (of the final regrets, 10 % to 90 %) or "seconds" (per plan).
    expects
        "ahead": one is better than the other; "equal"; "half": about half of the runs of one identify the maximum.
    """

    claim: str
    study: str
    problem: str
    feedback: str
    one: str
    other: str
    when: int = 0
    measure: Literal["identified", "regret", "spread", "seconds"] = "regret"
    expects: Literal["ahead", "equal", "half"] = "ahead"


def statements() -> Iterator[Statement]:
    """All of them, in the order of the paper."""
    yield from _knorr()
    yield from _lake()
    yield from _laser()
    yield from _continuous()
    yield from _ablations()


def _knorr() -> Iterator[Statement]:
    best = "1 Knorr, episodic: MDP-BO is best"
    late = Statement(best, "knorr", "knorr_pyrazole", "episodic", "MDP-BO", "mdp_expected_improvement", 5, "identified")
    yield late
    yield replace(late, when=10)
    yield replace(late, when=10, measure="regret")
    yield replace(late, when=10, other="greedy_ucb")
    early = "1 Knorr, immediate: MDP-BO is strong early"
    soon = replace(late, claim=early, feedback="immediate", when=3)
    yield soon
    yield replace(soon, claim="1 Knorr, immediate: at the end MDP-EI is comparable", when=10, expects="equal")
    yield replace(
        soon, claim="1 Knorr, immediate: at the end MDP-EI is comparable", when=10, expects="equal", measure="regret"
    )
    yield replace(soon, claim="1 Knorr, immediate: greedy is poor", when=10, other="greedy_ucb")


def _lake() -> Iterator[Statement]:
    two = "2 Lake, episodic: about half identify by episode 2"
    half = Statement(two, "lake", "lake_ypacarai", "episodic", "MDP-BO", "", 2, "identified", "half")
    yield half
    ahead = "2 Lake, episodic: ahead of MDP-EI"
    first = replace(half, claim=ahead, other="mdp_expected_improvement", expects="ahead")
    yield first
    yield replace(first, measure="regret")
    noisy = "2 Lake, immediate: MDP-EI is better early"
    early = replace(first, claim=noisy, feedback="immediate", when=1, measure="regret")
    early = replace(early, one="mdp_expected_improvement", other="MDP-BO")
    yield early
    overtaken = "2 Lake, immediate: MDP-BO overtakes it from episode 3 on"
    for episode in (3, 5):
        yield replace(early, claim=overtaken, one="MDP-BO", other="mdp_expected_improvement", when=episode)


def _laser() -> Iterator[Statement]:
    words = "3 Laser: far lower regret than state-less BO"
    paper = Statement(words, "laser", "free_electron_laser", "immediate", "MDP-BO", "stateless", 50)
    for other in ("stateless", "State-less BO arrival"):
        yield replace(paper, other=other)
        yield replace(paper, other=other, when=100)
    ours = "3 Laser: the same when a move informs about where it arrives (our default)"
    yield replace(paper, claim=ours, one="MDP-BO arrival", other="State-less BO arrival", when=100)


def _continuous() -> Iterator[Statement]:
    for name in SYNTHETIC:
        equal = Statement(
            "4 Synchronous: MDP-BO-UCB is about equal to LSR",
            "synchronous",
            name,
            "immediate",
            "MDP-BO-UCB",
            "local_search_region",
        )
        yield replace(equal, expects="equal")
        ahead = "4 Synchronous: UCB ahead of Thompson (Levy excepted)"
        yield replace(equal, claim=ahead, other="MDP-BO-TS", expects="equal" if name == "levy4d" else "ahead")
    for study, name in [*(("asynchronous", name) for name in SYNTHETIC), ("snar", "snar")]:
        late = Statement(
            "5 Late results: MDP-BO-TS is about equal to TrSnAKe", study, name, LATE, "MDP-BO-TS", "truncated_snake"
        )
        yield replace(late, expects="equal")
        yield replace(late, claim="5 Late results: its quantiles are tighter", measure="spread")
        yield replace(late, claim="5 Late results: Thompson is stronger than UCB", other="MDP-BO-UCB")
        yield replace(late, claim="8 Its run time is comparable to TrSnAKe's", measure="seconds", expects="equal")


def _ablations() -> Iterator[Statement]:
    words = "6 XY-allocation ahead of G-allocation on Branin2D, Thompson candidates"
    rule = "candidates.rule=thompson_sampling, utility.objective="
    yield Statement(words, "g_allocation", "branin2d", "immediate", f"{rule}differences", f"{rule}g_allocation")
    for feedback in ("episodic", "immediate"):
        for number in (10, 25):
            pair = ("planner.components=1", f"planner.components={number}")
            knorr = Statement(
                "7 N: on Knorr 1 is best", "components", "knorr_pyrazole", feedback, *pair, 0, "identified"
            )
            yield knorr
            lake = replace(knorr, claim="7 N: on the lake no difference", study="components_lake", expects="equal")
            yield replace(lake, problem="lake_ypacarai")
    counts = (
        ("thompson_count", "hartmann3d", LATE, (25, 50, 100)),
        ("upper_confidence_count", "hartmann3d", "immediate", (10, 25, 100)),
        ("upper_confidence_count", "levy4d", "immediate", (10, 25, 100)),
        ("upper_confidence_count_asynchronous", "hartmann6d", LATE, (10, 25, 100)),
    )
    for study, name, feedback, (least, *more) in counts:
        for number in more:
            pair = (f"candidates.count={least}", f"candidates.count={number}")
            yield Statement("7 K: little effect", study, name, feedback, *pair, 0, "regret", "equal")
