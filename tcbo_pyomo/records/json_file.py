"""Campaigns and unfinished runs as JSON files; each resumes with the same moves, bit for bit.

The file holds plain data with a checksum; it is replaced as a whole, so that a crash leaves the old one. It knows what its
problem was and no code that builds it: the problem has to be given when it is read, and another one is refused.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.campaign.simulation import Simulation
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.atomic_file import read_checked, write_checked
from tcbo_pyomo.problem.declaration import declaration_of
from tcbo_pyomo.problem.declared_changes import declared_changes
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.problem.with_settings import with_settings
from tcbo_pyomo.records.built_problem import SHOWN
from tcbo_pyomo.records.determining_parts import (
    FILE,
    NUMBERS,
    Parts,
    changed_parts,
    is_shipped,
    problem_parts,
    source_parts,
)
from tcbo_pyomo.records.file_format import plain
from tcbo_pyomo.records.problem_source import ProblemSource, built_problem, problem_fingerprint
from tcbo_pyomo.settings import Settings, stored_settings

FORMAT = "tcbo_campaign"
VERSION = 2
"""The newest format that is read: since it a campaign may have past experiments. One without is written as ever."""
WORDS = "saved campaign"


def save_campaign(campaign: Campaign, path: str | Path) -> None:
    """Write the campaign's state, completely or not at all. Read it with `open_campaign`."""
    content = _with_problem(campaign.problem, campaign.state())
    write_checked(Path(path), FORMAT, _version(content), content)


def _with_problem(problem: ProblemProtocol, state: dict[str, Any]) -> dict[str, Any]:
    """A campaign's state and what its problem was: by fingerprint, and as data that can say what has changed."""
    return {"problem": problem_fingerprint(problem), "declared": plain(declaration_of(problem)), **state}


def run_parts(campaign: Campaign, source: ProblemSource | None = None) -> Parts:
    """What determines the numbers of a run; `source` is what its problem was built from.

    To be taken when the run begins: a file may be edited while it runs.
    """
    return _parts(campaign.problem, campaign.settings, source)


def _parts(problem: ProblemProtocol, settings: Settings, source: ProblemSource | None) -> Parts:
    named = source if isinstance(source, (str, os.PathLike)) else None
    return {**problem_parts(problem, is_shipped(source)), **source_parts(named, settings.model_dump(mode="json"))}


def save_simulation(simulation: Simulation, path: str | Path, parts: Parts | None = None) -> None:
    """Keep an unfinished run: the campaign after its last complete move, and what is needed to resume.

    `parts` are its `run_parts`; those of the problem as it is when not given.
    """
    content = simulation.checkpoint()
    content["parts"] = run_parts(simulation.campaign) if parts is None else parts
    content["campaign"] = _with_problem(simulation.campaign.problem, content["campaign"])
    write_checked(Path(path), FORMAT, _version(content["campaign"]), content)


def _version(state: dict[str, Any]) -> int:
    """The format of a campaign's state: versions that know no past experiments must not go on without them."""
    return VERSION if "past" in state else 1


def read_campaign(path: Path, problem: ProblemSource | None) -> Campaign:
    """The campaign of a saved file, or of an unfinished run after its last complete move."""
    if problem is None:
        raise BadInput(f"'{path}' holds a campaign without its problem; name the problem with --problem")
    content = read_checked(path, FORMAT, VERSION, WORDS)
    if "campaign" in content:
        return _simulation(path, problem, content).campaign
    return Campaign.from_state(_same_problem(path, problem, content), content)


def resume_simulation(path: str | Path, problem: ProblemSource) -> Simulation:
    """Go on with an unfinished run, on the problem it was started with."""
    content = read_checked(Path(path), FORMAT, VERSION, WORDS)
    if "campaign" not in content:
        raise BadInput(f"{path}: is a saved campaign, not an unfinished run; open it with open_campaign")
    return _simulation(Path(path), problem, content, content.get("parts"))


def _simulation(path: Path, problem: ProblemSource, content: dict[str, Any], parts: Parts | None = None) -> Simulation:
    return Simulation.from_checkpoint(_same_problem(path, problem, content["campaign"], parts), content)


def _same_problem(
    path: Path, source: ProblemSource, content: dict[str, Any], parts: Parts | None = None
) -> ProblemProtocol:
    """The problem that a file was saved for; another one is refused before its states and moves mean anything here.

    Where all its `parts` must be the same, the message says which are not.
    """
    settings = stored_settings(content["settings"])
    problem = built_problem(source, settings.feedback.kind, content["seed"])
    present = with_settings(problem, settings)
    if parts is not None and (changed := _changed(parts, _parts(present, settings, source), source)):
        raise BadInput(
            f"{path}: the interrupted run had another problem than the present '{problem.name}'; "
            f"changed: {', '.join(changed)}; restore that, or leave out --resume to start again"
        )
    differing = _declared_otherwise(content, present)
    if differing or problem_fingerprint(present) != content["problem"]:
        raise BadInput(
            f"{path}: was saved for another problem than the present '{problem.name}'{differing}; load the same problem"
        )
    return problem


def _declared_otherwise(content: dict[str, Any], present: ProblemProtocol) -> str:
    """What differs in plant, limits and prior from those that a file holds, in words; more episodes are allowed.

    Files of older versions hold the fingerprint alone, and that of a continuous plant does not see every limit.
    """
    if "declared" not in content:
        return ""
    now = plain(declaration_of(present))
    changes = declared_changes({**content["declared"], "episodes": now["episodes"]}, now)
    return "".join(f"; {change.in_words()}" for change in changes[:SHOWN])


def _changed(before: Parts, now: Parts, source: ProblemSource) -> list[str]:
    """The parts that changed; a problem that is made in Python has no files that we know.

    Only one of the two may have the numbers of rules and dynamics: of a shipped problem that was passed in Python.
    """
    known = isinstance(source, (str, os.PathLike))
    changed = [name for name in changed_parts(before, now) if known or not name.startswith(FILE)]
    return [name for name in changed if name != NUMBERS or (name in before and name in now)]
