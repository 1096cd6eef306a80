"""Settings: layers, strict types, and one clear message for whatever is wrong."""

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.settings import RETIRED, Settings, settings_from, stored_settings


def test_later_layers_win_key_by_key():
    settings = settings_from(
        {"planner": {"components": 5, "linear": {"solver": "glpk", "options": {"a": 1}}}, "episodes": 3},
        {"planner": {"linear": {"solver": "highs", "options": {"b": 2.5}}}},
    )
    assert settings.planner.components == 5
    assert settings.planner.linear.solver == "highs"
    assert settings.planner.linear.options == {"a": 1, "b": 2.5}
    assert settings.episodes == 3


def test_no_layers_are_the_defaults():
    assert settings_from() == settings_from({}) == Settings()


def test_another_kind_of_feedback_drops_the_delay():
    delayed = {"feedback": {"kind": "delayed", "delay": 25}}
    assert settings_from(delayed, {"feedback": {"kind": "immediate"}}).feedback.delay == 0
    assert settings_from(delayed, {"feedback": {"delay": 3}}).feedback.delay == 3
    assert settings_from(delayed, {"feedback": {"kind": "delayed"}}).feedback.delay == 25


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        ({"episods": 3}, "unknown setting 'episods'; did you mean 'episodes'?"),
        ({"planner": {"componets": 3}}, "unknown setting 'planner.componets'; did you mean 'components'?"),
        ({"planner": {"linear": {"time": 3}}}, "unknown setting 'planner.linear.time'"),
        ({"planner": {"components": "3"}}, "setting 'planner.components': got '3'"),
        ({"planner": {"components": 0}}, "setting 'planner.components': got 0"),
        ({"planner": {"components": 1.5}}, "setting 'planner.components': got 1.5"),
        ({"planner": {"components": True}}, "setting 'planner.components': got True"),
        ({"planner": 3}, "setting 'planner': got 3"),
        ({"planner": {"linear": {"time_limit": float("nan")}}}, "setting 'planner.linear.time_limit'"),
        ({"planner": {"linear": {"time_limit": -1}}}, "setting 'planner.linear.time_limit': got -1"),
        ({"planner": {"linear": {"hot_start": True}}}, "'planner.linear.hot_start' was removed in 0.2.0; remove it"),
        ({"feedback": {"kind": "late"}}, "setting 'feedback.kind': got 'late'"),
        ({"feedback": {"kind": "delayed"}}, "needs a positive delay"),
        ({"feedback": {"kind": "immediate", "delay": 2}}, "needs a positive delay"),
        ({"episodes": 0}, "setting 'episodes': got 0"),
        ({"start": 3}, "setting 'start"),
        ({"constraints": [{"limits": 3}]}, "setting 'constraints.0.use'"),
    ],
)
def test_wrong_settings_are_named(layer, message):
    with pytest.raises(BadInput) as caught:
        settings_from(layer)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_stored_file_may_name_what_is_gone():
    data = {"episodes": 3, "planner": {"linear": {"solver": "highs", "hot_start": False}}}
    kept = {"episodes": 3, "planner": {"linear": {"solver": "highs", "hot_start": False}}}
    then = {"utility": {"objective": "differences"}, "planner": {"first_move": "eager"}}
    assert stored_settings(data) == settings_from(then, {"episodes": 3, "planner": {"linear": {"solver": "highs"}}})
    assert data == kept
    assert stored_settings({}) == stored_settings({"planner": {}}) == settings_from(then)
    with pytest.raises(BadInput, match=r"unknown setting 'planner\.linear\.time'"):
        stored_settings({"planner": {"linear": {"time": 3, "hot_start": True}}})


def test_what_is_gone_is_gone():
    for name, (version, advice) in RETIRED.items():
        layer = True
        for part in reversed(name.split(".")):
            layer = {part: layer}
        with pytest.raises(BadInput) as caught:
            settings_from(layer)
        assert str(caught.value) == f"setting '{name}' was removed in {version}; {advice}"


names = st.sampled_from(["planner", "linear", "options", "feedback", "kind", "delay", "start", "constraints", "use"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names | st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(names | st.text(max_size=5), values, max_size=4), max_size=3))
@hypothesis_settings(deadline=None)
def test_any_layers_give_settings_or_one_error(layers):
    try:
        assert isinstance(settings_from(*layers), Settings)
    except BadInput as error:
        assert str(error)
