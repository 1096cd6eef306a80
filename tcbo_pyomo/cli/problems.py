"""`tcbo problems`: what comes with the package."""

from __future__ import annotations

from tcbo_pyomo.cli._tables import new_table, print_table

PANEL, POSITION = "Problems and simulations", 10


def problems() -> None:
    """List the problems that come with the package."""
    from tcbo_pyomo.library import load_problem, problem_names

    table = new_table("problem", "description", right=("space", "moves per episode", "episodes"))
    for name in problem_names():
        built = load_problem(name)
        table.add_row(name, built.description, built.size, str(built.horizon), str(built.episodes))
    print_table(table)
