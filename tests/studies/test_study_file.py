"""Study files: what they mean, and that whatever cannot run is refused before anything is run."""

import hashlib
import json
from dataclasses import replace

import pytest

from tcbo_pyomo import load_problem
from tcbo_pyomo._version import MOVES_SINCE, REACHABLE_SINCE
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.records.problem_source import problem_fingerprint
from tcbo_pyomo.studies.runs import runs_of
from tcbo_pyomo.studies.study import read_study, study_from

KNORR = {"name": "s", "problems": ["knorr_pyrazole"], "seeds": [1, 2]}
DP = {"planner": {"linear": {"solver": "dynamic_programming"}}}


def knorr(**changes):
    return study_from({**KNORR, "settings": DP, **changes})


def test_cases_are_the_product_of_everything_in_the_order_of_the_file():
    study = knorr(
        methods=["mdp_bo", "greedy_ucb"],
        feedback=["episodic", {"kind": "delayed", "delay": 3}],
        grid={"planner.components": [1, 2], "candidates.width": [1.0, 1.5]},
        seeds="4..6",
    )
    runs = runs_of(study)
    assert len(runs) == 2 * 2 * 4 * 3
    assert [run.seed for run in runs[:4]] == [4, 5, 6, 4]
    cases = list(dict.fromkeys((r.case.feedback, r.case.method, r.case.setting) for r in runs))
    assert cases[0] == ("episodic", "mdp_bo", "planner.components=1, candidates.width=1.0")
    assert cases[-1] == ("delayed 3", "greedy_ucb", "planner.components=2, candidates.width=1.5")
    assert len({run.key for run in runs}) == len(runs)


def test_settings_win_in_the_order_problem_study_entry_method_grid():
    study = study_from(
        {
            "name": "s",
            "problems": [{"problem": "knorr_pyrazole", "name": "reactor", "settings": {"episodes": 3}}],
            "methods": [{"method": "mdp_bo", "name": "ours", "settings": {"candidates": {"width": 1.25}}}],
            "settings": {**DP, "episodes": 2, "candidates": {"width": 9.0}},
            "grid": {"planner.components": [7]},
            "seeds": [1],
        }
    )
    (run,) = runs_of(study)
    assert (run.case.problem, run.case.method, run.case.feedback) == ("reactor", "ours", "episodic")
    settings = run.case.settings
    assert settings["episodes"] == 3
    assert settings["candidates"]["width"] == 1.25
    assert settings["planner"]["components"] == 7
    assert settings["feedback"]["kind"] == "episodic"


def test_the_key_names_the_linear_solver_that_is_used():
    """`auto` is known by what it takes; `highs`, the default of 0.1.0, is not named: runs made then are found again."""

    def key(**settings):
        return runs_of(knorr(seeds=[1], settings={"planner": settings}))[0].key

    assert key() == key(linear={"solver": "auto"}) == key(linear={"solver": "highs"})
    assert key(linear={"solver": "dynamic_programming"}) != key()
    (run,) = runs_of(knorr(seeds=[1], settings={"planner": {"linear": {"solver": "highs"}}}))
    assert run.case.settings.pop("planner") == {"linear": {"solver": "highs"}}
    named = {**run.case.settings, "utility": {"objective": "regret"}}
    facts = [MOVES_SINCE, "knorr_pyrazole", run.case.fingerprint, named, 1]
    assert run.key_of_0_1_0 == hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def test_the_key_knows_where_rules_keep_an_episode_from_states():
    """Only there have candidates and moves changed since 0.1.0."""
    study = study_from({"name": "s", "problems": ["lake_ypacarai", "fuel_lake"], "seeds": [1]})
    free, bound = runs_of(study)
    before = problem_fingerprint(load_problem("fuel_lake"))
    assert free.case.fingerprint == problem_fingerprint(load_problem("lake_ypacarai"))
    assert bound.case.fingerprint == f"{before} {REACHABLE_SINCE}"
    assert replace(bound, case=replace(bound.case, fingerprint=before)).key_of_0_1_0 != bound.key_of_0_1_0
    parts = {name: digest for name, digest in bound.case.parts.items() if name != "reach"}
    assert "reach" not in free.case.parts
    assert replace(bound, case=replace(bound.case, parts=parts)).key != bound.key


