"""What the model believes now, in engineering units: how far the answer reaches in each input, and how noisy results are."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from tcbo_pyomo.foundation.wording import spaced, with_unit
from tcbo_pyomo.knowledge.knowledge import Knowledge
from tcbo_pyomo.knowledge.mechanism_in_words import ParameterNow, parameter_lines, parameters_now
from tcbo_pyomo.surrogate.kernel_factors import lengthscales, split


@dataclass(frozen=True)
class Estimate:
    """A number with the interval that holds it with some 70 % (one standard deviation of its logarithm either way)."""

    value: float
    low: float
    high: float

    @classmethod
    def around(cls, value: float, spread: float) -> Estimate:
        """From the standard deviation of the logarithm."""
        return cls(value, value * math.exp(-spread), value * math.exp(spread))

    def in_words(self, unit: str) -> str:
        """`12 K (8 to 18)`; without an interval where there is none."""
        if self.low == self.high:
            return with_unit(self.value, unit)
        return f"{with_unit(self.value, unit)} ({self.low:.2g} to {self.high:.2g})"


@dataclass(frozen=True)
class BeliefNow:
    """The hyper-parameters of the model.

    Attributes
    ----------
    learned_from
        Results that they were learned from; None where the prior stays as it was declared.
    changes_within
        Lengthscale of each coordinate, in its unit; empty for a kernel with no lengthscale, or several.
    measurement_sd
        Of an ordinary measurement, in the unit of the output.
    deviation
        Prior standard deviation around the level, as modelled; None where the kernel has none.
    parameters
        Of the mechanisms in the kernel, after the first result.
    doubted
        Results among `learned_from` that are unlikely and nobody confirmed, so that nothing was learned from them.
    range_times
        How many times as wide as declared the range of the output is believed to be: doubled until it contains the results.
    """

    learned_from: int | None
    changes_within: dict[str, Estimate]
    measurement_sd: Estimate
    deviation: float | None
    parameters: tuple[ParameterNow, ...] = ()
    doubted: int = 0
    range_times: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def belief_now(knowledge: Knowledge[Any]) -> BeliefNow:
    """What the model of a campaign believes now."""
    learned, problem = knowledge.learned, knowledge.problem
    dimension = len(problem.input_axes)
    spreads = (0.0,) * dimension if learned is None else learned.uncertainty.lengthscales
    noise, noise_spread = (1.0, 0.0) if learned is None else (learned.factors.noise, learned.uncertainty.noise)
    stationary, _ = split(knowledge.kernel)
    within = {}
    if len(stationary) == 1:
        lengths = lengthscales(stationary[0][1], dimension).tolist()
        rows = zip(problem.input_axes, lengths, spreads, strict=True)
        within = {c.name: Estimate.around(length * c.width, spread) for c, length, spread in rows}
    variance = sum(factor * part.variance for factor, part in stationary)
    sd = Estimate.around(math.sqrt(noise * problem.typical_noise), 0.5 * noise_spread)
    known = tuple(parameters_now(knowledge))
    results = None if learned is None else learned.results
    deviation = math.sqrt(variance) if stationary else None
    times = 1.0 if learned is None or problem.kernel_given else math.sqrt(learned.factors.variance)
    return BeliefNow(results, within, sd, deviation, known, knowledge.left_out_of_learning, times)


def belief_lines(knowledge: Knowledge[Any]) -> list[str]:
    """The same as sentences."""
    now = belief_now(knowledge)
    return [*hyperparameter_lines(now, knowledge), *parameter_lines(now.parameters)]


def hyperparameter_lines(now: BeliefNow, knowledge: Knowledge[Any]) -> list[str]:
    """The sentences about lengthscales and noise."""
    problem = knowledge.problem
    units = {c.name: c.unit for c in problem.coordinates}
    how = "as declared" if now.learned_from is None else f"learned from {now.learned_from} results"
    if now.doubted:
        how += f" without {now.doubted} unlikely one{'s' if now.doubted > 1 else ''} that nobody confirmed"
    if now.learned_from == 0:
        how = "as declared until there are five results"
    reach = ", ".join(f"{spaced(name)} {found.in_words(units[name])}" for name, found in now.changes_within.items())
    lines = [f"lengthscales ({how}): {reach}"] if reach else []
    if now.range_times > 1.0:
        logarithms = " (of logarithms)" if problem.prior is not None and problem.prior.positive else ""
        lines.append(f"range{logarithms}: {now.range_times:g} times as wide as declared, because results lie outside it")
    return [*lines, f"measurement sd ({how}): {now.measurement_sd.in_words(problem.output_unit)}"]
