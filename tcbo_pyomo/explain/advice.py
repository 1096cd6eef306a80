"""What to do about an explanation, in one sentence: like is compared with like, a path with paths, a policy with policies."""

from __future__ import annotations

from tcbo_pyomo.explain.move_facts import Explanation
from tcbo_pyomo.foundation.wording import variance_text
from tcbo_pyomo.problem.in_words import described_values
from tcbo_pyomo.problem.protocol import ProblemProtocol

WORTH_MENTIONING = 0.02
"""Differences below this share of the variance now are not worth acting on."""


def advice(found: Explanation, problem: ProblemProtocol) -> str:
    """The sentence."""
    if found.components > 1 or found.scale != "pair":
        return _about_a_policy(found)
    return _about_a_path(found, problem)


def _about_a_path(found: Explanation, problem: ProblemProtocol) -> str:
    least = WORTH_MENTIONING * found.utility_now
    if found.best_path is not None and found.utility_after - found.best_path > least:
        assert found.best_path_begins is not None
        place = described_values(problem, found.best_path_begins).replace("\u00a0", " ")
        return (
            f"What to do: nothing, unless this difference matters most. Then move to {place} instead, the first move "
            f"of a path that leaves {variance_text(found.best_path, found.unit)}, and tell the result with --at."
        )
    if found.lower_bound is None:
        return "What to do: nothing; no clearly better path is known. A continuous plant has no bound to compare with."
    if found.utility_after - found.lower_bound <= least:
        return "What to do: nothing; no path and no policy is clearly better."
    if found.best_path is None:
        return "What to do: nothing; the plant moves at random, and every move is planned again."
    return (
        "What to do: nothing; no clearly better path is known. A policy's average over many episodes is out of reach for "
        "a single episode."
    )


def _about_a_policy(found: Explanation) -> str:
    if found.best_known is None:
        return "What to do: nothing; no better plan is known. A continuous plant has no bound to compare with."
    if found.utility_after - found.best_known > WORTH_MENTIONING * found.utility_now:
        return "What to do: set planner.gap=0.05 to plan with a policy that is provably close to the best."
    return "What to do: nothing; the plan is as good as the best known policy."
