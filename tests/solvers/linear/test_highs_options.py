"""Options of HiGHS: misspelt, of the wrong type, out of range."""

from __future__ import annotations

import highspy
import pytest

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.solvers.linear.highs_options import (
    DEFAULTS,
    check_highs_options,
    describe_highs_options,
    set_highs_options,
)


def test_a_misspelt_option_names_the_right_one():
    with pytest.raises(BadInput, match="no option 'presolv'; did you mean 'presolve'"):
        check_highs_options({"presolv": "off"})


@pytest.mark.parametrize(
    ("name", "setting", "allowed"),
    [
        ("presolve", False, "type: string"),
        ("presolve", "perhaps", '"off", "choose" or "on"'),
        ("threads", 1.5, "type: integer"),
        ("threads", True, "type: integer"),
        ("threads", -1, "range"),
        ("mip_rel_gap", "small", "type: double"),
        ("mip_rel_gap", float("nan"), "type: double"),
        ("primal_feasibility_tolerance", 1e-14, "range"),
        ("output_flag", 1, "type: bool"),
        ("solver", None, "simplex"),
    ],
)
def test_a_wrong_type_or_value_says_what_is_allowed(name, setting, allowed):
    with pytest.raises(BadInput) as caught:
        check_highs_options({name: setting})
    assert name in str(caught.value) and repr(setting) in str(caught.value) and allowed in str(caught.value)
    assert "\n" not in str(caught.value)


def test_whole_numbers_are_fine_for_real_options():
    highs = highspy.Highs()
    set_highs_options(highs, DEFAULTS | {"time_limit": 5, "random_seed": 3, "presolve": "off"})
    assert highs.getOptionValue("time_limit")[1] == 5.0
    assert highs.getOptionValue("primal_feasibility_tolerance")[1] == 1e-10


def test_every_described_option_exists():
    highs = highspy.Highs()
    names = describe_highs_options()
    assert len(names) > 80
    assert all(highs.getOptionType(name)[0] == highspy.HighsStatus.kOk for name in names)
