"""What a user sees of a problem at a prompt or in a notebook: its size, axes, start, budget and rules, in words."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from tcbo_pyomo.surrogate.extremes import MAXIMISE

if TYPE_CHECKING:
    from tcbo_pyomo.problem.protocol import ProblemProtocol


def as_text(problem: ProblemProtocol) -> str:
    """In one line."""
    facts = "; ".join(f"{name} {text}" for name, text in _facts(problem).items())
    return f"{type(problem).__name__}({problem.name}: {facts})"


def as_html(problem: ProblemProtocol) -> str:
    """As a table."""
    rows = "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in _facts(problem).items())
    about = f"<p>{escape(problem.description)}</p>" if problem.description else ""
    return f"<b>{escape(problem.name)}</b>{about}<table>{rows}</table>"


def _facts(problem: ProblemProtocol) -> dict[str, str]:
    axes = (f"{c.name} {c.lower:g} to {c.upper:g} {c.unit}".rstrip() for c in problem.coordinates)
    hidden = problem.input_axes != problem.coordinates
    return {
        "size": problem.size,
        "coordinates": ", ".join(axes),
        **({"depends on": ", ".join(c.name for c in problem.input_axes)} if hidden else {}),
        "start": problem.place_words(problem.start_state),
        "budget": f"{problem.episodes} x {problem.horizon} moves",
        "rules": ", ".join(rule.name for rule in problem.rules) or "none",
        "measures": f"{problem.output} {problem.output_unit}".rstrip(),
        **({} if problem.goal == MAXIMISE else {"goal": problem.goal.in_words(problem.output, problem.output_unit)}),
    }
