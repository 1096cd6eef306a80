"""Past experiments in the belief: against textbook formulas, whatever the features, the order and the utility."""

import numpy as np
import pandas as pd
import pytest
from learning_plants import FAST, GRID, box, finite, hill, told
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from tcbo_pyomo import (
    BadInput,
    Campaign,
    Constant,
    Mechanism,
    Problem,
    SquaredExponential,
    Sum,
    grid_process,
    settings_from,
)
from tcbo_pyomo.campaign.simulation import SimulatedPlant
from tcbo_pyomo.knowledge.criticism import criticise
from tcbo_pyomo.knowledge.past_results import PastBatch

KERNEL = SquaredExponential(400.0, (0.3, 0.6))


def rows(places, noise=0.0, seed=0):
    """A table of measurements of the hill."""
    points = np.array(places, dtype=float)
    values = hill(points) + noise * np.random.default_rng(seed).normal(size=len(points))
    return pd.DataFrame({"x (min)": points[:, 0], "y": points[:, 1], "rate": values})


ON_STATES = [(1, 0), (5, 2), (5, 2), (7, 3), (3, 1)]
BETWEEN = [(1.5, 0.5), (4.9, 2.1), (5, 2), (6.25, 2.75)]


def scaled(points):
    return np.array(points, dtype=float) / [7.0, 3.0] - 0.5


def exact(kernel_points, values, noise, at, mean=0.0):
    """Mean and variance by scikit-learn, with a fixed kernel."""
    kernel = ConstantKernel(400.0, "fixed") * RBF([0.3, 0.6], "fixed")
    regression = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(kernel_points, values - mean)
    found, deviation = regression.predict(at, return_std=True)
    return found + mean, deviation


