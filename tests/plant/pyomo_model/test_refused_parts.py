"""Parts of a model of one step that cannot be planned with: refused in one line, by the name that its owner gave them."""

from __future__ import annotations

from collections.abc import Callable

import pyomo.environ as pyo
import pytest
from pyomo.gdp import Disjunct, Disjunction
from pyomo.mpec import Complementarity, complements
from pyomo.network import Arc, Port

from tcbo_pyomo import ModelInput, ModelState, dynamics_from_model
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.plant.pyomo_model.model_dynamics import ModelDynamics
from tcbo_pyomo.solvers.nonlinear.step_simulator import simulator_of


def mixer() -> pyo.ConcreteModel:
    """x1 = x0 + u/2, and a stream of 2 u that leaves at `outlet`."""
    model = pyo.ConcreteModel()
    model.x0 = pyo.Var(initialize=0.2, bounds=(0, 1))
    model.x1 = pyo.Var(initialize=0.2, bounds=(0, 1))
    model.u = pyo.Var(initialize=0.1, bounds=(0, 1))
    model.stream = pyo.Var(initialize=0.2)
    model.balance = pyo.Constraint(expr=model.x1 == model.x0 + 0.5 * model.u)
    model.splits = pyo.Constraint(expr=model.stream == 2.0 * model.u)
    return model


def with_arc() -> pyo.ConcreteModel:
    """The stream goes through an Arc to a pipe that takes 1 at most: u <= 0.5."""
    model = mixer()
    model.pipe = pyo.Var(initialize=0.2)
    model.takes = pyo.Constraint(expr=model.pipe <= 1.0)
    model.outlet, model.inlet = Port(initialize={"flow": model.stream}), Port(initialize={"flow": model.pipe})
    model.arc = Arc(source=model.outlet, destination=model.inlet)
    return model


def with_expanded_arc() -> pyo.ConcreteModel:
    model = with_arc()
    pyo.TransformationFactory("network.expand_arcs").apply_to(model)
    return model


def with_loose_limit() -> pyo.ConcreteModel:
    model = mixer()
    model.slack = pyo.Var(initialize=0.0)
    model.soft = pyo.Constraint(expr=model.stream <= 1.0 + model.slack)
    return model


def with_piecewise() -> pyo.ConcreteModel:
    model = mixer()
    model.price = pyo.Var(bounds=(0, 5))
    points = {"pw_pts": [0, 0.5, 1], "f_rule": [0, 2, 1], "pw_constr_type": "EQ", "pw_repn": "SOS2"}
    model.tariff = pyo.Piecewise(model.price, model.u, **points)
    return model


def with_disjunction() -> pyo.ConcreteModel:
    model = mixer()
    model.low, model.high = Disjunct(), Disjunct()
    model.low.at_most = pyo.Constraint(expr=model.u <= 0.2)
    model.high.at_least = pyo.Constraint(expr=model.u >= 0.5)
    model.either = Disjunction(expr=[model.low, model.high])
    return model


def with_complementarity() -> pyo.ConcreteModel:
    model = mixer()
    model.valve = Complementarity(expr=complements(model.u >= 0, model.x1 >= 0))
    return model


def handed_over(build: Callable[[], pyo.ConcreteModel]) -> ModelDynamics:
    return dynamics_from_model(build, [ModelState("level", "x0", end="x1")], [ModelInput("feed", "u")])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (with_arc, "Arc 'arc' cannot be planned with: write its equations first"),
        (with_loose_limit, "'slack' in 'soft' follows from no equation; fix it, or declare it as an input"),
        (with_piecewise, "SOSConstraint 'tariff.SOS2_sosconstraint' cannot be planned with"),
        (with_disjunction, "Disjunct 'low' cannot be planned with"),
        (with_complementarity, "Complementarity 'valve' cannot be planned with"),
    ],
)
def test_a_part_that_would_be_left_out_is_refused_by_its_name(
    build: Callable[[], pyo.ConcreteModel], message: str
) -> None:
    with pytest.raises(BadInput) as refused:
        handed_over(build)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_expanded_arc_is_part_of_the_plant() -> None:
    dynamics = handed_over(with_expanded_arc)
    assert simulator_of(dynamics) is not None
    limits = dynamics.step_model.model._tcbo_links.limits
    assert [row.name for row in limits] == ["takes"]
