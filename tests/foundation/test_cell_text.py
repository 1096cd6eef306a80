"""Tables as spreadsheets of different languages write them; pandas is the independent reader."""

import io

import pandas as pd
import pytest

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.csv_table import finite_number, read_table

ENGLISH = "temperature (K),flow,remark\n300.5,1,\n-310,0.25,leak\n3.2e2,2,x\n"


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_same_table_in_every_spelling(tmp_path, separator, decimal, end):
    text = ENGLISH.replace(",", separator).replace(".", decimal)
    file = tmp_path / "table.csv"
    file.write_bytes(text.replace("\n", end).encode("utf-8-sig"))
    read = read_table(file, {"temperature": "K", "flow": None})
    frame = pd.read_csv(io.StringIO(text), sep=separator, decimal=decimal)
    assert read.values.tolist() == frame.iloc[:, :2].to_numpy(dtype=float).tolist()
    assert read.rows == (2, 3, 4)


def test_a_comma_in_a_heading_or_a_remark_does_not_separate(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text('note, by hand;temperature;flow\nfirst, and hot;300,5;1\n"a; b";310;2\n')
    assert read_table(file, {"temperature": None, "flow": None}).values.tolist() == [[300.5, 1.0], [310.0, 2.0]]


def test_points_that_may_separate_thousands_are_refused_beside_decimal_commas(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("temperature;flow\n300,5;1\n310;1.250\n")
    with pytest.raises(BadInput, match=r"row 3: '1\.250' may mean 1\.250 or 1250"):
        read_table(file, {"temperature": None, "flow": None})
    file.write_text("temperature;flow\n300;1\n310;1.250\n")
    assert read_table(file, {"flow": None}).values.tolist() == [[1.0], [1.25]]


def test_a_quoted_decimal_comma_between_commas_is_refused_with_the_remedy(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text('temperature,flow\n300,"29,2"\n')
    with pytest.raises(BadInput, match=r"row 2, column 'flow': '29,2' is not a number; write 29\.2"):
        read_table(file, {"temperature": None, "flow": None})
    with pytest.raises(BadInput, match=r"'hot' is not a number$"):
        finite_number("hot", "here")
