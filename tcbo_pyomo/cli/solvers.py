"""`tcbo solvers`: which solvers work here."""

from __future__ import annotations

from tcbo_pyomo.cli._tables import new_table, print_table

PANEL, POSITION = "Problems and simulations", 15


def solvers() -> None:
    """Try every solver on a small model; say how to install what is missing."""
    from tcbo_pyomo.solvers.probes import probe_solvers

    table = new_table("solver", "role", "works", "what was found", "how to get it")
    for found in probe_solvers():
        works = "yes" if found.works else "no"
        table.add_row(found.name, found.role, works, found.detail, "" if found.works else found.how_to_get)
    print_table(table)
