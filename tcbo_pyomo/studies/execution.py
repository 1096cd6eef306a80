"""One run: simulate the campaign and return what the tables need, as plain data. Runs anywhere the package is installed."""

from __future__ import annotations

import time
import traceback
from typing import Any

import numpy as np

from tcbo_pyomo.campaign.assembly import with_reachable_maximum
from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.campaign.simulation import CampaignResult, Simulation
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.blas_threads import one_blas_thread
from tcbo_pyomo.foundation.registry import find_beside_user
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.planning.fall_backs import fall_backs
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.problem.with_settings import AnyProblem
from tcbo_pyomo.records.determining_parts import FILE, changed_parts, file_part, source_parts
from tcbo_pyomo.settings import settings_without_retired
from tcbo_pyomo.studies.runs import Run

DRAWN_TRUTH = 3
"""Stream of the seed: the campaign's own chance and the noise of the plant are other streams."""


class TimedCampaign(Campaign):
    """A campaign that takes the time of every ask."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.seconds: list[tuple[int, int, float]] = []

    def ask(self, anyway: bool = False) -> Move:
        """The next move."""
        start = time.perf_counter()
        move = super().ask(anyway)
        if move.step > 0:
            self.seconds.append((move.episode, move.step, time.perf_counter() - start))
        return move


def execute(run: Run) -> dict[str, Any]:
    """The record of a run, or of the error that ended it; one BLAS thread, so that the numbers are the same anywhere."""
    record: dict[str, Any] = {"key": run.key, "run": run.to_dict()}
    try:
        with one_blas_thread():
            return {**record, **_results(run)}
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return {**record, "error": reason, "traceback": traceback.format_exc()}


def with_drawn_truth(problem: AnyProblem, seed: int) -> AnyProblem:
    """The problem with a truth drawn from its prior, the same for every method and all settings.

    Its maximum is the best value that an episode can reach.
    """
    drawn = problem.with_drawn_truth(np.random.default_rng(np.random.SeedSequence([seed, DRAWN_TRUTH])))
    return with_reachable_maximum(drawn)


def _results(run: Run) -> dict[str, Any]:
    if run.search_path:
        find_beside_user(run.search_path)
    settings = settings_without_retired(run.case.settings)
    problem = load_problem(run.case.source, settings.feedback.kind, run.seed)
    _refuse_other_sources(run)
    if run.case.truth == "drawn":
        problem = with_drawn_truth(problem, run.seed)
    campaign = TimedCampaign(problem, settings, run.seed, run.case.data or None)
    result = Simulation(campaign).run()
    _refuse_other_sources(run)
    steps = [[s.episode, s.step, s.regret, s.identified, s.candidates] for s in result.steps]
    fallen = fall_backs(step.plan for step in result.steps)
    found: dict[str, Any] = {"steps": steps, "path": _path(result), "seconds": campaign.seconds}
    if not campaign.all_moves_made:
        found |= {"steps": carried_forward(steps, campaign.problem), "stopped_after": len(steps)}
    return {**found, "fall_backs": str(fallen)} if fallen.number else found


def carried_forward(steps: list[list[Any]], problem: ProblemProtocol) -> list[list[Any]]:
    """The rows of a campaign that ended before its budget, with its last recommendation in every move that was not made."""
    last, horizon = steps[-1][2:], problem.horizon
    left = range(len(steps), problem.episodes * horizon)
    return [*steps, *([made // horizon + 1, made % horizon + 1, *last] for made in left)]


def _refuse_other_sources(run: Run) -> None:
    """A file that was edited meanwhile, or that another machine has in another form, gives other numbers than the key says."""
    known = {name: digest for name, digest in run.case.parts.items() if name.startswith(FILE)}
    present = {**source_parts(run.case.source, run.case.settings), **file_part(run.case.data)}
    if changed := changed_parts(known, present):
        raise BadInput(
            f"{', '.join(changed)} changed after the study began, or differs on this machine; run it again"
        )


def _path(result: CampaignResult) -> list[list[Any]]:
    """Per place, the start of each episode first: episode, step, coordinates in engineering units."""
    describe = result.problem.describe
    return [
        [episode.episode, step, *(float(value) for value in describe(place).values())]
        for episode, places in zip(result.episodes, result.paths, strict=True)
        for step, place in enumerate(places)
    ]
