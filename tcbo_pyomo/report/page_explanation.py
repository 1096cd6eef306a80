"""Why the next move, for the report: what `tcbo explain` says, as texts and tables (section 4: the planning problem).

An explanation plans the move once more. Whatever goes wrong there, the rest of the report is worth having: then this part
of the page says why it has nothing to show.
"""

from __future__ import annotations

import logging
import math
from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import TcboError
from tcbo_pyomo.explain.as_text import (
    aim_text,
    amount_text,
    leaves_text,
    limits_heading,
    moves_heading,
    places_text,
    price_text,
    scale_text,
    slack_text,
    stages,
    status_text,
)
from tcbo_pyomo.explain.explanation import PLANNED_BY, explain
from tcbo_pyomo.explain.move_facts import Explanation, MoveOption
from tcbo_pyomo.explain.outstanding import as_planned
from tcbo_pyomo.foundation.wording import spaced, squared_unit, with_unit
from tcbo_pyomo.problem.in_words import described_values
from tcbo_pyomo.problem.protocol import ProblemProtocol

logger = logging.getLogger(__name__)

def page_explanation(campaign: Campaign) -> dict[str, Any]:
    """The section of the page; `missing` says why there is no explanation, and then there is nothing else."""
    missing = _why_not(as_planned(campaign))
    if missing is None:
        try:
            return {"missing": None, **_content(campaign.problem, explain(campaign))}
        except TcboError as error:
            missing = f"There is no explanation, because the next move cannot be planned: {error}"
        except Exception as error:
            logger.exception("the next move could not be explained")
            missing = f"The next move could not be explained ({type(error).__name__}: {error})."
    return {"missing": missing}


def _why_not(campaign: Campaign) -> str | None:
    """Why there is no plan to explain."""
    if campaign.refusal:
        return f"The next move was not planned here: {campaign.refusal}."
    if campaign.finished:
        known = "" if campaign.all_moves_made else " Enough is known, and it has reached its stop."
        return f"The campaign is finished: there is no next move to explain.{known}"
    acting = campaign.method.acting(campaign.knowledge)
    method, why = (campaign.settings.method, "") if acting is None else (acting[0].method, f" ({acting[1]})")
    if method != PLANNED_BY:
        return f"The method {method}{why} chooses the moves; it does not minimise the utility explained here."
    start = campaign.history.open_move
    if start is not None and start.step == 0:
        return "The start is measured first; the first plan follows."
    return None


def _content(problem: ProblemProtocol, found: Explanation) -> dict[str, Any]:
    names = ", ".join(spaced(c.name) for c in problem.coordinates)
    here = described_values(problem, found.here)
    return {
        "which": f"Step {found.step} of episode {found.episode}, from {here}. {_sentence(found.about)}",
        "aim": _aim(problem, found),
        "places": f"Places are ({names}).",
        "scale": _sentence(scale_text(found)),
        "learns": _learns(problem, found),
        "advice": " ".join(filter(None, [_sentence(found.gap_missed) if found.gap_missed else "", found.advice])),
        "choice": _sentence(found.choice) if found.choice else "",
        "moves": [_move_row(problem, option, found) for option in found.moves],
        "moves_heading": _sentence(moves_heading(found).rstrip(":")),
        "moves_left_out": found.more_moves,
        "limits": [[spaced(x.name), spaced(x.limit), slack_text(x), price_text(x, found)] for x in found.limits],
        "limits_heading": _sentence(limits_heading(found).rstrip(":")),
    }


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _aim(problem: ProblemProtocol, found: Explanation) -> str:
    places = [described_values(problem, point) for point in found.separates]
    if len(places) == 1:
        return f"The plan confirms the only candidate left, {places[0]}."
    return f"The plan {aim_text(found, places)}."


def _learns(problem: ProblemProtocol, found: Explanation) -> list[tuple[str, str, str, float]]:
    """(when, variance, standard deviation, share of the variance now)."""
    unit, now = problem.output_unit, found.utility_now
    return [
        (
            when,
            with_unit(value, squared_unit(unit)),
            with_unit(math.sqrt(max(value, 0.0)), unit),
            value / now if now > 0.0 else 0.0,
        )
        for when, value in stages(found)
    ]


def _move_row(problem: ProblemProtocol, option: MoveOption, found: Explanation) -> list[str]:
    places = places_text([described_values(problem, point) for point in option.leads_to])
    parts = [amount_text(option.at_once, found), amount_text(option.rest, found)]
    return [places, status_text(option), *parts, leaves_text(option, found)]
