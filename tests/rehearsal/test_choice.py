"""Which member is chosen, on regrets written down by hand."""

import numpy as np
import pytest

from tcbo_pyomo.rehearsal.choice import RECORD, Choice, acting_in_words, choose

FIRST = np.array([0.4, 0.2, 0.3, 0.3])
BETTER = np.array([0.3, 0.2, 0.1, 0.2])
WORSE = np.array([0.5, 0.5, 0.5, 0.5])


def test_the_member_that_ends_lowest_acts_and_the_words_say_by_how_much():
    found = choose({"default": FIRST, "bad": WORSE, "good": BETTER}, 12, 0.0)
    # Differences .1, 0, .2, .1: mean .1, standard deviation sqrt(.02 / 3), over sqrt(4).
    assert (found.chosen, found.moves_made, found.draws) == ("good", 12, 4)
    assert found.lower["good"] == pytest.approx(0.1)
    assert found.standard_error["good"] == pytest.approx((0.02 / 3) ** 0.5 / 2)
    words = found.in_words("g")
    assert words == (
        "good, because over 4 simulated campaigns it ends 0.1 g lower than default (0.2 g against 0.3 g, standard error "
        "0.04082 g)"
    )


def test_a_margin_keeps_the_first_one_unless_the_difference_is_clear():
    finals = {"default": FIRST, "good": BETTER}
    assert choose(finals, 0, 2.0).chosen == "good"
    kept = choose(finals, 0, 3.0)
    assert kept.chosen == "default"
    assert "the next best, good, ends only 0.1 lower (standard error 0.04082)" in kept.in_words()


def test_where_all_end_alike_the_first_one_acts():
    found = choose({"default": FIRST, "same": FIRST.copy(), "bad": WORSE}, 0, 0.0)
    assert found.chosen == "default" and "no other ends lower than 0.3" in found.in_words()
    assert choose({"default": FIRST}, 0, 0.0).in_words() == "default, the only method named"


def test_the_last_choice_on_record_is_what_is_said():
    old, new = choose({"a": FIRST, "b": BETTER}, 0, 0.0), choose({"a": BETTER, "b": FIRST}, 5, 0.0)
    plans = [{RECORD: old.to_dict()}, None, {"solver": "highs", RECORD: new.to_dict()}, {"solver": "highs"}]
    assert acting_in_words(plans) == new.in_words()
    assert acting_in_words([None, {"solver": "highs"}]) == ""
    assert Choice.from_dict(new.to_dict()) == new
