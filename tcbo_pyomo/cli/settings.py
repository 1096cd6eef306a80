"""`tcbo settings`: all settings with their defaults, or with the values of a preset."""

from __future__ import annotations

import typer

from tcbo_pyomo.cli._options import Preset

PANEL, POSITION = "Problems and simulations", 14


def settings(preset: Preset = None) -> None:
    """Print all settings with their defaults, as a commented settings file."""
    from tcbo_pyomo.foundation.settings_file import settings_template

    typer.echo(settings_template(preset), nl=False)
