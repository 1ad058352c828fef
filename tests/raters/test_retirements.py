"""How much a retirement tells, whatever is known of how far somebody came."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.errors import InputError

GIVEN = {
    "walk": 0.3, "prior_spread": 0.9, "newcomer": -0.2, "regression": 0.1, "off": 0.0, "anchor": 0.0,
    "experience": 0.0, "contest_walk": 0.0, "newcomer_follows": 1.0,
}  # fmt: skip


def test_a_retirement_counts_alike_wherever_it_happened():
    table = {"date": ["2024-05-01"] * 3, "race": [1] * 3, "driver": list("ABC"), "place": ["1", "2", "DNF"]}
    plain = kn.RankElo(**GIVEN, retirement=0.3).update(kn.read_contests(table)).ratings_.drop("kind")
    told = kn.RankElo(**GIVEN, retirement=0.3).update(kn.read_contests(table | {"laps": [50, 50, 40]}))
    by_names = kn.RankElo(**GIVEN, retirement=0.3)
    by_names.update_one(["A", "B"], unfinished={"C": 0.8}, date="2024-05-01")
    for rater in (told, by_names):
        assert rater.ratings_.drop("kind").equals(plain)
    nothing = kn.RankElo(**GIVEN, retirement=0.0).update(kn.read_contests(table)).ratings_
    assert nothing.filter(name="C")["rating"][0] > told.ratings_.filter(name="C")["rating"][0] + 1.0
    for part in (1.2, -0.1, "far", None, True):
        with pytest.raises(InputError, match="from 0 to 1"):
            by_names.update_one(["A", "B"], unfinished={"C": part})


def test_states_and_books_that_name_what_late_retirements_told_are_opened():
    rater = kn.RankElo(**GIVEN, retirement=0.3).update_one(["A", "B"], unfinished=["C"])
    again = kn.RankElo()
    again.from_arrays(rater.to_arrays() | {"parameter_late_retirement": np.array(0.4)})
    assert again.parameters_ == rater.parameters_ and again.ratings_.equals(rater.ratings_)
    with pytest.raises(InputError, match="no longer has an argument late_retirement"):
        kn.RankElo(late_retirement=0.4)
