"""An explanation as text, for terminals and logs; the report takes the same words."""

from __future__ import annotations

from collections.abc import Sequence

from tcbo_pyomo.explain.move_facts import Explanation, LimitPrice, Looser, MoveOption, Point
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.foundation.wording import squared_unit, variance_text, with_unit
from tcbo_pyomo.models.episode_path import TOLERANCE

OUTCOMES = 2
"""Places named for a move that chance decides."""
ROUNDING = 1e-9
"""Changes below this share of the variance now are rounding."""


def explanation_text(explanation: Explanation, coordinates: Sequence[Coordinate]) -> str:
    """The explanation in sentences and small tables."""
    lines = [
        f"{explanation.problem}, episode {explanation.episode}, move {explanation.step}, "
        f"from {point_text(explanation.here, coordinates)}",
        *filter(None, [explanation.about]),
    ]
    if explanation.choice:
        lines.append(explanation.choice)
    lines += [_separates(explanation, coordinates), "", f"{scale_text(explanation)}:"]
    lines += _columns([[what, variance_text(value, explanation.unit)] for what, value in stages(explanation)])
    lines += [*filter(None, [explanation.gap_missed]), explanation.advice]
    if explanation.moves:
        lines += ["", moves_heading(explanation)]
        lines += _columns([_move_cells(option, coordinates, explanation) for option in explanation.moves])
    if explanation.more_moves:
        lines.append(f"  and {explanation.more_moves} more moves, not analysed")
    if explanation.limits:
        lines += ["", limits_heading(explanation)]
        lines += _columns([_limit_cells(limit, explanation) for limit in explanation.limits])
    return "\n".join(lines)


def point_text(point: Point, coordinates: Sequence[Coordinate]) -> str:
    """`temperature = 80 K, ratio = 0.4`."""
    units = {c.name: c.unit for c in coordinates}
    return ", ".join(f"{name} = {value:g} {units[name]}".rstrip() for name, value in point.items())


def _separates(explanation: Explanation, coordinates: Sequence[Coordinate]) -> str:
    points = [f"({point_text(point, coordinates)})" for point in explanation.separates]
    if len(points) == 1:
        return f"confirms the only candidate left: {points[0]}"
    return aim_text(explanation, points)


def aim_text(explanation: Explanation, places: Sequence[str]) -> str:
    """The aim of a plan, with its two places in words."""
    if explanation.regret is None:
        return f"separates {places[0]} from {places[1]}, the two candidates with the most uncertain difference"
    now, after = (with_unit(value, explanation.unit) for value in explanation.regret)
    return (
        f"checks that nothing beats the recommendation {places[0]}; its strongest rival is {places[1]}; what each rival "
        f"is expected to beat it by adds up to {now} now, {after} after this path (the expected regret is not more than that)"
    )


def scale_text(explanation: Explanation) -> str:
    """What all numbers are variances of."""
    if explanation.scale != "pair":
        return "variance of the most uncertain difference between two candidates, at each stage"
    if len(explanation.separates) == 1:
        return "variance of the output at this candidate"
    if explanation.regret is not None:
        return "variance of the difference between these two (the plan weighs all rivals; bounds and prices are for this pair)"
    return "variance of the difference between these two"


def stages(explanation: Explanation) -> list[tuple[str, float]]:
    """(when, variance): now, after this plan, after the best path, after the best policy, and what nothing can beat."""
    found, many = explanation, explanation.components > 1
    this = f"after this plan, which mixes {found.components} plans" if many else "after this path"
    rows = [("now", found.utility_now), (this, found.utility_after)]
    if found.best_path is not None:
        rows.append(("after the best single path found", found.best_path))
    if found.best_known is not None and found.lower_bound is not None:
        rows.append(("after the best randomised policy, on average over many episodes", found.best_known))
        if found.drawn is not None and found.drawn > 1.01 * found.best_known:
            rows.append(("after one episode drawn from that policy, on average", found.drawn))
        rows.append(("lower bound for every path and policy", found.lower_bound))
    if found.scale == "pair" and found.all_pairs_after > found.utility_after * (1.0 + ROUNDING):
        rows.append(("for comparison: the most uncertain difference after this path", found.all_pairs_after))
    return rows


