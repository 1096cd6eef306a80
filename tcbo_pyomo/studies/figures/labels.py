"""Words on the figures: methods, settings, problems and kinds of feedback as people write them."""

from __future__ import annotations

import re
import textwrap
from pathlib import PurePath

from tcbo_pyomo.foundation.wording import spaced, visible

METHODS = {
    "mdp_bo": "MDP-BO",
    "mdp_expected_improvement": "MDP-EI",
    "greedy_ucb": "Greedy-UCB",
    "local_search_region": "LSR",
    "truncated_snake": "TrSnAKe",
    "local_ucb": "Local-UCB",
    "stateless": "State-less BO",
    "random_walk": "Random walk",
}
"""The paper's names of the methods; a label that a study gives itself stays as it is."""
LONGEST = 90
LINE = 60
"""Letters of a line of a title."""
# A value may hold commas of its own, so only a comma before the next "key=" ends it.
BETWEEN_KEYS = re.compile(r", (?=[A-Za-z_][\w.]*=)")


def label(method: str) -> str:
    """A method as the paper calls it."""
    return METHODS.get(method, method)


def plain(text: str) -> str:
    """Text that is drawn as it stands: no formulas, nothing invisible, no novels."""
    shown = visible(text).replace("\n", " ")
    shown = shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
    return shown.replace("$", r"\$")


def setting_values(setting: str) -> dict[str, str]:
    """The grid point `a.b=1, c=two` as `{"a.b": "1", "c": "two"}`; empty for the study's own settings."""
    parts = BETWEEN_KEYS.split(setting) if setting else []
    return {key: value for key, _, value in (part.partition("=") for part in parts)}


def key_words(key: str) -> str:
    """A settings key by its last two words: `planner.linear.solver` is the linear solver."""
    return spaced(" ".join(key.split(".")[-2:]))


def setting_words(setting: str) -> str:
    """A grid point in words."""
    return ", ".join(f"{key_words(key)} = {spaced(value)}" for key, value in setting_values(setting).items())


def series_words(method: str, setting: str) -> str:
    """A method with its grid point."""
    return f"{label(method)}, {setting_words(setting)}" if setting else label(method)


def problem_words(problem: str) -> str:
    """A problem by its name, also where it was given as a file."""
    return spaced(PurePath(problem).stem if problem.endswith(".py") else problem)


def feedback_words(feedback: str) -> str:
    """`delayed 25` and the like as a phrase."""
    kind, _, delay = feedback.partition(" ")
    return f"feedback {delay} moves late" if kind == "delayed" and delay else f"{feedback} feedback"


def heading(problem: str, feedback: str) -> str:
    """What every title starts with."""
    return folded(plain(f"{problem_words(problem)}, {feedback_words(feedback)}"))


def folded(text: str, width: int = LINE) -> str:
    """Text over several lines where it is too long for one."""
    return "\n".join(textwrap.wrap(text, width)) or text


def counted(fewest: int, most: int, noun: str) -> str:
    """`25 seeds`, `1 seed`, or `23 to 25 seeds` where the series differ."""
    number = str(most) if fewest == most else f"{fewest} to {most}"
    return f"{number} {noun}{'' if most == 1 else 's'}"
