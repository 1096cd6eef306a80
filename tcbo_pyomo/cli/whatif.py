"""`tcbo whatif WHERE --set NAME=VALUE`: the same plan under another limit, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tcbo_pyomo.cli._options import Gap, ProblemOfSource, Source, Trust, name_and_value, read_source
from tcbo_pyomo.cli._tables import new_table, print_table
from tcbo_pyomo.errors import BadInput

if TYPE_CHECKING:
    from tcbo_pyomo.explain.what_if import PlanOutcome

PANEL, POSITION = "Looking into a campaign", 31
LARGEST_SHARE = 3
"""First moves that are shown of a mixed plan."""


def whatif(
    where: Source,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A limit, such as maximum_step.temperature=8K; may be repeated."
        ),
    ] = None,
    problem: ProblemOfSource = None,
    gap: Gap = None,
    trust: Trust = False,
) -> None:
    """Solve the planning problem again under changed limits; the campaign itself is not changed."""
    from tcbo_pyomo.explain.as_text import point_text
    from tcbo_pyomo.explain.limits_by_name import limit_names
    from tcbo_pyomo.explain.what_if import what_if

    campaign = read_source(where, problem, trust)
    if not set_:
        names = ", ".join(limit_names(campaign.problem))
        raise BadInput(f"name a limit with --set NAME=VALUE; limits of '{campaign.problem.name}': {names}")
    limits = dict(name_and_value("--set", text, "maximum_step.temperature=8K or horizon=12") for text in set_)
    answer = what_if(campaign, limits, gap)
    coordinates = campaign.problem.coordinates

    def cells(plan: PlanOutcome) -> list[str]:
        bound = "" if plan.lower_bound is None else f"{plan.lower_bound:.4g}"
        firsts = [
            f"{share:.0%} ({point_text(point, coordinates)})" for share, point in plan.first_moves[:LARGEST_SHARE]
        ]
        return [f"{plan.utility_after:.4g}", bound, "; ".join(firsts)]

    table = new_table("limits", "utility after the plan", "no plan below", "next move")
    table.add_row(", ".join(f"{name} = {old}" for name, old, _ in answer.changes), *cells(answer.present))
    table.add_row(", ".join(f"{name} = {new}" for name, _, new in answer.changes), *cells(answer.changed))
    print_table(table)
    change = answer.changed.utility_after - answer.present.utility_after
    predicted = "" if answer.by_shadow_price is None else f"; shadow prices predict {answer.by_shadow_price:.4g}"
    typer.echo(f"utility now {answer.utility_now:.4g}; the change is worth {change:+.3g}{predicted}")
