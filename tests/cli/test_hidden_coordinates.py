"""A campaign on a finite plant whose output does not depend on all of its coordinates, from the command line."""

import csv
import json

import pytest

from tcbo_pyomo.cli import main as cli

CART = """
from tcbo_pyomo import Coordinate, Problem, Process, SquaredExponential

def build(feedback=None, seed=0):
    axes = Coordinate("position", 0, 4, "m"), Coordinate("heading", -1, 1)
    states = {f"{x}{sign}": [x, 1 if sign == "+" else -1] for x in range(5) for sign in "+-"}
    moves = [(f"{x}+", "go", f"{x + 1}+") for x in range(4)] + [("4+", "turn", "4-")]
    moves += [(f"{x}-", "go", f"{x - 1}-") for x in range(1, 5)] + [("0-", "turn", "0+")]
    moves += [(label, "wait", label) for label in states]
    return Problem(name="cart", process=Process.from_moves(axes, states, moves, 0.01), start="1+", horizon=6, episodes=2,
                   kernel=SquaredExponential(1.0, 0.3), inputs=["position"], output="signal",
                   settings={"planner": {"linear": {"solver": "dynamic_programming"}}})
"""


@pytest.fixture
def tcbo(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cart.py").write_text(CART)

    def called(*arguments, code=0):
        with pytest.raises(SystemExit) as stopped:
            cli.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert stopped.value.code == code, captured.err
        return captured.err if code else captured.out

    return called


def test_a_campaign_from_start_to_report(tcbo, tmp_path):
    tcbo("start", "c.db", "cart.py", "--seed", 1)
    where = json.loads(tcbo("ask", "c.db", "--json"))["moves"][0]["set_points"]
    assert set(where) == {"position", "heading"}
    tcbo("tell", "c.db", 0.5, "--at", f"position={where['position']:g}")
    refused = tcbo("tell", "c.db", 0.5, "--at", "position=2.5", "--move", 1, code=2)
    assert "no state at position=2.5" in refused and refused.count("\n") == 1
    # A table that was filled in, of which only the position was read.
    (tmp_path / "schedule.csv").write_text(tcbo("ask", "c.db", "--episode", "--csv"))
    with (tmp_path / "schedule.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["signal"], row["heading"] = str(0.1 * int(row["move"])), ""
    with (tmp_path / "schedule.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    tcbo("tell", "c.db", "--csv", "schedule.csv")
    best = json.loads(tcbo("best", "c.db", "--json"))
    assert set(best["black_box_inputs"]) == {"position"} and set(best["at"]) == {"position", "heading"}
    route = best["how_to_get_there"]
    assert route[-1]["at"] == best["at"] if route else best["at"] == {"position": 1.0, "heading": 1.0}
    text = tcbo("best", "c.db")
    assert "(in the state heading = 1)" in text and "how to get there" in text
    assert "no violations in 6 moves" in tcbo("audit", "c.db")
    tcbo("report", "c.db", "--output", "page.html")
    assert "The output depends on position" in (tmp_path / "page.html").read_text()
    tcbo("export", "c.db", "table.csv")
    assert "position (m),heading" in (tmp_path / "table.csv").read_text().splitlines()[0]
    # Nought lies behind the cart, eight moves away.
    assert "which have 4 distinct inputs" in " ".join(tcbo("check", "cart.py").split())


def test_another_list_of_inputs_is_a_change_to_amend(tcbo, tmp_path):
    tcbo("start", "c.db", "cart.py", "--seed", 1)
    tcbo("ask", "c.db")
    (tmp_path / "cart.py").write_text(CART.replace('["position"]', '["position", "heading"]'))
    shown = " ".join(tcbo("amend", "c.db", "--problem", "cart.py", "--yes").split())
    assert "what the output depends on" in shown
