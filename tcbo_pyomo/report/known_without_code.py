"""What a page shows of a received file whose kernel or candidate rule is code that must not run here: what the file says."""

from __future__ import annotations

from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import TcboError
from tcbo_pyomo.foundation.wording import counted
from tcbo_pyomo.records.recorded_campaign import RecordedCampaign
from tcbo_pyomo.report.timeline import Moment, timeline

CONTINUOUS = (
    "The search space is continuous: candidates are drawn again before every plan, so no single result removes one."
)


def known_moments(campaign: Campaign) -> tuple[list[Moment], str]:
    """The campaign result by result; where its model must not be computed, nothing, and why, with how to trust it."""
    try:
        return timeline(campaign), ""
    except TcboError as error:
        if not campaign.refusal:
            raise
        why = str(error)
        return [], why if campaign.refusal in why else f"{why}; {campaign.refusal}"


def no_candidates(campaign: Campaign, moments: list[Moment]) -> str:
    """Why no candidates can be listed; empty where they can."""
    if moments and moments[-1].candidates is not None:
        return ""
    if not campaign.problem.keeps_candidates:
        return CONTINUOUS
    return f"The list of candidates needs code that must not run here: {campaign.refusal}."


def recorded_criticism(campaign: Campaign) -> dict[str, Any]:
    """What the model said when the last result was told or the last move asked for, as the file has it."""
    found = campaign.model if isinstance(campaign, RecordedCampaign) else None
    results = counted(len(campaign.history.told), "result")
    known = (
        "This is what it said after the last result"
        if found is not None
        else "The file does not have its predictions"
    )
    return {
        "belief": () if found is None else found.belief_lines,
        "coverage": f"The model has {results}, but it is code that must not run here. {known}.",
        "warnings": () if found is None else found.warnings,
        "mechanism": None,
        "rows": [],
        "picture": None,
    }


def recorded_kernel(campaign: Campaign) -> dict[str, Any]:
    """The kernel as the file has it, after the last ask."""
    return dict(campaign.kernel_data) if isinstance(campaign, RecordedCampaign) else {}
