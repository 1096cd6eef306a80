"""Why this move, as plain data: what a plan separates, what it teaches, what other paths would, and what limits cost.

Every number is the variance of one quantity (`scale`), in the squared unit of what is measured: the difference between the
two candidates that the plan compares. They can be compared and subtracted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

Point = dict[str, float]
"""A place as {coordinate: value} in engineering units."""


@dataclass(frozen=True)
class MoveOption:
    """A move that may be made now.

    Attributes
    ----------
    action
        Its name.
    leads_to
        Where it may lead, the likeliest first.
    probability
        How likely the plan makes it.
    leaves
        The variance after the best plan that begins with it, as the planner finds it; with `at_least` no policy that begins
        with it leaves less.
    at_once
        By how much its own measurement lowers the variance.
    rest
        By how much the rest of that plan lowers it further: now - at_once - rest = leaves.
    at_least
        Whether `leaves` is a bound (of mixed plans); then the two parts are not known.
    asked
        Whether it is the move that the campaign has asked for.
    """

    action: str
    leads_to: tuple[Point, ...]
    probability: float
    leaves: float
    at_once: float | None = None
    rest: float | None = None
    at_least: bool = False
    asked: bool = False

    @property
    def status(self) -> str:
        """`planned` or `allowed`."""
        return "planned" if self.probability > 0.0 else "allowed"


@dataclass(frozen=True)
class Looser:
    """The same planning problem with one limit changed, solved again.

    Attributes
    ----------
    text
        What is changed, `3 instead of 2`.
    amount
        By how much, in the unit of the limit; None where the limit is dropped.
    leaves
        What the best policy leaves then.
    change
        That against the best policy under the present limit: never above 0, and never more than there is to gain.
    by_bound
        Whether nothing was solved: the shadow price proves that the change is at most this, and it is negligible.
    unsolved
        Whether the time limit came before the answer: the numbers say nothing then.
    """

    text: str
    amount: float | None
    leaves: float
    change: float
    by_bound: bool = False
    unsolved: bool = False

    @property
    def price(self) -> float | None:
        """Change per unit of the limit, over the whole range from the present limit to the changed one."""
        return None if not self.amount else self.change / self.amount


@dataclass(frozen=True)
class LimitPrice:
    """What a constraint of the plant costs.

    Attributes
    ----------
    name, limit
        The constraint, and what it allows, in words.
    slack
        How much of it the best policy leaves unused, in its own unit; None where it is no number.
    shadow_price
        Change of the smallest variance per unit more of the limit, at the present limit; None for rules about single moves.
    looser
        The limit loosened by a natural unit (one more visit, the next larger step of the grid) or dropped, solved again.
    note
        What else there is to say, such as that the plant has no larger steps.
    """

    name: str
    limit: str
    slack: float | None = None
    shadow_price: float | None = None
    looser: tuple[Looser, ...] = ()
    note: str = ""


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
    scale
        "pair": all numbers are about these two; "all pairs": about the largest such variance of all candidates.
    utility_now
        The variance now.
    utility_after
        The variance after the plan of the settings.
    best_path
        The least that a single path leaves, of those found; None where chance moves the plant, or none was found.
    best_path_begins
        Where that path goes first.
    best_known, lower_bound
        What the best randomised policy leaves on average over many episodes, and what no path and no policy can beat; None
        for a continuous plant.
    drawn
        What one episode drawn from that policy is expected to leave; None where it does not mix paths.
    all_pairs_after
        The largest variance over all pairs of candidates after the plan.
    components
        How many visitations (or paths) the plan mixes.
    regret
        What each rival is expected to beat the recommendation by, added up, now and after this path: upper bounds of the
        expected regret; None for other objectives.
    choice
        Which of the good first moves is taken, in words; empty if the plan leaves no choice.
    advice
        What to do about it, in one sentence.
    unit
        Unit of what is measured.
    moves
        Moves that may be made now, the one that leaves least first.
    more_moves
        How many further moves there are that were not planned with.
    limits
        What each constraint costs and leaves.
    about
        Which move is explained, and what is outstanding, in words.
    gap_missed
        That the gap wanted was not reached, which one was, and why; empty where it was reached.
    """

    problem: str
    episode: int
    step: int
    here: Point
    separates: tuple[Point, ...]
    scale: str
    utility_now: float
    utility_after: float
    best_path: float | None
    best_path_begins: Point | None
    best_known: float | None
    lower_bound: float | None
    drawn: float | None
    all_pairs_after: float
    components: int
    regret: tuple[float, float] | None = None
    choice: str = ""
    advice: str = ""
    unit: str = ""
    moves: tuple[MoveOption, ...] = ()
    more_moves: int = 0
    limits: tuple[LimitPrice, ...] = ()
    about: str = ""
    gap_missed: str = ""

    @property
    def gap(self) -> float | None:
        """Optimality gap of the best policy: (best_known - lower_bound) / best_known."""
        if self.lower_bound is None or self.best_known is None:
            return None
        return max(0.0, self.best_known - self.lower_bound) / self.best_known if self.best_known > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for files."""
        return {**asdict(self), "gap": self.gap}
