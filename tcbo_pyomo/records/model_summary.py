"""What `status` says about the model, kept in the row of the result that it follows from: to show it costs nothing then.

Computing it takes the kernel, and where the model learns also a search for its hyper-parameters. A file that was received shows
it without the kernel's code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import TcboError
from tcbo_pyomo.knowledge.certainty import Certainty
from tcbo_pyomo.records.file_format import plain


@dataclass(frozen=True)
class ModelSummary:
    """What the model believes and where the results contradict it; all empty where nobody could ask the model.

    Attributes
    ----------
    belief, belief_lines
        Lengthscales and measurement noise with their uncertainty, as data and in words.
    warnings
        Where the results contradict the model, and what to do.
    certainty
        How sure it is that enough is known; None where the campaign has no stop.
    """

    belief: dict[str, Any] | None = None
    belief_lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    certainty: Certainty | None = None

    def to_dict(self, before: ModelSummary | None) -> dict[str, Any] | None:
        """As a row holds it: what is another than before; None where there is nothing."""
        if self.belief is None:
            return None
        known = {"certainty": None} if before is None else vars(before)
        changed = {name: value for name, value in vars(self).items() if name not in known or value != known[name]}
        return {name: _data(value) for name, value in changed.items()}

    @classmethod
    def from_dict(cls, data: Any, before: ModelSummary | None) -> ModelSummary:
        """From a row, which another program may have written: anything but words and numbers is refused."""
        known = {} if before is None else {name: _data(value) for name, value in vars(before).items()}
        data = {"certainty": None, **known, **data}
        belief, *texts = data["belief"], data["belief_lines"], data["warnings"]
        lines, warnings = (tuple(text) for text in texts if isinstance(text, list))  # Two, or a ValueError.
        if not isinstance(belief, dict) or not all(isinstance(line, str) for line in (*lines, *warnings)):
            raise ValueError("what the row says about the model is not in words")
        certainty = None if data["certainty"] is None else Certainty.from_dict(data["certainty"])
        return cls(belief, lines, warnings, certainty)


def model_summary(campaign: Campaign) -> ModelSummary:
    """What the model of a campaign says now; empty where it is a user's that must not run, or cannot be computed."""
    from tcbo_pyomo.knowledge.belief_in_words import belief_lines, belief_now  # Whoever reads it from a row needs none.
    from tcbo_pyomo.knowledge.criticism import criticise

    knowledge = campaign.knowledge
    try:
        belief, lines = belief_now(knowledge).to_dict(), tuple(belief_lines(knowledge))
        return ModelSummary(plain(belief), lines, criticise(knowledge).warnings, knowledge.certainty)
    except (TcboError, ArithmeticError, np.linalg.LinAlgError):
        return ModelSummary()


def _data(value: Any) -> Any:
    return plain(value.to_dict() if isinstance(value, Certainty) else value)
