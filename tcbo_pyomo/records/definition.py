"""The first row of a campaign file: which problem, which settings, which seed.

A problem is kept by name, or by the path and SHA-256 of the user's own Python file. That file was named on the command
line when the campaign was started; it is run again only while its content is the same.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from tcbo_pyomo._version import __version__
from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.library import load_problem, problem_names
from tcbo_pyomo.records.json_file import problem_fingerprint
from tcbo_pyomo.settings import Settings, settings_from


def define(path: Path, source: Any, settings: Settings | None, seed: int) -> tuple[Campaign, dict[str, Any]]:
    """A campaign at its beginning and what the first row says about it; `source` is a problem, its name or its file."""
    named = isinstance(source, (str, os.PathLike))
    feedback = None if settings is None else settings.feedback.kind
    problem = load_problem(os.fspath(source), feedback, seed) if named else source
    campaign = Campaign(problem, settings, seed)
    state = campaign.state()
    body = {
        "program": f"tcbo_pyomo {__version__}",
        "problem": _origin(path, os.fspath(source)) if named else {"name": problem.name, "made": "in Python"},
        "fingerprint": problem_fingerprint(campaign.problem),
        **{name: state[name] for name in ("settings", "seed", "generator", "kernel", "method")},
    }
    return campaign, body


def campaign_of(path: Path, body: dict[str, Any], problem: Any = None) -> Campaign:
    """The campaign that a first row defines, before its first move; `problem` where the row cannot name it."""
    settings = settings_from(body["settings"])
    kind, seed = settings.feedback.kind, body["seed"]
    if problem is None:
        problem = load_problem(_source(path, body["problem"]), kind, seed)
    elif isinstance(problem, (str, os.PathLike)):
        problem = load_problem(os.fspath(problem), kind, seed)
    campaign = Campaign(problem, settings, seed)
    if problem_fingerprint(campaign.problem) != body["fingerprint"]:
        raise BadInput(
            f"{path}: was started for another problem than '{problem.name}' as it is now; go on with the problem, and "
            "the version of tcbo_pyomo, that it was started with; the file is left as it is"
        )
    return campaign


def _origin(path: Path, name: str) -> dict[str, str]:
    """Where a problem comes from: a shipped name, or a file beside the campaign file or with its full path."""
    if name in problem_names():
        return {"name": name}
    file = Path(name).absolute()
    return {
        "file": os.fspath(file),
        "beside": os.path.relpath(file, path.absolute().parent),
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
    }


def _source(path: Path, origin: dict[str, str]) -> str:
    if "file" not in origin:
        if "made" in origin and origin["name"] not in problem_names():
            name = origin["name"]
            raise BadInput(f"{path}: its problem '{name}' was made in Python; give it to open_campaign(path, problem)")
        return origin["name"]
    for file in (path.absolute().parent / origin["beside"], Path(origin["file"])):
        if file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == origin["sha256"]:
            return os.fspath(file)
    raise BadInput(
        f"{path}: its problem file {origin['file']} is missing or was changed after the start; put it back, or name "
        "the changed one with --problem if it is still the same problem"
    )
