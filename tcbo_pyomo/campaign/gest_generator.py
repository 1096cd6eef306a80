"""A campaign behind the `Generator` standard (gest-api), for Xopt, libEnsemble and Optimas; needs the extra `gest`.

The standard's points are the set-points of our moves: `suggest` is ask, `ingest` is tell. Each point carries the number
of its move as "_id", so that results may come late and in any order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, Protocol

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.knowledge.history import History, Move
from tcbo_pyomo.knowledge.plausibility import checked_result
from tcbo_pyomo.problem.protocol import ProblemProtocol

try:
    from gest_api import Generator
    from gest_api.vocs import VOCS
except ImportError:
    raise BadInput("gest-api is not installed; pip install 'tcbo_pyomo[gest]' or pip install gest-api") from None


AIMS = {"maximise": "MAXIMIZE", "minimise": "MINIMIZE"}
"""Goals as the standard names them."""


def campaign_vocs(problem: ProblemProtocol) -> VOCS:
    """The standard's description of a problem: our coordinates with their bounds, and the output to maximise or minimise.

    Which moves are allowed is not in it: the standard knows limits of points only. The generator keeps to them.
    """
    variables = {c.name: [float(c.lower), float(c.upper)] for c in problem.coordinates}
    aim = AIMS.get(problem.goal.name)
    if aim is None:
        raise BadInput(
            f"problem '{problem.name}': the goal is {problem.goal.name}, and the Generator standard knows no targets; use ask "
            "and tell, or maximise or minimise"
        )
    return VOCS(variables=variables, objectives={problem.output: aim})


class AskTell(Protocol):
    """What is asked of a campaign, in memory or on a file."""

    @property
    def problem(self) -> ProblemProtocol:
        """The problem, as the settings changed it."""

    @property
    def history(self) -> History:
        """All moves."""

    def ask(self) -> Move:
        """The next move."""

    def ask_episode(self) -> list[Move]:
        """The rest of the episode as a schedule."""

    def tell(self, number: int, value: float, at: Any = None) -> Any:
        """Give the result of a move."""


class CampaignGenerator(Generator):
    """Suggests the moves of a campaign and tells it their results.

    Parameters
    ----------
    vocs
        Names and bounds as `campaign_vocs` gives them; None takes those. It is checked against the problem.
    campaign
        A `Campaign`, or a campaign on a file (`open_campaign`), which keeps every point and every result.
    """

    returns_id = True

    def __init__(self, vocs: VOCS | None, campaign: AskTell) -> None:
        self.campaign = campaign
        self.vocs = campaign_vocs(campaign.problem) if vocs is None else vocs
        super().__init__(self.vocs)

    def _validate_vocs(self, vocs: VOCS) -> None:
        """Refuse names, bounds or aims that are not those of the problem."""
        problem = self.campaign.problem
        wanted = campaign_vocs(problem)
        if set(vocs.variable_names) != set(wanted.variable_names):
            raise BadInput(f"vocs: variables {vocs.variable_names} must be {wanted.variable_names}")
        for name, variable in wanted.variables.items():
            given = getattr(vocs.variables[name], "domain", None)
            if given is None or not all(map(math.isclose, given, variable.domain)):
                raise BadInput(f"vocs: variable '{name}' has {given}, the problem has {variable.domain}")
        aims = {name: type(aim).__name__ for name, aim in vocs.objectives.items()}
        if aims != {name: type(aim).__name__ for name, aim in wanted.objectives.items()}:
            raise BadInput(f"vocs: objectives {aims} must be to {problem.goal.name} '{problem.output}'")
        if vocs.constraint_names or vocs.constant_names:
            raise BadInput("vocs: remove constraints and constants; the problem has the rules of the plant")

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        """The next points: one by default, more as the beginning of the episode's schedule.

        Moves are made one after the other, so that more than one point at a time means: the schedule of this episode,
        planned without the results in between. Points suggested before and not yet made are suggested again.
        """
        if num_points is None or num_points == 1:
            return [self._point(self.campaign.ask())]
        return [self._point(move) for move in self._schedule(num_points)]

    def ingest(self, results: list[dict[str, Any]]) -> None:
        """Take results of points, all or none: by "_id", or of the one move that has been asked for."""
        told = [self._checked(result) for result in results]
        numbers = [move.number for move, _, _ in told]
        twice = sorted({number for number in numbers if numbers.count(number) > 1})
        if twice:
            raise BadInput(f"ingest: move {twice[0]} occurs twice; give each result once")
        elsewhere = [move.number for move, _, at in told if at is not None]
        if elsewhere and max(numbers) > min(elsewhere):
            raise BadInput(
                f"ingest: move {min(elsewhere)} ended elsewhere than suggested, and later moves also have results; tell "
                "them one by one"
            )
        for move, value, at in told:
            self.campaign.tell(move.number, value, at)

    def _schedule(self, number: int) -> list[Move]:
        """The first moves of the schedule of this episode."""
        history, problem = self.campaign.history, self.campaign.problem
        if not isinstance(number, int) or number < 1:
            raise BadInput(f"suggest: {number!r} points; ask for a whole number of at least 1")
        left = problem.horizon - history.situation().step
        if number != left:
            raise BadInput(
                f"suggest: {number} points; this episode has {left} moves left: ask for 1, or for all of them"
            )
        return list(self.campaign.ask_episode())

    def _point(self, move: Move) -> dict[str, Any]:
        if move.expected is None:
            raise BadInput(
                "a plant with random transitions has no set-point to suggest; use the campaign's ask and tell"
            )
        return {**self.campaign.problem.describe(move.expected), "_id": move.number}

    def _checked(self, result: Mapping[str, Any]) -> tuple[Move, float, dict[str, float] | None]:
        """(move, value, where the plant was) of a result; nothing is told here."""
        problem, history = self.campaign.problem, self.campaign.history
        names = [c.name for c in problem.coordinates]
        for name in (*names, problem.output):
            if name not in result:
                raise BadInput(f"ingest: no '{name}' in {dict(result)}; {suggestion(name, map(str, result))}")
        number = result.get("_id")
        if number is None:
            waiting = [move for move in (history.open_move, *history.pending) if move is not None]
            if len(waiting) != 1:
                raise BadInput(
                    f"ingest: a point without '_id', and {len(waiting)} moves are outstanding; give the '_id'"
                )
            number = waiting[0].number
        move = history.move(number)
        if move.value is not None:
            raise BadInput(f"ingest: move {number} already has a result ({move.value!r}); give each result once")
        value = result[problem.output]
        if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
            raise BadInput(f"ingest: move {number}: '{problem.output}' is {value!r}; it must be a finite number")
        at = {name: float(result[name]) for name in names}
        problem.locate(at)
        return move, checked_result(number, float(value)), None if self._as_planned(move, at) else at

    def _as_planned(self, move: Move, at: Mapping[str, float]) -> bool:
        """Whether a point is the one that was suggested, up to rounding."""
        planned = move.arrived if move.arrived is not None else move.expected
        if planned is None:
            return False
        expected = self.campaign.problem.describe(planned)
        return all(abs(at[c.name] - expected[c.name]) <= 1e-9 * c.width for c in self.campaign.problem.coordinates)
