"""Ask and tell with a real plant: results come late and out of order, and the campaign survives being closed."""

import tempfile
from pathlib import Path

from tcbo_pyomo import Campaign, load_problem, open_campaign, save_campaign, settings_from

problem = load_problem("knorr_pyrazole", feedback="immediate")
campaign = Campaign(problem, settings_from(dict(problem.settings)), seed=1)


def measure_in_the_lab(move):
    """Stands for the analyst: here the truth of the simulation."""
    return float(problem.truth[move.arrived])


# Two moves are made before the first result is known.
first = campaign.ask()
campaign.arrive(first.number)
second = campaign.ask()
campaign.arrive(second.number)
campaign.tell(second.number, measure_in_the_lab(second))
campaign.tell(first.number, measure_in_the_lab(first))

# Close the campaign, open it again tomorrow, and go on with the same moves.
file = Path(tempfile.mkdtemp()) / "campaign.json"
save_campaign(campaign, file)
campaign = open_campaign(file, problem)

# The plant ended somewhere else than it was sent: say where, and planning goes on from there.
third = campaign.ask()
campaign.tell(third.number, 0.05, at={"residence_time": 4, "ratio": 0.2})

print(campaign.experiments().to_string(index=False))
print("next move goes to", problem.process.describe(campaign.ask().expected))
print(len(campaign.candidates), "candidates left; recommended now:", problem.process.describe(campaign.recommendation))
