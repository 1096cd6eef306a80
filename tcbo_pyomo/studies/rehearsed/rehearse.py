"""A campaign rehearsed before its first experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from tcbo_pyomo.campaign.assembly import believed_problem
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.settings import MisbeliefSettings, PriorSettings, Settings, settings_from
from tcbo_pyomo.studies.rehearsed.answers import Rehearsed, answers
from tcbo_pyomo.studies.rehearsed.engines import engine_for
from tcbo_pyomo.studies.rehearsed.scenarios import Varied, scenarios_of
from tcbo_pyomo.surrogate.kernel_factors import split
from tcbo_pyomo.surrogate.kernels.constant import Constant

USUAL_SHARE = 0.05
"""The tolerance where nobody names one, in standard deviations of the prior."""

OnProgress = Callable[[str, int, int], None]


@dataclass
class RehearsalReport:
    """What was rehearsed; filled while it goes on, so that an interrupted one keeps what was made.

    Attributes
    ----------
    problem, settings, seed
        Of the campaign.
    tolerance
        What counts as good enough, in the unit of the output.
    rehearsed
        The scenarios so far, the campaign as it is declared first.
    complete
        Whether all draws of all scenarios were made.
    """

    problem: ProblemProtocol
    settings: Settings
    seed: int
    tolerance: float
    rehearsed: list[Rehearsed]
    complete: bool = False

    @property
    def answers(self) -> list[str]:
        """What to know before the first experiment, one sentence each."""
        return answers(self.rehearsed, self.tolerance, self.problem.output_unit)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "problem": self.problem.name,
            "seed": self.seed,
            "tolerance": self.tolerance,
            "output": self.problem.output,
            "unit": self.problem.output_unit,
            "complete": self.complete,
            "answers": self.answers,
            "scenarios": [part.to_dict(self.tolerance) for part in self.rehearsed],
        }


def rehearse(
    problem: ProblemProtocol,
    settings: Settings | Mapping[str, Any] | None = None,
    draws: int | None = None,
    seed: int = 1,
    regret: float | None = None,
    vary: Sequence[Varied] | None = None,
    on_progress: OnProgress | None = None,
    report: RehearsalReport | None = None,
) -> RehearsalReport:
    """Simulate a campaign on functions drawn from its prior, before the first experiment.

    The model is taken as right: functions are drawn from the declared prior, and nothing is learned about it. On a finite
    process many draws are simulated at once; on a continuous plant, and where a rule couples the moves of an episode in another
    way than a budget, whole campaigns are made one by one.

    Parameters
    ----------
    problem
        The plant; its truth, if it has one, is not looked at.
    settings
        Of the campaign; the problem's own preferences when not given.
    draws
        Functions drawn: 64 when not given, 8 where campaigns are made one by one.
    seed
        Every random choice follows from it.
    regret
        The tolerance, in the unit of the output; that of the setting `stop`, or 0.05 standard deviations of the prior.
    vary
        Also with half and twice the "horizon" or the standard deviation of the "noise"; both when not given, none where
        campaigns are made one by one.
    on_progress
        Called with the label of a scenario, the draws made of it, and all of its draws.
    report
        An empty one to be filled, for those who may interrupt it; see `new_report`.
    """
    found = report or new_report(problem, settings, seed, regret)
    engine = engine_for(found.problem, found.settings, seed, found.tolerance)
    number, chosen = draws or engine.usual_draws, engine.usually_varied if vary is None else vary
    for scenario in scenarios_of(found.problem, found.settings, chosen):
        made: Rehearsed | None = None
        for batch in engine.batches(scenario, number):
            if made is None:
                made = Rehearsed(scenario, batch)
                found.rehearsed.append(made)
            else:
                made = Rehearsed(scenario, {name: made.outcomes[name].joined(batch[name]) for name in batch})
                found.rehearsed[-1] = made
            if on_progress is not None:
                on_progress(scenario.label, made.draws, number)
    found.complete = True
    return found


def new_report(
    problem: ProblemProtocol, settings: Settings | Mapping[str, Any] | None, seed: int, regret: float | None
) -> RehearsalReport:
    """An empty report, with the tolerance that it will judge by."""
    chosen = settings if isinstance(settings, Settings) else settings_from(dict(problem.settings), dict(settings or {}))
    believed = believed_problem(problem, chosen)
    given = regret if regret is not None else chosen.stop.regret
    tolerance = _usual_tolerance(believed) if given is None else given
    # What the settings say about the belief is in the problem now, and must not be counted twice.
    usual = {"prior": PriorSettings(), "misbelief": MisbeliefSettings()}
    kept = chosen.model_copy(update={"surrogate": chosen.surrogate.model_copy(update=usual)})
    return RehearsalReport(believed, kept, seed, tolerance, [])


def _usual_tolerance(problem: ProblemProtocol) -> float:
    """A share of the standard deviation of the prior around an unknown level, in the unit of the output."""
    kernel = problem.kernel
    points = _typical_points(problem)
    stationary, others = split(kernel)
    parts = [*stationary, *((factor, part) for factor, part in others if not isinstance(part, Constant))]
    variance = sum(factor * float(part.diagonal(points).mean()) for factor, part in parts)
    moments = kernel.mean(points).mean(keepdims=True), np.sqrt([variance])
    return USUAL_SHARE * float(problem.output_scale.measured(*moments)[1][0])


@singledispatch
def _typical_points(problem: ProblemProtocol) -> Array:
    """Scaled inputs at which the prior is looked at: the middle of the box."""
    return np.zeros((1, len(problem.input_axes)))


@_typical_points.register
def _(problem: Problem) -> Array:
    """All states."""
    return problem.seen_states
