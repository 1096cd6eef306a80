"""Past experiments on the page: how many, which, and those that are unlikely."""

from __future__ import annotations

from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.foundation.wording import counted, spaced, with_unit
from tcbo_pyomo.problem.in_words import output_title

MOST_ROWS = 60
"""Rows of the table before it stops: the page is read by people."""


def page_past(campaign: Campaign) -> dict[str, Any]:
    """The section of the page."""
    problem, past = campaign.problem, campaign.history.past
    axes, unit, number = problem.input_axes, problem.output_unit, len(past)
    names = [axis.name for axis in axes]
    rows = []
    for batch, result in past.rows[:MOST_ROWS]:
        places = zip(batch.inputs(result, names), axes, strict=True)
        noise = "as declared" if result.sd is None else with_unit(result.sd, unit)
        measured = [with_unit(result.value, unit), noise]
        rows.append([batch.source, str(result.row), *(with_unit(value, axis.unit) for value, axis in places), *measured])
    return {
        "number": number,
        "also": f" and {counted(number, 'past experiment')}" if number else "",
        "beside": f"; {past.in_words()} beside them" if number else "",
        "titles": ["table", "row", *map(spaced, names), output_title(problem), "standard deviation"],
        "rows": rows,
        "left_out": max(0, number - MOST_ROWS),
        "surprises": [[text] for text in past.doubts(unit)],
    }
