"""What the runs of a study were after, for the words on its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.studies.study import ProblemEntry
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal
from tcbo_pyomo.surrogate.named_goal import goal_from


def goal_of(study: Mapping[str, Any], label: str, problem: ProblemProtocol | None) -> Goal | None:
    """The goal of all runs on a problem; None where they have several.

    Parameters
    ----------
    study
        The definition in the study's folder; empty where there is none.
    label
        What the tables call the problem.
    problem
        The problem itself, where it is known: it may have a goal of its own.
    """
    goals = list(_named(study, label))
    if any(goal != goals[0] for goal in goals):
        return None
    return goals[0] if goals else MAXIMISE if problem is None else problem.goal


def best_words(goal: Goal | None, unit: str) -> str:
    """`maximum`, `minimum`, `value closest to 42 %`; `best` where runs have several goals."""
    return "best" if goal is None else goal.noun(unit)


def _named(study: Mapping[str, Any], label: str) -> Iterator[Goal]:
    """Goals that the settings of some runs on the problem name, the strongest settings first as far as they hold for all."""
    own = [entry for entry in study.get("problems", ()) if ProblemEntry(**entry).label == label]
    yield from map(goal_from, study.get("grid", {}).get("goal", ()))
    methods = [entry.get("settings", {}).get("goal") for entry in study.get("methods", ())]
    if any(goal is not None for goal in methods):
        yield from (goal_from(goal) for goal in methods if goal is not None)
        if all(goal is not None for goal in methods):
            return
    for settings in (*(entry.get("settings", {}) for entry in own), study.get("settings", {})):
        if settings.get("goal") is not None:
            yield goal_from(settings["goal"])
            return
