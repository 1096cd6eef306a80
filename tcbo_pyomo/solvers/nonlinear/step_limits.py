"""What a user's model limits inside one step, judged at numbers: its inequalities and the bounds of its variables.

A plan keeps them as constraints. Where the plant is only simulated, such as when it is asked what an episode can reach, a step
that breaks one of them is none that a plan could make.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Array, Mask

if TYPE_CHECKING:
    from tcbo_pyomo.solvers.nonlinear.programme import NonlinearProgramme

MEASURED = 1e-4
"""By how much an executed step may miss a limit: its actions are worked out from what was measured."""


class StepLimits:
    """The limits of one step.

    Parameters
    ----------
    model, programme
        The trajectory of one step with its limits switched off, and its programme.
    formulas
        The variables that are no columns, as the programme has them.
    rows
        The inequalities.
    known
        How many columns are the state and the actions, which have limits of their own.
    """

    def __init__(
        self, model: Any, programme: NonlinearProgramme, formulas: Sequence[Any], rows: Sequence[Any], known: int
    ) -> None:
        self._model, self._programme, self._formulas, self._rows, self._known = model, programme, formulas, rows, known

    @cached_property
    def _whole(self) -> tuple[NonlinearProgramme, Array, Array, Mask]:
        """The step with its inequalities, their bounds, and which rows they are."""
        from tcbo_pyomo.solvers.nonlinear.programme import compile_nonlinear_model

        for row in self._rows:
            row.activate()
        whole = compile_nonlinear_model(self._model, self._programme.columns, self._formulas)
        lower, upper = whole.row_bounds()
        for row in self._rows:
            row.deactivate()
        return whole, lower, upper, lower != upper

    def kept(self, values: Array) -> Mask:
        """Which of n steps keep all limits; `values` are those of the columns, m x n."""
        from tcbo_pyomo.solvers.nonlinear.programme import TOLERANCE

        return np.asarray((self._missed(values) <= TOLERANCE).all(axis=0))

    def broken(self, values: Array) -> str:
        """The name of the limit that a step (m) breaks most; empty where it breaks none by more than an executed move may."""
        missed = self._missed(values[:, None])[:, 0]
        if not missed.size or missed.max() <= MEASURED:
            return ""
        names = [*self._programme.column_names[self._known :]]
        if self._rows:
            whole, _, _, limits = self._whole
            names += [name for name, limit in zip(whole.row_names, limits, strict=True) if limit]
        return names[int(missed.argmax())].partition(".")[2]

    def _missed(self, values: Array) -> Array:
        """By how much n steps miss each bound and each inequality, in parts of their size; at most 0 where they keep it."""
        low, high = (bound[self._known :, None] for bound in self._programme.column_bounds())
        unknown = values[self._known :]
        missed = np.maximum(low - unknown, unknown - high) / np.maximum(1.0, np.abs(unknown))
        if not self._rows:
            return missed
        whole, lower, upper, limits = self._whole
        parameters = np.tile(whole.parameter_values()[:, None], (1, values.shape[1]))
        rows = np.array(whole.g(values, parameters), dtype=float)[limits]
        return np.vstack([missed, np.maximum(lower[limits, None] - rows, rows - upper[limits, None])])
