"""The questions that `tcbo new` asks about the output: in a terminal one by one, elsewhere by options."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import typer

from tcbo_pyomo.cli._options import name_and_value
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.settings import GOALS
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.goal import Goal
from tcbo_pyomo.surrogate.named_goal import goal_from
from tcbo_pyomo.surrogate.plain_prior import PlainPrior

DEFAULT = PlainPrior((0.0, 1.2), 0.03)
"""What the template says until somebody knows better."""
INPUTS = ("temperature", "flow_rate")
"""Of the template."""
UNKNOWN = "unknown"


def answers_from(
    ends: tuple[float, float] | None,
    measurement_sd: str | None,
    changes_within: list[str] | None,
    positive: bool,
    goal: str | None,
    template: PlainPrior = DEFAULT,
    inputs: Sequence[str] = INPUTS,
) -> tuple[PlainPrior, Goal]:
    """The answers: as options gave them, asked for in a terminal where none did, else those of the template."""
    given = ends is not None or measurement_sd is not None or bool(changes_within) or positive or goal is not None
    if not given and sys.stdin.isatty() and sys.stdout.isatty():
        prior = _asked(template, inputs)
        return prior, _answer("Maximise or minimise the output, or bring it to which value?", MAXIMISE.name, _goal)
    aim = MAXIMISE if goal is None else _goal(goal)
    sd = template.measurement_sd if ends is None or inputs != INPUTS else None
    sd = sd if measurement_sd is None else _sd(measurement_sd)
    return PlainPrior(ends or template.range, sd, _distances(changes_within, inputs), positive), aim


def _asked(template: PlainPrior, inputs: Sequence[str]) -> PlainPrior:
    """The answers of whoever sits at the terminal; each is asked for again until it can be used."""
    typer.echo("A few questions about what you measure. Enter accepts the answer in brackets.")
    low = _answer("Lowest result you expect", f"{template.range[0]:.3g}", _number)
    high = _answer("Highest result you expect", f"{template.range[1]:.3g}", lambda text: _above(low, _number(text)))
    positive = low > 0 and typer.confirm("Is the output positive, and does it span orders of magnitude?", default=False)
    text = "Standard deviation of a repeated measurement, or unknown"
    sd = _answer(text, UNKNOWN if template.measurement_sd is None else f"{template.measurement_sd:.2g}", _sd)
    distances = {}
    for name in inputs:
        question = f"Change of {name} that changes the output markedly, or unknown"
        distance = _answer(question, UNKNOWN, _sd)
        if distance is not None:
            distances[name] = distance
    return PlainPrior((low, high), sd, distances, positive)


def _answer(question: str, default: str, read: Callable[[str], Any]) -> Any:
    while True:
        try:
            return read(typer.prompt(question, default=default))
        except BadInput as error:
            typer.echo(str(error), err=True)


def _number(text: str) -> float:
    from tcbo_pyomo.foundation.csv_table import finite_number

    return finite_number(text, "answer")


def _goal(text: str) -> Goal:
    """A goal by its name, or the value that the output is to be at."""
    named = text.strip().lower()
    if named in GOALS:
        return goal_from(named)
    try:
        return goal_from({"target": _number(named.removeprefix("target=").removeprefix("target"))})
    except BadInput:
        raise BadInput(f"goal: got {text!r}; use maximise, minimise, or the value that the output is to be at") from None


def _above(low: float, high: float) -> float:
    if high <= low:
        raise BadInput(f"{high:g} must be larger than {low:g}")
    return high


def _sd(text: str) -> float | None:
    """A positive number, or None for unknown."""
    if text.strip().lower() == UNKNOWN:
        return None
    number = _number(text)
    if number <= 0:
        raise BadInput(f"{text} must be a positive number, or {UNKNOWN}")
    return number


def _distances(changes_within: list[str] | None, inputs: Sequence[str]) -> dict[str, float]:
    distances = {}
    for text in changes_within or ():
        name, value = name_and_value("--changes-within", text, "temperature=20")
        if name not in inputs:
            raise BadInput(
                f"--changes-within: unknown input '{name}'; known: {', '.join(inputs)}; give those of a plant of your own by "
                "--data, or in the file"
            )
        distances[name] = _number(value)
    return distances