@pytest.mark.parametrize("places", [ON_STATES, BETWEEN])
def test_a_finite_belief_is_the_textbook_posterior(places):
    problem = finite(prior=None, kernel=KERNEL)
    table = rows(places, noise=1.0)
    campaign = Campaign(problem, seed=1, data=table)
    mean, deviation = exact(scaled(places), table["rate"].to_numpy(), 1.0, problem.process.scaled_states)
    np.testing.assert_allclose(campaign.knowledge.belief.mean, mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(campaign.knowledge.belief.standard_deviation, deviation, rtol=1e-6, atol=1e-6)
    assert campaign.knowledge.belief.factor.shape[1] <= problem.process.number_of_states
    assert campaign.recommendation == int(np.argmax(mean))


def test_a_continuous_belief_is_the_textbook_posterior():
    table = rows(BETWEEN, noise=1.0)
    campaign = Campaign(box(prior=None, kernel=KERNEL, noise=1.0), seed=1, data=table)
    at = np.random.default_rng(3).uniform(-0.5, 0.5, (30, 2))
    mean, deviation = exact(scaled(BETWEEN), table["rate"].to_numpy(), 1.0, at)
    found, spread = campaign.knowledge.belief.predict(at)
    np.testing.assert_allclose(found, mean, rtol=1e-7)
    np.testing.assert_allclose(spread, deviation, rtol=1e-6)
    assert len(campaign.candidates) == 0 and campaign.knowledge.stage == "exploring"


def test_a_column_of_noise_counts_and_blank_cells_mean_the_declared_one():
    problem = finite(prior=None, kernel=KERNEL)
    table = rows(ON_STATES).assign(noise=[3.0, "", 0.5, None, 2.0])
    campaign = Campaign(problem, seed=1, data=table)
    noise = np.array([9.0, 1.0, 0.25, 1.0, 4.0])
    mean, _ = exact(scaled(ON_STATES), table["rate"].to_numpy(), noise, problem.process.scaled_states)
    np.testing.assert_allclose(campaign.knowledge.belief.mean, mean, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("features", ["nystroem", "random_fourier"])
def test_features_take_places_between_states(features):
    problem = finite(prior=None, kernel=SquaredExponential(400.0, 0.6))
    settings = settings_from(FAST, {"surrogate": {"features": features, "number": 400}})
    table = rows(BETWEEN)
    approximate, right = Campaign(problem, settings, data=table), Campaign(problem, settings_from(FAST), data=table)
    found, wanted = approximate.knowledge.belief.mean, right.knowledge.belief.mean
    assert np.abs(found - wanted).max() < (1e-3 if features == "nystroem" else 20.0)


@pytest.mark.parametrize("form", ["features", "kernel"])
@pytest.mark.parametrize("information", ["arrival", "departure"])
def test_every_form_of_the_utility_counts_them(form, information):
    problem = finite(prior=None, kernel=KERNEL)
    settings = settings_from(FAST, {"utility": {"form": form, "information": information}})
    campaign = Campaign(problem, settings, data=rows(BETWEEN))
    posterior = campaign.knowledge._posterior_given()(None)
    states = np.arange(problem.process.number_of_states)
    _, deviation = exact(scaled(BETWEEN), hill(np.array(BETWEEN)), 1.0, problem.process.scaled_states)
    np.testing.assert_allclose(posterior.variance_of(states), deviation**2, rtol=1e-5, atol=1e-6)


def test_it_does_not_matter_when_they_are_added_or_that_others_were_taken_back():
    problem = finite()
    first, later = Campaign(problem, seed=3, data=rows(ON_STATES)), Campaign(problem, seed=3)
    plant = SimulatedPlant(problem, 3)
    told(first, plant, 7)
    for move in first.history.moves:
        later.history.add(move.origin, move.step, move.decision, move.expected)
        later.arrive(move.number, move.arrived)
        later.tell(move.number, move.value)
    wrong = later.add_data(rows([(2, 2), (6, 1)])).batch
    later.add_data(rows(ON_STATES))
    later.remove_data(wrong.number)
    assert later.knowledge.learned == first.knowledge.learned
    np.testing.assert_array_equal(later.knowledge.belief.mean, first.knowledge.belief.mean)
    np.testing.assert_array_equal(later.knowledge.belief.factor, first.knowledge.belief.factor)
    assert later.knowledge.learned.results == 10  # Five rows and seven results: learned from the first ten.


def test_they_are_neither_moves_nor_budget():
    problem = finite()
    campaign = Campaign(problem, seed=3, data=rows(ON_STATES))
    assert campaign.history.moves_made == 0 and campaign.history.told == [] and not campaign.finished
    assert campaign.knowledge.share_spent == 0.0 and len(campaign.experiments()) == 0
    assert len(campaign.past_experiments()) == 5 and "5 past results from data frame" in repr(campaign)
    told(campaign, SimulatedPlant(problem, 3), 24)
    assert campaign.finished and len(campaign.experiments()) == 24


def test_the_incumbent_is_what_an_episode_can_repeat():
    plain = Campaign(finite(), data=rows([(1, 0)]))
    assert plain.knowledge.incumbent == pytest.approx(hill(np.array([[1.0, 0.0]]))[0])
    between = Campaign(finite(), data=rows([(1.5, 0.5)]))
    assert between.knowledge.best_known is None and between.knowledge.incumbent == 0.0
    # Two moves from the start at x = 0: x = 5 is beyond reach.
    near = Campaign(finite().changed(horizon=2), data=rows([(1, 0), (5, 2)]))
    assert near.knowledge.incumbent == plain.knowledge.incumbent


def test_the_model_learns_from_them_and_they_are_criticised():
    generator = np.random.default_rng(4)
    places = generator.uniform([0, 0], [7, 3], (30, 2))
    campaign = Campaign(finite(), data=rows(places, noise=1.0))
    assert campaign.knowledge.learned.results == 30
    found = criticise(campaign.knowledge)
    assert len(found.values) == 30 and found.warnings == ()
    wild = rows([(4.0, 1.0)]).assign(rate=[150.0])
    added = campaign.add_data(wild, name="log book")
    assert added.batch.results[0].surprise is not None and "row 1 of log book" in added.doubts("")[0]
    warned = criticise(campaign.knowledge)
    assert warned.outside == ("row 1 of log book",) and warned.surprising[0].move == "row 1 of log book"
    assert "the result of row 1 of log book lies outside the declared range 0 to 100" in warned.warnings[0]
    campaign.remove_data("log book")
    assert criticise(campaign.knowledge).warnings == ()


def test_one_slip_does_not_make_its_neighbours_look_wild():
    campaign = Campaign(finite(prior=None, kernel=Sum((KERNEL, Constant(30.0, 900.0)))))
    places = [(x, y) for x in GRID["x"] for y in GRID["y"]]
    table = rows(places, noise=1.0)
    table.loc[17, "rate"] += 60.0
    surprising = [result.row for result in campaign.add_data(table).batch.results if result.surprise]
    assert surprising == [18]


def test_a_mechanism_is_linearised_where_they_say():
    def response(x, theta):
        return {"rate": theta["a"] * (1.0 - np.exp(-theta["k"] * x["x"]))}["rate"]

    def saturating(x, theta):
        from pyomo.environ import exp

        return theta["a"] * (1.0 - exp(-theta["k"] * x["x"]))

    process = grid_process({"x": [float(i) for i in range(8)]}, {"x": [-1, 0, 1]}, 0.01)
    mechanism = Mechanism.from_estimate(
        saturating, {"a": 1.0, "k": 0.3}, np.diag([1.0, 0.09]), process.coordinates
    )
    kernel = Sum((mechanism, SquaredExponential(1e-4, 0.3)))
    problem = Problem("growth", process, {"x": 0.0}, 4, 2, kernel=kernel, settings=FAST)
    places = np.linspace(0.0, 7.0, 15)
    table = [{"x": x, "y": response({"x": x}, {"a": 3.0, "k": 0.9})} for x in places]
    campaign = Campaign(problem, data=table)
    part = next(part for part in campaign.knowledge.kernel.kernels if isinstance(part, Mechanism))
    np.testing.assert_allclose(part.linearisation, [3.0, 0.9], rtol=0.1)
    np.testing.assert_allclose(campaign.predict({"x": 6.0})[0], response({"x": 6.0}, {"a": 3.0, "k": 0.9}), atol=0.05)


def test_a_log_scale_takes_them_as_measured():
    from tcbo_pyomo import PlainPrior

    campaign = Campaign(finite(prior=PlainPrior((1.0, 1000.0), 1.0, positive=True)), data=rows(ON_STATES))
    _, values, _ = campaign.knowledge.past_results()
    np.testing.assert_allclose(values, np.log(hill(np.array(ON_STATES, dtype=float))))
    assert campaign.history.past.rows[0][1].value == pytest.approx(hill(np.array([[1.0, 0.0]]))[0])


def test_units_of_headings_are_converted():
    table = rows(ON_STATES)
    hours = table.assign(**{"x (h)": table["x (min)"] / 60.0}).drop(columns="x (min)")
    found = Campaign(finite(), data=hours).past_experiments()
    np.testing.assert_allclose(found["x"], table["x (min)"])
    process = grid_process({"t": [300.0, 310.0, 320.0]}, {"t": [-1, 0, 1]}, 1.0, units={"t": "K"})
    fields = {"kernel": SquaredExponential(1.0, 0.3), "settings": FAST, "output": "mass", "output_unit": "g"}
    warm = Problem("warm", process, {"t": 300.0}, 2, 1, **fields)
    given = [{"t (degC)": 36.85, "mass (mg)": 1500.0, "sd (mg)": 10.0}]
    ((_, result),) = Campaign(warm, data=given).history.past.rows
    assert result.at == pytest.approx((310.0,)) and result.value == pytest.approx(1.5) and result.sd == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": [1, 2, "high", 4, 5]}, "row 3, column 'rate': 'high' is not a number"),
        ({"rate": [1, 2, float("inf"), 4, 5]}, "row 3, column 'rate': inf is not a finite number"),
        ({"rate": [1, 2, 1e60, 4, 5]}, "row 3, column 'rate': measurement 1e+60 must be between"),
        ({"rate": [1, 2, True, 4, 5]}, "row 3, column 'rate': True is not a finite number"),
        ({"y": [0, 2, None, 3, 1]}, "row 3, column 'y': nan is not a finite number; remove the row or fill the cell"),
        ({"y": [0, 2, 3.5, 3, 1]}, "row 3, column 'y': 3.5 lies outside 0 to 3; remove the row, or widen the bounds"),
        ({"sd": [1, 2, 0, 3, 1]}, "row 3: standard deviation 0 must be positive"),
        ({"sd": 1.0, "noise": 2.0}, "the columns noise, sd all name the standard deviation"),
    ],
)
def test_what_is_wrong_is_named_by_row_and_column(change, message):
    campaign = Campaign(finite())
    table = rows(ON_STATES).astype(object).assign(**change)
    with pytest.raises(BadInput, match="data 'data frame'") as found:
        campaign.add_data(table)
    assert message in str(found.value) and "\n" not in str(found.value)
    assert not campaign.history.past


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pd.DataFrame({"x": [1.0], "rate": [1.0]}), "no column 'y'"),
        (pd.DataFrame({"x": [1.0], "y": [1.0]}), "no column 'rate' (or 'value')"),
        (pd.DataFrame({"x (kg)": [1.0], "y": [1.0], "rate": [1.0]}), "column 'x': unit 'kg' does not convert to 'min'"),
        (pd.DataFrame({"x": [1.0], "y": [1.0], "rate": [None]}), "no row has a value"),
        (pd.DataFrame({"x": [1.0] * 2001, "y": 1.0, "rate": 1.0}), "2001 results, at most 2000"),
        ([], "must be a CSV file, a data frame, or a list of rows"),
        (7, "must be a CSV file, a data frame, or a list of rows"),
        ("nowhere.csv", "nowhere.csv"),
    ],
)
def test_tables_that_cannot_be_used_are_refused(data, message):
    with pytest.raises(BadInput) as found:
        Campaign(finite(), data=data)
    assert message in str(found.value) and "\n" not in str(found.value)


