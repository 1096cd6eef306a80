"""Where the code of a campaign comes from, and whether it may run here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tcbo_pyomo.errors import NotTrusted
from tcbo_pyomo.records.definition import Definition
from tcbo_pyomo.records.trust import Code, is_trusted, remember

if TYPE_CHECKING:
    from tcbo_pyomo.records.problem_source import ProblemSource


class ProblemCode:
    """Where the code of a campaign comes from, and whether it may run.

    Parameters
    ----------
    path
        The campaign file.
    identity
        The campaign's own random number.
    given
        The problem that the caller has named; None to take what the file names.
    trust
        Whether the caller trusts the file.
    """

    def __init__(self, path: Path, identity: str, given: ProblemSource | None = None, trust: bool = False) -> None:
        self.path, self.identity, self.given, self.trust = path, identity, given, trust

    def refusal(self, definition: Definition) -> str:
        """Why the code of a definition must not run; an empty text where it may."""
        needed = self._needed(definition)
        if not needed or self.trust or is_trusted(self.identity, definition.code):
            return ""
        listed = "; ".join(code.in_words() for code in needed)
        return (
            f"{self.path} was neither started nor trusted by you on this machine, and would run {listed}; read it, then "
            f"`tcbo trust {self.path}`, or add --trust this once"
        )

    def check_trust(self, definition: Definition) -> None:
        """Refuse to run the code of a file that nobody here has trusted."""
        if why := self.refusal(definition):
            raise NotTrusted(why)

    def remember(self, definition: Definition) -> bool:
        """Trust the campaign from now on."""
        return not definition.code or remember(self.identity, definition.code)

    def _needed(self, definition: Definition) -> list[Code]:
        """What the file would have run: not the problem that the caller has named."""
        if self.given is None:
            return definition.code
        return [code for code in definition.code if code.what not in ("problem file", "module")]
