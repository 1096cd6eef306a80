"""The wheel carries models/, the data and the templates, and works outside the checkout."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = """
import sys
from importlib.util import find_spec
from pathlib import Path
import tcbo_pyomo, tcbo_pyomo.models
installed = Path(sys.argv[1]).resolve()
for module in (tcbo_pyomo, tcbo_pyomo.models):
    assert Path(module.__file__).resolve().is_relative_to(installed), module.__file__
for name in ("tests", "examples", "tcbo_pyomo", "models.models"):
    assert find_spec(f"tcbo_pyomo.{name}") is None, name
from tcbo_pyomo import load_problem, run_campaign, settings_from
from tcbo_pyomo.library import problem_names
for name in problem_names():
    load_problem(name)
problem = load_problem("knorr_pyrazole")
result = run_campaign(problem, settings_from(dict(problem.settings), {"episodes": 1}), seed=1)
print(len(result.experiments), "measurements")
"""


@pytest.mark.slow
def test_an_installed_wheel_works_beside_a_folder_named_models(tmp_path):
    build = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "-q", "-w", str(tmp_path / "wheels")]
    subprocess.run(build, check=True, cwd=tmp_path)
    (wheel,) = (tmp_path / "wheels").glob("tcbo_pyomo-*.whl")
    target = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "-q", "--target", str(target), str(wheel)]
    subprocess.run(install, check=True, cwd=tmp_path)
    work = tmp_path / "work"
    (work / "models").mkdir(parents=True)
    (work / "models" / "__init__.py").write_text("raise RuntimeError('the user has models of their own')\n")
    environment = {**os.environ, "PYTHONPATH": str(target)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(target)], cwd=work, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "10 measurements"
    new = subprocess.run(
        [sys.executable, "-m", "tcbo_pyomo", "new", "my_reactor"],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert new.returncode == 0 and (work / "my_reactor" / "my_reactor.py").exists(), new.stderr
