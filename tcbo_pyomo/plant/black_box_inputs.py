"""What the black box depends on, where that is not every state of the plant.

A dynamic plant may have many states that its yield does not ask for, and the yield may depend on something that is no state at
all: an action, or an expression such as the residence time V / q. Such an input is written as one more coordinate of the plant
that the others determine. So limits, tables, files and the audit know it as they know the states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tcbo_pyomo.errors import BadInput, TcboError, suggestion
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.plant.dynamics import Dynamics, LinearDynamics, NonlinearDynamics

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

Values = Mapping[str, Any]
"""Numbers or Pyomo expressions of the states and actions, by name, in engineering units."""


@dataclass(frozen=True)
class BlackBoxInput:
    """An input of the black box: an expression of the plant's states and actions.

    Parameters
    ----------
    name
        Its name in limits, tables and files.
    expression
        `lambda plant: plant["volume"] / plant["flow"]`: a Pyomo expression of the states after a move and of the actions of
        that move, in engineering units.
    lower, upper
        The range that matters, in `unit`. Plans keep to it as to the limits of the states.
    unit
        Its unit.
    """

    name: str
    expression: Callable[[Values], Any]
    lower: float
    upper: float
    unit: str = ""

    def __post_init__(self) -> None:
        _ = self.coordinate
        if not callable(self.expression):
            raise BadInput(
                f"input '{self.name}': expression {self.expression!r} must be a function such as "
                "lambda plant: plant['volume'] / plant['flow']"
            )

    @property
    def coordinate(self) -> Coordinate:
        """Its axis."""
        return Coordinate(self.name, self.lower, self.upper, self.unit)

    def of(self, values: Values) -> Any:
        """The expression of some values; an error inside it is shown as such."""
        try:
            return self.expression(values)
        except TcboError:
            raise
        except Exception as error:
            raise BadInput(f"input '{self.name}': its expression failed: {type(error).__name__}: {error}") from error

    def number(self, values: Values) -> float:
        """The expression of some numbers."""
        found = self.of(values)
        if hasattr(found, "is_expression_type"):
            from pyomo.environ import value  # Only where a number was not enough.

            found = value(found)
        try:
            return float(found)
        except (TypeError, ValueError):
            raise BadInput(f"input '{self.name}': its expression gave {found!r}; it must give a number") from None


class Moment(Mapping[str, Any]):
    """The states after a move and the actions of that move, by name; it remembers which actions were asked for."""

    def __init__(self, states: Values, actions: Values) -> None:
        self._states, self._actions = states, actions
        self.actions_asked: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        if name in self._states:
            return self._states[name]
        if name not in self._actions:
            known = [*self._states, *self._actions]
            raise BadInput(f"an expression uses '{name}', which is not a state or action; {suggestion(str(name), known)}")
        self.actions_asked.add(name)
        return self._actions[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*self._states, *(name for name in self._actions if name not in self._states)])

    def __len__(self) -> int:
        return len(list(iter(self)))


@dataclass(frozen=True, eq=False)
class WithDerivedInputs:
    """`function(model, step)` of dynamics whose last coordinates are expressions of the others and of the actions."""

    function: Any
    derived: tuple[BlackBoxInput, ...]

    @property
    def __name__(self) -> str:
        return str(getattr(self.function, "__name__", "function"))

    def __call__(self, model: ConcreteModel, step: int) -> Any:
        """The next value of every coordinate, in engineering units."""
        following = self.function(model, step)
        if not isinstance(following, Mapping):
            return following  # The dynamics refuse it.
        moment = Moment(following, {name: model.action[step, name] for name in model.ACTIONS})
        return {**following, **{given.name: given.of(moment) for given in self.derived}}

    def inputs_at(self, present: Values, decided: Values, share: float) -> list[float]:
        """As the user's model has it."""
        inputs: list[float] = self.function.inputs_at(present, decided, share)
        return inputs

    def within(self, model: ConcreteModel, step: int, share: float, variables: list[Any]) -> dict[str, Any]:
        """Every coordinate when a share of a step of a user's model has passed, in engineering units."""
        found: dict[str, Any] = self.function.within(model, step, share, variables)
        moment = Moment(found, {name: model.action[step, name] for name in model.ACTIONS})
        return {**found, **{given.name: given.of(moment) for given in self.derived}}

    def written(self, ends: list[float], present: Values, decided: Values, share: float = 1.0) -> list[float]:
        """The coordinates after a step of a user's model, or a share of it, in engineering units."""
        states: list[float] = self.function.written(ends, present, decided, share)
        moment = Moment(dict(zip(present, states, strict=False)), decided)
        return [*states, *(given.number(moment) for given in self.derived)]


