"""The pictures of the report, each as a `data:` address with a text for those who cannot see it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.campaign.simulation import CampaignResult, EpisodeSummary
from tcbo_pyomo.foundation.wording import counted, visible
from tcbo_pyomo.problem.in_words import place_text
from tcbo_pyomo.report.figures.canvas import axes_or_new, figure_of, saved
from tcbo_pyomo.report.timeline import Moment
from tcbo_pyomo.surrogate.goal import Goal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_MARKS = 60
LONGEST_LABEL = 90
LINE, BAND = "#1d5b8f", "#c9dcec"
# Labels are the user's: "$" must not start a formula. A fixed salt makes equal campaigns give equal pages.
STYLE: Any = {"text.parse_math": False, "svg.hashsalt": "tcbo", "font.size": 9.0, "font.family": "sans-serif"}


@dataclass(frozen=True)
class Picture:
    """An inline picture.

    Attributes
    ----------
    source
        `data:` address.
    alternative
        What it shows, in words.
    caption
        The line below it.
    wide
        Whether it has several panels and needs the whole width of the page.
    small
        Whether half of the width is enough.
    """

    source: str
    alternative: str
    caption: str
    wide: bool = False
    small: bool = False


def visited_picture(campaign: Campaign) -> Picture:
    """The paths of all episodes, without what only the model could say."""
    from tcbo_pyomo.report.figures.visited_places import visited_figure

    problem, history = campaign.problem, campaign.history
    paths = [history.path(episode) for episode in range(1, _episodes_begun(campaign) + 1)]
    source = _drawn(lambda: visited_figure(problem, paths), "png")
    text = f"Paths of {counted(len(paths), 'episode')}."
    return Picture(source, text, "Paths of the plant.", wide=len(problem.coordinates) > 2)


def path_picture(campaign: Campaign) -> Picture:
    """The paths of all episodes, with candidates and recommendation."""
    from tcbo_pyomo.report.figures.campaign_figure import campaign_figure

    result, problem = _as_result(campaign), campaign.problem
    states = problem.landscape().only_places
    over = "the states" if states else "the posterior mean"
    recommended = place_text(problem, campaign.recommendation)
    text = f"Paths of {counted(len(result.episodes), 'episode')} over {over}; the recommendation is at {recommended}."
    caption = f"Paths of the plant, and where the {problem.goal.noun(problem.output_unit)} may be."
    source = _drawn(lambda: campaign_figure(result), "png")
    return Picture(source, text, caption, wide=len(problem.coordinates) > 2)


def course_picture(campaign: Campaign) -> Picture:
    """Set-points and results over the moves."""
    from tcbo_pyomo.report.figures.course_figure import course_figure, results_over_moves

    results, doubted = results_over_moves(campaign)
    source = _drawn(lambda: course_figure(campaign), "svg")
    unlikely = f", {sum(doubted)} of them unlikely under the model" if any(doubted) else ""
    text = f"Set-points of {counted(campaign.history.moves_made, 'move')}, and {counted(len(results), 'result')}{unlikely}."
    caption = "Set-points and results, move by move; a dotted line is the start of another episode."
    return Picture(source, text, caption)


def surface_picture(campaign: Campaign) -> Picture:
    """The posterior mean over the states of a finite plant."""
    from tcbo_pyomo.report.figures.response_surface import response_surface

    dimension, output = len(campaign.problem.input_axes), campaign.problem.output
    slices = " Slices through the recommendation." if dimension > 2 else ""
    text = f"Posterior mean of {output} over the inputs, with all results and the recommendation.{slices}"
    caption = f"The response surface as the model has it now.{slices}"
    return Picture(_drawn(lambda: response_surface(campaign), "png"), text, caption, wide=dimension > 2)


def candidates_picture(moments: Sequence[Moment], best: str) -> Picture:
    """Candidates left after each result: states that may still be the best, which has a word of its own."""
    counts = [moment.candidates or 0 for moment in moments]
    text = f"Candidates left: {counts[0]} before the first result, {counts[-1]} after {moments[-1].told} results."
    return _steps(moments, counts, "candidates left", text, f"States that may still be the {best}.")


def belief_picture(moments: Sequence[Moment], output: str) -> Picture:
    """What was believed about the recommendation of each moment."""

    def draw(ax: Axes) -> None:
        told = [m.told for m in moments]
        low, high = ([m.mean + sign * 2.0 * m.deviation for m in moments] for sign in (-1, 1))
        ax.fill_between(told, low, high, color=BAND, linewidth=0)
        marker = "o" if len(moments) <= MOST_MARKS else None
        ax.plot(told, [m.mean for m in moments], color=LINE, marker=marker, markersize=2.5, linewidth=1.2)
        ax.set_ylabel(output)

    first, last = moments[0], moments[-1]
    text = (
        f"Predicted {output} at the recommendation: {first.mean:.4g} before the first result, {last.mean:.4g} with a "
        f"standard deviation of {last.deviation:.2g} after {last.told} results."
    )
    return _chart(draw, text, "Posterior mean at the recommendation, with two standard deviations.")


def regret_picture(moments: Sequence[Moment], goal: Goal, unit: str) -> Picture | None:
    """How much worse than the best the recommendation was; None where the truth is not known."""
    regret = [m.regret for m in moments if m.regret is not None]
    if len(regret) < len(moments):
        return None
    text = f"Regret of the recommendation: {regret[0]:.4g} before the first result, {regret[-1]:.4g} now."
    caption = f"{goal.regret_words(unit)}, which is known in a simulation."
    return _steps(moments, regret, "regret", text, caption)


def _steps(moments: Sequence[Moment], values: Sequence[float], title: str, alternative: str, caption: str) -> Picture:
    """A value that holds until the next result."""

    def draw(ax: Axes) -> None:
        ax.step([m.told for m in moments], values, where="post", color=LINE)
        ax.set_ylim(bottom=min(0.0, *values))
        ax.set_ylabel(title)

    return _chart(draw, alternative, caption)


def _chart(draw: Callable[[Axes], None], alternative: str, caption: str) -> Picture:
    from matplotlib.ticker import MaxNLocator

    def chart() -> Axes:
        ax = axes_or_new(None, (3.5, 2.3))
        draw(ax)
        ax.set_xlabel("results told")
        ax.set_xlim(left=0)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color="0.92", linewidth=0.8)
        ax.set_axisbelow(True)
        return ax

    return drawn_picture(chart, alternative, caption)


def drawn_picture(draw: Callable[[], Axes], alternative: str, caption: str) -> Picture:
    """A drawing of lines and marks as a picture."""
    return Picture(_drawn(draw, "svg"), alternative, caption, small=True)


def _drawn(draw: Callable[[], Axes], kind: str) -> str:
    """The `data:` address of a picture."""
    data = saved(lambda: _tamed(figure_of(draw())), STYLE, 170, [kind])[kind]
    mime = "svg+xml" if kind == "svg" else kind
    return f"data:image/{mime};base64,{base64.b64encode(data).decode('ascii')}"


def _tamed(figure: Figure) -> Figure:
    """Labels are the user's: no font has characters that cannot be seen, and no picture has room for a novel."""
    from matplotlib.text import Text

    for label in figure.findobj(Text):
        assert isinstance(label, Text)
        text = visible(label.get_text())
        label.set_text(text if len(text) <= LONGEST_LABEL else f"{text[:LONGEST_LABEL]}…")
    return figure


def _as_result(campaign: Campaign) -> CampaignResult:
    """The campaign as the figures of finished runs take it: one summary for each episode begun, all of the present."""
    problem, location = campaign.problem, campaign.recommendation
    begun = _episodes_begun(campaign)
    now = problem.describe(location), problem.regret(location), None, len(campaign.candidates)
    return CampaignResult(campaign, [EpisodeSummary(e, *now) for e in range(1, begun + 1)], [])


def _episodes_begun(campaign: Campaign) -> int:
    return max([1, *(move.episode for move in campaign.history.made)])
