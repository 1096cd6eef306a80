"""The commands of a real campaign: one line for every mistake, exit code 2, and nothing written."""

import csv
import json
import os
import random
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tcbo_pyomo.cli import main as cli
from tcbo_pyomo.records import Result

BROKEN = Result(99, 1.0)
"""A result that is always refused: with it in a list, none is recorded."""
OWN_PROBLEM = """
from tcbo_pyomo.plant.grid import grid_process
from tcbo_pyomo.models.constraints import MaximumStep
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

def build(feedback=None, seed=0):
    process = grid_process({"x": list(range(7))}, {"x": [-1, 0, 1]}, 0.01, units={"x": "minute"})
    return Problem(name="line", process=process, start={"x": 2}, horizon=3, episodes=9,
                   kernel=SquaredExponential(1.0, 0.3),
                   constraints=[MaximumStep({"x": 1})], output="product", output_unit="g/l",
                   settings={"planner": {"linear": {"solver": "dynamic_programming"}}})
"""


@pytest.fixture
def tcbo(capsys, tmp_path, monkeypatch):
    """Call the command line in an empty folder; returns exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN_PROBLEM)

    def called(*arguments):
        with pytest.raises(SystemExit) as stopped:
            cli.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return stopped.value.code, out, err

    return called


@pytest.fixture
def begun(tcbo):
    """A campaign with move 1 told, 2 and 3 made and pending, 4 asked for."""
    assert tcbo("start", "c.db", "own.py", "--seed", 3)[0] == 0
    assert tcbo("ask", "c.db")[0] == 0
    assert tcbo("tell", "c.db", "0.5", "--key", "first")[0] == 0
    assert tcbo("ask", "c.db", "--episode", "--csv")[0] == 0
    assert tcbo("ask", "c.db", "--new")[0] == 0
    return tcbo


def test_a_campaign_from_start_to_export(tcbo, tmp_path):
    code, out, _ = tcbo("start", "c.db", "own.py", "--set", "episodes=2")
    assert code == 0 and "6 moves" in out
    code, out, _ = tcbo("ask", "c.db")
    assert code == 0 and out.startswith("move 1 (episode 1, step 1): x = ") and "minute" in out
    assert tcbo("ask", "c.db")[1] == out
    assert json.loads(tcbo("ask", "c.db", "--json")[1])["moves"][0]["move"] == 1
    code, out, _ = tcbo("tell", "c.db", "-0.25")
    assert (code, out) == (0, "recorded: move 1, product = -0.25\n")
    assert "recorded already" in tcbo("tell", "c.db", "-0.25", "--move", "1")[1]
    code, out, err = tcbo("tell", "c.db", "300", "--unit", "mg/l")
    assert code == 2 and "ask for the next one" in err
    tcbo("ask", "c.db")
    code, out, err = tcbo("tell", "c.db", "300", "--unit", "mg/l", "--at", "x=360 s")
    assert code == 0 and "0.3" in out
    assert "warning: move 2 broke a declared limit; the move is recorded: MaximumStep" in err and err.count("\n") == 2
    code, out, _ = tcbo("status", "c.db")
    assert "2 of 6 moves made, 2 measurements" in out and "MaximumStep" in out
    assert "; planned with " in out.splitlines()[0]
    assert json.loads(tcbo("status", "c.db", "--json")[1])["measurements"] == 2
    tcbo("undo", "c.db")
    assert "results outstanding: none" in tcbo("status", "c.db")[1] and "MaximumStep" not in tcbo("status", "c.db")[1]
    assert tcbo("skip", "c.db")[0] == 0
    assert tcbo("ask", "c.db")[1].startswith("move 3 (episode 1, step 2)")
    assert tcbo("arrive", "c.db")[0] == 0
    assert tcbo("tell", "c.db", "0.4")[1] == "recorded: move 3, product = 0.4\n"
    code, out, _ = tcbo("best", "c.db")
    assert code == 0 and out.startswith("recommendation: x = ") and "g/l from 2 measurements" in out
    assert tcbo("export", "c.db", "all.csv")[0] == 0
    rows = list(csv.DictReader((tmp_path / "all.csv").read_text().splitlines()))
    assert [row["status"] for row in rows] == ["measured", "cancelled", "measured"]
    assert rows[2]["product (g/l)"] == "0.4" and "x (minute)" in rows[0]
    assert tcbo("export", "c.db", "all.csv")[0] == 2 and tcbo("export", "c.db", "c.db", "--force")[0] == 2


def test_a_schedule_is_filled_in_and_told(tcbo, tmp_path):
    tcbo("start", "c.db", "own.py")
    text = tcbo("ask", "c.db", "--episode", "--csv")[1]
    assert text.splitlines()[0] == "move,episode,step,x (minute),product (g/l)" and len(text.splitlines()) == 4
    lines = text.splitlines()
    filled = [lines[0].replace("(g/l)", "(mg/l)"), *(f"{line_}{100 * i}" for i, line_ in enumerate(lines[1:], 1))]
    (tmp_path / "filled.csv").write_text("\n".join(reversed(filled[1:])).join([filled[0] + "\n", "\n"]))
    code, out, _ = tcbo("tell", "c.db", "--csv", "filled.csv")
    assert code == 0 and out.startswith("recorded: move 3, product = 0.3") and out.count("\n") == 3
    code, out, _ = tcbo("tell", "c.db", "--csv", "filled.csv")
    assert code == 0 and out.count("recorded already") == 3
    assert "3 measurements" in tcbo("status", "c.db")[1]


def test_a_cell_may_have_its_unit(tcbo, tmp_path):
    tcbo("start", "c.db", "own.py")
    tcbo("ask", "c.db", "--episode")
    refused = {
        "move,product (g/l)\n1,300 mg/l\n": "'300 mg/l' has the unit 'mg/l', the heading says 'g/l'",
        "move,product\n1,300 K\n": "unit 'K'",
        'move,product\n1,"0,5"\n': "'0,5' is not a number; write 0.5",
        "move,product\n1,\u0663\n": "is not a number",  # A three that only some programs read.
    }
    for text, words in refused.items():
        (tmp_path / "bad.csv").write_text(text)
        code, _, err = tcbo("tell", "c.db", "--csv", "bad.csv")
        assert code == 2 and words in err, text
    (tmp_path / "good.csv").write_text("move,product\n1,300 mg/l\n2,0.25\n3,0.5 g/l\n")
    code, out, _ = tcbo("tell", "c.db", "--csv", "good.csv")
    assert code == 0 and [line.split(" = ")[1] for line in out.splitlines()] == ["0.3", "0.25", "0.5"]


BAD_TELLS = {
    "NaN": ["nan"],
    "infinity": ["inf"],
    "minus infinity": ["-inf"],
    "too large": ["1e999"],
    "text": ["high"],
    "empty": [""],
    "blank": ["  "],
    "two numbers": ["1 2"],
    "comma": ["0,5"],
    "underscore": ["1_0"],
    "hexadecimal": ["0x10"],
    "number with another unit": ["5 K"],
    "number with a unit and --unit": ["5 mg/l", "--unit", "g/l"],
    "two numbers, one as unit": ["1/2"],
    "beyond all measure": ["1e308"],
    "beyond all measure in another unit": ["1e60", "--unit", "mg/l"],
    "no value": [],
    "two values": ["1", "2"],
    "wrong unit": ["1", "--unit", "kelvin"],
    "unknown unit": ["1", "--unit", "blorps"],
    "empty unit": ["1", "--unit", ""],
    "code as unit": ["1", "--unit", "__import__('os').system('touch ran')"],
    "endless unit": ["1", "--unit", "m**9**9**9**9"],
    "unknown move": ["1", "--move", "99"],
    "move zero": ["1", "--move", "0"],
    "negative move": ["1", "--move", "-1"],
    "move as text": ["1", "--move", "one"],
    "half a move": ["1", "--move", "1.5"],
    "huge move": ["1", "--move", "9" * 40],
    "second value": ["0.6", "--move", "1"],
    "second value with a key": ["0.6", "--move", "1", "--key", "second"],
    "key of another value": ["0.6", "--move", "2", "--key", "first"],
    "empty key": ["1", "--key", ""],
    "endless key": ["1", "--key", "k" * 1000],
    "key with a line break": ["1", "--key", "a\nb"],
    "replicate of nothing": ["1", "--move", "2", "--replicate"],
    "place out of range": ["1", "--at", "x=99"],
    "place between states": ["1", "--at", "x=2.5"],
    "place without value": ["1", "--at", "x="],
    "place without name": ["1", "--at", "3"],
    "place is NaN": ["1", "--at", "x=nan"],
    "place is text": ["1", "--at", "x=left"],
    "unknown coordinate": ["1", "--at", "z=3"],
    "place twice": ["1", "--at", "x=3", "--at", "x=2"],
    "place with wrong unit": ["1", "--at", "x=3 K"],
    "place of a told move": ["0.5", "--move", "1", "--at", "x=6"],
    "misspelt option": ["1", "--relicate"],
    "value and file": ["1", "--csv", "ok.csv"],
    "missing file": ["--csv", "missing.csv"],
    "folder": ["--csv", "."],
}
BAD_FILES = {
    "empty": b"",
    "blank lines": b"\n\n\n",
    "header only": b"move,product\n",
    "extra column": b"move,product,colour\n2,1,red\n",
    "no move": b"product\n1\n",
    "no value": b"move\n2\n",
    "column twice": b"move,product,product\n2,1,1\n",
    "value and output": b"move,product,value\n2,1,1\n",
    "wrong encoding": b"move,product\n2,\xff\xfe\n",
    "UTF-16": "move,product\n2,1\n".encode("utf-16"),
    "null bytes": b"move,product\n2,1\x00\n",
    "bars": b"move|product\n2|1\n",
    "a decimal comma or thousands": b"move;product\n2;1.250\n1;0,5\n",
    "NaN": b"move,product\n2,nan\n",
    "infinity": b"move,product\n2,inf\n",
    "text": b"move,product\n2,high\n",
    "empty cell": b"move,product\n2,\n",
    "short row": b"move,product\n2\n",
    "long row": b"move,product\n2,1,3\n",
    "unknown move": b"move,product\n2,1\n99,1\n",
    "move is text": b"move,product\ntwo,1\n",
    "move is a fraction": b"move,product\n2.0,1\n",
    "second value": b"move,product\n2,1\n1,0.6\n",
    "wrong unit": b"move,product (K)\n2,1\n",
    "unknown unit": b"move,product (blorps)\n2,1\n",
    "two values for a move": b"move,product\n2,1\n2,2\n",
    "wrong episode": b"move,episode,product\n2,7,1\n",
    "wrong step": b"move,step,product\n2,1,1\n",
    "replicate is text": b"move,replicate,product\n2,maybe,1\n",
    "place out of range": b"move,x,product\n2,99,1\n",
    "place is empty": b"move,x,product\n2,,1\n",
    "open quote": b'move,product\n2,"1\n',
    "key of another value": b"move,product,key\n2,1,first\n",
    "binary": bytes(range(256)) * 10,
}


def content_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def assert_refused(answer, folder, before):
    _, code, out, err = answer
    assert code == 2 and out == "" and err.startswith("error: ") and err.count("\n") == 1 and err.endswith("\n"), answer
    assert content_of(folder) == before


def test_bad_tells_are_one_line_and_nothing_is_written(begun, tmp_path):
    (tmp_path / "ok.csv").write_text("move,product\n2,1\n")
    for name, content in BAD_FILES.items():
        (tmp_path / f"{name}.csv").write_bytes(content)
    before = content_of(tmp_path)
    assert len(BAD_TELLS) + len(BAD_FILES) >= 40
    for name, arguments in BAD_TELLS.items():
        assert_refused((name, *begun("tell", "c.db", *arguments)), tmp_path, before)
    for name in BAD_FILES:
        assert_refused((name, *begun("tell", "c.db", "--csv", f"{name}.csv")), tmp_path, before)
    assert begun("tell", "c.db", "--csv", "ok.csv")[0] == 0


def test_other_mistakes_are_one_line_too(begun, tmp_path):
    (tmp_path / "text.db").write_text("text")
    before = content_of(tmp_path)
    for arguments in (
        ["ask", "missing.db"],
        ["ask", "text.db"],
        ["ask", "c.db", "--csv", "--json"],
        ["undo", "c.db", "--move", "99"],
        ["skip", "c.db", "--at", "x=77"],
        ["skip", "c.db", "--move", "1"],
        ["start", "c.db", "own.py"],
        ["start", "new.db", "unknown_problem"],
        ["start", "new.db", "own.py", "--set", "unknown=3"],
        ["start", "new.db", "own.py", "--settings", "missing.yaml"],
        ["ask", "c.db", "--problem", "missing.py"],
        ["ask", "c.db", "--problem", "knorr_pyrazole"],
    ):
        assert_refused((arguments, *begun(*arguments)), tmp_path, before)
    code, _, err = begun("export", "c.db", "missing/all.csv")
    assert code == 6 and err.count("\n") == 1
    code, _, err = begun("start", "missing/c.db", "own.py")
    assert code == 6 and err.count("\n") == 1


def test_fuzzed_files_never_give_a_traceback(begun, tmp_path):
    """Pieces of CSV and YAML, and bytes; 10,000 of them with TCBO_ALL_KILLS=1."""
    from tcbo_pyomo.errors import BadInput
    from tcbo_pyomo.foundation.settings_file import read_settings
    from tcbo_pyomo.records import open_campaign
    from tcbo_pyomo.records.results_file import read_results
    from tcbo_pyomo.settings import settings_from

    campaign, draw = open_campaign(tmp_path / "c.db"), random.Random(5)
    words = (
        'move product x (g/l) (K) , 2 3 1e5 nan key - ; é " planner : components [ ] { } &a *a | # ~ !!python/object:os'
    )
    pieces = [*words.split(" "), "\n", "\x00", " ", "  ", "\t", "9" * 30]
    before = content_of(tmp_path)["c.db"]
    for _ in range(10_000 if os.environ.get("TCBO_ALL_KILLS") == "1" else 300):
        text = "".join(draw.choice(pieces) for _ in range(draw.randrange(30)))
        head = draw.choice(["", "move,product\n", "move,x,product (mg/l)\n", "move,product,key,replicate\n"])
        content = (head + text).encode() if draw.random() < 0.8 else draw.randbytes(draw.randrange(60))
        (tmp_path / "fuzzed").write_bytes(content)
        for work in (
            lambda: [*read_results(tmp_path / "fuzzed", campaign.problem, campaign.history), BROKEN],
            lambda: settings_from(read_settings(tmp_path / "fuzzed")),
        ):
            try:
                found = work()
                if isinstance(found, list):
                    campaign.tell_many(found)
            except BadInput as error:
                assert "\n" not in str(error)
    assert content_of(tmp_path)["c.db"] == before


def test_no_command_opens_a_socket_or_writes_elsewhere(begun, tmp_path, monkeypatch):
    def refused(*arguments, **options):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refused)
    monkeypatch.setattr(socket, "create_connection", refused)
    written = []

    def watch(event, arguments):
        opened = event == "open" and watching and not isinstance(arguments[0], int) and isinstance(arguments[2], int)
        if opened and arguments[2] & (os.O_WRONLY | os.O_RDWR):
            written.append(os.path.abspath(os.fsdecode(arguments[0])))
        if event in ("socket.connect", "socket.bind") and watching:
            written.append(event)

    watching = True
    sys.addaudithook(watch)
    for arguments in (["ask", "c.db"], ["tell", "c.db", "1"], ["status", "c.db"], ["best", "c.db"], ["undo", "c.db"]):
        assert begun(*arguments)[0] == 0
    assert begun("export", "c.db", "all.csv")[0] == 0
    watching = False
    assert [path for path in written if not path.startswith((str(tmp_path), "/dev/"))] == []
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["all.csv", "c.db", "own.py"]


SCRIPT = """
import sys, time
from tcbo_pyomo.cli import main as cli
import tcbo_pyomo.records, tcbo_pyomo.library.knorr_pyrazole, tcbo_pyomo.planning.finite.linear_programming, highspy
from tcbo_pyomo.problem import compiled_polytope
began = time.process_time()
try:
    cli.main(["ask", "k.db"])
