"""One function gives the factor of a finite process, whichever features the settings name."""

from __future__ import annotations

import numpy as np
import pytest

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.surrogate.features import default_number, state_factor


@pytest.mark.parametrize(
    ("name", "number", "error"),
    [
        ("exact", None, 1e-14),
        ("nystroem", 40, 1e-3),
        ("nystroem", None, 1e-12),
        ("random_fourier", None, 1e-3),
    ],
)
def test_every_name_factors_the_covariance(knorr, grid, name, number, error):
    factor = state_factor(knorr, grid, name, number, np.random.default_rng(0))
    assert factor.shape[0] == 121 and factor.shape[1] <= 128
    assert np.abs(factor @ factor.T - knorr(grid, grid)).max() < error


def test_default_number_is_the_papers():
    assert [default_number(dimension) for dimension in (1, 2, 3, 4, 6)] == [64, 128, 256, 512, 512]


@pytest.mark.parametrize(
    ("name", "number", "message"),
    [
        ("nystrom", None, "unknown features 'nystrom'; did you mean 'nystroem'. known: exact, nystroem"),
        ("exact", 10, "features 'exact' take no number, got 10"),
        ("nystroem", 0, "number of features 0 must be a whole number of at least 1"),
        ("random_fourier", 2.5, "number of features 2.5 must be a whole number"),
        ("nystroem", True, "number of features True must be a whole number"),
    ],
)
def test_bad_names_and_numbers_are_refused(knorr, grid, name, number, message):
    with pytest.raises(BadInput, match=message):
        state_factor(knorr, grid, name, number, np.random.default_rng(0))
