"""Starting a campaign on a file, and the one way to open a campaign again, whatever it was kept in.

A campaign file appears as a whole or not at all, and never in the place of another file. Its first row says which problem,
which settings, which seed.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tcbo_pyomo._version import __version__
from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput, DiskError
from tcbo_pyomo.foundation.atomic_file import synchronise_folder
from tcbo_pyomo.foundation.limited_read import is_ordinary
from tcbo_pyomo.records.durable_campaign import DurableCampaign
from tcbo_pyomo.records.file_damage import APPLICATION, MAGIC, PAGE_SIZE, explained, meaningful
from tcbo_pyomo.records.file_format import FIRST, SCHEMA, VERSION, make_row
from tcbo_pyomo.records.json_file import read_campaign
from tcbo_pyomo.records.ledger import PATIENCE, Ledger, connect, insert
from tcbo_pyomo.records.problem_source import (
    ProblemSource,
    built_problem,
    origin_of,
    problem_fingerprint,
    source_from,
)
from tcbo_pyomo.records.run_folder import read_run
from tcbo_pyomo.settings import Settings, stored_settings

OpenedCampaign = Campaign | DurableCampaign
"""A campaign in memory, or one whose every ask and tell is kept; both have the face of `Campaign`."""


def open_campaign(
    where: str | Path, problem: ProblemSource | None = None, patience: float = PATIENCE
) -> OpenedCampaign:
    """Open a campaign.

    Parameters
    ----------
    where
        A CAMPAIGN.db, which is gone on with; or a file of `save_campaign`, or the folder of a `tcbo run`, finished or
        interrupted, which are read into memory and not changed.
    problem
        The problem, its name or its .py file, where the record cannot name it: always for a saved file and an interrupted
        run; otherwise when the problem was made in Python, or its file has moved.
    patience
        Seconds to wait for another process that writes to a CAMPAIGN.db.

    Returns
    -------
    DurableCampaign or Campaign
        A `DurableCampaign` for a CAMPAIGN.db, else a `Campaign`.
    """
    path = Path(where)
    if path.is_dir():
        return read_run(path, problem)
    if is_campaign_file(path):
        ledger = Ledger(path, patience)
        ledger.refresh()
        with meaningful(path):
            campaign = _defined(path, ledger.rows[0].body, problem)
        return DurableCampaign(ledger, campaign)
    if not path.exists():
        raise BadInput(f"'{path}' does not exist; give a CAMPAIGN.db, a saved campaign (.json) or the folder of a run")
    return read_campaign(path, problem)


def in_memory(opened: OpenedCampaign) -> Campaign:
    """The campaign apart from its file, for those who look and think ahead: nothing done to it reaches the disk."""
    return opened.campaign if isinstance(opened, DurableCampaign) else opened


def is_campaign_file(path: Path) -> bool:
    """Whether a path is meant to be a CAMPAIGN.db: by its name, or by its first bytes."""
    if not is_ordinary(path):
        return path.suffix == ".db"
    try:
        with open(path, "rb") as file:
            return path.suffix == ".db" or file.read(len(MAGIC)) == MAGIC
    except OSError:
        return path.suffix == ".db"


def start_campaign(
    path: str | Path, problem: ProblemSource, settings: Settings | None = None, seed: int = 0
) -> DurableCampaign:
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
    _refuse_existing(where)
    built = built_problem(problem, None if settings is None else settings.feedback.kind, seed)
    campaign = Campaign(built, settings, seed)
    state = campaign.state()
    definition = {
        "program": f"tcbo_pyomo {__version__}",
        "problem": origin_of(where, problem),
        "fingerprint": problem_fingerprint(campaign.problem),
        **{name: state[name] for name in ("settings", "seed", "generator", "kernel", "method")},
    }
    _create_file(where, definition)
    ledger = Ledger(where)
    ledger.refresh()
    return DurableCampaign(ledger, campaign)


def _defined(path: Path, body: dict[str, Any], problem: ProblemSource | None) -> Campaign:
    """The campaign that a first row defines, before its first move; `problem` where the row cannot name it."""
    settings, seed = stored_settings(body["settings"]), body["seed"]
    source = source_from(path, body["problem"]) if problem is None else problem
    built = built_problem(source, settings.feedback.kind, seed)
    campaign = Campaign(built, settings, seed)
    if problem_fingerprint(campaign.problem) != body["fingerprint"]:
        raise BadInput(
            f"{path}: was started for another problem than '{built.name}' as it is now; go on with the problem, and "
            "the version of tcbo_pyomo, that it was started with; the file is left as it is"
        )
    return campaign


def _create_file(path: Path, definition: dict[str, Any]) -> None:
    """Write a file whose first row is the definition of a campaign."""
    try:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
        try:
            with explained(path), closing(connect(temporary)) as connection:
                _write(connection, definition)
            _put_in_place(temporary, path)
            synchronise_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except FileExistsError:
        _refuse_existing(path)
    except OSError as error:
        raise DiskError(f"{path}: cannot be written ({error.strerror}); no campaign was started") from None


def _refuse_existing(path: Path) -> None:
    """Refuse to start a campaign where there is something already."""
    if os.path.lexists(path):
        raise BadInput(f"{path}: exists already; go on with `tcbo ask {path}`, or start under another name")


def _put_in_place(temporary: Path, path: Path) -> None:
    """Give the file its name; a link, unlike a rename, fails where a file of that name has appeared meanwhile."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # A file system without links.
        _refuse_existing(path)
        os.rename(temporary, path)


def _write(connection: sqlite3.Connection, definition: dict[str, Any]) -> None:
    connection.execute(f"PRAGMA page_size = {PAGE_SIZE:d}")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION:d}")
    connection.execute(f"PRAGMA user_version = {VERSION:d}")
    for statement in SCHEMA:
        connection.execute(statement)
    connection.execute("INSERT INTO campaign_head VALUES (1, 0, ?)", (FIRST,))
    insert(connection, [make_row(None, "definition", definition)])
    connection.execute("COMMIT")