def moves_heading(explanation: Explanation) -> str:
    """What the table of moves shows."""
    if any(option.at_least for option in explanation.moves):
        return "allowed moves now, each with a lower bound for every policy that begins with it:"
    return "allowed moves now, each with the rest of the episode as it would be planned (now - this move - rest = leaves):"


def limits_heading(explanation: Explanation) -> str:
    """What the table of limits shows."""
    if explanation.best_known is None:
        return "limits, and their slack in the plan:"
    leaves = variance_text(explanation.best_known, explanation.unit)
    return f"limits, and what the best policy (now {leaves}) would leave if they were looser:"


def places_text(places: Sequence[str]) -> str:
    """Where a move may lead, the likeliest places first."""
    further = f" or {len(places) - OUTCOMES} more" if len(places) > OUTCOMES else ""
    return " or ".join(places[:OUTCOMES]) + further


def status_text(option: MoveOption) -> str:
    """`planned`, `planned 40%` or `allowed`, and whether it is the move asked for."""
    share = "" if option.probability > 1.0 - ROUNDING else f" {option.probability:.0%}"
    words = f"planned{share}" if option.status == "planned" else option.status
    return f"{words}, asked for" if option.asked else words


def amount_text(amount: float | None, explanation: Explanation) -> str:
    """An amount of variance, small ones as 0."""
    if amount is None:
        return ""
    return "0" if abs(amount) <= ROUNDING * explanation.utility_now else f"{amount:.4g}"


def leaves_text(option: MoveOption, explanation: Explanation) -> str:
    """What a move leaves."""
    text = variance_text(option.leaves, explanation.unit)
    return f"at least {text}" if option.at_least else text


def _move_cells(option: MoveOption, coordinates: Sequence[Coordinate], found: Explanation) -> list[str]:
    places = places_text([f"({point_text(point, coordinates)})" for point in option.leads_to])
    parts = (
        ""
        if option.at_once is None
        else (f"this move {amount_text(option.at_once, found)}, rest {amount_text(option.rest, found)},")
    )
    return [option.action, f"to {places}", status_text(option), parts, f"leaves {leaves_text(option, found)}"]


def slack_text(limit: LimitPrice) -> str:
    """The slack of a limit in the plan; nothing where that is no number."""
    if limit.slack is None:
        return ""
    return "0" if limit.slack <= TOLERANCE else f"{limit.slack:.4g}"


def price_text(limit: LimitPrice, explanation: Explanation) -> str:
    """What a limit costs, in words; nothing where it was not computed."""
    return "; ".join([*(_looser_text(looser, explanation) for looser in limit.looser), *filter(None, [limit.note])])


def _looser_text(looser: Looser, found: Explanation) -> str:
    if looser.unsolved:
        return f"{looser.text}: unknown; the time limit was reached"
    uncertain = max(0.0, (found.best_known or 0.0) - (found.lower_bound or 0.0))
    if looser.by_bound or -looser.change <= uncertain:
        return f"{looser.text}: no gain beyond the optimality gap"
    fewer = with_unit(-looser.change, squared_unit(found.unit))
    price = "" if looser.price is None or looser.amount == 1.0 else f", {-looser.price:.3g} per unit in this range"
    return f"{looser.text}: leaves {variance_text(looser.leaves, found.unit)}, {fewer} less{price}"


def _limit_cells(limit: LimitPrice, explanation: Explanation) -> list[str]:
    slack = slack_text(limit)
    return [limit.name, limit.limit, f"slack {slack}" if slack else "", price_text(limit, explanation)]


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    cells = (zip(row, widths, strict=True) for row in rows)
    return ["  " + "  ".join(cell.ljust(width) for cell, width in row).rstrip() for row in cells]
