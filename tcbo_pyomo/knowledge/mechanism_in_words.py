"""How much of an answer is mechanism and how much residual, and what the results say about the mechanism's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.wording import uncertain, with_unit
from tcbo_pyomo.knowledge.knowledge import Knowledge
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.surrogate.kernels.mechanism import Mechanism
from tcbo_pyomo.surrogate.shares import known_parts, mechanism_and_residual, weight_posterior

MOST_RESULTS = 1000
"""Results from which the parts are computed: the cube of their number is to be paid. Beyond them nothing is said."""


@dataclass(frozen=True)
class ParameterNow:
    """A parameter of a mechanism: what was declared, and what is believed after the results (with standard deviations)."""

    mechanism: str
    name: str
    prior: float
    prior_sd: float
    estimate: float
    sd: float

    def in_words(self) -> str:
        """`rate 0.52 ± 0.03 (prior 0.30 ± 0.10)`."""
        return f"{self.name} {uncertain(self.estimate, self.sd, '')} (prior {uncertain(self.prior, self.prior_sd, '')})"


@dataclass(frozen=True)
class Explained:
    """The posterior mean at one place as the sum of two parts, each with its standard deviation, as modelled.

    Attributes
    ----------
    mechanism, mechanism_sd, residual, residual_sd
        What the mechanism says there, and what is added to it.
    residual_at_results
        Root mean square of what is added where results were told.
    """

    mechanism: float
    mechanism_sd: float
    residual: float
    residual_sd: float
    residual_at_results: float

    def in_words(self, unit: str) -> str:
        """One sentence."""
        known = uncertain(self.mechanism, self.mechanism_sd, unit)
        rest = uncertain(self.residual, self.residual_sd, unit)
        along = with_unit(self.residual_at_results, unit)
        return f"the mechanism predicts {known}, the residual adds {rest} ({along} rms over the results)"


def parameters_now(knowledge: Knowledge[Any]) -> list[ParameterNow]:
    """Every parameter of the mechanisms in the kernel; none where it has no mechanism, or too many results were told."""
    parts, results = known_parts(knowledge.kernel), _results(knowledge)
    if not parts or results is None:
        return []
    found = []
    for (_, part), (means, covariance) in zip(parts, weight_posterior(parts, knowledge.kernel, *results), strict=True):
        label = part.response.name.rpartition(":")[2] if isinstance(part, Mechanism) else part.registry_name()
        priors, deviations = np.sqrt(np.diag(part.weight_covariance)), np.sqrt(np.maximum(np.diag(covariance), 0.0))
        rows = zip(part.weights.items(), priors.tolist(), means.tolist(), deviations.tolist(), strict=True)
        found += [ParameterNow(label, name, prior, spread, mean, sd) for (name, prior), spread, mean, sd in rows]
    return found


def parameter_lines(parameters: Sequence[ParameterNow]) -> list[str]:
    """One line per mechanism."""
    labels = dict.fromkeys(parameter.mechanism for parameter in parameters)
    words = {label: ", ".join(p.in_words() for p in parameters if p.mechanism == label) for label in labels}
    return [f"parameters of the mechanism {label}: {text}" for label, text in words.items()]


def explained_at(knowledge: Knowledge[Any], where: Location) -> Explained | None:
    """The two parts of the answer at a place; None where the kernel has no mechanism, or too many results were told."""
    results = _results(knowledge)
    if results is None:
        return None
    places = np.vstack([knowledge.scaled_points([where]), results[0]])
    parts = mechanism_and_residual(knowledge.kernel, *results, places)
    if parts is None:
        return None
    known, rest = parts
    along = float(np.sqrt((rest.mean[1:] ** 2).mean()))
    at = float(known.mean[0]), float(known.deviation[0]), float(rest.mean[0]), float(rest.deviation[0])
    return Explained(*at, along)


def _results(knowledge: Knowledge[Any]) -> tuple[Any, Any, Any] | None:
    """Points, values and noise variances of all results; None before the first, and of too many."""
    return knowledge.believed_results() if 0 < knowledge.history.known <= MOST_RESULTS else None
