"""Why this move: what a plan separates, what it expects to learn, how far it is from the best, and what limits cost.

Costs and prices are in the unit of the utility, a variance of the measured quantity. They are first-order: exact for the
tangent of the utility at the best plan known, and by convexity a move forced upon the plant costs at least
(lower bound + its cost) - utility of the plan.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

Point = dict[str, float]
"""A place as {coordinate: value} in engineering units."""


@dataclass(frozen=True)
class MoveOption:
    """A move from the present state.

    Attributes
    ----------
    action
        Its name.
    leads_to
        Where it may lead, the likeliest first.
    probability
        How likely the plan makes it.
    cost
        What it adds to the expected utility compared with the best move; None where the episode could not be completed.
    ahead
        Value of where it leads: what the rest of the episode is expected to change the utility by; None as for `cost`.
    status
        "planned", "unused" (allowed, not in the plan) or "forbidden".
    asked
        Whether it is the move that the campaign has asked for.
    """

    action: str
    leads_to: tuple[Point, ...]
    probability: float
    cost: float | None
    ahead: float | None
    status: str
    asked: bool = False


@dataclass(frozen=True)
class LimitPrice:
    """What a constraint of the plant costs.

    Attributes
    ----------
    name, limit
        The constraint, and what it allows, in words.
    slack
        How much of it the plan leaves unused, in its own unit; None where it is no number.
    shadow_price
        Change of the utility per unit more of the limit (budgets and rows of the user's own); None for other rules.
    worth
        Dropping the constraint altogether lowers the utility by at most about this; None where it was not computed.
    looser
        The next larger value of a rate limit that matters, in words, and by how much at most it lowers the utility.
    """

    name: str
    limit: str
    slack: float | None = None
    shadow_price: float | None = None
    worth: float | None = None
    looser: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Explanation:
    """Everything that is worth saying about the next move, as plain data.

    Attributes
    ----------
    problem, episode, step
        Which move is explained; step counts from 1.
    here
        Where the plant is.
    separates
        The candidates whose difference is least known; one where a single candidate is left.
    utility_now
        The variance of that difference now.
    utility_after
        The largest such variance after the plan of the settings.
    best_known, lower_bound
        The best plan found for this explanation, and what no plan can beat; None for a continuous plant.
    components
        How many visitations (or paths) the plan mixes.
    choice
        Which of the good first moves is made, in words; empty where the plan leaves no choice.
    moves
        Moves from here, the cheapest first.
    values
        Value of each state that the next move may reach: what the rest of the episode changes the utility by.
    limits
        What each constraint costs and leaves.
    """

    problem: str
    episode: int
    step: int
    here: Point
    separates: tuple[Point, ...]
    utility_now: float
    utility_after: float
    best_known: float | None
    lower_bound: float | None
    components: int
    choice: str = ""
    moves: tuple[MoveOption, ...] = ()
    values: tuple[tuple[Point, float], ...] = ()
    limits: tuple[LimitPrice, ...] = ()

    @property
    def gap(self) -> float | None:
        """(utility after the plan - lower bound) / utility after the plan."""
        if self.lower_bound is None:
            return None
        return max(0.0, self.utility_after - self.lower_bound) / self.utility_after if self.utility_after > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for files."""
        return {**asdict(self), "gap": self.gap}
