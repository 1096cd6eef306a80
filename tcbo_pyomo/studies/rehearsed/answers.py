"""What a rehearsal says: expected regret, how many experiments are needed, and whether planning pays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcbo_pyomo.foundation.arrays import Mask
from tcbo_pyomo.foundation.wording import counted, with_unit
from tcbo_pyomo.studies.rehearsed.engines import Outcome
from tcbo_pyomo.studies.rehearsed.scenarios import Scenario

SURE = 0.9
"""Share of the draws in which something has to hold."""


@dataclass(frozen=True)
class Rehearsed:
    """A scenario with the outcomes of its methods, that of the campaign first; all have the same draws."""

    scenario: Scenario
    outcomes: dict[str, Outcome]

    @property
    def own(self) -> str:
        """The method of the campaign."""
        return next(iter(self.outcomes))

    @property
    def draws(self) -> int:
        """Functions drawn so far."""
        return int(self.outcomes[self.own].regret.shape[1])

    def mean(self, method: str) -> list[float]:
        """Expected regret after each episode."""
        return np.asarray(self.outcomes[method].regret.mean(axis=1)).tolist()

    def standard_error(self, method: str) -> list[float]:
        """Of that mean; 0 for one draw."""
        if self.draws < 2:
            return [0.0] * len(self.outcomes[method].regret)
        return np.asarray(self.outcomes[method].regret.std(axis=1, ddof=1) / math.sqrt(self.draws)).tolist()

    def within(self, method: str, tolerance: float) -> list[float]:
        """Share of draws with a regret within the tolerance, after each episode."""
        return np.asarray((self.outcomes[method].regret <= tolerance).mean(axis=1)).tolist()

    def needed(self, method: str, tolerance: float) -> int | None:
        """Episodes until the regret is, and stays, within the tolerance in 90 % of the draws; None for more than rehearsed."""
        return _lasting(np.array(self.within(method, tolerance)) >= SURE)

    def stops(self, method: str, share: float) -> int | None:
        """Episodes until this share of the campaigns would have said that enough is known; None for more than rehearsed."""
        said = np.maximum.accumulate(self.outcomes[method].enough_known, axis=0).mean(axis=1)
        reached = np.flatnonzero(said >= share)
        return int(reached[0]) + 1 if len(reached) else None

    def higher(self, method: str) -> tuple[float, float]:
        """By how much a method ends higher than that of the campaign, with Student's 95 % interval (half its width)."""
        from scipy.stats import t  # Slow to load.

        difference = self.outcomes[method].regret[-1] - self.outcomes[self.own].regret[-1]
        if self.draws < 2:
            return float(difference.mean()), math.inf
        error = float(difference.std(ddof=1)) / math.sqrt(self.draws)
        return float(difference.mean()), float(t.ppf(0.975, self.draws - 1)) * error

    def to_dict(self, tolerance: float) -> dict[str, Any]:
        """Plain data."""
        scenario = self.scenario
        methods = {
            name: {
                "regret_mean": self.mean(name),
                "regret_standard_error": self.standard_error(name),
                "within_tolerance": self.within(name, tolerance),
                "episodes_needed": self.needed(name, tolerance),
                "episodes_until_stop": {"median": self.stops(name, 0.5), "90 %": self.stops(name, SURE)},
            }
            for name in self.outcomes
        }
        size = {"episodes": scenario.episodes, "horizon": scenario.horizon, "draws": self.draws}
        return {"varied": scenario.varied, "label": scenario.label, **size, "methods": methods}


def answers(rehearsed: list[Rehearsed], tolerance: float, unit: str) -> list[str]:
    """What to know before the first experiment, one sentence each."""
    if not rehearsed:
        return ["nothing was rehearsed"]
    declared = rehearsed[0]
    own, scenario = declared.own, declared.scenario
    end = with_unit(declared.mean(own)[-1], unit)
    error = with_unit(2.0 * declared.standard_error(own)[-1], unit)
    budget = f"{counted(scenario.episodes, 'episode')} of {counted(scenario.horizon, 'move')}"
    lines = [f"with {own}, {budget}: expected regret {end} ± {error} over {counted(declared.draws, 'drawn function')}"]
    lines.append(_needed(declared, tolerance, unit))
    lines.append(_stop(declared))
    lines += [_pays(declared, unit)] if "local_ucb" in declared.outcomes and own != "local_ucb" else []
    for other in rehearsed[1:]:
        lines.append(_variation(other, declared, tolerance, unit))
    return lines


def _needed(found: Rehearsed, tolerance: float, unit: str) -> str:
    within = f"within {with_unit(tolerance, unit)} of the best reachable point"
    needed = found.needed(found.own, tolerance)
    if needed is None:
        share = f"{100.0 * found.within(found.own, tolerance)[-1]:.0f} %"
        return (
            f"the budget is too small: at its end the recommendation is {within} in {share} of the draws, not in 90 %"
        )
    moves = needed * found.scenario.horizon
    needs = f"{counted(needed, 'episode')} ({counted(moves, 'move')})"
    return f"likely needed: {needs}; from then on the recommendation is {within} in 90 % of the draws"


def _stop(found: Rehearsed) -> str:
    half, most = found.stops(found.own, 0.5), found.stops(found.own, SURE)
    said = "a campaign with this tolerance as its stop says that enough is known"
    if half is None:
        return f"{said} in less than half of the draws by the end of the budget"
    later = "not within the budget" if most is None else f"by episode {most}"
    return f"{said} by episode {half} in half of the draws, and {later} in 90 %"


def _pays(found: Rehearsed, unit: str) -> str:
    mean, half = found.higher("local_ucb")
    numbers = f"local_ucb ends {with_unit(abs(mean), unit)} {'higher' if mean >= 0 else 'lower'}"
    numbers += f" (95 % interval {with_unit(mean - half, unit)} to {with_unit(mean + half, unit)})"
    if mean - half > 0.0:
        return f"planning pays: {numbers}"
    if mean + half < 0.0:
        return f"planning does not pay here: {numbers}"
    return f"planning is not shown to pay: {numbers}; more draws may tell"


def _variation(found: Rehearsed, declared: Rehearsed, tolerance: float, unit: str) -> str:
    end, before = (with_unit(part.mean(part.own)[-1], unit) for part in (found, declared))
    needed = found.needed(found.own, tolerance)
    enough = (
        "not within the tolerance by the end" if needed is None else f"within it after {counted(needed, 'episode')}"
    )
    return f"{found.scenario.label}: expected regret {end} instead of {before}, {enough}"


def _lasting(holds: Mask) -> int | None:
    """From which episode on it holds to the end, counted from 1."""
    broken = np.flatnonzero(~holds)
    first = int(broken[-1]) + 1 if len(broken) else 0
    return first + 1 if first < len(holds) else None
