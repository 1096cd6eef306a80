"""The worked notebook runs from top to bottom; the build of the site executes it, too, and shows what it prints."""

import contextlib
import io
import json
from pathlib import Path

NOTEBOOK = Path(__file__).parents[2] / "docs" / "worked_campaign.ipynb"


def test_the_notebook_runs_and_is_stored_without_output(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    cells = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)
    space, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        for cell in cells:
            exec("".join(cell["source"]), space)
    assert "recommended:" in printed.getvalue()
    assert space["campaign"].finished and "<table" in space["campaign"]._repr_html_()
