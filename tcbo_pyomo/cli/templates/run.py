"""A campaign on my_reactor as a script: python run.py

First a simulation, like `tcbo run`; then the loop for the real plant, move by move.
"""

from pathlib import Path

from my_reactor import build

from tcbo_pyomo import Campaign, read_settings, run_campaign, settings_from

problem = build()
settings = settings_from(dict(problem.settings), read_settings(Path(__file__).with_name("settings.yaml")))

# The simulation: the plant of `truth` answers.
result = run_campaign(problem, settings, seed=1)
for episode in result.episodes:
    print(f"episode {episode.episode}: recommended {episode.recommendation}, regret {episode.regret:.3g}")

# The real plant: ask for a move, make it, tell the measurement. Here the truth replaces the laboratory.
campaign = Campaign(problem, settings, seed=1)
for _ in range(3):
    move = campaign.ask()
    measured = float(problem.truth[move.expected])
    campaign.tell(move.number, measured)
    print(f"move {move.number}: {problem.describe(move.expected)} gave {measured:.3f}")
