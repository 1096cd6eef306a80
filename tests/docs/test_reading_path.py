"""The reading path of docs/architecture.md is the way that a default run of a finite plant goes."""

import re
import sys
from pathlib import Path

from tcbo_pyomo.cli.main import main

ROOT = Path(__file__).parents[2]


def named_files():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition("## A reading path")[2].partition("\n## ")[0]
    return re.findall(r"`([\w/]+\.py)`", section)


def test_a_default_run_goes_through_every_file_that_the_reading_path_names(capsys):
    files = named_files()
    places = [ROOT / ("" if name.startswith("models/") else "tcbo_pyomo") / name for name in files]
    assert len(places) >= 4 and all(place.is_file() for place in places)
    called = set()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_name != "<module>":
            called.add(frame.f_code.co_filename)

    try:
        sys.setprofile(note)
        main(["run", "knorr_pyrazole", "--episodes", "1"])
    except SystemExit as end:
        assert end.code == 0, capsys.readouterr().err
    finally:
        sys.setprofile(None)
    assert [str(place) for place in places if str(place) not in called] == []
