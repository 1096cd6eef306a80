"""Frank-Wolfe on functions whose minimum is known."""

from itertools import pairwise

import numpy as np
import pytest

from tcbo_pyomo.planning.frank_wolfe import frank_wolfe


class Quadratic:
    """|x - target|^2 over the simplex; the empty plan counts as the origin."""

    def __init__(self, target):
        self.target = np.array(target)
        self.visited = []

    def value(self, x):
        return float(
            ((np.zeros(3) if x is None else x) - self.target) @ ((np.zeros(3) if x is None else x) - self.target)
        )

    def linearise(self, x):
        self.visited.append(x)
        return 2 * ((np.zeros(3) if x is None else x) - self.target)


def corner(gradient):
    return np.eye(3)[np.argmin(gradient)]


def mix(parts):
    return sum(weight * point for weight, point in parts)


def test_one_component_linearises_at_the_history_alone():
    quadratic = Quadratic([0.2, 0.5, 0.3])
    mixture = frank_wolfe(quadratic, corner, mix, 1, "harmonic")
    assert quadratic.visited == [None]
    assert len(mixture) == 1 and mixture[0][0] == 1.0 and mixture[0][1].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("rule", "weights"), [("harmonic", [1 / 3, 1 / 3, 1 / 3]), ("diminishing", [1 / 6, 1 / 3, 1 / 2])]
)
def test_step_rules_give_the_weights_worked_by_hand(rule, weights):
    # 1/(1+n): 1, 1/2, 1/3 mixes evenly. 2/(2+n): 1, 2/3, 1/2 leaves (1/3)(1/2), (2/3)(1/2), 1/2.
    mixture = frank_wolfe(Quadratic([0.2, 0.5, 0.3]), corner, mix, 3, rule)
    assert [weight for weight, _ in mixture] == pytest.approx(weights)


@pytest.mark.parametrize("rule", ["harmonic", "diminishing", "line_search"])
def test_converges_to_the_minimum(rule):
    quadratic = Quadratic([0.2, 0.5, 0.3])
    mixture = frank_wolfe(quadratic, corner, mix, 200, rule)
    assert sum(weight for weight, _ in mixture) == pytest.approx(1.0)
    assert quadratic.value(mix(mixture)) < 1e-3


def test_line_search_never_makes_the_value_worse():
    quadratic = Quadratic([0.9, 0.05, 0.05])
    values = [quadratic.value(mix(frank_wolfe(quadratic, corner, mix, n, "line_search"))) for n in range(1, 12)]
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(values))
