"""Starting a campaign on a file, and the one way to open a campaign again, whatever it was kept in.

A campaign file appears as a whole or not at all, and never in the place of another file. Its first row says which problem,
which settings, which seed.
"""

from __future__ import annotations

import logging
import os
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from tcbo_pyomo._version import __version__
from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput, DiskError
from tcbo_pyomo.foundation.atomic_file import synchronise_folder
from tcbo_pyomo.foundation.limited_read import is_ordinary
from tcbo_pyomo.records.definition import Definitions
from tcbo_pyomo.records.durable_campaign import DurableCampaign
from tcbo_pyomo.records.file_damage import APPLICATION, MAGIC, PAGE_SIZE, explained, has_journal, meaningful
from tcbo_pyomo.records.file_format import FIRST, SCHEMA, VERSION, Row, make_row
from tcbo_pyomo.records.ledger import PATIENCE, Ledger, connect, insert
from tcbo_pyomo.records.problem_code import ProblemCode
from tcbo_pyomo.records.recorded_campaign import believed_as_is
from tcbo_pyomo.records.taught_campaign import data_facts
from tcbo_pyomo.records.trust import Code, trust_folder

if TYPE_CHECKING:
    from tcbo_pyomo.knowledge.past_table import PastData
    from tcbo_pyomo.records.problem_source import ProblemSource
    from tcbo_pyomo.settings import Settings

logger = logging.getLogger(__name__)

OpenedCampaign = Campaign | DurableCampaign
"""A campaign in memory, or one whose every ask and tell is kept; both have the interface of `Campaign`."""


def open_campaign(
    where: str | Path, problem: ProblemSource | None = None, patience: float = PATIENCE, trust: bool = False
) -> OpenedCampaign:
    """Open a campaign.

    Parameters
    ----------
    where
        A CAMPAIGN.db, to continue; or a file of `save_campaign` or the folder of a `tcbo run`, finished or interrupted,
        to read into memory.
    problem
        The problem, its name or its .py file, if the record cannot name it: always for a saved file and an interrupted
        run; to plan further moves, also if the problem was built in Python or its file has moved.
    patience
        Seconds to wait while another process writes to a CAMPAIGN.db.
    trust
        Whether code that a CAMPAIGN.db names may run although it was neither started nor trusted here (`tcbo trust`).
        Otherwise everything but planning works, on the data in the file.

    Returns
    -------
    DurableCampaign or Campaign
        A `DurableCampaign` for a CAMPAIGN.db, else a `Campaign`.
    """
    path = Path(where)
    if path.is_dir():
        from tcbo_pyomo.records.run_folder import read_run  # The commands of a campaign file need none of it.

        return read_run(path, problem)
    if is_campaign_file(path):
        ledger = Ledger(path, patience)
        ledger.refresh()
        return DurableCampaign(ledger, ProblemCode(path, identity_of(path, ledger), problem, trust))
    if not path.exists():
        raise BadInput(f"'{path}' does not exist; give a CAMPAIGN.db, a saved campaign (.json) or the folder of a run")
    from tcbo_pyomo.records.json_file import read_campaign

    return read_campaign(path, problem)


def trust_campaign(where: str | Path) -> tuple[list[tuple[Code, str]], bool]:
    """Let the code that a CAMPAIGN.db names run here from now on, and say whether that could be remembered.

    Each piece of code comes with what the file that is there now is, compared with what was recorded.
    """
    path = Path(where)
    ledger = Ledger(path)
    ledger.refresh()
    definitions = Definitions()
    with meaningful(path):
        for row in ledger.rows:
            definitions.apply(row.number, row.kind, row.body)
    code = ProblemCode(path, identity_of(path, ledger))
    from tcbo_pyomo.records.problem_source import compared

    found = [(one, compared(path, definitions.now.origin, one)) for one in definitions.now.code]
    return found, code.remember(definitions.now)


def in_memory(opened: OpenedCampaign) -> Campaign:
    """The campaign apart from its file, for those who think ahead: nothing done to it reaches the disk."""
    return opened.live() if isinstance(opened, DurableCampaign) else opened


def identity_of(path: Path, ledger: Ledger) -> str:
    """The campaign's own random number; of a file of 0.1.0 the digest of its first row."""
    with meaningful(path):
        return str(ledger.rows[0].body.get("id") or ledger.rows[0].chain)


def is_campaign_file(path: Path) -> bool:
    """Whether a path is meant to be a CAMPAIGN.db: by its name, by its first bytes, or by a journal beside it."""
    if path.suffix == ".db" or has_journal(path):
        return True
    if not is_ordinary(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def start_campaign(
    path: str | Path,
    problem: ProblemSource,
    settings: Settings | None = None,
    seed: int = 0,
    data: PastData | None = None,
) -> DurableCampaign:
    """Create a campaign file.

    Parameters
    ----------
    path
        The file to create; it must not exist.
    problem
        A name from `tcbo problems`, the path of a Python file, or a problem.
    settings, seed, data
        As for `Campaign`.
    """
    from tcbo_pyomo.records.built_problem import build
    from tcbo_pyomo.records.problem_source import built_problem, problem_fingerprint
    from tcbo_pyomo.records.repeatable_build import refuse_another
    from tcbo_pyomo.settings import settings_from

    where = Path(path)
    _refuse_existing(where)
    first = None if settings is not None else built_problem(problem, None, seed)
    chosen = settings if settings is not None else settings_from(dict(first.settings if first is not None else {}))
    built = build(where, problem, chosen, seed)
    refuse_another(where, problem, built)
    campaign = Campaign(built.problem, chosen, seed)
    state = campaign.state()
    identity = secrets.token_hex(16)
    definition = {
        "program": f"tcbo_pyomo {__version__}",
        "id": identity,
        **built.facts,
        "believed": believed_as_is(campaign),
        "planned_with": campaign.method.planned_with(),
        "fingerprint": problem_fingerprint(campaign.problem),
        **{name: state[name] for name in ("settings", "seed", "generator", "kernel", "method")},
    }
    rows = [make_row(None, "definition", definition)]
    if data is not None:
        rows.append(make_row(rows[-1], "data", data_facts(campaign, campaign.add_data(data))))
    _create_file(where, rows)
    ledger = Ledger(where)
    ledger.refresh()
    given = problem if "made" in built.facts["problem"] else None
    started = DurableCampaign(ledger, ProblemCode(where, identity, given, trust=True), campaign)
    if not started.trust():
        logger.warning("%s cannot be written: `tcbo ask %s` will need --trust", trust_folder(), where)
    return started


def _create_file(path: Path, rows: list[Row]) -> None:
    """Write a file with its first rows: the definition of a campaign, and what was known before it."""
    try:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
        try:
            with explained(path), closing(connect(temporary)) as connection:
                _write(connection, rows)
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
        raise BadInput(f"{path}: already exists; continue with `tcbo ask {path}`, or choose another name")


def _put_in_place(temporary: Path, path: Path) -> None:
    """Give the file its name; a link, unlike a rename, fails where a file of that name has appeared meanwhile."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # A file system without links.
        _refuse_existing(path)
        os.rename(temporary, path)


def _write(connection: sqlite3.Connection, rows: list[Row]) -> None:
    connection.execute(f"PRAGMA page_size = {PAGE_SIZE:d}")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION:d}")
    connection.execute(f"PRAGMA user_version = {VERSION:d}")
    for statement in SCHEMA:
        connection.execute(statement)
    connection.execute("INSERT INTO campaign_head VALUES (1, 0, ?)", (FIRST,))
    insert(connection, rows)
    connection.execute("COMMIT")
