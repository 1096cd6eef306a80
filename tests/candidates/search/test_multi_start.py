"""Maxima of many functions: known answers, brute force, and scipy's L-BFGS-B from fifty starts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from tcbo_pyomo.candidates.search import multi_start, start_points
from tcbo_pyomo.candidates.search.multi_start import global_maxima, maximise_many
from tcbo_pyomo.candidates.search.projected_ascent import Climb, climb
from tcbo_pyomo.candidates.search.start_points import survey_starts
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.surrogate.continuous_belief import ContinuousBelief
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential


class Parabolas:
    """-(x - c_i)^T A_i (x - c_i) / 2, with random positive definite A_i."""

    def __init__(self, centers, generator):
        self.centers = centers
        roots = generator.standard_normal((len(centers), centers.shape[1], centers.shape[1]))
        self.matrices = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(centers.shape[1])
        self.count = len(centers)

    def rough(self):
        return self

    def value(self, points):
        owners = range(self.count)
        return np.stack([self.value_and_gradient(points, np.full(len(points), i))[0] for i in owners], axis=1)

    def value_and_gradient(self, points, owner):
        offset = points - self.centers[owner]
        gradient = -np.einsum("nij,nj->ni", self.matrices[owner], offset)
        return 0.5 * np.einsum("ni,ni->n", offset, gradient), gradient


class Banana:
    """The Rosenbrock function, negative: one curved ridge with its maximum 0 at (1, 1)."""

    count = 1

    def rough(self):
        return self

    def value_and_gradient(self, points, owner):
        x, y = points.T
        value = -(100 * (y - x**2) ** 2 + (1 - x) ** 2)
        return value, np.stack([400 * x * (y - x**2) + 2 * (1 - x), -200 * (y - x**2)], axis=1)


def posterior_samples(dimension, lengthscale, count, number=60, seed=0):
    generator = np.random.default_rng(seed)
    surrogate = ContinuousBelief(SquaredExponential(1.0, lengthscale), dimension)
    for _ in range(number):
        surrogate.observe(generator.random(dimension) - 0.5, generator.standard_normal(), 1e-2)
    return surrogate.samples(count, generator)


def scipy_maximum(functions, function, starts):
    owner = np.array([function])

    def loss(point):
        value, gradient = functions.value_and_gradient(point[None, :], owner)
        return -value[0], -gradient[0]

    bounds = [(-0.5, 0.5)] * starts.shape[1]
    return max(-minimize(loss, x, jac=True, method="L-BFGS-B", bounds=bounds).fun for x in starts)


def test_parabolas_with_their_centers_inside_and_outside_the_box():
    generator = np.random.default_rng(0)
    functions = Parabolas(generator.uniform(-1.0, 1.0, (40, 4)), generator)
    half = np.full(4, 0.5)
    found = maximise_many(functions, -half, half, generator.random((40, 2, 4)) - 0.5)
    for i in range(40):
        assert found.values[i] == pytest.approx(scipy_maximum(functions, i, found.points[i : i + 1] * 0.5), abs=1e-9)
    inside = (np.abs(functions.centers) < 0.5).all(axis=1)
    np.testing.assert_allclose(found.points[inside], functions.centers[inside], atol=1e-5)


def test_a_curved_ridge_in_a_box_of_another_size():
    starts = np.array([[[-1.5, 2.0], [0.0, -1.0]]])
    found = maximise_many(Banana(), np.array([-2.0, -1.0]), np.array([2.0, 3.0]), starts)
    # The ridge is flat: the height tells more than the place.
    assert found.values[0] > -1e-6
    np.testing.assert_allclose(found.points, [[1.0, 1.0]], atol=2e-3)


def test_a_search_that_does_not_settle_is_finished_by_scipy(monkeypatch):
    monkeypatch.setattr(multi_start, "FINE_ROUNDS", 1)
    found = maximise_many(Banana(), np.full(2, -2.0), np.full(2, 2.0), np.array([[[-1.5, 2.0]]]))
    np.testing.assert_allclose(found.points, [[1.0, 1.0]], atol=1e-4)


def test_a_climb_never_goes_down_and_stays_in_the_box():
    functions = posterior_samples(3, 0.15, 5)
    starts = np.random.default_rng(1).random((200, 3)) - 0.5
    owner = np.arange(200) % 5
    half = np.full(3, 0.5)
    arrived = climb(functions.value_and_gradient, starts, owner, -half, half, 30, np.full(200, 1e-6))
    assert (arrived.values >= functions.value_and_gradient(starts, owner)[0]).all()
    assert (np.abs(arrived.points) <= 0.5).all()
    np.testing.assert_allclose(functions.value_and_gradient(arrived.points, owner)[0], arrived.values, atol=1e-12)


def test_global_maxima_against_a_fine_grid_in_two_dimensions():
    functions = posterior_samples(2, 0.15, 30)
    axis = np.linspace(-0.5, 0.5, 201)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    best = functions.value(grid).max(axis=0)
    found = global_maxima(functions, 2)
    assert (found.values >= best - 1e-9).all()
    assert (found.values <= best + 0.02).all()
    np.testing.assert_allclose(functions.value(found.points).diagonal(), found.values, atol=1e-9)


@pytest.mark.parametrize(("dimension", "lengthscale"), [(3, 0.14), (4, 0.14), (6, 0.22)])
def test_as_good_as_fifty_scipy_searches(dimension, lengthscale):
    functions = posterior_samples(dimension, lengthscale, 16)
    found = global_maxima(functions, dimension)
    starts = np.random.default_rng(4).random((16, 50, dimension)) - 0.5
    reference = [scipy_maximum(functions, i, starts[i]) for i in range(16)]
    assert (found.values >= np.array(reference) - 1e-6).mean() >= 0.95


def test_forbidden_points_are_never_returned():
    functions = posterior_samples(2, 0.15, 50)

    def allowed(points):
        return np.linalg.norm(points, axis=1) > 0.3

    found, free = global_maxima(functions, 2, allowed), global_maxima(functions, 2)
    assert allowed(found.points).all()
    stays = allowed(free.points)
    assert 0 < stays.sum() < 50
    np.testing.assert_allclose(found.values[stays], free.values[stays], atol=1e-6)
    assert (found.values <= free.values + 1e-9).all()
    # Where the maximum is forbidden, the answer is not below any allowed point of the survey.
    starts = survey_starts(functions, 2, allowed)
    surveyed = [functions.value(starts[i])[:, i].max() for i in range(50)]
    assert (found.values >= np.array(surveyed) - 1e-9).all()


def test_a_box_without_an_allowed_point_is_refused():
    with pytest.raises(BadInput, match="forbidden regions"):
        global_maxima(posterior_samples(2, 0.2, 2), 2, lambda points: np.zeros(len(points), dtype=bool))


def test_extra_starts_are_used():
    functions = posterior_samples(2, 0.15, 3)
    extra = np.random.default_rng(5).random((30, 2)) - 0.5
    starts = survey_starts(functions, 2, extra=extra)
    assert starts.shape == (3, 2 * 12 + 8, 2)
    best = extra[functions.value(extra).argmax(axis=0)]
    assert all((starts[i] == best[i]).all(axis=1).any() for i in range(3))


def test_constant_functions_and_one_dimension():
    prior = ContinuousBelief(SquaredExponential(1.0, 0.2), 1)
    found = global_maxima(prior.samples(4, np.random.default_rng(0)), 1)
    line = np.linspace(-0.5, 0.5, 2001)[:, None]
    assert (found.values >= prior.samples(4, np.random.default_rng(0)).value(line).max(axis=0) - 1e-9).all()
    flat = Parabolas(np.zeros((2, 3)), np.random.default_rng(0))
    flat.matrices[:] = 0.0
    np.testing.assert_array_equal(global_maxima(flat, 3).values, 0.0)


def test_a_search_that_has_outgrown_its_prospects_is_still_the_best():
    """Met among pillars: the last round had raised the best search above all that any had promised."""
    ahead = Climb(
        points=np.array([[0.0, 0.0], [0.2, 0.1], [0.4, 0.4]]),
        values=np.array([1.0, 5.225, 3.0]),
        prospects=np.array([1.2, 5.197, 3.1]),
        converged=np.zeros(3, dtype=bool),
        refused=np.zeros(3, dtype=bool),
    )
    assert multi_start._finalists(ahead, np.array([1.7]), np.full(2, 1e-3)).tolist() == [1]


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_few_points_have_the_neighbours_that_a_tree_finds(dimension):
    from scipy.spatial import cKDTree

    points, neighbours = start_points._survey(dimension)
    assert len(points) <= start_points.FEW_POINTS
    ours = np.linalg.norm(points[neighbours] - points[:, None], axis=2)
    theirs = cKDTree(points).query(points, k=start_points.NEIGHBOURS + 1)[0][:, 1:]
    assert np.sort(ours, axis=1) == pytest.approx(theirs, abs=1e-12)
    assert not (neighbours == np.arange(len(points))[:, None]).any()
