"""`tcbo whatif WHERE --set NAME=VALUE`: the same plan under another limit, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tcbo_pyomo.cli._options import Gap, ProblemOfSource, Source, TimeLimit, Trust, name_and_value, read_source
from tcbo_pyomo.cli._tables import new_table, print_table
from tcbo_pyomo.errors import BadInput

if TYPE_CHECKING:
    from tcbo_pyomo.explain.what_if import PlanOutcome

PANEL, POSITION = "Looking into a campaign", 31
LARGEST_SHARE = 3
"""How many first moves of a mixed plan are shown."""


def whatif(
    where: Source,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A limit, such as maximum_step.temperature=8K; repeatable."
        ),
    ] = None,
    problem: ProblemOfSource = None,
    gap: Gap = None,
    time_limit: TimeLimit = 60.0,
    trust: Trust = False,
) -> None:
    """Plan again under changed limits; the campaign does not change."""
    from tcbo_pyomo.explain.as_text import point_text
    from tcbo_pyomo.explain.limits_by_name import limit_names
    from tcbo_pyomo.explain.what_if import what_if
    from tcbo_pyomo.explain.what_if_text import what_if_text
    from tcbo_pyomo.foundation.wording import variance_text

    campaign = read_source(where, problem, trust)
    if not set_:
        names = ", ".join(limit_names(campaign.problem))
        raise BadInput(f"name a limit with --set NAME=VALUE; limits of '{campaign.problem.name}': {names}")
    limits = dict(name_and_value("--set", text, "maximum_step.temperature=8K or horizon=12") for text in set_)
    answer = what_if(campaign, limits, gap, time_limit)
    coordinates = campaign.problem.coordinates

    def cells(plan: PlanOutcome) -> list[str]:
        bound = "" if plan.lower_bound is None else variance_text(plan.lower_bound, answer.unit)
        firsts = [
            f"{share:.0%} ({point_text(point, coordinates)})" for share, point in plan.first_moves[:LARGEST_SHARE]
        ]
        return [variance_text(plan.utility_after, answer.unit), bound, "; ".join(firsts)]

    who = "the plan found" if answer.present.lower_bound is None else "the best policy"
    table = new_table("limits", f"variance that {who} leaves", "lower bound of any policy", f"next move of {who}")
    table.add_row(", ".join(f"{name} = {old}" for name, old, _ in answer.changes), *cells(answer.present))
    table.add_row(", ".join(f"{name} = {new}" for name, _, new in answer.changes), *cells(answer.changed))
    print_table(table)
    typer.echo(answer.about)
    typer.echo(what_if_text(answer))
    if answer.note:
        typer.echo(f"note: {answer.note}")
