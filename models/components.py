"""What constraints add to a Pyomo model: components under a free name, and the rows in them.

Pyomo is imported where it is used: constraints are also asked what they allow, and that has to start up quickly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

PyomoModel: TypeAlias = "ConcreteModel"
"""A ConcreteModel, for signatures of modules that must not import Pyomo yet."""


def add_component(model: PyomoModel, name: str, component: Any) -> Any:
    """Add a Pyomo component under `name`, or the next free name when two constraints of a kind are in use."""
    from pyomo.common.modeling import unique_component_name

    free = unique_component_name(model, name)
    model.add_component(free, component)
    return getattr(model, free)


def row_limits(row: Any) -> tuple[float, float]:
    """The limits of a row from below and above; infinite where there is none."""
    lower, upper = row.lb, row.ub
    return -math.inf if lower is None else float(lower), math.inf if upper is None else float(upper)


def new_rows(model: PyomoModel, add: Callable[[PyomoModel], None]) -> list[Any]:
    """The active rows that `add` puts into a model, in components of its own or in those that are there already."""
    from pyomo.environ import Constraint

    def active() -> list[Any]:
        return list(model.component_data_objects(Constraint, active=True, descend_into=True))

    before = {id(row) for row in active()}
    add(model)
    return [row for row in active() if id(row) not in before]
