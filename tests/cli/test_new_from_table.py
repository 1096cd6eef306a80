"""`tcbo new --data`: a plant from a table as a laboratory writes it; scatter and axes are those that pandas finds."""

import io

import pandas as pd
import pytest

import tcbo_pyomo
from tcbo_pyomo.cli._plain_questions import answers_from
from tcbo_pyomo.cli._plant_from_table import plant_table
from tcbo_pyomo.cli.main import main
from tcbo_pyomo.errors import BadInput

TABLE = """Run;Temperature [°C];pH;Flow rate [mL/min];Conversion [%];Remark
1;35;7,0;1,5;29,2;
2;50;8,0;0,5;62,1;
3;40;6,5;2,0;;leak
4;35;7,0;1,5;27,8;
5;50;8,0;0,5;60,0;good
6;50;8,0;0,5;61,1;
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text(TABLE, encoding="utf-8-sig")
    return tmp_path


def call(*arguments):
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    return stopped.value.code


def test_the_table_says_what_pandas_finds_in_it(folder):
    frame = pd.read_csv(io.StringIO(TABLE), sep=";", decimal=",").dropna(subset=["Conversion [%]"])
    inputs = ["Temperature [°C]", "pH", "Flow rate [mL/min]"]
    groups = frame.groupby(inputs)["Conversion [%]"]
    pooled = (groups.var() * (groups.count() - 1)).sum() / (groups.count() - 1).sum()
    table = plant_table("runs.csv")
    assert table.axes == {name.split(" [")[0]: sorted(frame[name].unique()) for name in inputs}
    assert table.units == {"Temperature": "°C", "pH": "", "Flow rate": "mL/min"}
    assert (table.output, table.output_unit, table.results, table.repeated) == ("Conversion", "%", 5, 2)
    assert table.scatter == pytest.approx(pooled**0.5)
    assert table.start == {"Temperature": 35.0, "pH": 7.0, "Flow rate": 1.5} and table.left_out == ["Run", "Remark"]


def test_the_file_it_writes_is_checked_and_starts_a_campaign_on_the_same_table(folder, capsys):
    assert call("new", "enzyme", "--data", "runs.csv", "--range", "0", "100", "--goal", "42", "--changes-within", "pH=1") == 0
    said = capsys.readouterr().out
    assert "inputs Temperature, pH, Flow rate; output Conversion" in said and "scatter of a repeated measurement: 1 %" in said
    problem = tcbo_pyomo.load_problem("enzyme/enzyme.py")
    assert problem.prior == tcbo_pyomo.PlainPrior((0.0, 100.0), 1.0, {"pH": 1.0}) and problem.goal.data == {"target": 42.0}
    written = (folder / "enzyme" / "enzyme.py").read_text(encoding="utf-8")
    assert "my_plant" not in written and "PAST_CSV" not in written
    assert call("check", "enzyme/enzyme.py") == 0
    assert call("start", "rig.db", "enzyme/enzyme.py", "--data", "runs.csv") == 0
    assert "5 past results from runs.csv" in capsys.readouterr().out
    assert call("ask", "rig.db") == 0


def test_without_a_range_it_says_what_the_table_has(folder, capsys):
    assert call("new", "basin", "--data", "runs.csv") == 2
    said = capsys.readouterr().err
    assert "--range LOW HIGH is missing: between which values can Conversion lie? The table has 27.8 to 62.1" in said
    assert not (folder / "basin").exists()


def test_in_a_terminal_the_questions_are_about_the_plant_of_the_table(folder, monkeypatch):
    asked = []
    monkeypatch.setattr("typer.prompt", lambda question, default: asked.append((question, default)) or default)
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    known = tcbo_pyomo.PlainPrior((0.0, 80.0), None)
    prior, _ = answers_from(None, None, None, False, None, known, ("pH", "Flow rate"))
    assert prior == known
    assert [question for question, _ in asked if question.startswith("Change of")] == [
        "Change of pH that changes the output markedly, or unknown",
        "Change of Flow rate that changes the output markedly, or unknown",
    ]


def test_many_different_values_become_an_even_axis_that_holds_them_all(folder):
    rows = "".join(f"{x},{x * x}\n" for x in (0.1 * k for k in range(31)))
    (folder / "many.csv").write_text("x,y\n" + rows)
    axis = plant_table("many.csv").axes["x"]
    assert len(axis) == 9 and (axis[0], axis[-1]) == (0.0, 30 * 0.1) and axis[4] == 1.5


def test_headings_with_quotes_are_written_as_python(folder):
    (folder / "odd 'name'.csv").write_text('"say ""x""",y \\ z\n1,2\n2,3\n')
    assert call("new", "odd_headings", "--data", "odd 'name'.csv", "--range", "0", "5") == 0
    problem = tcbo_pyomo.load_problem("odd_headings/odd_headings.py")
    assert (problem.coordinates[0].name, problem.output) == ('say "x"', "y \\ z")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("x,y\n", (), "no row has|needs columns of numbers"),
        ("a,b\nhot,cold\n", (), "needs columns of numbers, one for each input and one for the result; found none"),
        ("x,y\n1,2\n1,3\n", (), "column 'x' has only the value 1"),
        ("x,y\n1,2\n2\n", (), "row 3: 1 cells, the header has 2"),
        ("x,y\n1,2\n2,3\n", ("z",), "no column 'z'; known: x, y"),
        ("x,y\n1,\n,3\n", (), "no row has a number in each of the columns x, y"),
    ],
)
def test_tables_that_show_no_plant(folder, text, options, message):
    (folder / "t.csv").write_text(text)
    with pytest.raises(BadInput, match=message):
        plant_table("t.csv", *options)


def test_an_output_without_a_table_is_refused(folder, capsys):
    assert call("new", "basin", "--output", "y") == 2
    assert "give both" in capsys.readouterr().err


def test_a_table_needs_a_name(folder, capsys):
    assert call("new", "basin", "--data", "-", "--range", "0", "1") == 2
    assert "give a name" in capsys.readouterr().err
