"""Goals in studies: named once or per problem, run, and written on the figures."""

from __future__ import annotations

import pandas as pd
import pytest

from tcbo_pyomo import load_problem
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.studies.execution import execute
from tcbo_pyomo.studies.figures.candidates import candidates_figure
from tcbo_pyomo.studies.figures.identification import identification_figure
from tcbo_pyomo.studies.figures.sought import best_words, goal_of
from tcbo_pyomo.studies.runs import runs_of
from tcbo_pyomo.studies.study import study_from

TINY = {"name": "tiny", "problems": ["knorr_pyrazole"], "seeds": [1], "settings": {"episodes": 1}}


def test_a_goal_is_a_field_of_the_study_or_a_setting():
    study = study_from({**TINY, "goal": "minimise"})
    assert study.settings == {"goal": "minimise", "episodes": 1}
    (run,) = runs_of(study)
    assert run.case.settings["goal"] == "minimise"
    # Another goal is another run.
    keys = {runs_of(study_from({**TINY, **more}))[0].key for more in ({}, {"goal": "minimise"}, {"goal": {"target": 0.3}})}
    assert len(keys) == 3
    with pytest.raises(BadInput, match=r"use maximise, minimise, or \{target: 42\}"):
        runs_of(study_from({**TINY, "goal": "best"}))


@pytest.mark.parametrize("truth", ["known", "drawn"])
def test_runs_are_judged_in_the_sense_of_their_goal(truth):
    grid = {"goal": ["minimise", {"target": 0.3}]}
    for run in runs_of(study_from({**TINY, "truth": truth, "grid": grid})):
        record = execute(run)
        assert "error" not in record and all(step[2] >= 0.0 for step in record["steps"])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "maximum"),
        ({"goal": "minimise"}, "minimum"),
        ({"goal": {"target": 42}}, "value closest to 42 %"),
        ({"problems": [{"problem": "knorr_pyrazole", "settings": {"goal": "minimise"}}]}, "minimum"),
        ({"grid": {"goal": ["maximise", "minimise"]}}, "best"),
        ({"methods": ["mdp_bo", {"method": "local_ucb", "settings": {"goal": "minimise"}}], "goal": "maximise"}, "best"),
        ({"methods": [{"method": "local_ucb", "settings": {"goal": "minimise"}}], "goal": "maximise"}, "minimum"),
    ],
)
def test_the_figures_say_what_was_sought(more, words):
    study = study_from({**TINY, **more}).model_dump(mode="json")
    assert best_words(goal_of(study, "knorr_pyrazole", load_problem("knorr_pyrazole")), "%") == words


def test_a_problem_has_a_goal_of_its_own():
    problem = load_problem("knorr_pyrazole").changed(goal="minimise")
    assert best_words(goal_of({}, "knorr_pyrazole", problem), "") == "minimum"


def test_the_words_are_on_the_axes():
    moves = [(seed, step) for seed in (1, 2) for step in (1, 2)]
    same = {"problem": "p", "feedback": "immediate", "method": "mdp_bo", "setting": "", "episode": 1, "regret": 0.1}
    each = [{"seed": seed, "step": step, "move": step, "identified": seed > 1, "candidates": 5 - step} for seed, step in moves]
    runs = pd.DataFrame([{**same, **row} for row in each])
    bars = identification_figure(runs, "p", "immediate", best="value closest to 42 %")
    assert "identified the value closest to 42 %" in bars.get_ylabel()
    assert "candidates for the minimum" in candidates_figure(runs, "p", "immediate", best="minimum").get_ylabel()
