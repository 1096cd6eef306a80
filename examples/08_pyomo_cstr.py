"""Pyomo's own CSTR, as it ships, as a plant: hand the model over, say what is a state and what an input, run a campaign."""

from pyomo.contrib.mpc.examples.cstr.model import make_model

from tcbo_pyomo import ContinuousProblem, ModelInput, ModelState, SquaredExponential, dynamics_from_model, run_campaign


def reactor():
    """A -> B in a stirred tank of constant volume; not discretised yet, that is done for us (Radau collocation)."""
    model = make_model(horizon=1.0)
    model.conc_in[:, "A"].fix(5.0)  # fixed variables stay fixed
    model.conc_in[:, "B"].fix(0.01)
    return model


# A step lasts as long as the model's time. The feed pump cannot jump: it is ramped, by at most 0.5 per unit of time. So the
# present flow is a coordinate of the plant, and its change over a step is what the campaign decides.
dynamics = dynamics_from_model(
    reactor,
    states=[ModelState("A", "conc[*,A]", 0.0, 5.0, "mol/l"), ModelState("B", "conc[*,B]", 0.0, 5.0, "mol/l")],
    inputs=[ModelInput("flow", "flow_in", 0.1, 2.0, rate=0.5, profile="ramped")],
)


def profit(points):
    """The black box: B that leaves the tank, less the pumping; unknown to the campaign."""
    return points[:, 1] * points[:, 2] - 0.3 * points[:, 2] ** 2


problem = ContinuousProblem(
    name="pyomo_cstr",
    coordinates=dynamics.coordinates,
    dynamics=dynamics,
    start={"A": 1.0, "B": 0.0, "flow": 0.5},
    horizon=10,
    episodes=1,
    kernel=SquaredExponential(variance=1.0, lengthscale=0.4),
    noise=1e-4,
    truth=profit,
    output="profit",
)
result = run_campaign(problem, seed=1)
print(result.experiments.to_string(index=False))
print("recommended:", result.episodes[-1].recommendation)
assert result.experiments["flow"].diff().abs().max() <= 0.5 + 1e-6
