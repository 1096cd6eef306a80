"""Three goals on one plant: the thickest product, the thinnest, and a viscosity that has to be 42 mPa s."""

import numpy as np

from tcbo_pyomo import Campaign, PlainPrior, Problem, grid_process, run_campaign, settings_from

# A reactor that warms or cools by 5 K and changes its residence time by 2 min from one experiment to the next.
PROCESS = grid_process(
    {"temperature": [60.0, 65.0, 70.0, 75.0, 80.0, 85.0, 90.0], "time": [4.0, 6.0, 8.0, 10.0, 12.0]},
    {"temperature": [-1, 0, 1], "time": [-1, 0, 1]},
    noise_variance=0.5**2,
    units={"temperature": "degC", "time": "min"},
)
WARM, LONG = PROCESS.states[:, 0] - 60.0, PROCESS.states[:, 1]
VISCOSITY = 20.0 + 0.9 * WARM + 2.5 * (LONG - 4.0) - 0.05 * WARM * (LONG - 4.0)  # mPa s


def reactor(goal):
    """The same plant, prior and truth; the goal alone differs."""
    return Problem(
        name="thickener",
        process=PROCESS,
        start={"temperature": 60.0, "time": 4.0},
        horizon=8,
        episodes=3,
        prior=PlainPrior(range=(10.0, 70.0), measurement_sd=0.5),
        truth=VISCOSITY,
        output="viscosity",
        output_unit="mPa s",
        goal=goal,
    )


for goal in ("maximise", "minimise", {"target": 42.0}):
    result = run_campaign(reactor(goal), seed=1)
    problem, last = result.problem, result.episodes[-1]
    mean, deviation = result.campaign.predict(last.recommendation)
    print(f"{problem.goal.in_words('viscosity', 'mPa s')}: {last.recommendation}")
    print(f"  expected {mean:.1f} ± {deviation:.1f} mPa s, regret {last.regret:.2f} mPa s, {last.candidates} candidates left")

# A goal may stand in the settings, and be changed with all data kept (on a campaign file: tcbo amend --set goal.target=50).
campaign = Campaign(reactor("maximise"), settings_from({"goal": {"target": 50.0}}), seed=1)
while campaign.history.moves_made < 8:
    move = campaign.ask()
    campaign.tell(move.number, float(VISCOSITY[move.expected]))
print("after one episode for 50 mPa s:", campaign.problem.describe(campaign.recommendation))
# The model is one of the viscosity, not of the distance from 50: what was learned serves the next target, too.
again = Campaign(reactor({"target": 30.0}), seed=1)
again.history.load(campaign.history.to_dict())
print("the same results, for 30 mPa s:", again.problem.describe(again.recommendation))
assert np.isclose(campaign.predict({"temperature": 75.0, "time": 8.0}), again.predict({"temperature": 75.0, "time": 8.0})).all()
