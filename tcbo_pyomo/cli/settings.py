"""`tcbo settings`: all settings with their defaults."""

from __future__ import annotations

import typer

PANEL, POSITION = "Problems and simulations", 14


def settings() -> None:
    """Print all settings with their defaults, as a commented file to start from."""
    from tcbo_pyomo.foundation.settings_file import settings_template

    typer.echo(settings_template(), nl=False)
