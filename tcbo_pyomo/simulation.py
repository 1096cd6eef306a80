"""Simulated campaigns: a plant with a known truth, and the short loop that asks, moves, measures and tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tcbo_pyomo.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.feedback import released
from tcbo_pyomo.history import Move
from tcbo_pyomo.planning.policy import draw_successor
from tcbo_pyomo.planning.situation import Location
from tcbo_pyomo.settings import Settings


@dataclass(frozen=True)
class EpisodeSummary:
    """Where the campaign stands after an episode; regret and identified are None where the truth is unknown."""

    episode: int
    recommendation: dict[str, float]
    regret: float | None
    identified: bool | None
    candidates: int


@dataclass(frozen=True)
class StepSummary(EpisodeSummary):
    """Where the campaign stands after a move, and how that move was found."""

    step: int
    plan: dict[str, Any] | None


@dataclass(frozen=True)
class CampaignResult:
    """A finished campaign.

    Attributes
    ----------
    campaign
        The campaign itself, for what the tables do not show.
    experiments
        One row per measurement.
    episodes, steps
        Where the campaign stood after each episode and each move.
    """

    campaign: Campaign
    experiments: pd.DataFrame
    episodes: list[EpisodeSummary]
    steps: list[StepSummary]

    @property
    def problem(self) -> Any:
        """The problem, as the settings changed it."""
        return self.campaign.problem

    @property
    def settings(self) -> Settings:
        """The settings of the campaign."""
        return self.campaign.settings

    @property
    def seed(self) -> int:
        """The seed of the campaign."""
        return self.campaign.seed

    @property
    def paths(self) -> list[list[Location]]:
        """Where the plant was in each episode, the start first."""
        return [list(self.campaign.history.path(episode.episode)) for episode in self.episodes]

    @property
    def candidate_states(self) -> list[Location]:
        """Where the maximum may still be."""
        return self.campaign.candidates

    @property
    def method(self) -> str:
        """The method that chose the moves."""
        return self.settings.method


class SimulatedPlant:
    """Moves as the process says and measures the truth with noise.

    Chance depends on the seed and the number of the move only, so that every method meets the same noise, and a resumed
    campaign the same as an uninterrupted one.
    """

    def __init__(self, problem: Any, seed: int) -> None:
        if problem.truth is None:
            raise BadInput(f"problem '{problem.name}' has no known truth; it cannot be simulated, use ask and tell")
        self.problem, self.seed = problem, seed

    def make(self, move: Move) -> Location:
        """Where a move leads."""
        if move.expected is not None:
            return move.expected
        return draw_successor(self.problem.process, move.decision, self._chance(move, 1))

    def measure(self, move: Move) -> float:
        """The noisy result of a move that was made."""
        assert move.arrived is not None
        sd = self.problem.noise_variance(move.decision, move.arrived) ** 0.5
        return float(self.problem.true_value(move.arrived) + sd * self._chance(move, 2).standard_normal())

    def _chance(self, move: Move, stream: int) -> np.random.Generator:
        made = (move.episode - 1) * self.problem.horizon + move.step
        return np.random.default_rng(np.random.SeedSequence([self.seed, 1, stream, made]))


def run_campaign(
    problem: Any,
    settings: Settings | None = None,
    seed: int = 0,
    on_step: Callable[[int, int], None] | None = None,
    on_episode: Callable[[EpisodeSummary], None] | None = None,
) -> CampaignResult:
    """Simulate a whole campaign; the callbacks tell how far it is."""
    campaign = Campaign(problem, settings, seed)
    plant = SimulatedPlant(campaign.problem, seed)
    episodes: list[EpisodeSummary] = []
    steps: list[StepSummary] = []
    while not campaign.finished:
        move = campaign.ask()
        campaign.arrive(move.number, plant.make(move))
        due = campaign.history.pending if campaign.finished else released(campaign.history, campaign.settings.feedback)
        for late in due:
            campaign.tell(late.number, plant.measure(late))
        if move.step == 0:
            continue
        summary = summarise(campaign, move.episode)
        steps.append(StepSummary(*vars(summary).values(), step=move.step, plan=_plan_record(campaign)))
        if on_step is not None:
            on_step(move.episode, move.step)
        if move.step == campaign.problem.horizon:
            episodes.append(summary)
            if on_episode is not None:
                on_episode(summary)
    return CampaignResult(campaign, campaign.experiments(), episodes, steps)


def summarise(campaign: Campaign, episode: int) -> EpisodeSummary:
    """Recommendation, regret and candidates now."""
    location, problem = campaign.recommendation, campaign.problem
    regret = problem.regret(location)
    # Only a finite search space has a maximum that can be hit exactly.
    identified = None if regret is None or not problem.finite else regret == 0.0
    return EpisodeSummary(episode, problem.describe(location), regret, identified, len(campaign.candidates))


def _plan_record(campaign: Campaign) -> dict[str, Any] | None:
    record = getattr(campaign.method, "plan_record", None)
    return None if record is None else record()
