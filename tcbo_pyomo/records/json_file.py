"""Save a campaign to a JSON file and load it again; it then goes on with the same moves, bit for bit.

The file holds plain data with a checksum; it is replaced as a whole, so that a crash leaves the old one.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.campaign.simulation import Simulation
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.atomic_file import read_checked, write_checked
from tcbo_pyomo.problem.with_settings import with_settings
from tcbo_pyomo.settings import settings_from

FORMAT = "tcbo_campaign"
VERSION = 1
WORDS = "saved campaign"


def save_campaign(campaign: Campaign, path: str | Path) -> None:
    """Write the campaign's state; the file is complete or not replaced at all."""
    write_checked(Path(path), FORMAT, VERSION, {"problem": problem_fingerprint(campaign.problem), **campaign.state()})


def load_campaign(path: str | Path, problem: Any) -> Campaign:
    """The campaign saved in a file, on the problem it was saved with."""
    content = read_checked(Path(path), FORMAT, VERSION, WORDS)
    if "campaign" in content:
        raise BadInput(f"{path}: is an unfinished run, not a saved campaign; go on with resume_simulation")
    _refuse_another(path, problem, content)
    return Campaign.from_state(problem, content)


def save_simulation(simulation: Simulation, path: str | Path) -> None:
    """Keep an unfinished run: the campaign after its last complete move, and what is needed to go on."""
    content = simulation.checkpoint()
    content["campaign"]["problem"] = problem_fingerprint(simulation.campaign.problem)
    write_checked(Path(path), FORMAT, VERSION, content)


def unfinished_run(path: str | Path) -> dict[str, Any]:
    """What `save_simulation` wrote."""
    content = read_checked(Path(path), FORMAT, VERSION, WORDS)
    if "campaign" not in content:
        raise BadInput(f"{path}: is a saved campaign, not an unfinished run; load it with load_campaign")
    return content


def resume_simulation(path: str | Path, problem: Any) -> Simulation:
    """Go on with an unfinished run, on the problem it was started with."""
    content = unfinished_run(path)
    _refuse_another(path, problem, content["campaign"])
    return Simulation.from_checkpoint(problem, content)


def _refuse_another(path: str | Path, problem: Any, content: dict[str, Any]) -> None:
    same = with_settings(problem, settings_from(content["settings"]))
    # Before anything is replayed: the states and moves of another problem mean nothing here.
    if problem_fingerprint(same) != content["problem"]:
        raise BadInput(
            f"{path}: was saved for another problem than '{problem.name}' as it is now; load the same problem"
        )


def problem_fingerprint(problem: Any) -> str:
    """A digest of everything about a problem that decides which moves are made."""
    facts, arrays = problem.identity()
    coordinates = [(c.name, float(c.lower), float(c.upper), c.unit) for c in problem.coordinates]
    rules = [rule.name for rule in problem.rules]
    digest = hashlib.sha256()
    description = (problem.name, coordinates, int(problem.horizon), rules, problem.kernel.to_dict(), facts)
    digest.update(json.dumps(description, sort_keys=True).encode())
    for array in arrays:
        digest.update(array.tobytes())
    return digest.hexdigest()