def test_rows_without_a_result_and_other_columns_are_left_out_and_said():
    table = rows(ON_STATES).astype(object).assign(operator="me")
    table.loc[1, "rate"] = None
    added = Campaign(finite()).add_data(table)
    assert [result.row for result in added.batch.results] == [1, 3, 4, 5]
    assert added.notes == ("left out the columns operator", "left out 1 row without a result")
    between = Campaign(finite()).add_data(rows(BETWEEN))
    assert "3 rows between the states of the plant (first: row 1)" in between.notes[0]


def test_the_same_rows_twice_are_noticed():
    campaign = Campaign(finite(), data=rows(ON_STATES))
    with pytest.raises(BadInput, match=r"all of its 5 rows .* are in data 1"):
        campaign.add_data(rows(ON_STATES))
    with pytest.raises(BadInput, match=r"2 of its 3 rows .* are in data 1"):
        campaign.add_data(rows([(5, 2), (1, 0), (0, 3)]))
    assert campaign.add_data(rows(ON_STATES), again=True).batch.number == 2
    with pytest.raises(BadInput, match="added 2 times; say which by number: 1, 2"):
        campaign.remove_data("data frame")
    with pytest.raises(BadInput, match="has no row 9; it has 1 to 5"):
        campaign.remove_data(2, rows=[1, 9])
    campaign.remove_data(2, rows=[1, 4])
    assert len(campaign.history.past) == 8
    campaign.remove_data(2)
    with pytest.raises(BadInput, match=r"no data 2; there are: 1 \(data frame\)"):
        campaign.remove_data(2)
    assert PastBatch.from_dict(campaign.history.past.batches[0].to_dict()) == campaign.history.past.batches[0]


