"""A finished run read back: experiments.csv and result.json, replayed into a campaign.

The table says where the plant arrived and what was measured; the results are told in the order in which the kind of
feedback releases them. Which action was taken is not in the files: of those that lead from one row to the next the
first is taken, which matters only where the noise differs between them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.campaign.feedback import released
from tcbo_pyomo.errors import BadInput, DamagedFile
from tcbo_pyomo.foundation.csv_table import read_table
from tcbo_pyomo.knowledge.history import Move
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.plant.situation import Decision, Location
from tcbo_pyomo.records.find_campaign import CampaignSource
from tcbo_pyomo.settings import Settings, settings_from


def replay_run(folder: Path, problem: str | None = None) -> CampaignSource:
    """The campaign of a run folder, and how its moves were found."""
    summary = _summary(folder / "result.json")
    settings = _settings(folder, summary)
    built = load_problem(problem or summary["problem"], settings.feedback.kind, summary["seed"])
    campaign = Campaign(built, settings, summary["seed"])
    if campaign.problem.name != summary["problem"]:
        raise BadInput(f"'{folder}' holds a run of '{summary['problem']}'; name its problem with --problem")
    _replay(campaign, folder / "experiments.csv")
    return CampaignSource(campaign, [step.get("plan") for step in summary["steps"]])


def _replay(campaign: Campaign, path: Path) -> None:
    """Make the moves of a table again."""
    problem = campaign.problem
    names = [c.name for c in problem.coordinates]
    units = {c.name: c.unit for c in problem.coordinates}
    table = read_table(path, {"step": None, **units, problem.output: None})
    values: dict[int, float] = {}
    for step, *point, value in table.values.tolist():
        if campaign.finished:
            raise BadInput(f"table '{path}': more rows than the {problem.episodes} episodes of {problem.horizon} moves")
        at = problem.locate(dict(zip(names, point, strict=True)))
        move = _made(campaign, int(step), at)
        values[move.number] = value
        history = campaign.history
        due = history.pending if campaign.finished else released(history, campaign.settings.feedback)
        for late in due:
            campaign.tell(late.number, values[late.number])


def _made(campaign: Campaign, step: int, at: Location) -> Move:
    history = campaign.history
    if step == 0:
        move = history.add(history.start, 0, None, history.start)
    else:
        situation = history.situation()
        if situation.step == 0:
            campaign.knowledge.start_episode()
        decision = _decision(campaign.problem, situation.state, at)
        move = history.add(situation.state, situation.step + 1, decision, at)
    campaign.arrive(move.number, at)
    return move


def _decision(problem: Any, left: Location, right: Location) -> Decision:
    """A pair that leads from one state to the next, any pair where none does; continuous actions are not known."""
    if not problem.finite:
        return None
    pairs = problem.process.pairs_of(left)
    leads = [pair for pair in pairs if np.any(problem.process.successors_of(pair) == right)]
    return leads[0] if leads else pairs[0]


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
        return settings_from(summary["settings"])
    except BadInput as error:
        raise BadInput(f"'{folder / 'result.json'}': {error}") from None
