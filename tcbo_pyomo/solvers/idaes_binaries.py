"""The solvers that `idaes get-extensions` brings: IPOPT with the HSL linear solvers, in a folder of IDAES."""

from __future__ import annotations

import importlib.util
import logging
import os
from pathlib import Path

logger = logging.getLogger(__name__)


def idaes_folder() -> Path:
    """Where IDAES keeps its executables, by its own rules."""
    data = os.environ.get("IDAES_DATA")
    if data:
        return Path(data) / "bin"
    windows = os.environ.get("LOCALAPPDATA")
    return (Path(windows) / "idaes" if windows else Path.home() / ".idaes") / "bin"


def look_in_idaes(name: str) -> bool:
    """Make an executable of IDAES known to Pyomo; says whether there is one."""
    from pyomo.common import Executable

    if importlib.util.find_spec("idaes") is not None:
        try:
            importlib.import_module("idaes")  # It puts its folder on the path, and its libraries where they are found.
        except Exception as error:
            logger.debug("import of idaes: %s", error)
    folder = idaes_folder()
    if not any((folder / file).is_file() for file in (name, f"{name}.exe")):
        return False
    places = os.environ.get("PATH", "").split(os.pathsep)
    if str(folder) not in places:
        os.environ["PATH"] = os.pathsep.join([*places, str(folder)])
    Executable(name).rehash()
    return True
