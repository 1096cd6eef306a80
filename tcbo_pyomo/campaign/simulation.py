"""Simulated campaigns: a plant with a known truth, and the short loop that asks, moves, measures and tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tcbo_pyomo.campaign.assembly import judged_problem
from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.campaign.campaign_holder import CampaignHolder
from tcbo_pyomo.campaign.simulated_plant import SimulatedPlant
from tcbo_pyomo.foundation.profiling import STEP, section, timed
from tcbo_pyomo.knowledge.feedback import released
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

    from tcbo_pyomo.knowledge.past_table import PastData


@dataclass(frozen=True)
class EpisodeSummary:
    """The state of the campaign after an episode; regret and identified are None if the truth is unknown."""

    episode: int
    recommendation: dict[str, float]
    regret: float | None
    identified: bool | None
    candidates: int


@dataclass(frozen=True)
class StepSummary(EpisodeSummary):
    """The state of the campaign after a move, and how that move was found."""

    step: int
    plan: dict[str, Any] | None


@dataclass(frozen=True)
class CampaignResult(CampaignHolder):
    """A finished campaign.

    Attributes
    ----------
    campaign
        The campaign itself, for what the tables do not show.
    episodes, steps
        The state of the campaign after each episode and each move.
    """

    campaign: Campaign
    episodes: list[EpisodeSummary]
    steps: list[StepSummary]

    @cached_property
    def experiments(self) -> pd.DataFrame:
        """One row per measurement; made when it is first looked at: the runs of a study need no pandas."""
        return self.campaign.experiments()

    @property
    def paths(self) -> list[list[Location]]:
        """Where the plant was in each episode, the start first."""
        return [list(self.campaign.history.path(episode.episode)) for episode in self.episodes]

    @property
    def candidate_states(self) -> list[Location]:
        """Where the best may still be."""
        return self.campaign.candidates

    @property
    def method(self) -> str:
        """The method that chose the moves."""
        return self.settings.method


class Simulation:
    """A campaign on a simulated plant, which can be interrupted at any time and resumed.

    Attributes
    ----------
    campaign
        The campaign.
    steps
        Where it stood after each move.
    """

    def __init__(self, campaign: Campaign, steps: list[StepSummary] | None = None) -> None:
        self.campaign, self.steps = campaign, list(steps or [])
        campaign.problem = judged_problem(campaign.problem, campaign._given)
        self.plant = SimulatedPlant(campaign.problem, campaign.seed)
        self._mark = self._position()

    def run(
        self,
        on_step: Callable[[int, int], None] | None = None,
        on_episode: Callable[[EpisodeSummary], None] | None = None,
    ) -> CampaignResult:
        """Make all moves that are left; the callbacks tell how far it is."""
        campaign = self.campaign
        while not campaign.finished:
            with section(STEP):
                move = self._make_move()
            if move.step > 0 and on_step is not None:
                on_step(move.episode, move.step)
            if (move.step == campaign.problem.horizon or campaign.finished) and on_episode is not None:
                on_episode(self.episodes[-1])
        return CampaignResult(campaign, self.episodes, self.steps)

    def _make_move(self) -> Move:
        """Ask, move, measure what is due, tell, and record the state of the campaign."""
        campaign = self.campaign
        move = campaign.ask()
        campaign.arrive(move.number, self.plant.make(move))
        feedback = campaign.settings.feedback
        due = campaign.history.pending if campaign.all_moves_made else released(campaign.history, feedback)
        self._tell(due)
        if campaign.stopped:
            # What was made is still measured, and may show that it was too early.
            self._tell(campaign.history.pending)
        if move.step > 0:
            summary = summarise(campaign, move.episode)
            self.steps.append(StepSummary(**vars(summary), step=move.step, plan=campaign.plans.get(move.number)))
        self._mark = self._position()
        return move

    def _tell(self, moves: list[Move]) -> None:
        for move in moves:
            self.campaign.tell(move.number, self.plant.measure(move))

    @property
    def episodes(self) -> list[EpisodeSummary]:
        """Where the campaign stood after each episode; the last one may have ended early, where enough was known."""
        horizon = self.campaign.problem.horizon
        names = [field.name for field in fields(EpisodeSummary)]
        ends = [step for step in self.steps if step.step == horizon]
        if self.steps and self.steps[-1].step < horizon and self.campaign.stopped:
            ends.append(self.steps[-1])
        return [EpisodeSummary(*(getattr(step, name) for name in names)) for step in ends]

    def checkpoint(self) -> dict[str, Any]:
        """The run after its last complete move, as plain data; whatever was going on when it was stopped is left out."""
        moves, told, generator, method = self._mark
        state = self.campaign.state()
        known = state["told"][:told]
        kept = [
            {**move, "value": move["value"] if move["number"] in known else None} for move in state["moves"][:moves]
        ]
        campaign = {**state, "moves": kept, "told": known, "generator": generator, "method": method}
        last = (kept[-1]["episode"], kept[-1]["step"]) if kept else (0, 0)
        complete = [asdict(step) for step in self.steps if (step.episode, step.step) <= last]
        return {"campaign": campaign, "steps": complete}

    @classmethod
    def from_checkpoint(cls, problem: ProblemProtocol, data: dict[str, Any]) -> Simulation:
        """Go on from what `checkpoint` returned; the moves are those of an uninterrupted run, bit for bit."""
        simulation = cls(
            Campaign.from_state(problem, data["campaign"]), [StepSummary(**step) for step in data["steps"]]
        )
        made = (move.number for move in simulation.campaign.history.moves if move.step > 0)
        plans = zip(made, (step.plan for step in simulation.steps), strict=False)
        simulation.campaign.plans.update({number: plan for number, plan in plans if plan is not None})
        return simulation

    def _position(self) -> tuple[int, int, Any, Any]:
        campaign = self.campaign
        history = campaign.history
        return len(history.moves), len(history.told), campaign.generator.bit_generator.state, campaign.method.state()


def run_campaign(
    problem: ProblemProtocol,
    settings: Settings | None = None,
    seed: int = 0,
    on_step: Callable[[int, int], None] | None = None,
    on_episode: Callable[[EpisodeSummary], None] | None = None,
    data: PastData | None = None,
) -> CampaignResult:
    """Simulate a campaign: ask, move, measure, tell, until the budget is used up or enough is known.

    `data` are past experiments that it starts from.
    """
    return Simulation(Campaign(problem, settings, seed, data)).run(on_step, on_episode)


@timed("summary")
def summarise(campaign: Campaign, episode: int) -> EpisodeSummary:
    """Recommendation, regret and candidates now."""
    location, problem = campaign.recommendation, campaign.problem
    judged = problem.regret(location), problem.identified(location)
    return EpisodeSummary(episode, problem.describe(location), *judged, len(campaign.candidates))
