"""An IDAES unit model as a plant: a stirred tank for the saponification of ethyl acetate, from the models that IDAES ships."""

import time

import pyomo.environ as pyo
from idaes.core import FlowsheetBlock
from idaes.models.properties.examples.saponification_reactions import SaponificationReactionParameterBlock
from idaes.models.properties.examples.saponification_thermo import SaponificationParameterBlock
from idaes.models.unit_models import CSTR

from tcbo_pyomo import Campaign, ContinuousProblem, ModelInput, ModelState, SquaredExponential, dynamics_from_model

FEED = {"H2O": 55388.0, "NaOH": 2.0, "EthylAcetate": 2.0, "SodiumAcetate": 1e-8, "Ethanol": 1e-8}  # mol/m3


def flowsheet():
    """One minute of a dynamic flowsheet; nothing is discretised or initialised here, both are done for us."""
    model = pyo.ConcreteModel()
    model.fs = FlowsheetBlock(dynamic=True, time_set=[0, 60], time_units=pyo.units.s)
    model.fs.thermo = SaponificationParameterBlock()
    model.fs.reactions = SaponificationReactionParameterBlock(property_package=model.fs.thermo)
    model.fs.tank = CSTR(
        property_package=model.fs.thermo,
        reaction_package=model.fs.reactions,
        has_heat_of_reaction=True,
        has_heat_transfer=True,
    )
    tank = model.fs.tank
    tank.inlet.flow_vol[:].fix(0.01)
    for component, concentration in FEED.items():
        tank.inlet.conc_mol_comp[:, component].fix(concentration)
    tank.inlet.temperature[:].fix(303.15)
    tank.inlet.pressure[:].fix(101325.0)
    tank.volume[:].fix(1.5)
    tank.heat_duty[:].fix(0.0)
    return model


# IDAES keeps holdups; what an operator reads are concentrations and a temperature, and these determine the holdups (that of
# water follows from the volume). Units are converted: the model's are mol/m3, K, m3/s and W.
OUTLET = "fs.tank.control_volume.properties_out[*]."
SPECIES = {"caustic": "NaOH", "ester": "EthylAcetate", "acetate": "SodiumAcetate", "ethanol": "Ethanol"}
dynamics = dynamics_from_model(
    flowsheet,
    states=[
        *(ModelState(n, f"{OUTLET}conc_mol_comp[{c}]", 0.0, 2.0, "mmol/l") for n, c in SPECIES.items()),
        ModelState("temperature", f"{OUTLET}temperature", unit="degC"),  # limits as the property package has them
    ],
    inputs=[
        ModelInput("feed", "fs.tank.control_volume.properties_in[*].flow_vol", 1.0, 60.0, "l/s"),
        ModelInput("heating", "fs.tank.heat_duty", 0.0, 2000.0, "kW"),
    ],
)
problem = ContinuousProblem(
    name="idaes_reactor",
    coordinates=dynamics.coordinates,
    dynamics=dynamics,
    start={"caustic": 1.0, "ester": 1.0, "acetate": 1.0, "ethanol": 1.0, "temperature": 30.0},
    horizon=3,
    episodes=1,
    kernel=SquaredExponential(variance=1.0, lengthscale=0.6),
    noise=1e-3,
    output="purity",
)
campaign = Campaign(problem, seed=1)


def measure(place):
    """Stands for the analyser: conversion, less what is lost of the acetate when it is hot."""
    return place["acetate"] / 2.0 - ((place["temperature"] - 40.0) / 20.0) ** 2


for _ in range(problem.horizon):
    began = time.perf_counter()
    move = campaign.ask()
    place = problem.describe(move.expected)
    campaign.tell(move.number, measure(place))
    took = time.perf_counter() - began
    print(f"{problem.instruction(move.decision)} leads to {place['temperature']:.1f} degC (planned in {took:.1f} s)")
print(campaign.experiments().round(3).to_string(index=False))
