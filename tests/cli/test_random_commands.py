"""Random command lines in one process: an exit code of the README each, one line per error, never a traceback.

A part runs by default; `TCBO_RANDOM_COMMANDS=10000 python -m pytest -n 0 -s --timeout 0 tests/cli/test_random_commands.py`
runs that many and prints how often each exit code came.
"""

import gc
import json
import os
import shutil
import time
from collections import Counter

from random_commands import RandomCommands, prepare

from tcbo_pyomo.cli.main import main

NUMBER = int(os.environ.get("TCBO_RANDOM_COMMANDS", "400"))
SEED = int(os.environ.get("TCBO_RANDOM_SEED", "1"))
CODES = {0, 1, 2, 3, 4, 5, 6, 7}
START = (
    ["start", "c.db", "line.py"],
    ["start", "d.db", "line.py", "--set", "feedback.kind=episodic"],
    ["start", "box.db", "box.py"],
)
AGAIN = 60
"""After so many commands the campaigns are begun anew: most commands mean nothing once all moves are made."""


def call(capsys, words):
    try:
        main(words)
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    return code, out, err


def complaint(words, code, out, err):
    """What is wrong with an answer; nothing where it is one that a user may get."""
    if code not in CODES:
        return f"exit code {code}"
    if "Traceback" in err or "Traceback" in out:
        return "a traceback"
    errors = [line for line in err.splitlines() if line.startswith("error: ")]
    if code >= 2 and words[0] != "check" and len(errors) != 1:
        return f"{len(errors)} error lines"
    if code == 0 and "--json" in words and "--help" not in words:
        json.loads(out)
    return ""


def test_random_command_lines(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gc, "freeze", lambda: None)  # For one command it saves time; here it would keep all garbage.
    prepare(tmp_path)
    touched, codes, by_command, slow = [], Counter(), Counter(), []
    _count_openings(monkeypatch, touched)
    commands = RandomCommands(SEED)
    reached = 0
    for number in range(NUMBER):
        if number % AGAIN == 0:
            _begin_anew(tmp_path, capsys)
        words = commands.next()
        touched.clear()
        began = time.process_time()
        code, out, err = call(capsys, words)
        slow.append((time.process_time() - began, words))
        fault = complaint(words, code, out, err)
        assert not fault, f"call {number}, tcbo {words}: {fault}\n{out[-500:]}\n{err[-3000:]}"
        reached += bool(touched)
        codes[code] += 1
        by_command[words[0]] += 1
    with capsys.disabled():
        print(f"\n{NUMBER} commands, {reached} touched a campaign; exit codes {dict(sorted(codes.items()))}")
        if NUMBER > 1000:
            print(
                f"commands {dict(by_command.most_common())}; slowest {max(slow)[0]:.1f} s of processor time: {max(slow)[1]}"
            )
    assert reached >= NUMBER / 2
    assert {0, 2} <= set(codes)


def _begin_anew(folder, capsys):
    for name in ("c.db", "d.db", "box.db"):
        (folder / name).unlink(missing_ok=True)
    for name in ("new_run", "mine", "a"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for words in START:
        assert call(capsys, words)[0] == 0


def _count_openings(monkeypatch, touched):
    """Note when the rows of a campaign file are read."""
    from tcbo_pyomo.records.ledger import Ledger

    refresh = Ledger.refresh

    def noted(self):
        refresh(self)
        touched.append(self.path)

    monkeypatch.setattr(Ledger, "refresh", noted)