def test_the_key_depends_on_what_determines_the_numbers_and_not_on_labels():
    def key(seed=1, **changes):
        return runs_of(knorr(seeds=[seed], **changes))[0].key

    assert key() == key(methods=[{"method": "mdp_bo", "name": "another label"}])
    changes = ({"seed": 2}, {"methods": ["greedy_ucb"]}, {"feedback": ["immediate"]}, {"settings": {"episodes": 2}})
    assert len({key(), *(key(**change) for change in changes)}) == 5


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"problems": ["knorr_pyrazol"]}, ["unknown problem 'knorr_pyrazol'", "did you mean 'knorr_pyrazole'"]),
        ({"methods": ["mdp_b"]}, ["unknown method 'mdp_b'", "did you mean 'mdp_bo'"]),
        ({"methods": ["local_search_region"]}, ["local_search_region", "finite", "knorr_pyrazole"]),
        ({"methods": ["mdp_bo", "mdp_bo"]}, ["methods", "mdp_bo is given twice", "name"]),
        ({"problems": ["knorr_pyrazole", "knorr_pyrazole"]}, ["problems", "given twice"]),
        ({"grid": {"planner.components": [1, 10, 1]}}, ["grid.planner.components", "1 is given twice"]),
        ({"grid": {"planner.components": []}}, ["grid.planner.components", "empty"]),
        ({"grid": {"planner.component": [1]}}, ["unknown setting 'planner.component'", "components"]),
        ({"grid": {"planner..x": [1]}}, ["planner..x"]),
        ({"grid": {"planner.components": [0]}}, ["planner.components", "got 0"]),
        ({"grid": {"feedback.kind": ["immediate"]}}, ["feedback.kind", "`feedback`"]),
        ({"settings": {"method": "mdp_bo"}}, ["'method'", "`methods`"]),
        ({"settings": {"planer": {}}}, ["unknown setting 'planer'", "planner"]),
        ({"feedback": ["immediate", "immediate"]}, ["feedback", "given twice"]),
        ({"feedback": ["sometimes"]}, ["feedback", "sometimes", "immediate"]),
        ({"feedback": ["delayed"]}, ["needs a positive delay"]),
        ({"seeds": [1, 1]}, ["seeds", "1 is given twice"]),
        ({"seeds": [-1]}, ["seeds", "negative"]),
        ({"seeds": []}, ["seeds"]),
        ({"seeds": "25..1"}, ["seeds", "25..1", "1..25"]),
        ({"seeds": [1.5]}, ["seeds", "1.5"]),
        ({"name": "../outside"}, ["name", "../outside"]),
        ({"method": ["mdp_bo"]}, ["unknown field 'method'", "methods"]),
        (
            {"methods": ["mdp_bo", {"method": "mdp_bo", "name": "twin"}]},
            ["'knorr_pyrazole, episodic, mdp_bo'", "'knorr_pyrazole, episodic, twin'", "same"],
        ),
    ],
)
def test_bad_studies_are_refused_with_the_field_the_value_and_what_is_allowed(changes, words):
    with pytest.raises(BadInput) as caught:
        runs_of(knorr(**changes))
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_missing_fields_are_named():
    with pytest.raises(BadInput, match="'problems' is missing"):
        study_from({"name": "s", "seeds": [1]})


def test_a_problem_file_is_found_from_the_folder_of_the_study_file(tmp_path):
    (tmp_path / "study.yaml").write_text("name: s\nproblems: [plant.py]\nseeds: 1..2\n")
    assert read_study(tmp_path / "study.yaml").problems[0].problem == str(tmp_path / "plant.py")
    (tmp_path / "bad.yaml").write_text("name: s\nproblems: [x]\nseeds: many\n")
    with pytest.raises(BadInput, match=r"bad\.yaml.*seeds.*many"):
        read_study(tmp_path / "bad.yaml")
    (tmp_path / "empty.yaml").write_text("")
    with pytest.raises(BadInput, match=r"study file .*empty"):
        read_study(tmp_path / "empty.yaml")
