"""Where campaigns are kept: a CAMPAIGN.db, a saved JSON file, or the folder of a run; each is read, never written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.library import load_problem
from tcbo_pyomo.records.json_file import load_campaign, resume_simulation

SQLITE = b"SQLite format 3\x00"
"""The first bytes of every SQLite file."""


@dataclass(frozen=True)
class CampaignSource:
    """A campaign that was read back.

    Attributes
    ----------
    campaign
        The campaign; asking it for moves changes nothing on the disk.
    plans
        How its moves were found, as far as that was kept: one record per plan, None where nothing was.
    """

    campaign: Campaign
    plans: Sequence[dict[str, Any] | None] = ()


def is_campaign_file(path: Path) -> bool:
    """Whether a path is a CAMPAIGN.db: by its first bytes, or by its name when it is empty or unreadable."""
    try:
        with open(path, "rb") as file:
            start = file.read(len(SQLITE))
    except OSError:
        start = b""
    return start == SQLITE or (not start and path.suffix == ".db")


def open_source(where: str | Path, problem: str | None = None) -> CampaignSource:
    """Read a campaign back.

    Parameters
    ----------
    where
        A CAMPAIGN.db, a file of `save_campaign`, `unfinished.json` of an interrupted run, or a folder of `tcbo run`.
    problem
        Name or .py file of the problem: needed for a saved file, which holds none; for a folder only when the problem
        is a file of the user's.
    """
    path = Path(where)
    if path.is_dir():
        from tcbo_pyomo.records.run_replay import replay_run

        return replay_run(path, problem)
    if not path.exists():
        raise BadInput(f"'{path}' does not exist; give a CAMPAIGN.db, a saved campaign (.json) or the folder of a run")
    if is_campaign_file(path):
        return _from_records(path, problem)
    return _from_json(path, problem)


def _from_records(path: Path, problem: str | None) -> CampaignSource:
    from tcbo_pyomo.records import open_campaign

    durable = open_campaign(path, problem)
    return CampaignSource(durable.campaign, durable.plans)


def _from_json(path: Path, problem: str | None) -> CampaignSource:
    if problem is None:
        raise BadInput(f"'{path}' holds a campaign without its problem; name the problem with --problem")
    content = _peek(path)
    state = content.get("campaign", content)
    try:
        kind, seed = state["settings"]["feedback"]["kind"], state["seed"]
    except (KeyError, TypeError):
        kind, seed = None, 0
    built = load_problem(problem, kind if isinstance(kind, str) else None, seed if isinstance(seed, int) else 0)
    if "campaign" not in content:
        return CampaignSource(load_campaign(path, built))
    simulation = resume_simulation(path, built)
    return CampaignSource(simulation.campaign, [step.plan for step in simulation.steps])


def _peek(path: Path) -> dict[str, Any]:
    """The content of a saved file before it is checked: which problem to build; loading judges the file itself."""
    try:
        content = json.loads(path.read_bytes())["content"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
