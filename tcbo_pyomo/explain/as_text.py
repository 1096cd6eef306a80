"""An explanation as text, for terminals and logs."""

from __future__ import annotations

from collections.abc import Sequence

from tcbo_pyomo.explain.move_facts import Explanation, LimitPrice, MoveOption, Point
from tcbo_pyomo.foundation.coordinates import Coordinate

SHOWN = 12
"""Moves that are listed; a plant may have hundreds."""
OUTCOMES = 2
"""Places named for a move that chance decides."""
ROUNDING = 1e-9
"""Costs below this share of the utility are rounding."""


def explanation_text(explanation: Explanation, coordinates: Sequence[Coordinate]) -> str:
    """The explanation in sentences and small tables."""
    lines = [
        f"{explanation.problem}, episode {explanation.episode}, move {explanation.step}, "
        f"from {point_text(explanation.here, coordinates)}",
    ]
    if explanation.choice:
        lines.append(explanation.choice)
    lines += [_separates(explanation, coordinates), _learns(explanation)]
    if explanation.moves:
        lines += ["", "moves from here, what each costs beyond the best one, and what the rest then brings:"]
        cells = [_move_cells(option, coordinates, explanation.utility_now) for option in explanation.moves[:SHOWN]]
        lines += _columns(cells)
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


def places_text(places: Sequence[str]) -> str:
    """Where a move may lead, the likeliest places first."""
    further = f" or {len(places) - OUTCOMES} more" if len(places) > OUTCOMES else ""
    return " or ".join(places[:OUTCOMES]) + further


def status_text(option: MoveOption) -> str:
    """`planned 40%`, `unused` or `forbidden`."""
    return f"planned {option.probability:.0%}" if option.status == "planned" else option.status


def change_text(change: float | None, utility: float) -> str:
    """A change of the utility, small ones as 0; that of a move after which the episode cannot be completed in words."""
    if change is None:
        return "cannot be completed"
    return "0" if abs(change) <= ROUNDING * utility else f"{change:+.3g}"


def _move_cells(option: MoveOption, coordinates: Sequence[Coordinate], utility: float) -> list[str]:
    places = places_text([f"({point_text(point, coordinates)})" for point in option.leads_to])
    then = "" if option.ahead is None else f"then {change_text(option.ahead, utility)}"
    cost, asked = change_text(option.cost, utility), "asked for" if option.asked else ""
    return [option.action, f"to {places}", status_text(option), cost, then, asked]


def slack_text(limit: LimitPrice) -> str:
    """What the plan leaves of a limit; nothing where that is no number."""
    return "" if limit.slack is None else f"{max(limit.slack, 0.0):.4g}"


def price_text(limit: LimitPrice) -> str:
    """What a limit costs, in words; nothing where it was not computed."""
    if limit.shadow_price:
        return f"one unit more changes the utility by {limit.shadow_price:+.3g}"
    if limit.worth:
        steps = [f"{text}: at most {worth:.3g} less" for text, worth in limit.looser if worth]
        return "; ".join([*steps, f"without it at most {limit.worth:.3g} less"])
    return "" if limit.shadow_price is None and limit.worth is None else "costs nothing here"


def _limit_cells(limit: LimitPrice) -> list[str]:
    slack = slack_text(limit)
    return [limit.name, limit.limit, f"slack {slack}" if slack else "", price_text(limit)]


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    cells = (zip(row, widths, strict=True) for row in rows)
    return ["  " + "  ".join(cell.ljust(width) for cell, width in row).rstrip() for row in cells]