finally:
    print(time.process_time() - began, file=sys.stderr)
"""


def test_ask_on_knorr_takes_less_than_a_second_beyond_the_imports(tcbo, tmp_path):
    assert tcbo("start", "k.db", "knorr_pyrazole")[0] == 0
    for _ in range(12):
        assert tcbo("ask", "k.db")[0] == 0
        assert tcbo("tell", "k.db", "0.2")[0] == 0
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run([sys.executable, "-c", SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.stdout.startswith("move 13"), run.stderr
    seconds = float(run.stderr.split()[-1])
    print(f"ask on knorr_pyrazole: {seconds:.2f} s of processor time beyond the imports")
    assert seconds < 1.0


def test_a_plant_of_another_kind_is_another_problem(tcbo, tmp_path):
    """Found by random commands: a KeyError where a finite plant was held against a continuous one."""
    from random_commands import BOX, LINE

    (tmp_path / "line.py").write_text(LINE)
    (tmp_path / "box.py").write_text(BOX)
    for own, other in (("line.py", "box.py"), ("box.py", "line.py")):
        assert tcbo("start", f"{own}.db", own)[0] == 0
        for words in (("amend", f"{own}.db", "--problem", other), ("ask", f"{own}.db", "--problem", other)):
            code, _, err = tcbo(*words)
            assert code == 2 and err.count("error: ") == 1 and "fault" not in err


def test_a_decimal_comma_is_refused_with_the_remedy(tcbo):
    tcbo("start", "c.db", "own.py")
    tcbo("ask", "c.db")
    for typed in ("0,25", "0,25 mol/l"):
        code, out, err = tcbo("tell", "c.db", typed)
        assert (code, out) == (2, "") and "write a decimal point, not a comma; nothing was recorded" in err
    assert "such as 0.31, with or without a unit" in tcbo("tell", "c.db", "much")[2]
