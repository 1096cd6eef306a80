"""The one face of all candidate rules: which plants each is for, how it is made, and what is refused in one line."""

from __future__ import annotations

import sys
from inspect import signature

import numpy as np
import pytest

from tcbo_pyomo import Campaign, load_problem, settings_from
from tcbo_pyomo.candidates.annealed import Annealed
from tcbo_pyomo.candidates.credible_band import CredibleBand
from tcbo_pyomo.candidates.protocol import CANDIDATE_RULES, CandidateRule, candidate_rule
from tcbo_pyomo.candidates.thompson_sampling import ThompsonSampling
from tcbo_pyomo.candidates.upper_confidence import UpperConfidence
from tcbo_pyomo.cli.main import main
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.settings import CandidateSettings
from tcbo_pyomo.surrogate.finite_belief import FiniteBelief

NOTHING = CandidateSettings()

OWN_RULES = """
    import numpy as np

    from tcbo_pyomo.candidates.annealed import Annealed


    class BestFew:
        plant = "finite"

        def __init__(self, number):
            self.number = number

        @classmethod
        def from_settings(cls, settings):
            return cls(settings.count or 3)

        def __call__(self, belief, space, generator, share_spent):
            seen.append((generator.random(), share_spent))
            return np.sort(np.where(space, belief.mean, -np.inf).argsort()[-self.number:])


    class Inherited(Annealed):
        pass


    class NoFace:
        pass


    class NoPlant(BestFew):
        plant = "somewhere"


    class OldCall(BestFew):
        def __call__(self, belief, search_space):
            return np.flatnonzero(search_space)


    class OldMaking(BestFew):
        @classmethod
        def from_settings(cls):
            return cls(3)


    seen = []
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A user's file with rules, in the working folder."""
    (tmp_path / "own_rules.py").write_text("\n".join(line[4:] for line in OWN_RULES.splitlines()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    yield
    sys.modules.pop("own_rules", None)


def test_the_registry_lists_exactly_the_rules():
    rules = {"annealed": Annealed, "credible_band": CredibleBand, "thompson_sampling": ThompsonSampling}
    rules["upper_confidence"] = UpperConfidence
    assert CANDIDATE_RULES.names() == sorted(rules)
    for name, rule in rules.items():
        assert CANDIDATE_RULES.load(name) is rule
        assert list(signature(rule.__call__).parameters) == list(signature(CandidateRule.__call__).parameters)


def test_each_rule_has_its_own_default_and_takes_what_the_settings_give():
    assert candidate_rule("credible_band", "finite", CandidateSettings(width=2.5, count=7)).width == 2.5
    assert candidate_rule("credible_band", "finite", NOTHING).width == pytest.approx(np.sqrt(2))
    for name, count in (("thompson_sampling", 100), ("upper_confidence", 25)):
        assert candidate_rule(name, "continuous", NOTHING).count == count
        assert candidate_rule(name, "continuous", CandidateSettings(count=7)).count == 7
    made = candidate_rule("annealed", "continuous", CandidateSettings(count=40))
    assert made.count == 40


def test_the_credible_band_by_hand():
    """Means 0, 1, 2, 5 and deviations 1; the last state is not searched: bounds 1, 2, 3 against a best lower bound of 1."""
    belief = FiniteBelief(np.array([0.0, 1.0, 2.0, 5.0]), np.eye(4))
    space = np.array([True, True, True, False])
    assert CredibleBand(1.0)(belief, space, np.random.default_rng(0)).tolist() == [0, 1, 2]
    assert CredibleBand(0.4)(belief, space, np.random.default_rng(0)).tolist() == [2]


REFUSED = [
    ("knorr_pyrazole", "thompson_sampling", "continuous plants, but this one is finite; use credible_band, or"),
    ("knorr_pyrazole", "annealed", "continuous plants, but this one is finite; use credible_band, or"),
    ("knorr_pyrazole", "own_rules:Inherited", "continuous plants, but this one is finite; use credible_band, or"),
    (
        "branin2d",
        "credible_band",
        "finite plants, but this one is continuous; use annealed or thompson_sampling or upper_confidence, or",
    ),
    (
        "branin2d",
        "own_rules:BestFew",
        "finite plants, but this one is continuous; use annealed or thompson_sampling or upper_confidence, or",
    ),
    ("branin2d", "own_rules:NoPlant", "somewhere plants, but this one is continuous; use annealed or"),
]


@pytest.mark.parametrize(("problem", "rule", "message"), REFUSED)
def test_a_rule_for_another_kind_of_plant_is_one_line_with_exit_code_2(own, capsys, problem, rule, message):
    with pytest.raises(SystemExit) as stopped:
        main(["run", problem, "--candidates", rule, "--episodes", "1", "--output", "out"])
    told = capsys.readouterr().err
    assert stopped.value.code == 2
    assert f"candidate rule '{rule}' is for {message}" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("own_rules:NoFace", "is not a candidate rule: it has no __call__, from_settings, plant"),
        ("own_rules:OldCall", "or not called with belief, space, generator and share_spent .*too many positional"),
        ("own_rules:OldMaking", r"is not made by from_settings\(settings\), .*takes 1 positional argument but 2"),
        ("credibel_band", "unknown candidate rule 'credibel_band'; did you mean 'credible_band'"),
    ],
)
def test_a_class_without_the_face_is_refused_in_one_line(own, rule, message):
    with pytest.raises(BadInput, match=message) as caught:
        Campaign(load_problem("knorr_pyrazole"), settings_from({"candidates": {"rule": rule}}))
    assert "\n" not in str(caught.value)


def test_a_users_rule_in_one_file_serves_a_campaign(own):
    settings = settings_from({"candidates": {"rule": "own_rules:BestFew", "count": 4}})
    campaign = Campaign(load_problem("knorr_pyrazole"), settings, seed=3)
    first = campaign.candidates
    assert len(first) == 4
    campaign.knowledge.forget()
    np.testing.assert_array_equal(campaign.knowledge.candidates, campaign.knowledge.candidates)
    import own_rules

    assert own_rules.seen[0] == own_rules.seen[1]  # the same random numbers for the same results, as after loading
    move = campaign.ask()
    campaign.tell(move.number, 0.2)
    _ = campaign.knowledge.candidates
    assert own_rules.seen[-1][0] != own_rules.seen[0][0]
    assert own_rules.seen[-1][1] == pytest.approx(1 / (campaign.problem.episodes * campaign.problem.horizon))
