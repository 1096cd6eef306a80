"""The folder of a run: experiments.csv, result.json, and a figure; written as a whole, and read back into a campaign.

The same seed and settings give byte-identical tables: floats are written with all their digits, and nothing depends on the
clock. All files are written under temporary names and renamed at the end, result.json last, so that a folder with a
result.json holds one whole run. An interrupted run leaves unfinished.json there instead (see `json_file.py`).

A finished run is read back by making its moves again. The table says where the plant arrived and what was measured; the
results are told in the order in which the kind of feedback releases them. Which action was taken is not in the files: of
those that lead from one row to the next the first is taken, which matters only where the noise differs between them.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tcbo_pyomo._version import __version__
from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.campaign.past_data import take_past
from tcbo_pyomo.campaign.simulation import CampaignResult
from tcbo_pyomo.errors import BadInput, DamagedFile, DiskError
from tcbo_pyomo.foundation.atomic_file import refuse_to_replace
from tcbo_pyomo.foundation.coordinates import scaled
from tcbo_pyomo.foundation.csv_table import read_table, table_headings, table_rows
from tcbo_pyomo.knowledge.belief_in_words import belief_now
from tcbo_pyomo.knowledge.criticism import criticise
from tcbo_pyomo.knowledge.feedback import released
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.knowledge.past_results import PastBatch
from tcbo_pyomo.plant.measured_moments import MOMENT, Way
from tcbo_pyomo.plant.situation import Location
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.records.json_file import read_campaign
from tcbo_pyomo.records.problem_source import ProblemSource, built_problem
from tcbo_pyomo.settings import Settings, stored_settings

RUN_FILES = ("experiments.csv", "paths.png", "result.json")
UNFINISHED = "unfinished.json"
"""The file from which an interrupted run resumes."""


def prepare_folder(folder: str | os.PathLike[str], force: bool = False) -> None:
    """Refuse, before any work is done, a folder that holds a run or cannot be written to; writes nothing."""
    place = Path(folder)
    try:
        present = [name for name in RUN_FILES if (place / name).exists()]
        existing = next(parent for parent in (place, *place.absolute().parents) if parent.exists())
    except OSError as error:
        raise DiskError(f"output folder '{place}': {error.strerror}; nothing was run") from None
    for name in present:
        refuse_to_replace(place / name)
    if present and not force:
        found = ", ".join(present)
        raise BadInput(f"output folder '{place}' holds a run ({found}); name another, or use --force")
    if not existing.is_dir():
        raise BadInput(f"output folder '{place}': '{existing}' is a file; name a folder")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise DiskError(f"output folder '{place}': no permission to write in '{existing}'; nothing was run")


def write_run(
    result: CampaignResult, folder: str | os.PathLike[str], draw: Callable[[CampaignResult, Path], None] | None = None
) -> None:
    """Write the files of a run into a folder, which is created if needed; `draw` makes its figure."""
    place = Path(folder)
    data = json.dumps(result_data(result), indent=2, default=str)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=place) as temporary:
            table, figure, summary = (Path(temporary, name) for name in RUN_FILES)
            result.experiments.to_csv(table, index=False, lineterminator="\n")
            if draw is not None:
                draw(result, figure)
            summary.write_text(data + "\n", encoding="utf-8")
            written = [file for file in (table, figure, summary) if file.exists()]
            for finished in written:
                _synchronise(finished)
            for replaced in (summary, figure):
                (place / replaced.name).unlink(missing_ok=True)
            for finished in written:
                os.replace(finished, place / finished.name)
    except OSError as error:
        reason = error.strerror or error
        raise DiskError(f"output folder '{place}': {reason}; the run was not written") from error


def result_data(result: CampaignResult) -> dict[str, Any]:
    """What result.json holds, as plain data."""
    past = result.campaign.history.past
    return {
        "problem": result.problem.name,
        "method": result.method,
        "seed": result.seed,
        "goal": result.problem.goal.data,
        "version": __version__,
        "settings": result.settings.model_dump(),
        "how_to_get_there": result.campaign.route,
        "belief": belief_now(result.campaign.knowledge).to_dict(),
        "criticism": criticise(result.campaign.knowledge).to_dict(),
        **_stop_data(result),
        **({"past_data": [batch.to_dict() for batch in past.batches]} if past else {}),
        "episodes": [asdict(episode) for episode in result.episodes],
        "steps": [asdict(step) for step in result.steps],
    }


def _stop_data(result: CampaignResult) -> dict[str, Any]:
    """How sure it is that enough is known, and after how many moves of the budget; nothing without a stop."""
    certainty, history = result.campaign.certainty, result.campaign.history
    if certainty is None:
        return {}
    words = certainty.in_words(result.problem.output_unit)
    moves = {"moves_made": history.moves_made, "moves_in_all": history.moves_of(result.problem.episodes)}
    return {"stop": {**certainty.to_dict(), "in_words": words, **moves}}


def _synchronise(path: Path) -> None:
    """Wait until a file is on the disk, so that its new name never points to half of it."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def read_run(folder: Path, problem: ProblemSource | None = None) -> Campaign:
    """The campaign of a run folder; of an interrupted run, which needs its problem, as far as it came."""
    if (folder / UNFINISHED).exists() and not (folder / "result.json").exists():
        return read_campaign(folder / UNFINISHED, problem)
    summary = _summary(folder / "result.json")
    settings, seed = _settings(folder, summary), summary["seed"]
    campaign = Campaign(built_problem(problem or summary["problem"], settings.feedback.kind, seed), settings, seed)
    if campaign.problem.name != summary["problem"]:
        raise BadInput(f"'{folder}' holds a run of '{summary['problem']}'; name its problem with --problem")
    try:
        take_past(campaign, map(PastBatch.from_dict, summary.get("past_data", ())))
    except (LookupError, TypeError, ValueError):
        raise DamagedFile(f"'{folder / 'result.json'}' has no usable 'past_data'; restore it from a copy") from None
    _replay(campaign, folder / "experiments.csv")
    made = (move.number for move in campaign.history.moves if move.step > 0)
    plans = zip(made, (step.get("plan") for step in summary["steps"]), strict=False)
    campaign.plans.update({number: plan for number, plan in plans if isinstance(plan, dict)})
    return campaign


