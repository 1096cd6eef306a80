"""What an episode of a continuous plant can reach and whether its numbers make sense: dynamics, scales, prior and truth."""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.checks.continuous_rules import check_rules
from tcbo_pyomo.checks.finding import Finding
from tcbo_pyomo.errors import TcboError
from tcbo_pyomo.foundation.arrays import Array, Integers
from tcbo_pyomo.planning.continuous.reachable_set import reachable_set
from tcbo_pyomo.planning.continuous.true_maximum import TrueSurface, best_true_point
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.solvers.nonlinear.step_simulator import next_states

SAMPLE = 300
"""Random points of the box with a random action each."""
REACHED = 0.99
"""Share of an axis from which on it counts as reached to its ends."""
ODD_ACTIONS = (1e-3, 1e5)
"""Ranges of actions that the nonlinear solver works with."""
SMALLEST_MOVE = 1e-3
"""Share of an axis that the largest move should at least make."""
LENGTHSCALES = (0.02, 3.0)
"""In widths of the box: shorter ones cannot be learned, longer ones see no difference between any two points."""
GROWTH = 1.01
"""By how much a small difference of states may grow in one move."""
SURPRISING = 5.0
"""Standard deviations of the prior within which the truth should lie."""
SHORT = 0.01
"""Share of the truth's range by which a maximum may be above what an episode can reach."""
DIFFERENCE = 1e-6


def check_plant(problem: ContinuousProblem) -> list[Finding]:
    """All findings about a continuous plant and its rules."""
    findings = [*_dynamics(problem), _scaling(problem), *check_rules(problem)]
    try:
        return [*findings, *_reach(problem), *_truth(problem)]
    except TcboError as error:
        return [*findings, Finding("error", "reach", f"no episode keeps all limits and rules: {error}")]


def _dynamics(problem: ContinuousProblem) -> list[Finding]:
    """Whether single moves from random points have finite outcomes, and do not blow up small differences."""
    generator, dimension = np.random.default_rng(0), len(problem.coordinates)
    states = generator.uniform(-0.5, 0.5, (SAMPLE, dimension))
    lower, upper = problem.dynamics.actions.bounds()
    actions = problem.dynamics.actions.clip(generator.uniform(lower, upper, (SAMPLE, len(lower))))
    after = next_states(problem.dynamics, states, actions)
    finite = np.isfinite(after).all(axis=1)
    if not finite.all():
        worst = problem.place_words(tuple(states[int(finite.argmin())].tolist()))
        share = f"{int((~finite).sum())} of {SAMPLE} random moves have no finite outcome, such as one from {worst}"
        text = f"{share}; check the equations there, or narrow the bounds"
        return [Finding("warning" if finite.any() else "error", "dynamics", text)]
    slopes = np.empty((SAMPLE, dimension, dimension))
    for axis, aside in enumerate(DIFFERENCE * np.eye(dimension)):
        ends = (next_states(problem.dynamics, states + side, actions) for side in (aside, -aside))
        slopes[:, :, axis] = np.subtract(*ends) / (2.0 * DIFFERENCE)
    radius = np.abs(np.linalg.eigvals(np.nan_to_num(slopes))).max(axis=1)
    inside = (np.abs(after) <= 0.5).all(axis=1).mean()
    text = f"{SAMPLE} random moves have finite outcomes, {inside:.0%} of them within the bounds"
    if radius.max() > GROWTH:
        unstable = f"at {(radius > GROWTH).mean():.0%} of the points small differences grow, up to {radius.max():.3g} times"
        return [Finding("warning", "dynamics", f"{text}; {unstable} per move: close the control loop or take shorter steps")]
    return [Finding("ok", "dynamics", f"{text}; no small difference grows by more than {max(radius.max(), 0.0):.3g} times")]


def _scaling(problem: ContinuousProblem) -> Finding:
    """Whether actions, moves and lengthscales are of a size that can be worked with."""
    lower, upper = problem.dynamics.actions.bounds()
    odd = [
        f"the range of action '{name}' is {width:.3g}, better between {ODD_ACTIONS[0]:g} and {ODD_ACTIONS[1]:g}"
        for name, width in zip(problem.dynamics.actions.names or (), upper - lower, strict=True)
        if not ODD_ACTIONS[0] <= width <= ODD_ACTIONS[1]
    ]
    start = np.tile(problem.start_state, (SAMPLE, 1))
    actions = problem.dynamics.actions.clip(np.random.default_rng(1).uniform(lower, upper, (SAMPLE, len(lower))))
    moves = np.abs(next_states(problem.dynamics, start, actions) - start)
    farthest = np.nanmax(moves, axis=0, initial=0.0)
    odd += [
        f"no move from the start changes {c.name} by more than {move:.2g} of its axis"
        for c, move in zip(problem.coordinates, farthest, strict=True)
        if move < SMALLEST_MOVE
    ]
    lengths = {name: value for name, value in problem.kernel.parameters.items() if "lengthscale" in name}
    odd += [
        f"the kernel's {name} is {value:.3g} widths of the box, better between {LENGTHSCALES[0]:g} and {LENGTHSCALES[1]:g}"
        for name, value in lengths.items()
        if not LENGTHSCALES[0] <= value <= LENGTHSCALES[1]
    ]
    if odd:
        return Finding("warning", "scaling", f"{'; '.join(odd)}: check the units")
    sizes = ", ".join(f"{c.name} {move:.2g}" for c, move in zip(problem.coordinates, farthest, strict=True))
    return Finding("ok", "scaling", f"the longest moves from the start, in widths of the axes: {sizes}")


