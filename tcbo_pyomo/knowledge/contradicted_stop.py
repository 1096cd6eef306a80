"""What speaks against "enough is known": the probability is as good as the model, and the results may contradict it.

With A = K + diag(sigma^2) the sum of squares S = (y - m)' A^-1 (y - m) of n results is that of their standardised residuals,
each predicted from those before it. If the declared model is right, S is chi-squared with n degrees of freedom, however the
places were chosen: what is measured next depends on earlier results only. Too long a lengthscale or too small a variance makes
S too large long before single results look odd. The statement is doubted where S is so large in less than 1 of 100 campaigns.

A learned model fits its own results, so S says little about it. It is held against them by `criticism.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaincc

from tcbo_pyomo.knowledge.criticism import criticise
from tcbo_pyomo.knowledge.knowledge import Knowledge
from tcbo_pyomo.surrogate.residuals import squared_residuals

RARE = 0.01
"""How often the results of a right model are called a contradiction."""
ADVICE = "let the model learn (surrogate.fit: learn)"


def doubt_about(knowledge: Knowledge[Any]) -> str:
    """Why a probability may be too high, in words; empty where nothing speaks against it."""
    if knowledge.learner is not None or knowledge.settings.surrogate.fit == "each_episode":
        warnings = criticise(knowledge).warnings
        return f"but the results contradict the model: {warnings[0]}" if warnings else ""
    points, values, noise = knowledge.believed_results()
    total = squared_residuals(knowledge.kernel, points, values, noise)
    if gammaincc(0.5 * len(values), 0.5 * total) < RARE:
        times = np.sqrt(total / len(values))
        return (
            f"but the results contradict the declared model, so do not rely on this: they lie {times:.1f} times as far from "
            f"its predictions as it expects; {ADVICE}"
        )
    return f"this holds if the declared kernel is right, which is not learned from the results; to be safe, {ADVICE}"
