"""Check a problem before a campaign: is it what was meant? (`tcbo check`)

A problem that cannot be built at all has already said why, in one error; here are the questions that only the whole
problem can answer.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.checks.finding import Finding
from tcbo_pyomo.checks.reachable_states import check_moves
from tcbo_pyomo.errors import TcboError
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.foundation.user_lines import with_place
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.plant.pyomo_model.model_dynamics import ModelDynamics
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.problem.with_settings import with_settings
from tcbo_pyomo.settings import Settings
from tcbo_pyomo.solvers.nonlinear.discretisation_error import discretisation_error
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.target import Target

OTHER_NOISE = 1.5
"""Factor between two standard deviations of a measurement from which on one of them was forgotten."""
FAINTEST_NOISE = 1e-6
"""Noise below this share of the prior standard deviation makes the covariance matrices singular to rounding."""
SAMPLE = 200
"""Points of a continuous box at which the prior is looked at."""


def check_problem(problem: ProblemProtocol, settings: Settings) -> list[Finding]:
    """Every finding about a problem under some settings; what makes it useless is an error finding, not an exception.

    Parameters
    ----------
    problem
        As its file builds it.
    settings
        What a campaign would use; further constraints in them are checked with the problem's own.
    """
    try:
        changed: ProblemProtocol = with_settings(problem, settings)
        findings = _findings(changed)
    except TcboError as error:
        return [Finding("error", "constraints", with_place(error))]
    return [*findings, *_prior(changed), *_goal(changed), _first_plan(changed, settings)]


@singledispatch
def _findings(problem: ProblemProtocol) -> list[Finding]:
    """What any plant with a box of points can be asked."""
    return [_noise(*_noise_in_box(problem))]


def _discretisation(problem: ContinuousProblem) -> list[Finding]:
    """For a plant that is a pyomo.dae model: how far its discretised steps lead away from its differential equations."""
    dynamics = problem.dynamics
    if not isinstance(dynamics, ModelDynamics) or dynamics.duration is None:
        return []
    error = discretisation_error(dynamics, np.asarray(problem.start_state), problem.horizon)
    return [Finding("ok" if error.shares is not None and not error.too_large else "warning", "discretisation", error.text)]


@_findings.register
def _(problem: Problem) -> list[Finding]:
    return [*check_moves(problem), _noise(*_noise_by_state(problem)), _truth(problem)]


@_findings.register
def _(problem: ContinuousProblem) -> list[Finding]:
    from tcbo_pyomo.checks.continuous_plant import check_plant  # Loads CasADi, which finite plants do without.

    return [*check_plant(problem), *_discretisation(problem), _noise(*_noise_in_box(problem))]


def _noise_by_state(problem: Problem) -> tuple[Array, Array]:
    """Standard deviations of the quietest measurement and of the prior, for every state that a move leads to."""
    process = problem.process
    quietest = np.full(process.number_of_states, np.inf)
    np.minimum.at(quietest, process.transitions.indices, np.sqrt(process.noise_variance))
    met = np.isfinite(quietest)
    return quietest[met], np.sqrt(problem.kernel.diagonal(problem.seen_states))[met]


def _noise_in_box(problem: ProblemProtocol) -> tuple[Array, Array]:
    """Standard deviations of a measurement and of the prior, at points spread over the box."""
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (SAMPLE, len(problem.input_axes)))
    return np.full(SAMPLE, problem.noise_variance(None, problem.start_state) ** 0.5), np.sqrt(
        problem.kernel.diagonal(points)
    )


def _noise(noise: Array, prior: Array) -> Finding:
    """The scale of the noise against that of the prior; where the prior is certain there is nothing to compare."""
    text = f"standard deviation of the least noisy measurements {_range(noise)}, of the prior {_range(prior)}"
    noise, prior = noise[prior > 0], prior[prior > 0]
    if (noise > prior).any():
        share = (noise > prior).mean()
        return Finding("warning", "noise", f"{text}: in {share:.0%} of the places the noise is larger; check the units")
    if (noise < FAINTEST_NOISE * prior).any():
        text += f": below {FAINTEST_NOISE:g} of the prior, too small for the arithmetic"
        return Finding("warning", "noise", text)
    return Finding("ok", "noise", text)


def _prior(problem: ProblemProtocol) -> list[Finding]:
    """What follows from plain answers: whether they leave room for the noise."""
    prior = problem.prior
    if prior is None:
        return []
    low, high = prior.range
    text = f"{problem.output} expected from {low:g} to {high:g}; lengthscales and noise are learned from the results"
    if problem.kernel_given:
        text = f"{problem.output} expected from {low:g} to {high:g}; the given kernel is kept"
    truth = problem.truth if isinstance(problem.truth, np.ndarray) else np.array([low])
    if truth.min() < low or truth.max() > high:
        return [Finding("warning", "prior", f"{text}; the truth lies between {_range(truth)}, outside the range")]
    declared, given = problem.typical_noise**0.5, prior.measurement_sd
    if given is not None and not 1.0 / OTHER_NOISE < given / declared < OTHER_NOISE:
        differ = f"measurement_sd {given:g} of the prior, and the noise of the plant has {declared:.3g}, which counts"
        return [Finding("warning", "prior", f"{text}; {differ}: give the plant noise_variance=PRIOR.noise_variance")]
    return [Finding("ok", "prior", text)]


def _range(values: Array) -> str:
    low, high = float(values.min()), float(values.max())
    return f"{low:.3g}" if np.isclose(low, high) else f"{low:.3g} to {high:.3g}"


def _truth(problem: Problem) -> Finding:
    """Whether the best of a known truth lies where an episode can go."""
    if problem.truth is None:
        return Finding("ok", "truth", "unknown: use ask and tell; it cannot be simulated")
    score, noun = problem.goal.score(np.asarray(problem.truth)), problem.goal.noun(problem.output_unit)
    best = int(np.where(problem.sets.allowed_states(0), score, -np.inf).argmax())
    if score[best] > score[problem.best_state]:
        label = problem.process.labels[best]
        return Finding("warning", "truth", f"the {noun} '{label}' can never be visited; regret ignores it")
    return Finding("ok", "truth", f"the {noun} is '{problem.process.labels[problem.best_state]}'")


def _goal(problem: ProblemProtocol) -> list[Finding]:
    """The goal, unless it is the largest output; and whether results are expected around a target."""
    if problem.goal == MAXIMISE:
        return []
    text = problem.goal.in_words(problem.output, problem.output_unit)
    low, high = (-np.inf, np.inf) if problem.prior is None else problem.prior.range
    if isinstance(problem.goal, Target) and not low <= problem.goal.value <= high:
        far = f"outside the declared range {low:g} to {high:g}: check its unit, or declare a wider range"
        return [Finding("warning", "goal", f"{text}, {far}")]
    return [Finding("ok", "goal", text)]


def _first_plan(problem: ProblemProtocol, settings: Settings) -> Finding:
    """Whether a campaign finds its first move: every constraint, coupling ones included, with the solver chosen."""
    try:
        # The settings' own constraints are in the problem already.
        campaign = Campaign(problem, settings.model_copy(update={"constraints": ()}))
        move = campaign.ask()
        if move.step == 0:
            campaign.arrive(move.number)
            move = campaign.ask()
    except TcboError as error:
        return Finding("error", "first plan", with_place(error))
    return Finding("ok", "first plan", f"the first move {_in_words(problem, move)}")


@singledispatch
def _in_words(problem: ProblemProtocol, move: Move) -> str:
    """A move by where it leads."""
    return "leads to " + ", ".join(f"{name} = {value:g}" for name, value in problem.describe(move.expected).items())


@_in_words.register
def _(problem: Problem, move: Move) -> str:
    """A move by the action and the state."""
    return f"is {problem.process.pair_name(move.decision)}"
