"""Tables on standard output, the same for every command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def new_table(*left: str, right: tuple[str, ...] = ()) -> Table:
    """An empty table with columns aligned to the left, then to the right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for title in left:
        table.add_column(title)
    for title in right:
        table.add_column(title, justify="right")
    return table


def print_table(table: Table) -> None:
    """A table on standard output, never folded to a screen that is not there."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else 200
    Console(width=width, markup=False, highlight=False).print(table)