def test_states_that_share_their_inputs_share_what_past_experiments_teach():
    process = grid_process({"x": [0.0, 1.0, 2.0], "age": [0.0, 1.0]}, {"x": [-1, 0, 1], "age": [0, 1]}, 0.01)
    kernel = SquaredExponential(1.0, 0.5)
    problem = Problem("bed", process, {"x": 0.0, "age": 0.0}, 3, 2, kernel=kernel, settings=FAST, inputs=["x"])
    for places in ([0.0, 2.0], [0.0, 1.5]):
        table = [{"x": x, "y": 1.0 + x} for x in places]
        campaign = Campaign(problem, data=table)
        points, values = np.array(places)[:, None] / 2.0 - 0.5, 1.0 + np.array(places)
        states = process.states[:, :1] / 2.0 - 0.5
        weights = np.linalg.solve(kernel(points, points) + 0.01 * np.eye(2), values)
        np.testing.assert_allclose(campaign.knowledge.belief.mean, kernel(states, points) @ weights, rtol=1e-6)
        assert campaign.ask().number == 1 and campaign.recommendation in range(6)
    assert Campaign(problem, data=[{"x": 2.0, "y": 3.0}]).knowledge.incumbent == 3.0


def test_a_campaign_that_minimises_takes_the_smallest_past_result_as_its_incumbent():
    campaign = Campaign(finite(goal="minimise"), data=rows(ON_STATES))
    values = hill(np.array(ON_STATES, dtype=float))
    assert campaign.knowledge.best_known == pytest.approx(-values.min())
    assert campaign.recommendation == int(np.argmin(campaign.knowledge.belief.mean))