class _Axes:
    """Every input of the black box and its negative, as functions to maximise."""

    def __init__(self, dimension: int) -> None:
        self.slopes = np.vstack([-np.eye(dimension), np.eye(dimension)])
        self.count = 2 * dimension

    def rough(self) -> _Axes:
        return self

    def value(self, points: Array) -> Array:
        return points @ self.slopes.T

    def value_and_gradient(self, points: Array, owner: Integers) -> tuple[Array, Array]:
        return np.einsum("nd,nd->n", points, self.slopes[owner]), self.slopes[owner]


def _reach(problem: ContinuousProblem) -> list[Finding]:
    """How far an episode gets along the axis of every input, against its bounds."""
    if problem.reaches_everything:
        return [Finding("ok", "reach", "an episode can reach every point within the bounds")]
    dimension = len(problem.input_axes)
    ends = reachable_set(problem).maxima(_Axes(dimension), exact=True).values
    findings = [Finding("ok", "reach", f"an episode can reach about {_share(problem):.0%} of the box")]
    for c, low, high in zip(problem.input_axes, -ends[:dimension], ends[dimension:], strict=True):
        reached = " to ".join(f"{c.lower + (end + 0.5) * c.width:.5g}" for end in (low, high))
        text = f"an episode reaches {reached} of {c.lower:g} to {c.upper:g} {c.unit}".rstrip()
        if high - low >= REACHED:
            findings.append(Finding("ok", f"reach of {c.name}", text))
        else:
            advice = "narrow the bounds, lengthen the episode or widen the actions if you meant more"
            findings.append(Finding("warning", f"reach of {c.name}", f"{text}; {advice}"))
    return findings


def _share(problem: ContinuousProblem) -> float:
    """Which share of the box is near points that an episode can reach."""
    points = np.random.default_rng(3).uniform(-0.5, 0.5, (SAMPLE, len(problem.input_axes)))
    return float(reachable_set(problem).holds(points).mean())


def _truth(problem: ContinuousProblem) -> list[Finding]:
    """Whether a known truth is finite, what the prior makes of it, and whether the maximum is right."""
    if problem.truth is None:
        return [Finding("ok", "truth", "unknown: use ask and tell; it cannot be simulated")]
    points = np.random.default_rng(2).uniform(-0.5, 0.5, (SAMPLE, len(problem.input_axes)))
    if not problem.reaches_everything:
        points = reachable_set(problem).cloud.points
    values = TrueSurface(problem).output(points)[:, 0]
    if not np.isfinite(values).all():
        where = problem.describe_inputs(points[int(np.isfinite(values).argmin())])
        worst = ", ".join(f"{c.name} = {where[c.name]:.6g} {c.unit}".rstrip() for c in problem.input_axes)
        return [Finding("error", "truth", f"it is not finite at {worst}; check the function")]
    # The points are too few to meet a narrow peak, so the best one is sought.
    points = np.vstack([points, best_true_point(problem)])
    values = TrueSurface(problem).output(points)[:, 0]
    return [_prior(problem, points, values), _maximum(problem, values)]


def _prior(problem: ContinuousProblem, points: Array, values: Array) -> Finding:
    """Whether the prior holds the truth for possible."""
    deviation = np.sqrt(problem.kernel.diagonal(points))
    away = np.abs(values - problem.kernel.mean(points)) / np.maximum(deviation, np.finfo(float).tiny)
    text = f"the truth is about {values.min():.4g} to {values.max():.4g} where an episode can reach"
    if away.max() > SURPRISING:
        far = f"up to {away.max():.2g} standard deviations from the prior mean"
        return Finding("warning", "prior", f"{text}, {far}: raise the kernel's variance or subtract a constant from the output")
    return Finding("ok", "prior", f"{text}, at most {away.max():.2g} standard deviations from the prior mean")


def _maximum(problem: ContinuousProblem, values: Array) -> Finding:
    """Whether the maximum that regret refers to is the best value that an episode can reach."""
    score, unit = problem.goal.score, problem.output_unit
    spread, word = float(np.ptp(values)), problem.goal.adjective(unit)
    best = float(values[score(values).argmax()])
    if problem.maximum is None:
        return Finding("ok", "maximum", f"not given, so there is no regret; an episode can reach {best:.8g}")
    ahead, given = float(score(problem.maximum) - score(best)), f"maximum {problem.maximum:.8g}"
    if ahead < -1e-6 * max(spread, abs(best)):
        below = f"{given} is {problem.goal.worse} {best:.8g}, a value of the truth: regret would be zero too early"
        return Finding("warning", "maximum", f"{below}; give the {word} value that an episode can reach")
    if ahead > SHORT * spread:
        above = f"{given} is {problem.goal.better} {best:.8g}, the {word} value found that an episode can reach"
        return Finding("warning", "maximum", f"{above}: regret can never reach zero")
    return Finding("ok", "maximum", f"an episode can reach {best:.8g}, maximum is {problem.maximum:.8g}")
