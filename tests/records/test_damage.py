"""Damaged, foreign, newer, read-only files and full disks: found, said in one line, and the file left as it is.

A part runs by default; all 2,000 bit flips and 200 truncations with TCBO_ALL_KILLS=1.
"""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from small_campaigns import ALL_KILLS, finished, fork, line, result_of, started

from tcbo_pyomo.errors import BadInput, Busy, DamagedFile, DiskError, TcboError
from tcbo_pyomo.records import file_format, ledger, open_campaign
from tcbo_pyomo.records.file_format import link


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A campaign file of several pages, and what it says."""
    path = tmp_path_factory.mktemp("whole") / "campaign.db"
    campaign = started(path)
    for number in range(1, 31):
        campaign.tell(campaign.ask().number, result_of(number))
    campaign.ask()
    return path, plain(campaign)


@pytest.fixture
def copy(whole, tmp_path):
    path = tmp_path / "campaign.db"
    shutil.copy(whole[0], path)
    return path


def plain(campaign):
    return json.dumps(campaign.campaign.state())


def judged(path, whole):
    """The word same, or the exit code of the error; the file must be as it was, and nothing new beside it."""
    before, beside = path.read_bytes(), os.listdir(path.parent)
    try:
        found = plain(open_campaign(path, line()))
        assert found == whole[1], "the content has changed and nobody noticed"
        code = "same"
    except TcboError as error:
        assert "\n" not in str(error) and str(path) in str(error)
        assert isinstance(error, (DamagedFile, BadInput)), error
        if isinstance(error, DamagedFile):
            assert "restore a copy" in str(error)
        code = error.exit_code
    assert path.read_bytes() == before and os.listdir(path.parent) == beside
    return code


def test_bit_flips_are_found_or_change_nothing(whole, copy):
    raw, flips = whole[0].read_bytes(), random.Random(1)
    codes = []
    for _ in range(2000 if ALL_KILLS else 150):
        changed = bytearray(raw)
        changed[flips.randrange(len(raw))] ^= 1 << flips.randrange(8)
        copy.write_bytes(changed)
        codes.append(judged(copy, whole))
    print({code: codes.count(code) for code in set(codes)})
    assert codes.count(3) > len(codes) / 2


def test_names_of_tables_that_are_no_text_any_more(whole, copy):
    # SQLite's message quotes such a name, and Python cannot read the message.
    raw = whole[0].read_bytes()
    for position in (at for at in range(len(raw) - 13) if raw[at : at + 13] in (b"campaign_rows", b"campaign_head")):
        for place in range(13):
            changed = bytearray(raw)
            changed[position + place] ^= 1 << 7
            copy.write_bytes(changed)
            assert judged(copy, whole) == 3


def test_every_bit_of_the_header(whole, copy):
    raw = whole[0].read_bytes()
    codes = []
    for position in range(0, 100, 1 if ALL_KILLS else 3):
        for bit in range(8):
            changed = bytearray(raw)
            changed[position] ^= 1 << bit
            copy.write_bytes(changed)
            codes.append(judged(copy, whole))
    print({code: codes.count(code) for code in set(codes)})


def test_truncations_are_found(whole, copy):
    raw, cuts = whole[0].read_bytes(), random.Random(2)
    for _ in range(200 if ALL_KILLS else 40):
        copy.write_bytes(raw[: cuts.randrange(len(raw))])
        assert judged(copy, whole) in (2, 3)
    for pages in range(1, len(raw) // 4096):
        copy.write_bytes(raw[: 4096 * pages])
        assert judged(copy, whole) == 3


def edit(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM campaign_rows WHERE number = (SELECT max(number) FROM campaign_rows)",
        "DELETE FROM campaign_rows WHERE number = 5",
        "DELETE FROM campaign_rows",
        "UPDATE campaign_rows SET time = '2000-01-01' WHERE number = 3",
        "UPDATE campaign_rows SET key = 'other' WHERE number = 3",
        "UPDATE campaign_rows SET kind = 'skip' WHERE number = 3",
        "UPDATE campaign_rows SET body = replace(body, '1', '2') WHERE number = 3",
        "UPDATE campaign_rows SET body = x'00ff' WHERE number = 3",
        "UPDATE campaign_rows SET chain = NULL WHERE number = 3",
        "UPDATE campaign_head SET number = 3",
        "DELETE FROM campaign_head",
        "DROP TABLE campaign_head",
        "DROP TABLE campaign_rows",
        "PRAGMA user_version = 0",
        "PRAGMA application_id = 7",
    ],
)
def test_edited_files_are_found(copy, whole, statement):
    edit(copy, statement)
    assert judged(copy, whole) == 3


@pytest.mark.parametrize(
    "body", ["[1]", "{}", '{"moves": 3}', '{"moves": [{"number": 7}]}', '{"told": 99}', "3", "nul"]
)
def test_nonsense_with_a_right_chain_is_no_traceback(copy, whole, body):
    campaign = open_campaign(copy, line())
    last = campaign._ledger.rows[-1]
    fields = (last.number + 1, last.time, "ask", "", body)
    chain = link(last.chain, *fields)
    connection = sqlite3.connect(copy)
    connection.execute("INSERT INTO campaign_rows VALUES (?, ?, ?, ?, ?, ?)", (*fields, chain))
    connection.execute("UPDATE campaign_head SET number = ?, chain = ?", (last.number + 1, chain))
    connection.commit()
    connection.close()
    if body == "{}":  # An ask that changes nothing.
        assert judged(copy, whole) == "same"
    else:
        assert judged(copy, whole) == 3


def test_a_file_of_a_newer_version_says_so(copy, whole):
    edit(copy, "PRAGMA user_version = 99")
    assert judged(copy, whole) == 2
    with pytest.raises(BadInput, match="written in format 99, this version reads up to 3; update tcbo_pyomo"):
        open_campaign(copy, line())


@pytest.mark.parametrize("application", [0, 252006673])
def test_a_foreign_sqlite_file_is_recognised(tmp_path, whole, application):
    edit(tmp_path / "foreign.db", f"PRAGMA application_id = {application}", "CREATE TABLE t (x)")
    assert judged(tmp_path / "foreign.db", whole) == 2
    with pytest.raises(BadInput, match="another program"):
        open_campaign(tmp_path / "foreign.db", line())


@pytest.mark.parametrize("content", [b"", b"move,y\n1,2\n", b"{}", bytes(range(256)) * 20, b"SQL"])
def test_other_files_are_refused(tmp_path, whole, content):
    (tmp_path / "other.db").write_bytes(content)
    assert judged(tmp_path / "other.db", whole) == 2


def test_a_missing_file_and_a_folder_without_a_run(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        open_campaign(tmp_path / "missing.db", line())
    with pytest.raises(BadInput, match="give the folder of a finished `tcbo run --output`"):
        open_campaign(tmp_path, line())


def test_an_older_file_is_migrated_and_the_migration_recorded(copy, monkeypatch):
    present = file_format.VERSION
    monkeypatch.setattr(file_format, "VERSION", present + 1)
    ran, before = [], copy.read_bytes()
    monkeypatch.setitem(file_format.MIGRATIONS, present, lambda connection: ran.append(connection.in_transaction))
    campaign = open_campaign(copy, line())
    assert campaign.status().measurements == 30 and copy.read_bytes() == before and ran == []
    campaign.tell(31, 0.5)
    assert ran == [True] and [row.kind for row in campaign._ledger.rows[-2:]] == ["migration", "tell"]
    assert campaign._ledger.rows[-2].body == {"from": present, "to": present + 1}
    assert open_campaign(copy, line()).ask().number == 32 and ran == [True]
    monkeypatch.setattr(file_format, "VERSION", present)
    with pytest.raises(BadInput, match=f"format {present + 1}"):
        open_campaign(copy, line())


def as_nobody(work):
    """Run as a user who may not write everywhere."""

    def without_rights():
        if os.geteuid() == 0:
            os.setuid(65534)
        work()

    return finished(fork(without_rights))


def refused(call, error):
    with pytest.raises(error) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize("folder_too", [False, True])
def test_a_read_only_file_can_be_read_and_nothing_is_lost(copy, folder_too):
    before = copy.read_bytes()
    for parent in copy.parents:
        if os.stat(parent).st_uid == os.geteuid() and "pytest" in str(parent):
            parent.chmod(0o755)
    copy.chmod(0o444)
    if folder_too:
        copy.parent.chmod(0o555)

    def work():
        campaign = open_campaign(copy, line())
        assert campaign.status().measurements == 30 and campaign.ask().number == 31
        assert "read-only" in refused(lambda: campaign.tell(31, 1.0), DiskError)
        assert campaign.status().measurements == 30

    assert as_nobody(work) == 0
    copy.parent.chmod(0o755)
    assert copy.read_bytes() == before


def test_a_full_disk_by_the_limit_of_pages(copy, monkeypatch):
    campaign = open_campaign(copy, line())
    connect = ledger.connect
    pages = copy.stat().st_size // 4096

    def full(path, patience):
        connection = connect(path, patience)
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    monkeypatch.setattr(ledger, "connect", full)
    told = []
    with pytest.raises(DiskError, match=r"the disk is full .*earlier records are kept"):
        for _ in range(30):
            number = campaign.ask().number
            campaign.tell(number, result_of(number))
            told.append(number)
    monkeypatch.setattr(ledger, "connect", connect)
    assert open_campaign(copy, line()).history.told[30:] == told
    number = campaign.ask().number
    assert campaign.tell(number, result_of(number)).new


WRITER = """
import os, sys
sys.path[:0] = [{tests!r}, {root!r}]
from small_campaigns import line, result_of
from tcbo_pyomo.errors import DiskError
from tcbo_pyomo.records import open_campaign
campaign = open_campaign({path!r}, line(5000))
os.write(1, b"ready\\n")
for _ in range({times}):
    try:
        number = campaign.ask().number
        assert campaign.tell(number, result_of(number)).new
        os.write(1, b"told %d\\n" % number)
    except DiskError:
        os.write(1, b"full\\n")
