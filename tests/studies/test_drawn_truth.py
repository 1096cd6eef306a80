"""Truths drawn from the prior: their distribution, their maxima, and studies of plants whose truth nobody knows."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tcbo_pyomo import (
    BoxActions,
    ContinuousProblem,
    Coordinate,
    LinearDynamics,
    PlainPrior,
    Problem,
    grid_process,
    load_problem,
)
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import physical
from tcbo_pyomo.problem import drawn_truth
from tcbo_pyomo.studies import read_study, run_study
from tcbo_pyomo.studies.execution import with_drawn_truth
from tcbo_pyomo.studies.runs import runs_of

HERE = Path(__file__).parent
TINY = str(HERE / "tiny_reactor.py")
STUDY = """
name: rehearsal
problems: [tiny_reactor.py]
methods: [mdp_bo, local_ucb]
truth: drawn
seeds: 1..3
"""


@pytest.mark.parametrize(("largest_matrix", "number"), [(1500, 2000), (4, 400)], ids=["matrix", "features"])
def test_draws_have_the_mean_and_the_covariance_of_the_kernel(largest_matrix, number, monkeypatch):
    monkeypatch.setattr(drawn_truth, "LARGEST_MATRIX", largest_matrix)
    problem = load_problem(TINY)
    values = np.array([with_drawn_truth(problem, seed).truth for seed in range(number)])
    points = problem.process.scaled_states
    expected = problem.kernel(points, points)
    # The sample covariance of normal values has the standard deviation sqrt((k_ij^2 + k_ii k_jj) / n); 256 of them.
    spread = np.sqrt((expected**2 + np.outer(expected.diagonal(), expected.diagonal())) / number)
    assert (np.abs(np.cov(values.T) - expected) < 4.5 * spread).all()
    assert (
        np.abs(values.mean(axis=0) - problem.kernel.mean(points)) < 4.5 * np.sqrt(expected.diagonal() / number)
    ).all()


def test_a_draw_depends_on_the_seed_alone_and_nothing_else_is_changed():
    one, again, other = (with_drawn_truth(load_problem(TINY, "episodic"), seed) for seed in (3, 3, 4))
    assert one.truth.tolist() == again.truth.tolist() != other.truth.tolist()
    known = load_problem(TINY, "episodic")
    assert one.changed(truth=known.truth).identity()[0] == known.identity()[0]
    assert one.horizon == known.horizon and one.regret(one.best_state) == 0.0


@pytest.mark.parametrize("name", ["branin2d", "hartmann3d_obstacles"])
def test_the_maximum_of_a_drawn_function_is_that_of_a_dense_grid(name):
    problem = with_drawn_truth(load_problem(name), 5)
    dimension = len(problem.coordinates)
    axis = np.linspace(-0.5, 0.5, 301 if dimension == 2 else 45)
    grid = np.stack(np.meshgrid(*[axis] * dimension), axis=-1).reshape(-1, dimension)
    grid = grid[problem.allowed(grid)]
    values = problem.truth(physical(problem.coordinates, grid))
    spread = values.max() - values.min()
    # Not below any value of the grid; and no further above than half a spacing of a smooth function explains.
    assert values.max() <= problem.maximum + 1e-9 * spread
    assert problem.maximum - values.max() < 0.02 * spread
    best = tuple(grid[values.argmax()].tolist())
    assert problem.regret(best) == pytest.approx(problem.maximum - values.max())


@pytest.fixture
def study_file(tmp_path):
    shutil.copy(TINY, tmp_path)
    file = tmp_path / "rehearsal.yaml"
    file.write_text(STUDY)
    return file


def test_every_method_of_a_study_meets_the_same_functions(study_file, tmp_path):
    study = read_study(study_file)
    tables = run_study(study, tmp_path / "out", workers=1)
    assert tables.failures.empty and (tables.runs["regret"] >= 0).all()
    for seed in study.seeds:
        truth = with_drawn_truth(load_problem(TINY), seed)
        regrets = {float(truth.regret(state)) for state in np.flatnonzero(truth.search_space)}
        of_seed = tables.runs[tables.runs["seed"] == seed]
        assert of_seed["method"].nunique() == 2 and set(of_seed["regret"]) <= regrets
    known = read_study(study_file).model_copy(update={"truth": "known"})
    assert not {run.key for run in runs_of(study)} & {run.key for run in runs_of(known)}


def test_a_plant_without_a_truth_can_be_rehearsed_and_is_refused_otherwise(study_file, tmp_path):
    plant = tmp_path / "tiny_reactor.py"
    plant.write_text(plant.read_text().replace("        truth=truth,\n", ""))
    assert run_study(read_study(study_file), tmp_path / "out", workers=1).runs["regret"].notna().all()
    study_file.write_text(STUDY.replace("truth: drawn\n", ""))
    with pytest.raises(BadInput, match="'tiny_reactor' has no known truth to simulate; `truth: drawn`"):
        run_study(read_study(study_file), tmp_path / "other", workers=1)
    assert not (tmp_path / "other").exists()


def test_another_word_for_truth_is_refused(study_file):
    study_file.write_text(STUDY.replace("drawn", "guessed"))
    with pytest.raises(BadInput, match=r"field 'truth': got 'guessed'; input should be 'known' or 'drawn'"):
        read_study(study_file)


def test_a_folder_made_before_there_was_this_choice_goes_on(study_file, tmp_path):
    study_file.write_text(STUDY.replace("truth: drawn\n", ""))
    study = read_study(study_file)
    run_study(study, tmp_path / "out", workers=1)
    definition = tmp_path / "out" / "study.json"
    content = json.loads(definition.read_text())["content"]
    del content["study"]["truth"]
    from tcbo_pyomo.foundation.atomic_file import write_checked
    from tcbo_pyomo.studies.study_folder import STUDY as FORMAT
    from tcbo_pyomo.studies.study_folder import VERSION

    write_checked(definition, FORMAT, VERSION, content)
    seen = []
    run_study(study, tmp_path / "out", workers=1, on_progress=seen.append)
    assert len(seen) == 1 and seen[0].done == seen[0].total == 6
    with pytest.raises(BadInput, match="differs in truth"):
        run_study(study.model_copy(update={"truth": "drawn"}), tmp_path / "out", workers=1)


def test_the_draws_of_a_positive_output_are_positive_and_span_its_range():
    """The logarithm is modelled, so a draw is the exponential of one of the kernel: log-normal around the geometric middle."""
    low, high, number = 0.1, 10.0, 400
    prior = PlainPrior((low, high), 0.01, positive=True)
    process = grid_process({"x": range(5)}, {"x": [-1, 0, 1]}, noise_variance=prior.noise_variance)
    finite = Problem("line", process, {"x": 0}, 4, 1, prior=prior)
    values = np.array([with_drawn_truth(finite, seed).truth for seed in range(number)])
    moves = LinearDynamics.free_moves(1, BoxActions(0.2))
    box = ContinuousProblem("box", (Coordinate("x", 0.0, 1.0),), moves, {"x": 0.0}, 5, 1, prior=prior)
    drawn = [with_drawn_truth(box, seed) for seed in range(10)]
    assert (values > 0.0).all() and all((one.truth(np.linspace(0, 1, 9)[:, None]) > 0.0).all() for one in drawn)
    middle = np.log(values[:, 2])
    spread = np.sqrt(finite.kernel.diagonal(finite.process.scaled_states)[2])
    assert abs(middle.mean() - np.log(np.sqrt(low * high))) < 4.5 * spread / np.sqrt(number)
    for one in drawn:
        grid = one.truth(np.linspace(0.0, 1.0, 2001)[:, None])
        assert grid.max() <= one.maximum * (1 + 1e-9) and one.maximum < grid.max() * 1.01
