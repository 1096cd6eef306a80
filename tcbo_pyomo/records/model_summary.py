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
    """

    belief: dict[str, Any] | None = None
    belief_lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_dict(self, before: ModelSummary | None) -> dict[str, Any] | None:
        """As a row holds it: what is another than before; None where there is nothing."""
        if self.belief is None:
            return None
        known = {} if before is None else vars(before)
        return {name: plain(value) for name, value in vars(self).items() if name not in known or value != known[name]}

    @classmethod
    def from_dict(cls, data: Any, before: ModelSummary | None) -> ModelSummary:
        """From a row, which another program may have written: anything but words and numbers is refused."""
        data = {**({} if before is None else plain(vars(before))), **data}
        belief, *texts = data["belief"], data["belief_lines"], data["warnings"]
        lines, warnings = (tuple(text) for text in texts if isinstance(text, list))  # Two, or a ValueError.
        if not isinstance(belief, dict) or not all(isinstance(line, str) for line in (*lines, *warnings)):
            raise ValueError("what the row says about the model is not in words")
        return cls(belief, lines, warnings)


def model_summary(campaign: Campaign) -> ModelSummary:
    """What the model of a campaign says now; empty where it is a user's that must not run, or cannot be computed."""
    from tcbo_pyomo.knowledge.belief_in_words import belief_lines, belief_now  # Whoever reads it from a row needs none.
    from tcbo_pyomo.knowledge.criticism import criticise

    knowledge = campaign.knowledge
    try:
        belief, lines = belief_now(knowledge).to_dict(), tuple(belief_lines(knowledge))
        return ModelSummary(plain(belief), lines, criticise(knowledge).warnings)
    except (TcboError, ArithmeticError, np.linalg.LinAlgError):
        return ModelSummary()
