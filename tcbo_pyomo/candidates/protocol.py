"""What a candidate rule is: called with a belief, it lists where the maximum may still be (Z, section 3.1).

One file here, or a user's 'my_module:MyRule', is all that a new rule needs: it says for which plants it is, how it is made from
the settings, and is called once per plan.
"""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar, overload

import numpy as np

from tcbo_pyomo.candidates.search.projected_ascent import Allowed
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.arrays import Array, Integers, Mask
from tcbo_pyomo.foundation.registry import Registry
from tcbo_pyomo.settings import CandidateSettings
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.extremes import MAXIMISE
from tcbo_pyomo.surrogate.finite_belief import FiniteBelief
from tcbo_pyomo.surrogate.goal import Goal

Plant = Literal["finite", "continuous"]
AnyBelief = TypeVar("AnyBelief", contravariant=True)
Space = TypeVar("Space", contravariant=True)
Found = TypeVar("Found", covariant=True)


class CandidateRule(Protocol[AnyBelief, Space, Found]):
    """Lists candidates.

    Attributes
    ----------
    plant
        The kind of plant it is for.
    """

    plant: ClassVar[Plant]

    @classmethod
    def from_settings(cls, settings: CandidateSettings) -> Self:
        """The rule that the settings ask for; what they leave open is as the rule has it."""

    def __call__(
        self, belief: AnyBelief, space: Space, generator: np.random.Generator, share_spent: float, goal: Goal
    ) -> Found:
        """The candidates of one plan.

        Parameters
        ----------
        belief
            Given all measurements told.
        space
            Where the maximum is sought: a mask of the states, or a function that says which points are allowed (None: all).
        generator
            Source of every random choice.
        share_spent
            How much of the budget of moves has been used, from 0 to 1.
        goal
            Which values are better, as modelled. A rule without this argument is for campaigns that maximise.
        """


FiniteRule = CandidateRule[FiniteBelief, Mask, Integers]
"""Lists indices of states."""
ContinuousRule = CandidateRule[ContinuousBelief, Allowed | None, Array]
"""Lists scaled points, K x d."""

CANDIDATE_RULES: Registry[FiniteRule | ContinuousRule] = Registry(
    "tcbo_pyomo.candidates", "candidate rule", CandidateRule
)


@overload
def candidate_rule(
    name: str, plant: Literal["finite"], settings: CandidateSettings, goal: Goal = MAXIMISE
) -> FiniteRule: ...
@overload
def candidate_rule(
    name: str, plant: Literal["continuous"], settings: CandidateSettings, goal: Goal = MAXIMISE
) -> ContinuousRule: ...
def candidate_rule(
    name: str, plant: Plant, settings: CandidateSettings, goal: Goal = MAXIMISE
) -> FiniteRule | ContinuousRule:
    """The rule with a name for one kind of plant, made from the settings; refused where it is for another kind."""
    rules: Any = CANDIDATE_RULES
    rule_class = rules.load(name)
    if rule_class.plant != plant:
        known = [other for other in rules.names() if rules.load(other).plant == plant]
        raise BadInput(
            f"candidate rule '{name}' is for {rule_class.plant} plants, but this one is {plant}; use {' or '.join(known)}, "
            "or 'my_module:MyRule'"
        )
    try:
        rule: FiniteRule | ContinuousRule = rule_class.from_settings(settings)
        inspect.signature(rule).bind("belief", "space", "generator", "share_spent")
    except TypeError as error:
        raise BadInput(
            f"candidate rule '{name}' is not made by from_settings(settings), or not called with belief, space, generator "
            f"and share_spent ({error})"
        ) from None
    if not takes_goal(rule) and goal.name != MAXIMISE.name:
        raise BadInput(
            f"candidate rule '{name}' is for campaigns that maximise, and the goal is {goal.name}; let its call take `goal` as "
            "well, or use another rule"
        )
    return rule


def takes_goal(rule: FiniteRule | ContinuousRule) -> bool:
    """Whether a rule is called with the goal."""
    return "goal" in inspect.signature(rule).parameters


def listed(rule: Any, belief: Any, space: Any, generator: np.random.Generator, share_spent: float, goal: Goal) -> Any:
    """The candidates of one plan, by a rule that may know nothing of goals."""
    named = {"goal": goal} if takes_goal(rule) else {}
    return rule(belief, space, generator, share_spent, **named)
