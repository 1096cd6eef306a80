"""How far the discretised steps of a user's model lead away from its own differential equations over an episode."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from tcbo_pyomo.errors import SolverFailed
from tcbo_pyomo.foundation.arrays import Array
from tcbo_pyomo.plant.dynamics import Dynamics
from tcbo_pyomo.plant.pyomo_model.model_dynamics import ModelDynamics
from tcbo_pyomo.solvers.nonlinear.step_simulator import simulator_of

ALLOWED = 0.01
"""Share of a coordinate's range above which the user is warned."""
MARGIN = 2.0
"""What is stated is the largest error seen times this: a plan may take other actions than those tried."""
LONGEST = 20
"""Steps that are compared."""
RANDOM = 3
"""Random sequences of actions, besides the lowest, the middle and the highest."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class DiscretisationError:
    """The error of each coordinate as a share of its range; None where it could not be worked out, with the reason."""

    shares: Array | None
    text: str

    @property
    def too_large(self) -> bool:
        """Whether the user should be warned."""
        return self.shares is not None and bool(self.shares.max() > ALLOWED)


def discretisation_error(dynamics: ModelDynamics, start: Array, steps: int) -> DiscretisationError:
    """Compare the plan's steps with small ones along a few sequences of actions from a scaled start."""
    known = _KNOWN.setdefault(dynamics, {})
    key = (tuple(np.asarray(start).tolist()), min(steps, LONGEST))
    if key not in known:
        known[key] = _worked_out(dynamics, np.asarray(start, dtype=float), key[1])
    return known[key]


def warn_of_discretisation(dynamics: Dynamics, start: Array, steps: int) -> None:
    """Log a warning where a user's model is discretised too coarsely."""
    if isinstance(dynamics, ModelDynamics) and dynamics.duration is not None:
        error = discretisation_error(dynamics, start, steps)
        if error.too_large:
            logger.warning("%s", error.text)


def _worked_out(dynamics: ModelDynamics, start: Array, steps: int) -> DiscretisationError:
    from tcbo_pyomo.solvers.nonlinear.fine_steps import FineSteps  # Here, since casadi takes long to load.

    try:
        fine, coarse = FineSteps(dynamics), simulator_of(dynamics)
        worst = np.zeros(len(start))
        for actions in _sequences(dynamics, steps):
            one = other = start
            for action in actions:
                one, other = coarse.next_state(one, action), fine.next_state(other, action)
                if np.abs(np.concatenate([one, other])).max() > 0.5:
                    break
                worst = np.maximum(worst, np.abs(one - other))
    except SolverFailed as error:
        return DiscretisationError(None, f"the discretisation of the model was not checked: {error}")
    shares = MARGIN * worst
    stated = ", ".join(f"{c.name} {share:.2g}" for c, share in zip(dynamics.coordinates, shares, strict=True))
    text = f"discretisation error over {steps} steps, as a share of each range: {stated}"
    if shares.max() > ALLOWED:
        text += f"; more than {ALLOWED:g}: use more `elements`, or a shorter `duration`"
    return DiscretisationError(shares, text)


def _sequences(dynamics: ModelDynamics, steps: int) -> list[Array]:
    """Sequences of actions (steps x q): the lowest, the middle, the highest, and random ones."""
    lower, upper = dynamics.actions.bounds()
    held = [np.tile(lower + share * (upper - lower), (steps, 1)) for share in (0.0, 0.5, 1.0)]
    generator = np.random.default_rng(0)
    return held + [generator.uniform(lower, upper, (steps, len(lower))) for _ in range(RANDOM)]


_KNOWN: WeakKeyDictionary[ModelDynamics, dict[tuple[tuple[float, ...], int], DiscretisationError]] = WeakKeyDictionary()