@dataclass(frozen=True, eq=False)
class _LinearFunction:
    """`function(model, step)` of linear dynamics, in engineering units."""

    dynamics: LinearDynamics
    coordinates: tuple[Coordinate, ...]
    __name__: str = "linear"

    def __call__(self, model: ConcreteModel, step: int) -> dict[str, Any]:
        rows = self.dynamics.rows(model, step, [c.name for c in self.coordinates])
        return {c.name: c.lower + (rows[c.name] + 0.5) * c.width for c in self.coordinates}


def action_ranges(dynamics: Dynamics) -> dict[str, tuple[float, float]]:
    """The limits of every action, by name."""
    lower, upper = dynamics.actions.bounds()
    return dict(zip(dynamics.actions.names or (), zip(lower.tolist(), upper.tolist(), strict=True), strict=True))


def chosen_inputs(
    given: Iterable[Any],
    coordinates: Sequence[Coordinate],
    limits: Mapping[str, tuple[float, float]],
    kind: str = "state or action",
) -> tuple[tuple[str, ...], tuple[BlackBoxInput, ...]]:
    """The names of the inputs, and those of them that the plant has no coordinate for yet.

    Parameters
    ----------
    given
        As the user gave them.
    coordinates
        The coordinates of the plant.
    limits
        The actions that may be inputs, with their limits.
    kind
        What a name may be, for messages.
    """
    if isinstance(given, (str, BlackBoxInput)) or not isinstance(given, Iterable):
        raise BadInput(f"inputs: {given!r} must be a list of names, each of a {kind}, and of BlackBoxInput(...)")
    items, states = list(given), [c.name for c in coordinates]
    names, derived = [], []
    for item in items:
        if isinstance(item, BlackBoxInput):
            if item.name in states or item.name in limits:
                raise BadInput(
                    f"input '{item.name}': the plant has a {kind} of that name; choose another name"
                )
            derived.append(item)
        elif not isinstance(item, str):
            raise BadInput(f"inputs: {item!r} must be the name of a {kind}, or a BlackBoxInput(...)")
        elif item in limits and item not in states:
            derived.append(BlackBoxInput(item, _ActionItself(item), *limits[item]))
        elif item not in states:
            raise BadInput(f"inputs: unknown {kind} '{item}'; {suggestion(item, [*states, *limits])}")
        names.append(item if isinstance(item, str) else item.name)
    twice = next((name for name in names if names.count(name) > 1), None)
    if not names or twice is not None:
        wrong = "none given" if not names else f"'{twice}' is given twice"
        raise BadInput(f"inputs: {wrong}; name each {kind} or expression that the output depends on once")
    return tuple(names), tuple(derived)


@dataclass(frozen=True)
class _ActionItself:
    name: str

    def __call__(self, plant: Values) -> Any:
        return plant[self.name]


def derived_inputs(dynamics: Dynamics) -> tuple[BlackBoxInput, ...]:
    """The coordinates of a plant that are expressions of the others."""
    function = getattr(dynamics, "function", None)
    return function.derived if isinstance(function, WithDerivedInputs) else ()


def with_derived_inputs(
    dynamics: Dynamics, coordinates: tuple[Coordinate, ...], derived: tuple[BlackBoxInput, ...]
) -> tuple[tuple[Coordinate, ...], Dynamics]:
    """The plant with some expressions as further coordinates."""
    every = (*coordinates, *(given.coordinate for given in derived))
    if isinstance(dynamics, LinearDynamics):
        function = WithDerivedInputs(_LinearFunction(dynamics, coordinates), derived)
        return every, NonlinearDynamics(every, function, dynamics.actions)
    if not isinstance(dynamics, NonlinearDynamics):
        raise BadInput(
            f"inputs: {type(dynamics).__name__} takes no expressions; use LinearDynamics, NonlinearDynamics or "
            "dynamics_from_model"
        )
    known: Any = dynamics
    before = derived_inputs(dynamics)
    function = WithDerivedInputs(known.function.function if before else known.function, (*before, *derived))
    return every, replace(known, coordinates=every, function=function)
