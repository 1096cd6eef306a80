"""Strict YAML: what a line looks like is what it means; everything else is one error with file and line."""

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.settings_file import DEEPEST_NESTING, parse_assignment, read_settings, settings_template
from tcbo_pyomo.settings import Settings, settings_from


@pytest.fixture
def read(tmp_path):
    def written(content):
        path = tmp_path / "settings.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_settings(path)

    return written


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("-1.5E+3", -1500.0),
        (".5", 0.5),
        ("2.", 2.0),
        ("10", 10),
        ("-7", -7),
        ("010", "010"),
        ("1_000", "1_000"),
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("NO", "NO"),
        ("on", "on"),
        ("Off", "Off"),
        ("y", "y"),
        ("null", None),
        ("~", None),
        ("", None),
        ("12:30:00", "12:30:00"),
        ("2026-01-31", "2026-01-31"),
        (".inf", ".inf"),
        ("'1e-3'", "1e-3"),
        ("[1, x, 2.5]", [1, "x", 2.5]),
        ("{a: {b: 1}}", {"a": {"b": 1}}),
        ("residence_time=4, ratio=0.3", "residence_time=4, ratio=0.3"),
    ],
)
def test_values_mean_what_they_look_like(read, text, value):
    found = read(f"key: {text}")["key"]
    assert found == value
    assert type(found) is type(value)


def test_byte_order_mark_and_windows_lines(read):
    assert read(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n") == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2\n", "line 4: 'c' is given twice"),
        ("a: &x 1\nb: *x\n", "line 1: anchors"),
        ("a: 1\nb: *x\n", "line 2: anchors"),
        ("a: !!python/object/apply:os.system ['true']\n", "line 1: the tag"),
        ("a: !!binary aaaa\n", "line 1: the tag"),
        ("a: !!set {x}\n", "line 1: the tag"),
        ("a: 1\n3: 2\n", "line 2: the name 3 must be a text"),
        ("a: 1\nb: [1, 2\n", "expected ',' or ']'"),
        ("a: 1\n\tb: 2\n", "line 2: "),
        ("a: 1\n---\nb: 2\n", "line 2: expected a single document"),
        ("- a\n- b\n", "but has a list"),
        ("just text\n", "but has only 'just text'"),
        ("", "is empty"),
        ("# only a comment\n", "is empty"),
        (b"a: 1\nb: \xff\xfe\n", "line 2: not UTF-8"),
        ("a: 1\n".encode("utf-16"), "not UTF-8"),
        (b"a: 1\nb: \x00\n", "line 2: character '\\x00'"),
        ("a: " + "[" * 5000, "line 1: nested more than"),
        ("a: " + "{b: " * 5000, "line 1: nested more than"),
        ("a: " + "9" * 5000, "is not a usable number"),
        ("a: 1e999", "'1e999' is not a usable number"),
        ("a: " + "x" * 200_000, "larger than"),
    ],
)
def test_refused_files_name_file_and_line(read, content, message):
    with pytest.raises(BadInput) as caught:
        read(content)
    assert message in str(caught.value)
    assert "settings.yaml'" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_nesting_that_settings_need_is_allowed(read):
    depth = DEEPEST_NESTING - 2
    assert read("a: " + "[" * depth + "]" * depth)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(BadInput, match="No such file"):
        read_settings(tmp_path / "missing.yaml")
    with pytest.raises(BadInput, match="Is a directory"):
        read_settings(tmp_path)
    with pytest.raises(BadInput, match="null"):
        read_settings("a\0b")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("planner.components=10", {"planner": {"components": 10}}),
        ("planner.linear.options.mip_rel_gap=1e-4", {"planner": {"linear": {"options": {"mip_rel_gap": 1e-4}}}}),
        ("start={residence_time: 0, ratio: 0.5}", {"start": {"residence_time": 0, "ratio": 0.5}}),
        ("start=residence_time=4, ratio=0.3", {"start": "residence_time=4, ratio=0.3"}),
        ("episodes=null", {"episodes": None}),
        ("method = NO ", {"method": "NO"}),
    ],
)
def test_assignments(text, value):
    assert parse_assignment(text) == value


@pytest.mark.parametrize(
    "text", ["", "planner", "=3", ".=3", "a..b=1", "a.=1", "a=", "a=  ", "a=[1", "a=*x", "a={b: 1, b: 2}"]
)
def test_malformed_assignments(text):
    with pytest.raises(BadInput, match="--set") as caught:
        parse_assignment(text)
    assert "\n" not in str(caught.value)


def test_template_loads_to_the_defaults_and_explains_every_setting(read):
    template = settings_template()
    assert settings_from(read(template)) == Settings()
    lines = template.splitlines()
    values = [i for i, line in enumerate(lines) if line and not line.lstrip().startswith("#")]
    assert len(values) > 15
    assert all(lines[i - 1].lstrip().startswith("#") for i in values)
    assert max(map(len, lines)) <= 110


pieces = st.lists(
    st.sampled_from(
        [
            "a: ",
            "b",
            "\n",
            "  ",
            "- ",
            "[",
            "]",
            "{",
            "}",
            ",",
            "&x ",
            "*x",
            "!!int ",
            "? ",
            ": ",
            "'",
            '"',
            "|",
            ">",
            "1e-3",
            "%",
            "#",
            "<<",
            "---",
            "\t",
            "\r",
        ]
    )
    | st.text(max_size=3),
    max_size=25,
).map("".join)


@given((st.text() | pieces).map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary())
@example(b"!!int ''")
@example(b"!!float ''")
@example(b"!!bool x")
@example(b"!!map [1]")
@example(b"? {a: 1}\n: 2")
@hypothesis_settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_file_gives_a_dict_or_one_error(read, content):
    try:
        assert isinstance(read(content), dict)
    except BadInput as error:
        assert "settings.yaml" in str(error)


@given(st.text() | pieces.map(lambda text: f"a={text}"))
@hypothesis_settings(max_examples=300, deadline=None)
def test_any_assignment_gives_a_dict_or_one_error(text):
    try:
        assert isinstance(parse_assignment(text), dict)
    except BadInput as error:
        assert "--set" in str(error)
