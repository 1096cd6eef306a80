"""setup.cfg lists every package there is; a folder left out would be missing from the wheel."""

import configparser
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_package_is_listed():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    listed = set(setup["options"]["packages"].split())
    found = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "tcbo_pyomo").rglob("__init__.py")}
    models = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "models").rglob("__init__.py")}
    assert listed == found | {f"tcbo_pyomo.{name}" for name in models}


def test_every_other_file_of_a_package_is_package_data():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    data = {package: patterns.split() for package, patterns in setup["options.package_data"].items()}
    for path in (ROOT / "tcbo_pyomo").rglob("*"):
        if path.is_dir() or path.suffix in (".py", ".pyc") or "__pycache__" in path.parts:
            continue
        package = ".".join(path.parent.relative_to(ROOT).parts)
        assert any(path.match(pattern) for pattern in data.get(package, [])), f"{path} is not in package_data"