os.write(1, b"done\\n")
"""


def traced(path, tmp_path, times, *options):
    """Run a writer under strace; what it wrote to standard output, and the trace."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed: the order of writes and syncs is not checked here")
    here = Path(__file__)
    script = WRITER.format(tests=str(here.parent), root=str(here.parents[2]), path=str(path), times=times)
    trace = tmp_path / "trace"
    command = ["strace", "-f", "-y", "-o", str(trace), *options, sys.executable, "-c", script]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    if "ready" not in run.stdout and ("ptrace" in run.stderr or "not permitted" in run.stderr):
        pytest.skip("strace may not trace here: the order of writes and syncs is not checked")
    assert run.stdout.endswith("done\n"), run.stderr[-2000:]
    return run.stdout.split("\n"), trace.read_text().split("\n")


@pytest.mark.parametrize("every", [2, 3, 5, 7, 11] if ALL_KILLS else [3, 7])
def test_every_kth_write_meets_a_full_disk(tmp_path, every):
    path = tmp_path / "campaign.db"
    started(path, line(5000))
    fault = f"inject=pwrite64:error=ENOSPC:when={every}+{every}"
    said, _ = traced(path, tmp_path, 12, "-e", "trace=pwrite64", "-e", fault, "-P", str(path), "-P", f"{path}-journal")
    told = [int(line_.split()[1]) for line_ in said if line_.startswith("told")]
    campaign = open_campaign(path, line(5000))
    assert "full" in said and campaign.history.told == told
    assert all(campaign.history.moves[number - 1].value == result_of(number) for number in told)


