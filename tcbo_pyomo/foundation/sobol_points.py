"""Scrambled Sobol points of the unit cube, bit for bit those of `scipy.stats.qmc.Sobol`, which loads slowly.

Each coordinate has direction numbers v_0, v_1, ... from a recurrence over a primitive polynomial (Sobol 1967; initial numbers
of Joe and Kuo 2008). Point n is the sum modulo 2 of those that the Gray code of n names. Scrambling multiplies the digits of
every direction number by a random lower triangular matrix and adds a random shift (Matousek 1998).
"""

from __future__ import annotations

import numpy as np

from tcbo_pyomo.foundation.arrays import Array

DIGITS = 30
DIRECTIONS: tuple[tuple[int, tuple[int, ...]], ...] = (
    (1, ()),
    (3, (1,)),
    (7, (1, 3)),
    (11, (1, 3, 1)),
    (13, (1, 1, 1)),
    (19, (1, 1, 3, 3)),
    (25, (1, 3, 5, 13)),
    (37, (1, 1, 5, 5, 17)),
    (41, (1, 1, 5, 5, 5)),
    (47, (1, 1, 7, 11, 19)),
    (55, (1, 1, 5, 1, 1)),
    (59, (1, 1, 1, 3, 11)),
    (61, (1, 3, 5, 5, 31)),
    (67, (1, 3, 3, 9, 7, 49)),
    (91, (1, 1, 1, 15, 21, 21)),
    (97, (1, 3, 1, 13, 27, 49)),
)
"""Per coordinate the polynomial, its coefficients as binary digits, and the first direction numbers."""


def scrambled_sobol(dimension: int, exponent: int, seed: int = 0) -> Array:
    """The first 2^exponent scrambled Sobol points of [0, 1)^d, 2^exponent x d; the same for the same seed."""
    if dimension > len(DIRECTIONS):
        from scipy.stats import qmc  # It has the numbers of 21,201 coordinates.

        return np.asarray(qmc.Sobol(dimension, rng=np.random.default_rng(seed)).random_base2(exponent))
    (stream,) = np.random.default_rng(seed).spawn(1)  # As SciPy does with the one it is given.
    powers = 2 ** np.arange(DIGITS, dtype=np.uint32)
    shift = stream.integers(2, size=(dimension, DIGITS), dtype=np.uint32) @ powers
    mixing = np.tril(stream.integers(2, size=(dimension, DIGITS, DIGITS), dtype=np.uint32), -1)
    mixing |= np.eye(DIGITS, dtype=np.uint32)
    # Digits of the direction numbers (leading digit first) in rows, one column per number.
    numbers = np.array([_direction_numbers(*DIRECTIONS[axis]) for axis in range(dimension)], dtype=np.uint32)
    digits = (numbers[:, None, :] >> np.arange(DIGITS - 1, -1, -1, dtype=np.uint32)[:, None]) & 1
    scrambled = (powers[::-1] @ ((mixing @ digits) % 2)).astype(np.uint32)
    points = shift.astype(np.uint32)[None, :]
    for place in range(exponent):
        # The Gray code of 2^b + r is that of 2^b - 1 - r with digit b set.
        points = np.concatenate([points, points[::-1] ^ scrambled[:, place]])
    return np.asarray(points * 2.0**-DIGITS, dtype=np.float64)


def _direction_numbers(polynomial: int, first: tuple[int, ...]) -> list[int]:
    """v_0 to v_29 as whole numbers of 30 digits."""
    degree = len(first)
    numbers = list(first) if first else [1] * DIGITS
    for j in range(len(numbers), DIGITS):
        new = numbers[j - degree]
        for k in range(1, degree + 1):
            new ^= (polynomial >> (degree - k) & 1) * (numbers[j - k] << k)
        numbers.append(new)
    return [number << (DIGITS - 1 - j) for j, number in enumerate(numbers)]
