"""The Wilson score interval of a share."""

from __future__ import annotations

from math import sqrt

# 97.5 % quantile of the normal distribution: a two-sided interval of 95 %.
Z = 1.959963984540054


def wilson_interval(successes: int, number: int, z: float = Z) -> tuple[float, float]:
    """Lower and upper end for `successes` out of `number`; it stays within [0, 1] and has a width at 0 and 1 too.

    (p + z^2 / 2n  -+  z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n),   p = successes / n
    """
    share = successes / number
    middle = share + z**2 / (2 * number)
    half = z * sqrt(share * (1 - share) / number + z**2 / (4 * number**2))
    scale = 1 + z**2 / number
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)
