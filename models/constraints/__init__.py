"""The constraint library. One class per file; the file name is the name used in settings.

To add a constraint write one file with one class derived from `TransitionConstraint`, here or in your own project
("my_study.limits:CoolingRate"), or pass a function that receives the ConcreteModel and adds linear components to it.
"""

from tcbo_pyomo.models.constraints.end_at import EndAt
from tcbo_pyomo.models.constraints.forbidden_region import ForbiddenRegion
from tcbo_pyomo.models.constraints.from_function import FromFunction
from tcbo_pyomo.models.constraints.maximum_step import MaximumStep
from tcbo_pyomo.models.constraints.non_decreasing import NonDecreasing
from tcbo_pyomo.models.constraints.non_increasing import NonIncreasing
from tcbo_pyomo.models.constraints.resource_budget import ResourceBudget
from tcbo_pyomo.models.constraints.transition_constraint import TransitionConstraint, Violation
from tcbo_pyomo.models.constraints.visit_budget import VisitBudget
from tcbo_pyomo.models.regions.regions import Box, Circle, Points, Polygon, Wall

__all__ = [
    "Box",
    "Circle",
    "EndAt",
    "ForbiddenRegion",
    "FromFunction",
    "MaximumStep",
    "NonDecreasing",
    "NonIncreasing",
    "Points",
    "Polygon",
    "ResourceBudget",
    "TransitionConstraint",
    "Violation",
    "VisitBudget",
    "Wall",
]
