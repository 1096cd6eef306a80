"""What a campaign is defined by, as data in its file: the limits in force, the settings, and where the problem comes from.

The first row defines; a row of kind `amend` defines anew. Every move belongs to the definition that held when it was asked for.
Files of 0.1.0 hold no limits: they gain them with their first new row.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tcbo_pyomo.campaign.campaign import LimitsHeld
from tcbo_pyomo.knowledge.move import Move
from tcbo_pyomo.problem.declaration import declared_problem
from tcbo_pyomo.records.trust import Code, code_of, named_code

if TYPE_CHECKING:
    from tcbo_pyomo.problem.protocol import ProblemProtocol


@dataclass(frozen=True)
class Definition:
    """One definition of a campaign.

    Attributes
    ----------
    row
        The number of its row.
    origin
        Where the problem comes from, as `origin_of` wrote it down.
    settings, seed
        As they stand in the file.
    kernel
        The prior that it began with.
    declared
        The problem with its settings as plain data; None in a file of 0.1.0 that was not written to since.
    believed
        Whether the method models the problem as it is; None where that is not known.
    fingerprint
        The digest by which 0.1.0 knew its problem.
    sources
        The user's files behind problem and settings, with their SHA-256.
    """

    row: int
    origin: Mapping[str, Any]
    settings: Mapping[str, Any]
    seed: int
    kernel: Mapping[str, Any]
    declared: Mapping[str, Any] | None = None
    believed: bool | None = None
    fingerprint: str | None = None
    sources: Mapping[str, str] | None = None

    @cached_property
    def problem(self) -> ProblemProtocol:
        """The problem as the data have it."""
        assert self.declared is not None
        return declared_problem(self.declared)

    @property
    def code(self) -> list[Code]:
        """What of users' code a plan would run."""
        kernels = {"kept": self.kernel, "declared": (self.declared or {}).get("kernel", {})}
        return code_of(self.origin, self.settings, kernels, self.sources or {})


class Definitions:
    """All definitions of a campaign, and which of them each move was asked under.

    Attributes
    ----------
    all
        Definitions by their rows.
    asked_under
        For the number of each move the row of its definition.
    lengths
        Moves of those episodes that have other than the present horizon.
    amendments
        What was changed after which move, in words.
    """

    def __init__(self) -> None:
        self.all: dict[int, Definition] = {}
        self.asked_under: dict[int, int] = {}
        self.lengths: dict[int, int] = {}
        self.amendments: tuple[str, ...] = ()
        self._now = 0

    def copy(self) -> Definitions:
        """An independent copy."""
        twin = Definitions()
        twin.all, twin.asked_under, twin.lengths = dict(self.all), dict(self.asked_under), dict(self.lengths)
        twin.amendments, twin._now = self.amendments, self._now
        return twin

    @property
    def now(self) -> Definition:
        """The definition in force."""
        return self.all[self._now]

    def under(self, move: int) -> Definition:
        """The definition under which a move was asked for."""
        return self.all[self.asked_under.get(move, self._now)]

    def limits_held(self, move: Move, built: ProblemProtocol | None = None) -> LimitsHeld:
        """The limits that held when a move was asked for.

        By the data in the file. Where these do not say what the plant does, the problem that its code has built (`built`)
        judges the moves of the definition in force.
        """
        then, now = self.under(move.number), self.now
        assert then.declared is not None and now.declared is not None
        if built is not None and then is now and not then.problem.judge.judges_moves:
            return LimitsHeld(built, True)
        same = then.declared["plant"].get("process") == now.declared["plant"].get("process")
        return LimitsHeld(then.problem, same)

    def apply(self, number: int, kind: str, body: Mapping[str, Any]) -> None:
        """What a row says about definitions."""
        if kind == "amend":
            when = f"after move {max(self.asked_under)}" if self.asked_under else "before the first move"
            self.amendments += (f"{when}: {'; '.join(body.get('changes', ()))}",)
        if kind in ("definition", "amend"):
            before = self.all.get(self._now)
            kernel = body["kernel"] if "kernel" in body or before is None else before.kernel
            seed = body["seed"] if before is None else before.seed
            self.all[number] = Definition(
                number,
                body["problem"],
                body["settings"],
                seed,
                kernel,
                body.get("declared"),
                body.get("believed"),
                body.get("fingerprint"),
                body.get("sources"),
            )
            self._now = number
            self.lengths = {int(episode): int(moves) for episode, moves in body.get("lengths", {}).items()}
        elif "declared" in body:
            declared, believed, sources = (body.get(name) for name in ("declared", "believed", "sources"))
            self.all[self._now] = replace(self.now, declared=declared, believed=believed, sources=sources)
        elif "kernel" in body and any(True for _ in named_code(body["kernel"], "kernel")):
            # A row may bring in a kernel of a user's; whoever trusts the file trusts that too.
            self.all[self._now] = replace(self.now, kernel=body["kernel"])
        if "length" in body:
            self.asked_under = {move: row for move, row in self.asked_under.items() if move <= body["length"]}
        if kind in ("ask", "give_up"):
            for move in body.get("moves", ()):
                self.asked_under.setdefault(int(move["number"]), self._now)


def named_sources(sources: Mapping[str, str], problem_file: str | None) -> dict[str, str]:
    """Sources by their paths beside the problem file, so that a folder may move as a whole."""
    folder = os.path.dirname(os.path.realpath(problem_file)) if problem_file else os.getcwd()
    return {os.path.relpath(path, folder): digest for path, digest in sources.items()}