def test_no_acknowledgement_before_its_sync(tmp_path):
    """Journal, file and folder are synced, in this order, after their last write and before an acknowledgement."""
    path = tmp_path / "campaign.db"
    started(path, line(5000))
    calls = "trace=write,pwrite64,fsync,fdatasync,unlink,unlinkat,ftruncate"
    _, trace = traced(path, tmp_path, 5, "-e", calls)
    unsynced, acknowledged = set(), 0
    for call in trace:
        name = call.split("(")[0].split()[-1] if "(" in call else ""
        if name in ("pwrite64", "ftruncate", "write") and str(path) in call:
            # The file itself is written only once its journal is safe.
            journal = f"{path}-journal" in call
            assert journal or "journal" not in unsynced
            unsynced.add("journal" if journal else "file")
        elif name in ("fsync", "fdatasync") and str(tmp_path) in call:
            synced = "journal" if f"{path}-journal" in call else "file" if f"{path}>" in call else "folder"
            unsynced.discard(synced)
        elif name.startswith("unlink") and f"{path}-journal" in call:
            # The commit itself: until the folder is synced, a power cut would bring the journal back.
            assert "file" not in unsynced
            unsynced.discard("journal")
            unsynced.add("folder")
        elif name == "write" and '"told ' in call:
            assert not unsynced, f"acknowledged before {unsynced} was synced"
            acknowledged += 1
    assert acknowledged == 5


def test_the_promises_of_every_connection(copy):
    connection = ledger.connect(copy)
    assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_file_switched_to_wal_by_another_program_is_switched_back(copy):
    edit(copy, "PRAGMA journal_mode = WAL")
    campaign = open_campaign(copy, line())
    campaign.tell(31, result_of(31))
    assert copy.read_bytes()[18:20] == b"\x01\x01" and open_campaign(copy, line()).history.told[-1] == 31


def test_a_file_kept_locked_is_busy_and_never_a_message_of_sqlite(copy):
    campaign = open_campaign(copy, line(), patience=0.2)
    other = sqlite3.connect(copy, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    calls = [lambda: campaign.tell(31, 1.0), campaign.ask, campaign.status, lambda: open_campaign(copy, line(), 0.2)]
    for call in calls:
        assert "nothing was written; try again" in refused(call, Busy)
    assert Busy.exit_code == 5
    other.execute("ROLLBACK")
    assert campaign.tell(31, 1.0).new
