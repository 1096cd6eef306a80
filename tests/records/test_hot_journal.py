"""What SQLite recovers from the journal of a killed process is no damage: the file opens with all acknowledged rows."""

import json
import shutil
import sqlite3

import pytest
from small_campaigns import line, result_of, started

from tcbo_pyomo.errors import BadInput, DamagedFile
from tcbo_pyomo.records import open_campaign

PAGE = 4096


@pytest.fixture
def half_written(tmp_path):
    """A copy of a campaign file and of its journal, taken in the middle of a write; and what the campaign was before it."""
    path, copy = tmp_path / "campaign.db", tmp_path / "copy.db"
    campaign = started(path)
    for number in range(1, 11):
        campaign.tell(campaign.ask().number, result_of(number))
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA cache_size = 1")  # So that pages reach the disk before the end of the transaction.
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("PRAGMA user_version = 77")
    for number in range(100, 140):
        connection.execute("INSERT INTO campaign_rows VALUES (?, '', '', '', ?, '')", (number, "x" * 3000))
    shutil.copy(path, copy)
    shutil.copy(f"{path}-journal", f"{copy}-journal")
    connection.execute("ROLLBACK")
    assert copy.read_bytes() != path.read_bytes() and copy.stat().st_size > path.stat().st_size
    return copy, json.dumps(campaign.campaign.state())


def torn(copy):
    """The last page was written in part."""
    with open(copy, "r+b") as file:
        file.truncate(copy.stat().st_size - PAGE // 2 + 7)


def without_start(copy):
    """The first sector of the first page is lost."""
    with open(copy, "r+b") as file:
        file.write(bytes(512))


@pytest.mark.parametrize("damage", [lambda copy: None, torn, without_start], ids=["whole", "torn", "without start"])
@pytest.mark.parametrize("name", ["copy.db", "copy.rig"])
def test_a_write_that_was_never_finished_is_rolled_back(half_written, damage, name):
    copy, state = half_written
    damage(copy)
    renamed = copy.with_name(name)
    copy.rename(renamed)
    copy.with_name("copy.db-journal").rename(f"{renamed}-journal")
    campaign = open_campaign(renamed, line())
    assert json.dumps(campaign.campaign.state()) == state
    assert campaign.tell(campaign.ask().number, 0.5).new and len(open_campaign(renamed, line()).history.told) == 11
    assert not renamed.with_name(f"{name}-journal").exists()


def test_a_file_is_judged_before_a_write_too(half_written):
    copy, _ = half_written
    journal = copy.with_name("copy.db-journal")
    begun, hot = copy.read_bytes(), journal.read_bytes()
    campaign = open_campaign(copy, line())
    copy.write_bytes(begun)
    without_start(copy)
    journal.write_bytes(hot)
    assert campaign.tell(campaign.ask().number, 0.5).new


@pytest.mark.parametrize("journal", [b"", b"nonsense", bytes(512), bytes.fromhex("d9d505f920a163d7") + bytes(600)])
def test_a_journal_that_cannot_help_changes_no_verdict(half_written, journal):
    copy, _ = half_written
    without_start(copy)
    copy.with_name("copy.db-journal").write_bytes(journal)
    before = copy.read_bytes()
    with pytest.raises((DamagedFile, BadInput), match=r"copy\.db: is "):
        open_campaign(copy, line())
    assert copy.read_bytes() == before


def test_another_file_with_a_journal_beside_it_is_refused(tmp_path):
    (tmp_path / "other.db").write_text("move,y\n1,2\n")
    (tmp_path / "other.db-journal").write_bytes(bytes.fromhex("d9d505f920a163d7") + bytes(600))
    with pytest.raises(BadInput, match="is not a campaign file"):
        open_campaign(tmp_path / "other.db", line())
    assert (tmp_path / "other.db").read_text() == "move,y\n1,2\n"
