"""Replay a past campaign from its table of measurements: would planning have found the best point sooner?"""

import tempfile
from pathlib import Path

from tcbo_pyomo import SquaredExponential, replay_problem, run_campaign, settings_from

# What the laboratory wrote down: names and units in the header, one row per experiment, some of them repeated.
TABLE = """temperature (degC),flow (mL/min),product (mol/L),operator
40,1,0.31,Ada
40,2,0.22,Ada
50,1,0.55,Ada
50,1,0.53,Grace
50,2,0.47,Grace
50,4,0.20,Grace
60,1,0.62,Ada
60,2,0.71,Ada
60,2,0.74,Grace
60,4,0.41,Grace
70,2,0.69,Ada
70,4,0.66,Ada
"""
file = Path(tempfile.mkdtemp()) / "past_campaign.csv"
file.write_text(TABLE, encoding="utf-8")

# Plan in kelvin; one move may change the temperature by 10 K and the flow by 2 mL/min.
problem = replay_problem(
    file,
    inputs={"temperature": "K", "flow": "mL/min"},
    output="product",
    kernel=SquaredExponential(variance=0.25, lengthscale=0.5),
    maximum_step={"temperature": 10, "flow": 2},
    horizon=4,
    episodes=2,
)
print(f"{problem.description}; noise variance {problem.process.noise_variance[0]:.5f} from the replicates")
result = run_campaign(problem, settings_from(dict(problem.settings)), seed=1)
for episode, path in zip(result.episodes, result.paths, strict=True):
    print(f"episode {episode.episode}: " + " -> ".join(problem.process.labels[state] for state in path))
    print(f"  recommended {episode.recommendation}, regret {episode.regret:.2f} {problem.output_unit}")
