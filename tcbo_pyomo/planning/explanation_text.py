"""An explanation as text, for terminals and logs."""

from __future__ import annotations

from collections.abc import Sequence

from tcbo_pyomo.coordinates import Coordinate
from tcbo_pyomo.planning.explained_move import Explanation, LimitPrice, MoveOption, Point

SHOWN = 12
"""Moves that are listed; a plant may have hundreds."""
ROUNDING = 1e-12
"""Costs below this share of the utility are rounding."""


def explanation_text(explanation: Explanation, coordinates: Sequence[Coordinate]) -> str:
    """The explanation in sentences and small tables."""
    lines = [
        f"{explanation.problem}, episode {explanation.episode}, move {explanation.step}, "
        f"from {point_text(explanation.here, coordinates)}",
        _separates(explanation, coordinates),
        _learns(explanation),
    ]
    if explanation.moves:
        lines += ["", "moves from here, and what each costs beyond the best one:"]
        rounding = ROUNDING * explanation.utility_now
        lines += _columns([_move_cells(option, coordinates, rounding) for option in explanation.moves[:SHOWN]])
    if len(explanation.moves) > SHOWN:
        lines.append(f"  and {len(explanation.moves) - SHOWN} more")
    if explanation.limits:
        lines += ["", "limits, and what they cost:"]
        lines += _columns([_limit_cells(limit) for limit in explanation.limits])
    return "\n".join(lines)


def point_text(point: Point, coordinates: Sequence[Coordinate]) -> str:
    """`temperature = 80 K, ratio = 0.4`."""
    units = {c.name: c.unit for c in coordinates}
    return ", ".join(f"{name} = {value:g} {units[name]}".rstrip() for name, value in point.items())


def _separates(explanation: Explanation, coordinates: Sequence[Coordinate]) -> str:
    points = [f"({point_text(point, coordinates)})" for point in explanation.separates]
    if len(points) == 1:
        return f"confirms the one candidate left: {points[0]}"
    return f"separates {points[0]} from {points[1]}, the two candidates that can be told apart least"


def _learns(explanation: Explanation) -> str:
    mixed = f"{explanation.components} component{'s' if explanation.components > 1 else ''}"
    text = f"utility (a variance): {explanation.utility_now:.4g} now, {explanation.utility_after:.4g} after the plan ({mixed})"
    if explanation.lower_bound is None or explanation.gap is None or explanation.best_known is None:
        return f"{text}; a continuous plant has no certified bound"
    return (
        f"{text}; no plan can reach less than {explanation.lower_bound:.4g}, the best known reaches "
        f"{explanation.best_known:.4g}; the gap of the plan is {explanation.gap:.2%}"
    )


def _move_cells(option: MoveOption, coordinates: Sequence[Coordinate], rounding: float) -> list[str]:
    places = " or ".join(f"({point_text(point, coordinates)})" for point in option.leads_to[:2])
    further = f" or {len(option.leads_to) - 2} more" if len(option.leads_to) > 2 else ""
    status = f"planned {option.probability:.0%}" if option.status == "planned" else option.status
    cost = "cannot be completed"
    if option.cost is not None:
        cost = "0" if abs(option.cost) <= rounding else f"{option.cost:+.3g}"
    return [option.action, f"to {places}{further}", status, cost, "asked for" if option.asked else ""]


def _limit_cells(limit: LimitPrice) -> list[str]:
    slack = "" if limit.slack is None else f"slack {max(limit.slack, 0.0):.4g}"
    if limit.shadow_price is not None:
        price = f"one unit more changes the utility by {limit.shadow_price:+.3g}"
    else:
        price = "" if limit.worth is None else f"without it at most {limit.worth:.3g} less"
    return [limit.name, limit.limit, slack, price]


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    cells = (zip(row, widths, strict=True) for row in rows)
    return ["  " + "  ".join(cell.ljust(width) for cell, width in row).rstrip() for row in cells]
