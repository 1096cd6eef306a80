"""Numbers in sentences stay short, whatever their size."""

import pytest

from tcbo_pyomo.foundation.wording import uncertain


@pytest.mark.parametrize(
    "mean, deviation, text",
    [
        (0.4123, 0.0131, "0.412 ± 0.013 g"),
        (12312.841, 0.11, "12312.84 ± 0.11 g"),
        (-1.0073e50, 0.057, "-1.007e+50 ± 0.057 g"),
        (0.5, 3.21e40, "0.5 ± 3.2e+40 g"),
    ],
)
def test_a_value_with_its_uncertainty(mean, deviation, text):
    assert uncertain(mean, deviation, "g") == text
