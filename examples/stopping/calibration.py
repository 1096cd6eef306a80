"""When a campaign says "enough is known", is it right? Campaigns on functions drawn from the prior of three plants.

    python calibration.py run --output results.csv --seeds 1..300     # appends; what is there is not made again
    python calibration.py table results.csv

Every campaign has `stop: {regret: 0.05 prior standard deviations, probability: 0.9}` and results after each move. A row is one
campaign: the moves it made, the probability it said at its end, and its true regret. `said` and `right` count the statements
between 0.85 and 0.95 on the way, and how many of them were true.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tcbo_pyomo import Campaign, load_problem, settings_from
from tcbo_pyomo.campaign.simulated_plant import SimulatedPlant
from tcbo_pyomo.knowledge.feedback import released
from tcbo_pyomo.studies.execution import with_drawn_truth

PLANTS = ("knorr_pyrazole", "two_ridge_reactor", "dosing")
BELIEFS: dict[str, dict[str, Any]] = {
    "right": {},
    "lengthscale x0.6": {"misbelief": {"lengthscale": 0.6}},
    "lengthscale x1.7": {"misbelief": {"lengthscale": 1.7}},
    "variance /4": {"misbelief": {"variance": 0.25}},
    "learned": {"fit": "learn"},
    "learned, x0.6": {"fit": "learn", "misbelief": {"lengthscale": 0.6}},
    "learned, x1.7": {"fit": "learn", "misbelief": {"lengthscale": 1.7}},
}
SHARE = 0.05
"""The tolerance, in standard deviations of the prior."""
WANTED = 0.9
COLUMNS = (
    "belief",
    "plant",
    "seed",
    "stopped",
    "moves",
    "budget",
    "probability",
    "regret",
    "tolerance",
    "said",
    "right",
    "doubted",
)


def campaign_row(plant: str, belief: str, seed: int, objective: str) -> dict[str, Any]:
    """One campaign, from its first move to its stop or the end of its budget."""
    problem = with_drawn_truth(load_problem(plant, "immediate", seed), seed)
    scaled = problem.process.scaled_states
    tolerance = SHARE * float(np.sqrt(problem.kernel.diagonal(scaled).mean()))
    settings = settings_from(
        dict(problem.settings),
        {"stop": {"regret": tolerance, "probability": WANTED}, "surrogate": BELIEFS[belief]},
        {"planner": {"linear": {"solver": "dynamic_programming"}}, "feedback": {"kind": "immediate"}},
        {"utility": {"objective": objective}},
    )
    campaign = Campaign(problem, settings, seed)
    simulated, said, right = SimulatedPlant(problem, seed), 0, 0
    while not campaign.finished:
        move = campaign.ask()
        campaign.arrive(move.number, simulated.make(move))
        for due in released(campaign.history, settings.feedback):
            campaign.tell(due.number, simulated.measure(due))
        if abs(campaign.certainty.probability - WANTED) <= 0.05:
            said, right = said + 1, right + (problem.regret(campaign.recommendation) <= tolerance)
    budget = campaign.history.moves_of(problem.episodes)
    facts = belief, plant, seed, campaign.certainty.enough_known, campaign.history.moves_made, budget
    numbers = campaign.certainty.probability, problem.regret(campaign.recommendation), tolerance
    doubted = "contradict" in campaign.certainty.doubt
    return dict(zip(COLUMNS, (*facts, *numbers, said, right, doubted), strict=True))


def run(output: Path, seeds: range, plants: list[str], beliefs: list[str], objective: str) -> None:
    """Make the campaigns that are not in the file yet."""
    known = set()
    if output.exists():
        known = {(row["belief"], row["plant"], int(row["seed"])) for row in read(output)}
    with output.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not known:
            writer.writeheader()
        for belief in beliefs:
            for seed in seeds:
                for plant in plants:
                    if (belief, plant, seed) not in known:
                        writer.writerow(campaign_row(plant, belief, seed, objective))
                        file.flush()


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a results file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(path: Path) -> str:
    """For each belief and plant: how many stopped, after how much of the budget, and how many of these were right."""
    rows, lines = read(path), []
    for belief in BELIEFS:
        for plant in (*PLANTS, "all"):
            found = [row for row in rows if row["belief"] == belief and plant in (row["plant"], "all")]
            if found:
                lines.append(_line(belief, plant, found))
    head = "| belief | plant | campaigns | stopped | moves / budget | said | right | statements near 0.9 | of these right |"
    return "\n".join([head, "|---" * 9 + "|", *lines])


def _line(belief: str, plant: str, rows: list[dict[str, str]]) -> str:
    stopped = [row for row in rows if row["stopped"] == "True"]
    share = np.mean([int(row["moves"]) / int(row["budget"]) for row in stopped]) if stopped else np.nan
    said = np.mean([float(row["probability"]) for row in stopped]) if stopped else np.nan
    right = np.mean([float(row["regret"]) <= float(row["tolerance"]) for row in stopped]) if stopped else np.nan
    near, true = (sum(int(row[name]) for row in rows) for name in ("said", "right"))
    cells = belief, plant, len(rows), len(stopped), f"{share:.2f}", f"{said:.3f}", f"{right:.3f}", near
    return f"| {' | '.join(map(str, cells))} | {true / max(near, 1):.3f} |"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser("run")
    made.add_argument("--output", type=Path, required=True)
    made.add_argument("--seeds", default="1..300")
    made.add_argument("--plants", nargs="*", default=list(PLANTS))
    made.add_argument("--beliefs", nargs="*", default=list(BELIEFS), choices=list(BELIEFS))
    made.add_argument("--objective", default="differences", help="What plans make small (utility.objective).")
    shown = commands.add_parser("table")
    shown.add_argument("results", type=Path)
    given = parser.parse_args()
    if given.command == "table":
        sys.stdout.write(table(given.results) + "\n")
        return
    first, last = (int(part) for part in given.seeds.split(".."))
    run(given.output, range(first, last + 1), given.plants, given.beliefs, given.objective)


if __name__ == "__main__":
    main()
