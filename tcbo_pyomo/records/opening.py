"""Starting a campaign on a file, and going on with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tcbo_pyomo.records.creation import create_file, refuse_existing
from tcbo_pyomo.records.definition import campaign_of, define
from tcbo_pyomo.records.durable_campaign import DurableCampaign
from tcbo_pyomo.records.file_check import meaningful
from tcbo_pyomo.records.ledger import PATIENCE, Ledger
from tcbo_pyomo.settings import Settings


def start_campaign(path: str | Path, problem: Any, settings: Settings | None = None, seed: int = 0) -> DurableCampaign:
    """Make a campaign file.

    Parameters
    ----------
    path
        The file to make; nothing must be there.
    problem
        A name from `tcbo problems`, the path of a Python file, or a problem.
    settings, seed
        As for `Campaign`.
    """
    where = Path(path)
    refuse_existing(where)
    campaign, definition = define(where, problem, settings, seed)
    create_file(where, definition)
    ledger = Ledger(where)
    ledger.refresh()
    return DurableCampaign(ledger, campaign)


def open_campaign(path: str | Path, problem: Any = None, patience: float = PATIENCE) -> DurableCampaign:
    """Go on with the campaign of a file.

    Parameters
    ----------
    path
        The campaign file.
    problem
        The problem, its name or its Python file, where the file cannot name it (it was made in Python, or has moved).
    patience
        Seconds to wait for another process that writes.
    """
    ledger = Ledger(Path(path), patience)
    ledger.refresh()
    with meaningful(ledger.path):
        campaign = campaign_of(ledger.path, ledger.rows[0].body, problem)
    return DurableCampaign(ledger, campaign)
