"""Does the model fit? What it believes now, each result against its prediction from all others, and warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.foundation.wording import counted, uncertain, with_unit
from tcbo_pyomo.knowledge.belief_in_words import BeliefNow, belief_now, hyperparameter_lines
from tcbo_pyomo.knowledge.criticism import Criticism, criticise
from tcbo_pyomo.knowledge.mechanism_in_words import explained_at
from tcbo_pyomo.problem.in_words import output_title
from tcbo_pyomo.report.figures.canvas import axes_or_new
from tcbo_pyomo.report.page_figures import LINE, Picture, drawn_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEWEST = 3
"""Results from which on a picture of them says something."""


def page_criticism(campaign: Campaign) -> dict[str, Any]:
    """The section of the page."""
    found, unit = criticise(campaign.knowledge), campaign.problem.output_unit
    now = belief_now(campaign.knowledge)
    inside = f"{found.left_out.coverage(2.0):.0%} of {counted(len(found.values), 'result')} lie"
    rows = [
        [str(s.move), with_unit(s.value, unit), f"{s.expected:.4g} ± {s.deviation:.2g}", f"{s.residual:+.1f}"]
        for s in found.surprising
    ]
    return {
        "belief": hyperparameter_lines(now, campaign.knowledge),
        "mechanism": _mechanism(campaign, now),
        "coverage": f"{inside} within two standard deviations of the prediction of the others (95 % expected)."
        if len(found.values)
        else "There are no results yet.",
        "warnings": found.warnings,
        "rows": rows,
        "picture": fit_picture(found, output_title(campaign.problem)) if len(found.values) >= FEWEST else None,
    }


def _mechanism(campaign: Campaign, now: BeliefNow) -> dict[str, Any] | None:
    """How much of the answer is mechanism, and its parameters; None where the model has none or no result was told."""
    split = explained_at(campaign.knowledge, campaign.recommendation)
    if split is None:
        return None
    rows = [
        [p.mechanism, p.name, uncertain(p.estimate, p.sd, ""), uncertain(p.prior, p.prior_sd, "")] for p in now.parameters
    ]
    return {"split": f"The output at the recommendation: {split.in_words(campaign.problem.output_unit)}.", "rows": rows}


def fit_picture(found: Criticism, output: str) -> Picture:
    """Predicted against measured, every result left out of its own prediction."""

    def draw() -> Axes:
        ax = axes_or_new(None, (3.8, 3.4))
        ends = [min(found.values.min(), found.expected.min()), max(found.values.max(), found.expected.max())]
        ax.plot(ends, ends, color="0.6", linewidth=1.0)
        ax.scatter(found.values, found.expected, s=12, color=LINE, linewidths=0)
        far = {surprise.move: surprise for surprise in found.surprising}
        for number, surprise in far.items():
            ax.annotate(str(number), (surprise.value, surprise.expected), fontsize=7, xytext=(3, 3), textcoords="offset points")
        ax.set(xlabel=f"measured {output}", ylabel="predicted from all others")
        ax.spines[["top", "right"]].set_visible(False)
        return ax

    beyond = len(found.surprising)
    text = f"Predicted against measured {output} of {counted(len(found.values), 'result')}; {beyond} far from the diagonal."
    caption = "Each result against its prediction from all others; on the line they agree. Numbers mark surprising moves."
    return drawn_picture(draw, text, caption)
