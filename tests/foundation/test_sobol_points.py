"""Sobol points of our own against SciPy's, bit for bit: plans that were recorded start from them."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import qmc

from tcbo_pyomo.foundation.sobol_points import DIRECTIONS, scrambled_sobol


@pytest.mark.parametrize("dimension", [*range(1, len(DIRECTIONS) + 1), 20])
def test_the_points_are_those_of_scipy_bit_for_bit(dimension):
    for exponent in (0, 1, 9, 12):
        for seed in (0, 7):
            theirs = qmc.Sobol(dimension, rng=np.random.default_rng(seed)).random_base2(exponent)
            ours = scrambled_sobol(dimension, exponent, seed)
            assert ours.dtype == theirs.dtype
            assert ours.tobytes() == np.ascontiguousarray(theirs).tobytes()


def test_every_half_and_quarter_of_an_axis_holds_its_share():
    points = scrambled_sobol(6, 8)
    for parts in (2, 4, 256):
        for column in (points * parts).astype(int).T:
            assert set(np.bincount(column, minlength=parts)) == {256 // parts}


def test_they_come_without_scipy_stats():
    program = (
        "import sys; from tcbo_pyomo.foundation.sobol_points import scrambled_sobol; scrambled_sobol(6, 12); "
        "sys.exit('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
