"""Methods choose the next move. The paper's is `mdp_bo`; its rivals are files beside it with the same face."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from tcbo_pyomo.foundation.registry import Registry
from tcbo_pyomo.plant.situation import Decision, Situation


class Method(Protocol):
    """Chooses one feasible move at a time."""

    def next_decision(self, situation: Situation, knowledge: Any, generator: np.random.Generator) -> Decision:
        """What to do next."""


METHODS: Registry[Method] = Registry("tcbo_pyomo.methods", "method", Method)


def method_names() -> list[str]:
    """The paper's method and its rivals."""
    return METHODS.names()


def load_method(name: str) -> Callable[..., Method]:
    """The class of a method, by name or as 'my_module:MyMethod'."""
    return METHODS.load(name)


def believed_problem(method: Any, problem: Any) -> Any:
    """The problem as the method models it; the true one unless the method says otherwise."""
    believed = getattr(method, "believed", None)
    return problem if believed is None else believed(problem)
