"""What a candidate rule is: called with a belief, it lists where the maximum may still be (Z, section 3.1)."""

from __future__ import annotations

from typing import Any, Protocol

from tcbo_pyomo.foundation.registry import Registry


class CandidateRule(Protocol):
    """Lists candidates."""

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        """The candidates."""


CANDIDATE_RULES: Registry[CandidateRule] = Registry("tcbo_pyomo.candidates", "candidate rule", CandidateRule)
