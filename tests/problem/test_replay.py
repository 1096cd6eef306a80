"""Replay of a table: units, replicates and moves by hand, a campaign, and one clear error for every bad file."""

import numpy as np
import pytest

from tcbo_pyomo import run_campaign, settings_from
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.csv_table import read_table
from tcbo_pyomo.models.constraints import NonDecreasing
from tcbo_pyomo.problem.replay import replay_problem
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

KERNEL = SquaredExponential(0.25, 0.5)
GOOD = """temperature (degC),flow [mL/min],note,yield (%)
40,1,first,30
50,1,,50
40,1,again,34
60,2,"hot, fast",70

50,1,,52
"""


@pytest.fixture
def write(tmp_path):
    def written(content, name="past.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def replay(path, **changes):
    given = {"inputs": {"temperature": "K", "flow": "mL/min"}, "output": "yield", "kernel": KERNEL}
    return replay_problem(path, **{**given, **changes})


def test_points_truth_noise_and_units_by_hand(write):
    problem = replay(write(GOOD))
    np.testing.assert_allclose(problem.process.states, [[313.15, 1], [323.15, 1], [333.15, 2]])
    assert [(c.name, c.unit) for c in problem.coordinates] == [("temperature", "K"), ("flow", "mL/min")]
    assert problem.truth.tolist() == [32.0, 51.0, 70.0]
    # (30 - 32)^2 + (34 - 32)^2 + (50 - 51)^2 + (52 - 51)^2 over 5 rows less 3 points.
    assert set(problem.process.noise_variance) == {10 / 2}
    assert (problem.start_state, problem.horizon, problem.episodes) == (0, 5, 1)
    assert (problem.name, problem.output, problem.output_unit) == ("past", "yield", "%")


def test_moves_follow_the_limits_and_staying_is_one(write):
    problem = replay(write(GOOD), maximum_step={"temperature": (0, 10), "flow": 1}, horizon=2)
    process = problem.process
    moves = set(zip(process.pair_state.tolist(), process.successor.tolist(), strict=True))
    assert moves == {(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)}
    assert [rule.name for rule in problem.rules] == ["MaximumStep"]
    free = replay(write(GOOD)).process
    assert free.number_of_pairs == 9


def test_limits_may_be_pyomo_quantities(write):
    from pyomo.environ import units

    problem = replay(write(GOOD), maximum_step={"flow": 500 * units.microliter / units.minute})
    assert problem.process.number_of_pairs == 5


def test_options(write):
    path = write(GOOD)
    problem = replay(
        path,
        inputs=["temperature"],
        start={"temperature": 50},
        noise_variance=0.5,
        horizon=3,
        episodes=2,
        name="mine",
        constraints=[NonDecreasing("temperature")],
        settings={"feedback": {"kind": "episodic"}},
    )
    assert (problem.name, problem.horizon, problem.episodes) == ("mine", 3, 2)
    assert problem.describe(problem.start_state) == {"temperature": 50.0}
    assert problem.coordinates[0].unit == "degC"
    assert set(problem.process.noise_variance) == {0.5}
    assert problem.settings == {"feedback": {"kind": "episodic"}}
    assert replay(path, inputs="temperature").coordinates[0].name == "temperature"


def test_a_header_without_unit_is_taken_in_the_unit_wanted(write):
    path = write("temperature,y\n300,1\n310,2\n300,1.5\n")
    problem = replay(path, inputs={"temperature": "K"}, output="y")
    assert problem.process.states.ravel().tolist() == [300.0, 310.0]
    assert problem.coordinates[0].unit == "K"


def test_byte_order_mark_and_windows_lines(write):
    table = read_table(write(b"\xef\xbb\xbfa,b\r\n1,2\r\n3,4\r\n"), {"a": None, "b": None})
    assert table.values.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_campaign_finds_the_best_point_of_the_table(write):
    rng = np.random.default_rng(0)
    rows = ["x,z,y"]
    for x in range(5):
        for z in range(4):
            value = np.exp(-((x - 3) ** 2 + (z - 2) ** 2) / 4)
            rows += [f"{x},{z},{value + 0.02 * rng.standard_normal():.4f}" for _ in range(2)]
    problem = replay(
        write("\n".join(rows)), inputs=["x", "z"], output="y", maximum_step={"x": 1, "z": 1}, horizon=8, episodes=4
    )
    assert problem.process.noise_variance[0] == pytest.approx(0.02**2, rel=0.8)
    result = run_campaign(problem, settings_from(dict(problem.settings)), seed=1)
    assert result.episodes[-1].recommendation == {"x": 3.0, "z": 2.0}
    for path in result.paths:
        assert (np.abs(np.diff(problem.process.states[path], axis=0)) <= 1).all()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("temperature (K),flow,yield\n", "row 1: there is a header but no measurements"),
        ("temperature (K),yield\n300,1\n", "row 1: no column 'flow'; known: temperature, yield"),
        ("temperature (K),flow,flow,yield\n1,2,3,4\n", "row 1: column 'flow' occurs twice"),
        ("flow (mL/min),flow (L/min),temperature,yield\n1,2,3,4\n", "row 1: column 'flow' occurs twice"),
        ("temperature (K),flow,yield,\n300,1,2,3\n", "row 1: column 4 is headed ''"),
        ("temperature (K)),flow,yield\n300,1,2\n", "write 'name' or 'name (unit)'"),
        ("temperature|flow|yield\n300|1|2\n", "no column 'temperature'"),
        ("temperature,flow,yield\n300,1,2\n310,hot,3\n", "row 3, column 'flow': 'hot' is not a number"),
        ("temperature,flow,yield\n300,1,2\n\n310,,3\n", "row 4, column 'flow': '' is not a number"),
        ("temperature,flow,yield\n300,1,nan\n", "row 2, column 'yield': 'nan' is not a finite number"),
        ("temperature,flow,yield\n300,1,inf\n", "row 2, column 'yield': 'inf' is not a finite number"),
        ("temperature,flow,yield\n300,1_0,2\n", "row 2, column 'flow': '1_0' is not a number"),
        ("temperature,flow,yield\n300,1,2\n310,2\n", "row 3: 2 cells, the header has 3"),
        ("temperature,flow,yield\n300,1,2\n310,2,3,4\n", "row 3: 4 cells, the header has 3"),
        ('temperature,flow,yield\n300,"1,2\n', "not CSV"),
        (b"temperature,flow,yield\n300,1,2\n310,2,\xb0\n", "row 3: not UTF-8 text"),
        ("temperature,flow,yield\n300,1,2\n".encode("utf-16"), "row 1: not UTF-8 text"),
        (
            "temperature (min),flow,yield\n300,1,2\n310,2,3\n",
            "column 'temperature': unit 'min' does not convert to 'K'",
        ),
        ("temperature (florps),flow,yield\n300,1,2\n310,2,3\n", "unit 'florps' does not convert"),
        ("temperature,flow,yield\n300,1,2\n310,1,3\n", "column 'flow' is 1 in every row"),
        ("temperature,flow,yield\n300,1,2\n310,2,3\n", "give noise_variance"),
        ("temperature,flow,yield\n300,1,2\n300,1,2\n310,2,3\n", "give noise_variance"),
    ],
)
def test_a_bad_table_is_one_clear_error(write, content, message):
    with pytest.raises(BadInput) as caught:
        replay(write(content))
    assert message in str(caught.value)
    assert "past.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_wrong_arguments(write, tmp_path):
    path = write(GOOD)
    for wrong in (tmp_path / "missing.csv", tmp_path, "a\0b"):
        with pytest.raises(BadInput, match="table"):
            replay(wrong)
    with pytest.raises(BadInput, match="not the output"):
        replay(path, inputs=["temperature", "yield"])
    with pytest.raises(BadInput, match="at least one column"):
        replay(path, inputs=[])
    with pytest.raises(BadInput, match="unknown coordinate 'pressure'"):
        replay(path, maximum_step={"pressure": 1})
    with pytest.raises(BadInput, match="noise variance"):
        replay(path, noise_variance=-1.0)
    with pytest.raises(BadInput, match="no state at"):
        replay(path, start={"temperature": 313.15, "flow": 2})


def test_a_table_with_too_many_points(write):
    content = "x,y\n" + "\n".join(f"{i},{i % 7}" for i in range(2001))
    with pytest.raises(BadInput, match="2001 distinct points, at most 2000"):
        replay(write(content), inputs=["x"], output="y", noise_variance=1.0)
