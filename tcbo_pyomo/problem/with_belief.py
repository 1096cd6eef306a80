"""What a campaign believes about a problem where its settings say otherwise: plain answers, or a wrong belief on purpose.

The problem itself, which a simulated plant obeys, stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.surrogate.kernel_factors import Factors, lengthscales, split, with_factors
from tcbo_pyomo.surrogate.kernels.constant import Constant
from tcbo_pyomo.surrogate.kernels.kernel import Kernel
from tcbo_pyomo.surrogate.kernels.sum import Sum
from tcbo_pyomo.surrogate.plain_prior import PlainPrior

if TYPE_CHECKING:
    from tcbo_pyomo.settings import MisbeliefSettings, PriorSettings, SurrogateSettings

AnyProblem = TypeVar("AnyProblem", bound=ProblemProtocol)

CERTAIN = 1e-9
"""Share of the variance that a level which is certain has: a kernel needs a positive one."""


def with_belief(problem: AnyProblem, settings: SurrogateSettings) -> AnyProblem:
    """The problem as the campaign believes it to be; the same object when the settings change nothing."""
    return _mistaken(_plainly(problem, settings.prior), settings.misbelief)


def with_other_belief(problem: AnyProblem, fields: Mapping[str, Any]) -> AnyProblem:
    """A copy of a problem that was read from a file, with another prior or other noise; its plant stays as it was read."""
    twin = copy(problem)
    for name, value in fields.items():
        object.__setattr__(twin, name, value)
    return twin


def _plainly(problem: AnyProblem, given: PriorSettings) -> AnyProblem:
    """The problem with plain answers in place of its kernel."""
    if given.range is None:
        return problem
    declared = problem.typical_noise**0.5
    sd = declared if given.measurement_sd == "declared" else given.measurement_sd
    known = None if sd == "unknown" else float(sd)
    prior = PlainPrior(given.range, known, given.changes_within, given.positive)
    changed: AnyProblem = problem.changed(prior=prior, kernel=prior.kernel(problem.input_axes))
    return changed if given.measurement_sd == "declared" else changed.with_noise(prior.noise_variance / declared**2)


def _mistaken(problem: AnyProblem, error: MisbeliefSettings) -> AnyProblem:
    """The problem with a wrong belief."""
    dimension, (stationary, _) = len(problem.input_axes), split(problem.kernel)
    lengths = (error.lengthscale,) * dimension
    if error.isotropic and stationary:
        own = lengthscales(stationary[0][1], dimension)
        lengths = tuple((error.lengthscale * own.min() / own).tolist())
    kernel: Kernel = with_factors(problem.kernel, Factors(lengths, error.variance))
    if error.level != 0.0:
        variance = sum(factor * part.variance for factor, part in stationary)
        kernel = Sum((kernel, Constant(error.level * variance**0.5, CERTAIN * variance)))
    if kernel != problem.kernel:
        problem = problem.changed(kernel=kernel)
    return problem if error.noise == 1.0 else problem.with_noise(error.noise)
