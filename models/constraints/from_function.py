"""A user's function as a constraint: it receives the ConcreteModel and adds Pyomo components to it.

Linear ones for the state-action polytope; any smooth ones for a trajectory (`model.physical[step, name]`).
"""

from __future__ import annotations

from collections.abc import Callable

from tcbo_pyomo.errors import BadInput, TcboError
from tcbo_pyomo.models.components import PyomoModel
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint


class FromFunction(TransitionConstraint):
    """Wraps `function(model)`; whatever it adds may couple the steps, so the plan is solved as a linear programme."""

    def __init__(self, function: Callable[[PyomoModel], None]) -> None:
        self.function = function

    @property
    def name(self) -> str:
        """The function's own name."""
        return getattr(self.function, "__name__", "function")

    def add_to_polytope(self, model: PyomoModel) -> None:
        """Call the function; an error inside it is shown as such."""
        try:
            self.function(model)
        except TcboError:
            raise
        except Exception as error:
            raise BadInput(f"constraint function '{self.name}' failed: {type(error).__name__}: {error}") from error

    add_to_trajectory = add_to_polytope


def as_rule(constraint: TransitionConstraint | Callable[[PyomoModel], None]) -> TransitionConstraint:
    """A constraint as it is, a plain function wrapped."""
    return constraint if isinstance(constraint, TransitionConstraint) else FromFunction(constraint)
