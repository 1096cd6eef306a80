"""my_plant, from a table of past experiments. Change what is different in your plant, then

    tcbo check my_plant/my_plant.py --output moves.png                 check it
    tcbo start rig.db my_plant/my_plant.py --seed 1 --data PAST_CSV    start a campaign
"""

from tcbo_pyomo import PlainPrior, Problem, grid_process

DESCRIPTION = "my_plant"

# 1. The set-points: the values of each input that were tried. Add those that you may also try.
AXES = {"temperature": [300, 310, 320], "flow_rate": [1, 2, 3]}
UNITS = {"temperature": "K", "flow_rate": "mL/min"}

# 2. The moves of one step, in values of the list above: one down, none, one up. Write [0, 1] for an input that may only rise
#    within a run, [-1, 0] for one that may only fall, and [-2, -1, 0, 1, 2] where a step may be two values long.
MOVES = {"temperature": [-1, 0, 1], "flow_rate": [-1, 0, 1]}

# 3. Where every run (episode) starts, how many moves a run has, and how many runs you can afford.
START = {"temperature": 300, "flow_rate": 1}
HORIZON = 8
EPISODES = 3

# 4. The output, and what you know about it: its range (too wide is better than too narrow), the standard deviation of a
#    repeated measurement (None if you do not know it), and which change of an input changes the output markedly, such as
#    {"temperature": 20.0} (the model learns what you leave out). Is it positive, and does it span orders of magnitude?
OUTPUT = "product"
OUTPUT_UNIT = "mol/L"
RANGE = (0.0, 1.0)
MEASUREMENT_SD = 0.03
CHANGES_WITHIN = {"temperature": 20.0}
POSITIVE = False

# 5. What you are after: "maximise" or "minimise" the output, or bring it to a value, {"target": 0.5}.
GOAL = "maximise"

# 6. Further rules, such as EndAt, ForbiddenRegion, MaximumStep, ResourceBudget; import them above.
RULES: list = []

PRIOR = PlainPrior(RANGE, MEASUREMENT_SD, CHANGES_WITHIN, POSITIVE)


def build(feedback: str | None = None, seed: int = 0) -> Problem:
    """The problem; `feedback` and `seed` come from the command line."""
    return Problem(
        name="my_plant",
        process=grid_process(AXES, MOVES, PRIOR.noise_variance, UNITS),
        start=START,
        horizon=HORIZON,
        episodes=EPISODES,
        prior=PRIOR,
        goal=GOAL,
        constraints=RULES,
        settings={"feedback": {"kind": feedback or "immediate"}},
        output=OUTPUT,
        output_unit=OUTPUT_UNIT,
        description=DESCRIPTION,
    )
