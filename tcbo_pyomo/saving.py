"""Save a campaign to a JSON file and load it again; it then goes on with the same moves, bit for bit.

The file holds plain data with a checksum; it is replaced as a whole, so that a crash leaves the old one.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from tcbo_pyomo.campaign import Campaign
from tcbo_pyomo.errors import BadInput, DamagedFile, DiskError
from tcbo_pyomo.problem_settings import with_settings
from tcbo_pyomo.settings import settings_from
from tcbo_pyomo.simulation import Simulation

FORMAT = "tcbo_campaign"
VERSION = 1


def save_campaign(campaign: Campaign, path: str | Path) -> None:
    """Write the campaign's state; the file is complete or not replaced at all."""
    _write(Path(path), {"problem": problem_fingerprint(campaign.problem), **campaign.state()})


def load_campaign(path: str | Path, problem: Any) -> Campaign:
    """The campaign saved in a file, on the problem it was saved with."""
    content = _read(Path(path))
    if "campaign" in content:
        raise BadInput(f"{path}: is an unfinished run, not a saved campaign; go on with resume_simulation")
    _refuse_another(path, problem, content)
    return Campaign.from_state(problem, content)


def save_simulation(simulation: Simulation, path: str | Path) -> None:
    """Keep an unfinished run: the campaign after its last complete move, and what is needed to go on."""
    content = simulation.checkpoint()
    content["campaign"]["problem"] = problem_fingerprint(simulation.campaign.problem)
    _write(Path(path), content)


def unfinished_run(path: str | Path) -> dict[str, Any]:
    """What `save_simulation` wrote."""
    content = _read(Path(path))
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


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that it is either complete or not replaced at all."""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, _ordinary_mode())
            os.replace(temporary, path)
            _synchronise_folder(path.parent)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise DiskError(f"{path}: cannot be written ({error.strerror}); what was there before is unchanged") from None


def _ordinary_mode() -> int:
    """The mode of a new file; a temporary one is private."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _synchronise_folder(folder: Path) -> None:
    """Make the new name of a file outlive a power cut, where folders can be opened."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _write(path: Path, content: dict[str, Any]) -> None:
    text = json.dumps(content, allow_nan=False)
    document = {"format": FORMAT, "version": VERSION, "sha256": _digest(text), "content": content}
    write_atomically(path, json.dumps(document, allow_nan=False).encode())


def _read(path: Path) -> dict[str, Any]:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from None
    try:
        document = json.loads(raw)
        kind, version, content = document["format"], document["version"], document["content"]
        intact = document["sha256"] == _digest(json.dumps(content, allow_nan=False))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedFile(f"{path}: is not a saved campaign, or is damaged; restore it from a copy") from error
    if kind != FORMAT or not intact:
        raise DamagedFile(f"{path}: the content does not match its checksum; restore it from a copy")
    if version != VERSION:
        raise BadInput(f"{path}: was written in format {version}, this version reads {VERSION}; update tcbo_pyomo")
    return dict(content)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
