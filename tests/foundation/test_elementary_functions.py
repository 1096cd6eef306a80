"""Functions of our own against SciPy's: the same to rounding, also where the formulas would overflow or divide by zero."""

import numpy as np
import pytest
import scipy.special

from tcbo_pyomo.foundation.elementary_functions import expit, exprel

EDGES = [0.0, -0.0, 1e-300, -1e-17, 1e-15, 700.0, -700.0, 709.6, 750.0, -750.0, 1e308, -1e308, np.inf, -np.inf]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["expit", "exprel"])
def test_as_scipy(name):
    ours, theirs = {"expit": expit, "exprel": exprel}[name], getattr(scipy.special, name)
    generator = np.random.default_rng(0)
    points = np.concatenate([EDGES, *(size * generator.standard_normal(1000) for size in (1e-8, 1e-3, 1.0, 30.0, 200.0))])
    with np.errstate(over="ignore"):
        expected = theirs(points)
    assert ours(points) == pytest.approx(expected, rel=1e-14, abs=1e-300)
    assert np.isnan(ours(np.array([np.nan]))).all()
