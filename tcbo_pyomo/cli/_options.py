"""Arguments and options that several commands have: the problem, its settings, and a campaign that is only read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.limited_read import STANDARD_INPUT

if TYPE_CHECKING:
    from tcbo_pyomo.campaign.campaign import Campaign

ProblemName = Annotated[str, typer.Argument(help="A name from `tcbo problems`, or the path of a .py file.")]
SettingsFile = Annotated[Path | None, typer.Option(metavar="FILE.yaml", help="A settings file.")]
Assignments = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change any setting; repeatable.")
]
Preset = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="paper: the method of the paper. --settings and --set override it."),
]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]

Source = Annotated[Path, typer.Argument(help="CAMPAIGN.db, a saved campaign, or the folder of a run.")]
ProblemOfSource = Annotated[
    str | None, typer.Option(help="A name from `tcbo problems` or a .py file; needed for a saved campaign.")
]

Trust = Annotated[
    bool, typer.Option("--trust", help="Run the code that the file names, once, although you did not start the campaign here.")
]


def _checked_gap(gap: float | None) -> float | None:
    """A gap that can be reached."""
    if gap is not None and not 0.0 < gap < 1.0:
        raise BadInput(f"--gap {gap:g} must be between 0 and 1, such as 0.01 for 1 %")
    return gap


Gap = Annotated[
    float | None, typer.Option(help="Relative optimality gap. Default: 0.01.", callback=_checked_gap)
]


def _checked_seconds(seconds: float) -> float:
    """A time limit that ends."""
    if not 0.0 < seconds <= 1e6:
        raise BadInput(f"--time-limit {seconds:g} must be more than 0 and at most 1,000,000 seconds")
    return seconds


TimeLimit = Annotated[
    float,
    typer.Option(
        metavar="SECONDS", help="Time limit; the output says what it cut short.", callback=_checked_seconds
    ),
]


def refuse_dash(place: Path | None) -> Path | None:
    """Refuse "-" for what cannot be a stream: a campaign file, or a folder of files."""
    if place is not None and str(place) == STANDARD_INPUT:
        raise BadInput("'-' means standard input or output, which cannot be used here; give a name")
    return place


def layers_of(
    settings: Path | None, assignments: list[str] | None = None, preset: str | None = None
) -> list[dict[str, Any]]:
    """The settings of a preset, a file and --set, the strongest last."""
    from tcbo_pyomo.foundation.settings_file import parse_assignment, read_settings

    named = [{"preset": preset}] if preset is not None else []
    file = [read_settings(settings)] if settings else []
    return named + file + [parse_assignment(text) for text in assignments or []]


def feedback_kind(layers: list[dict[str, Any]]) -> str | None:
    """The kind of feedback that the strongest layer names."""
    for layer in reversed(layers):
        feedback = layer.get("feedback")
        kind = feedback.get("kind") if isinstance(feedback, dict) else None
        if isinstance(kind, str):
            return kind
    return None


def read_source(where: Path, problem: str | None, trust: bool = False) -> Campaign:
    """The campaign of a file or folder, to think ahead: with the code of its problem."""
    from tcbo_pyomo.records import in_memory, open_campaign

    return in_memory(open_campaign(where, problem, trust=trust))


def look_at(where: Path, problem: str | None) -> Campaign:
    """The campaign of a file or folder, only to be looked at: of a campaign file the data, without any code."""
    from tcbo_pyomo.records import DurableCampaign, open_campaign

    opened = open_campaign(where, problem)
    return opened.campaign if isinstance(opened, DurableCampaign) else opened


def name_and_value(option: str, text: str, example: str) -> tuple[str, str]:
    """The two sides of the name=value that was typed after an option."""
    name, _, value = (part.strip() for part in text.partition("="))
    if not (name and value):
        raise BadInput(f"{option} {text!r}: write NAME=VALUE, such as {example}")
    return name, value
