"""The utility is the posterior variance of the exact Gaussian process, and its gradient is its derivative."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_processes import random_process
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from tcbo_pyomo.models.visitation import Visitation
from tcbo_pyomo.planning.finite.planned_posterior import FeaturePosterior, KernelPosterior
from tcbo_pyomo.planning.finite.utility import Utility
from tcbo_pyomo.surrogate.features import exact_factor
from tcbo_pyomo.surrogate.finite_belief import FiniteBelief
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

KERNEL = SquaredExponential(1.3, 0.3)


def make(seed, objective="differences", form="features", successors=3, visits=4):
    """A utility after some visits, and the (state, noise variance) of each visit."""
    process = random_process(seed, 9, 4, successors, move_noise=True)
    rng = np.random.default_rng(seed + 1)
    made = [
        (int(process.transitions.indices[e]), float(process.noise_variance[e]))
        for e in rng.integers(0, process.transitions.nnz, visits)
    ]
    points = process.scaled_states
    belief = FiniteBelief(np.zeros(len(points)), exact_factor(KERNEL, points))
    history = np.zeros(len(points))
    for state, noise in made:
        belief.observe(state, None, noise)
        history[state] += 1.0 / noise

    def posterior(planned):
        if form == "features":
            return FeaturePosterior(belief.factor, planned)
        return KernelPosterior(KERNEL(points, points), history if planned is None else history + planned)

    candidates = np.sort(rng.choice(len(points), size=5, replace=False))
    return process, Utility(process, posterior, candidates, objective, rng), made


def random_visitation(process, seed, steps=3):
    rng = np.random.default_rng(seed)
    pairs = rng.choice(process.number_of_pairs, size=steps)
    return Visitation(np.arange(steps), pairs, np.ones(steps))


@pytest.mark.parametrize("seed", range(5))
def test_value_is_the_variance_of_the_exact_gaussian_process_with_move_dependent_noise(seed):
    """The additivity lemma: a planned path counts exactly as measurements at the states it visits."""
    process, utility, made = make(seed, successors=1)
    planned = random_visitation(process, seed)
    planned_states = process.successor[planned.pair]
    x = process.scaled_states[[state for state, _ in made] + planned_states.tolist()]
    noise = np.array(
        [n for _, n in made] + [process.noise_of(p, s) for p, s in zip(planned.pair, planned_states, strict=True)]
    )
    oracle = GaussianProcessRegressor(ConstantKernel(1.3, "fixed") * RBF(0.3, "fixed"), alpha=noise, optimizer=None)
    oracle.fit(x, np.zeros(len(x)))
    _, covariance = oracle.predict(process.scaled_states[utility.candidates], return_cov=True)
    variance = np.diag(covariance)
    expected = (variance[:, None] + variance - 2 * covariance).max()
    assert utility.value(planned) == pytest.approx(expected, rel=1e-8)


@given(st.integers(0, 10**6), st.sampled_from(["differences", "g_allocation"]))
@settings(max_examples=25)
def test_general_kernel_form_gives_the_same_values_and_gradients(seed, objective):
    process, features, _ = make(seed, objective, "features")
    _, kernel, _ = make(seed, objective, "kernel")
    for planned in (None, random_visitation(process, seed)):
        one, other = features.linearise(planned), kernel.linearise(planned)
        assert one.value == pytest.approx(other.value, rel=1e-8)
        np.testing.assert_allclose(one.gradient, other.gradient, rtol=1e-8, atol=1e-8 * np.abs(other.gradient).max())


@given(st.integers(0, 10**6), st.sampled_from(["differences", "g_allocation"]))
@settings(max_examples=25)
def test_gradient_equals_finite_differences(seed, objective):
    process, utility, _ = make(seed, objective)
    rng = np.random.default_rng(seed)
    pairs = np.arange(process.number_of_pairs)
    counts = rng.random(len(pairs))

    def value(counts):
        return utility.value(Visitation(np.zeros(len(pairs), dtype=int), pairs, counts))

    gradient = utility.linearise(Visitation(np.zeros(len(pairs), dtype=int), pairs, counts)).gradient
    for pair in rng.choice(pairs, size=3):
        step = np.zeros(len(pairs))
        step[pair] = 1e-5
        slope = (value(counts + step) - value(counts - step)) / 2e-5
        assert gradient[pair] == pytest.approx(slope, rel=2e-5, abs=1e-9)


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_utility_is_convex_and_never_grows_with_more_visits(seed):
    process, utility, _ = make(seed)
    rng = np.random.default_rng(seed)
    pairs = np.arange(process.number_of_pairs)

    def value(counts):
        return utility.value(Visitation(np.zeros(len(pairs), dtype=int), pairs, counts))

    one, other, share = rng.random(len(pairs)), rng.random(len(pairs)), rng.random()
    assert value(share * one + (1 - share) * other) <= share * value(one) + (1 - share) * value(other) + 1e-10
    assert value(one + other) <= value(one) + 1e-10


def test_two_candidates_worked_by_hand():
    """Two states with prior variances 1 and 4 and no correlation; each visit adds precision 1/0.5 = 2."""
    from tcbo_pyomo.foundation.coordinates import Coordinate
    from tcbo_pyomo.plant.process import Process

    process = Process.from_moves(
        [Coordinate("x", 0, 1)], {"a": [0], "b": [1]}, [("a", "to b", "b"), ("b", "to a", "a")], noise_variance=0.5
    )
    factor = np.diag([1.0, 2.0])
    utility = Utility(
        process, lambda w: FeaturePosterior(factor, w), np.array([0, 1]), "differences", np.random.default_rng(0)
    )
    assert utility.value() == pytest.approx(5.0)
    # Pair 0 arrives at b: Cov[f(b) - f(a), f(b)] = 4, squared over 0.5; pair 1 arrives at a: 1 / 0.5.
    np.testing.assert_allclose(utility.linearise().gradient, [-32.0, -2.0])
    one_visit_of_b = Visitation(np.array([0]), np.array([0]), np.array([1.0]))
    assert utility.value(one_visit_of_b) == pytest.approx(1.0 + 1.0 / (1.0 / 4.0 + 2.0))


def test_a_single_candidate_falls_back_to_its_own_variance():
    _, utility, _ = make(0)
    alone = Utility(utility.process, utility.posterior, utility.candidates[:1], "differences", utility.generator)
    tangent = alone.linearise()
    assert tangent.second is None and tangent.value > 0 and (tangent.gradient < 0).any()
