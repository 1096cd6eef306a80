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
            f"What to do: nothing, unless this difference is what matters most: then move to {place} instead, the "
            f"beginning of a path that leaves {variance_text(found.best_path, found.unit)}, and tell the result with --at."
        )
    if found.lower_bound is None:
        return "What to do: nothing; no noticeably better path is known, and a continuous plant has no bound to compare with."
    if found.utility_after - found.lower_bound <= least:
        return "What to do: nothing; no path and no policy can do noticeably better."
    if found.best_path is None:
        return "What to do: nothing; chance moves the plant, and the plan is made again after every move."
    return (
        "What to do: nothing; no noticeably better path is known, and the average of a policy over many episodes is nothing "
        "that one episode could reach."
    )


def _about_a_policy(found: Explanation) -> str:
    if found.best_known is None:
        return "What to do: nothing; no better plan is known, and a continuous plant has no bound to compare with."
    if found.utility_after - found.best_known > WORTH_MENTIONING * found.utility_now:
        return "What to do: set planner.gap=0.05, which plans with a policy that is proven to be near the best one."
    return "What to do: nothing; the plan is as good as the best policy known."
