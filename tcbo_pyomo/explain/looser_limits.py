"""One notch more of a rate limit: on a finite process a larger step is worth nothing until it allows one more move."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tcbo_pyomo.foundation.coordinates import coordinate_index
from tcbo_pyomo.models.constraints.maximum_step import MaximumStep
from tcbo_pyomo.models.constraints.transition_constraint import transition_endpoints
from tcbo_pyomo.models.declared_limits import in_units, step_limits
from tcbo_pyomo.plant.process import Process


def looser_steps(rule: MaximumStep, process: Process) -> Iterator[tuple[str, MaximumStep]]:
    """The next larger step of each coordinate that some move of the process would use, in words and as a rule.

    Where falling and rising have limits of their own, each has a next larger step.
    """
    left, right = transition_endpoints(process)
    for coordinate, down, up in step_limits(rule, process.coordinates):
        axis = coordinate_index(process.coordinates, coordinate.name)
        change = right[:, axis] - left[:, axis]
        if isinstance(rule.limits[coordinate.name], (tuple, list)):
            ways = [("downwards ", -change, down), ("upwards ", change, up)]
        else:
            ways = [("", np.abs(change), up)]
        for way, sizes, present in ways:
            larger = sizes[sizes > present + 1e-9 * coordinate.width]
            if len(larger):
                new = float(larger.min())
                limit = {"": new, "downwards ": (new, up), "upwards ": (down, new)}[way]
                text = f"{way}{in_units(coordinate, new)} instead of {present:g}"
                yield text, MaximumStep({**rule.limits, coordinate.name: limit})
