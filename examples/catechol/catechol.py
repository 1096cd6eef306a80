"""Real transient-flow experiments as plants: `python catechol.py YOUR.csv FOLDER [SEEDS] [WORKERS]` runs and prints the table.

`python catechol.py YOUR.csv FOLDER drawn [SEEDS] [WORKERS]` keeps the plants and draws another black box for every seed, from
the prior that the model has: how good the methods are on such plants, whatever was measured there.

YOUR.csv is catechol_full_data_yields.csv of the public repository jpfolch/catechol_solvent_selection (MIT licence, 2025,
arXiv 2506.07619), or a table with its columns under the names of `NAMES`. It is not shipped. Call it again to resume.

Every experiment with an even number is a plant: its states are the measured rows, and one move joins two rows that differ by no
more than `LARGEST_STEP`. The prior is what a user knows before the first experiment: a yield lies between 0 and 1, and a
repeated measurement scatters by about 0.01. How fast the answer changes is learned (`PlainPrior`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from tcbo_pyomo import BadInput, run_study
from tcbo_pyomo.studies.study import study_from

NAMES = {
    "EXP NUM": "experiment",
    "SolventB%": "fraction_b",
    "Residence Time": "residence_time_min",
    "Temperature": "temperature_degC",
    "Product 2": "product_2",
    "Product 3": "product_3",
}
"""The columns that are needed: as the repository calls them, and as we do."""
INPUTS = {"fraction_b": "fraction_b", "residence_time_min": "residence_time (min)", "temperature_degC": "temperature (degC)"}
LARGEST_STEP = {"fraction_b": 0.3, "residence_time": 3.5, "temperature": 12.0}
"""In one move: share of the second solvent, minutes, degrees Celsius; about the largest steps of the ramps themselves."""
METHODS = [
    {"method": "mdp_bo", "name": "default"},
    {"method": "mdp_bo", "name": "before", "settings": {"utility": {"objective": "differences"}}},
    {"method": "mdp_bo", "name": "MDP-BO", "settings": {"preset": "paper"}},
    "mdp_expected_improvement",
    "greedy_ucb",
    "local_ucb",
]
PLANT = '''"""Experiment {number} of the Catechol benchmark, written by catechol.py."""

from pathlib import Path

from tcbo_pyomo import PlainPrior, replay_problem


def build(feedback=None, seed=0):
    return replay_problem(
        Path(__file__).with_suffix(".csv"),
        inputs={inputs},
        output="products",
        maximum_step={steps},
        noise_variance=1e-4,
        horizon=25,
        episodes=2,
        settings={{"feedback": {{"kind": feedback or "episodic"}}}},
        prior=PlainPrior(range=(0.0, 1.0), measurement_sd=0.01),
        name="experiment_{number}",
    )
'''


DRAWN = {"truth": "drawn", "settings": {"surrogate": {"fit": "never"}}}
"""Functions of the prior, with nothing to learn about it."""


def main(table: Path, folder: Path, seeds: str = "1..20", workers: int = 1, drawn: bool = False) -> None:
    """Write a problem file for each experiment, run what is missing of the study, and print its table."""
    name = "drawn" if drawn else "catechol"
    problems = [str(file) for file in write_plants(table, folder)]
    study = study_from(
        {
            "name": name,
            "problems": problems,
            "methods": METHODS,
            "feedback": ["episodic", "immediate"],
            "seeds": seeds,
            **(DRAWN if drawn else {}),
        }
    )
    run_study(study, folder / name, workers=workers)
    sys.path.append(str(Path(__file__).parents[1] / "tournament"))
    from finite import print_tables

    print_tables(folder, [name])


def write_plants(table: Path, folder: Path) -> list[Path]:
    """A table and a problem file for every experiment with an even number; the problem files."""
    rows = read_rows(table)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number, measured in rows.groupby("experiment"):
        if int(number) % 2:
            continue
        # What an experiment did not vary is no input of its plant.
        varied = [name for name in INPUTS if measured[name].nunique() > 1]
        file = folder / f"experiment_{int(number)}.py"
        written = measured[varied].rename(columns=INPUTS).assign(products=measured["product_2"] + measured["product_3"])
        _write(file.with_suffix(".csv"), written.to_csv(index=False))
        inputs = [INPUTS[name].split(" ")[0] for name in varied]
        steps = {name: LARGEST_STEP[name] for name in inputs}
        _write(file, PLANT.format(number=int(number), inputs=inputs, steps=steps))
        files.append(file)
    return files


def read_rows(table: Path) -> pd.DataFrame:
    """The measured rows, their columns under our names."""
    if not table.is_file():
        raise BadInput(f"'{table}' is not a file; give the path of catechol_full_data_yields.csv")
    rows = pd.read_csv(table).rename(columns=NAMES)
    if missing := [name for name in NAMES.values() if name not in rows]:
        raise BadInput(f"'{table}' has no column {missing[0]}; it needs {', '.join(NAMES.values())}")
    return rows


def _write(file: Path, text: str) -> None:
    """Only where it differs: the runs of a study are known by the files behind them."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    words = [word for word in sys.argv[1:] if word != "drawn"]
    try:
        main(
            Path(words[0]), Path(words[1]), *words[2:3], *(int(number) for number in words[3:4]), drawn="drawn" in sys.argv
        )
    except BadInput as error:
        sys.exit(f"error: {error}")
