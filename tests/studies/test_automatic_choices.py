"""A new default changes the keys of those runs only whose moves it changes; the digests are those of the version before it."""

import pytest

from tcbo_pyomo import load_problem
from tcbo_pyomo.settings import Settings, settings_from
from tcbo_pyomo.studies import run_study
from tcbo_pyomo.studies.automatic_choices import GO_AND_STAY
from tcbo_pyomo.studies.runs import runs_of
from tcbo_pyomo.studies.study import study_from

UNNAMED = ("94d2c1565675b868bb4ca1ed5fcce2d3", "eb904a7e051cad22144f52e6adc4e930")
"""The keys of mdp_bo on Knorr, seed 1, where `differences` was the default: those of today, and those of 0.1.0."""
REGRET = ("7a764581a74de1af379da90c78a134ca", "36458f6b304212587cf386cef543c90d")
"""The same for a run that named `regret` then."""
SAME = {
    "differences": ("mdp_bo", {"utility": {"objective": "differences"}}, UNNAMED),
    "regret": ("mdp_bo", {"utility": {"objective": "regret"}}, REGRET),
    "g": (
        "mdp_bo",
        {"utility": {"objective": "g_allocation"}},
        ("ec7a3fa217c8fb3ef4bb6aee8f4c45e9", "52e57fa7643dae8b5271e81aa9a4e3f6"),
    ),
    "gap": (
        "mdp_bo",
        {"planner": {"gap": 0.1}},
        ("dd98a5b98ca0dd537170e5317e064a0b", "5057a3e6f018bb2151076a4aaa29daa9"),
    ),
    "width": (
        "mdp_bo",
        {"candidates": {"width": 2.0}},
        ("a2a17cfe437931c35f7599ba307a7f71", "20ddef3125ec7a545eec4cbb21c0e664"),
    ),
    "paper": (
        "mdp_bo",
        {"preset": "paper"},
        ("d90f2288a372e5866bbdb6ff7e2f287a", "eb9474c0087068f00a9df220a4413b65"),
    ),
    "local": ("local_ucb", {}, ("f7606150e76d560f4e29b6dc255abcdc", "1debbc9e847f4573086dc4ac248d5453")),
    "planned improvement": (
        "mdp_expected_improvement",
        {},
        ("051fc2850f09c662ace59595ddc8db86", "80eed84ca2a101ebcf88e76191b1e5a5"),
    ),
}


def run_of(method, settings, problem="knorr_pyrazole"):
    entry = {"method": method, "settings": settings}
    (run,) = runs_of(study_from({"name": "one", "problems": [problem], "methods": [entry], "seeds": [1]}))
    return run


@pytest.mark.parametrize("name", SAME)
def test_runs_whose_moves_are_the_same_keep_their_keys(name):
    method, settings, wanted = SAME[name]
    run = run_of(method, settings)
    assert (run.key, run.key_of_0_1_0) == wanted


def test_a_continuous_run_keeps_its_key():
    run = run_of("mdp_bo", {}, "branin2d")
    assert (run.key, run.key_of_0_1_0) == ("80b705fe98f5f35924f51abfd313d08a", "905c510116d9eb872dad6bb82d4f9a97")


@pytest.mark.parametrize("problem", ["knorr_pyrazole", "branin2d"])
def test_the_eager_first_move_by_its_name_has_the_key_of_the_default_before(problem):
    named = {"planner": {"first_move": "eager"}, "utility": {"objective": "differences"}}
    run, unnamed = run_of("mdp_bo", named, problem), run_of("mdp_bo", {"utility": {"objective": "differences"}}, problem)
    assert (run.key, run.key_of_0_1_0) == (unnamed.key, unnamed.key_of_0_1_0)


@pytest.mark.parametrize("problem", ["tank_cascade", "drone"])
def test_where_moves_are_tied_to_each_other_the_default_is_the_drawn_move_by_its_name(problem):
    runs = {move: run_of("mdp_bo", {"planner": {"first_move": move}}, problem) for move in ("auto", "drawn", "eager")}
    assert runs["auto"].key == runs["drawn"].key != runs["eager"].key
    assert runs["auto"].key_of_0_1_0 == runs["drawn"].key_of_0_1_0 != runs["eager"].key_of_0_1_0


def test_plans_for_the_regret_have_new_keys_where_every_place_is_one_move_away():
    """The key that the laser had before moves went and stayed there; for differences it has not changed."""
    regret, variances = ({"utility": {"objective": name}} for name in ("regret", "differences"))
    parts = run_of("mdp_bo", regret, "free_electron_laser").case.parts
    assert GO_AND_STAY.items() <= parts.items()
    assert not GO_AND_STAY.items() & run_of("mdp_bo", variances, "free_electron_laser").case.parts.items()
    assert not GO_AND_STAY.items() & run_of("mdp_bo", regret).case.parts.items()


def test_the_new_default_has_the_key_of_the_objective_by_its_name():
    run = run_of("mdp_bo", {})
    assert (run.key, run.key_of_0_1_0) == REGRET


def test_methods_that_plan_for_the_utility_have_new_keys():
    assert run_of("rollout", {}).key != "68e7e8a729b03ce8bc21578739e0a7b5"
    assert run_of("stateless", {}, "free_electron_laser").key != "aa76defeaec84a72c39e9ea8cd0f74b9"


def test_a_folder_of_the_version_before_says_why_runs_are_made_anew(tmp_path):
    quick = {"episodes": 1, "planner": {"linear": {"solver": "dynamic_programming"}}}
    methods = ["mdp_bo", "random_walk"]
    now = {"name": "small", "problems": ["knorr_pyrazole"], "methods": methods, "seeds": [1], "settings": quick}
    then = {**now, "settings": {**quick, "utility": {"objective": "differences"}}}
    folder, said = tmp_path / "out", []
    run_study(study_from(then), folder, workers=1)
    made = {path.name: path.read_bytes() for path in (folder / "runs").iterdir()}
    run_study(study_from(now), folder, workers=1, extend=True, on_progress=lambda progress: said.extend(progress.changes))
    kept = {path.name: path.read_bytes() for path in (folder / "runs").iterdir()}
    assert len(kept) == 3 and {name: kept[name] for name in made} == made
    assert said == ["changed since the last time: objective of plans; 1 run is repeated (knorr_pyrazole)"]


@pytest.mark.parametrize(
    ("named", "finite"),
    [
        ({}, "regret"),
        ({"planner": {"components": 3}}, "regret"),
        ({"planner": {"first_move": "drawn"}}, "regret"),
        ({"planner": {"gap": 0.1}}, "differences"),
        ({"candidates": {"rule": "credible_band"}}, "differences"),
        ({"candidates": {"width": 2.0}}, "differences"),
        ({"preset": "paper"}, "differences"),
        ({"utility": {"objective": "g_allocation"}}, "g_allocation"),
        ({"candidates": {"width": 2.0}, "utility": {"objective": "regret"}}, "regret"),
    ],
)
def test_what_auto_stands_for(named, finite):
    chosen = settings_from(named)
    assert chosen.finite_objective == finite
    assert chosen.continuous_objective == ("g_allocation" if finite == "g_allocation" else "differences")


def test_no_shipped_problem_names_an_objective():
    for name in ("knorr_pyrazole", "river", "fuel_lake", "dosing"):
        assert settings_from(dict(load_problem(name).settings)).finite_objective == "regret"
    assert Settings().utility.objective == "auto"