def _replay(campaign: Campaign, path: Path) -> None:
    """Make the moves of a table again."""
    problem = campaign.problem
    names = [c.name for c in problem.coordinates]
    units = {c.name: c.unit for c in problem.coordinates}
    (_, header), *_ = table_rows(path, f"table '{path}'")
    timed = {MOMENT: None} if MOMENT in table_headings(header, f"table '{path}'") else {}
    table = read_table(path, {"step": None, **timed, **units, problem.output: None})
    values: dict[int, Any] = {}
    way: list[tuple[float, Location, float]] = []
    for step, *cells, value in table.values.tolist():
        if campaign.all_moves_made:
            raise BadInput(f"table '{path}': more rows than the {problem.episodes} episodes of {problem.horizon} moves")
        share, point = (cells[0], cells[1:]) if timed else (1.0, cells)
        at = _place(problem, dict(zip(names, point, strict=True)), share)
        if share < 1.0:
            way.append((share, at, value))
            continue
        move = _made(campaign, int(step), at, tuple((moment, place) for moment, place, _ in way))
        length = problem.step_duration or 1.0
        values[move.number] = [*((moment * length, told) for moment, _, told in way), (length, value)] if way else value
        way = []
        history = campaign.history
        due = history.pending if campaign.all_moves_made else released(history, campaign.settings.feedback)
        for late in due:
            campaign.tell(late.number, values[late.number])
    if campaign.stopped:
        for late in campaign.history.pending:
            campaign.tell(late.number, values[late.number])


def _place(problem: ProblemProtocol, at: dict[str, float], share: float) -> Location:
    """The place of a row; on the way of a move the box, which holds for the ends of moves, may be left."""
    if share == 1.0 or problem.keeps_candidates:
        return problem.locate(at)
    return tuple(scaled(problem.coordinates, list(at.values())).tolist())


def _made(campaign: Campaign, step: int, at: Location, way: Way = ()) -> Move:
    history = campaign.history
    if step == 0:
        move = history.add(history.start, 0, None, history.start)
    else:
        situation = history.situation()
        if situation.step == 0:
            campaign.knowledge.start_episode()
        decision = campaign.problem.decision_between(situation.state, at)
        move = history.add(situation.state, situation.step + 1, decision, at, way)
    campaign.arrive(move.number, at)
    return move


def _summary(path: Path) -> dict[str, Any]:
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"'{path}': {error.strerror}; give the folder of a finished `tcbo run --output`") from None
    except (ValueError, RecursionError):
        raise DamagedFile(f"'{path}' is not JSON; restore it from a copy, or run again") from None
    kinds = {"problem": str, "seed": int, "settings": dict, "steps": list}
    for name, kind in kinds.items():
        if not isinstance(summary, dict) or not isinstance(summary.get(name), kind):
            raise DamagedFile(f"'{path}' has no usable '{name}'; restore it from a copy, or run again")
    if not all(isinstance(step, dict) for step in summary["steps"]):
        raise DamagedFile(f"'{path}' has no usable 'steps'; restore it from a copy, or run again")
    return summary


def _settings(folder: Path, summary: dict[str, Any]) -> Settings:
    try:
        return stored_settings(summary["settings"])
    except BadInput as error:
        raise BadInput(f"'{folder / 'result.json'}': {error}") from None
