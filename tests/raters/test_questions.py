"""Questions about ratings are functions: of a rater, of a rater of one's own, and of a rating book alike."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.raters.rater import QUESTIONS

TABLE = {
    "date": ["2024-01-01", "2024-01-05", "2024-01-09", "2024-02-01"],
    "home": ["A", "B", "A", "C"], "away": ["B", "C", "C", "B"], "result": [1, 0.5, 1, 0],
}  # fmt: skip


@pytest.fixture
def rater():
    return kn.TeamElo.classic(k=20, home_advantage=60).fit(kn.read_matches(TABLE))


@pytest.fixture
def book(tmp_path):
    book = kn.RatingBook(tmp_path / "ratings.db", kn.TeamElo.classic(k=20, home_advantage=60))
    book.add(kn.read_matches(TABLE))
    return book


def test_a_rater_and_a_book_of_it_answer_alike(rater, book):
    assert kn.match_quality(rater, "A", ["B", "C"]).tolist() == kn.match_quality(book, "A", ["B", "C"]).tolist()
    assert kn.balance(rater, ["A", "B", "C"], [2, 1]) == kn.balance(book, ["A", "B", "C"], [2, 1])
    assert kn.preview(rater, "C", "A").to_dict() == kn.preview(book, "C", "A").to_dict()
    assert kn.explain(rater, "3").to_dict() == kn.explain(book, book.matches().match_id[2]).to_dict() | {
        "match_id": "3"
    }
    assert kn.explain_last(rater, "B").change == kn.explain_last(book, "B").change
    assert kn.leaderboard(rater, least_matches=1).equals(kn.leaderboard(book, least_matches=1))
    assert kn.rating_history(rater).equals(kn.rating_history(book))
    assert kn.rating_history(rater, side="A").equals(kn.rating_history(book, book.matches(), side="A"))


@pytest.mark.parametrize("question", sorted(QUESTIONS))
def test_a_method_that_became_a_function_says_so(question, rater, book):
    for asked, variable in ((rater, "rater"), (kn.RankElo(), "rater"), (book, "book")):
        with pytest.raises(AttributeError) as refused:
            getattr(asked, question)
        assert str(refused.value) == f"{question} is a function now: kn.{question}({variable}, …)."
        assert question not in dir(asked) and callable(getattr(kn, question))
    for asked in (rater, book):
        with pytest.raises(AttributeError, match=r"^'\w+' object has no attribute 'nonsense'$"):
            _ = asked.nonsense


class Own:
    """A rater of one's own that answers one question in its own way."""

    def fit(self, matches):
        return self

    def one_step_ahead(self, matches):
        return kn.forecasts.Forecast(np.tile([0.5, 0.2, 0.3], (len(matches), 1)))

    def preview(self, home, away=None, **circumstances):
        return home, away, circumstances


def test_a_rater_of_ones_own_answers_by_a_method_of_that_name(tmp_path):
    book = kn.RatingBook(tmp_path / "own.db", Own())
    for rated in (Own(), book):
        assert kn.preview(rated, "A", "B", neutral=True) == ("A", "B", {"neutral": True})
        for ask in (
            lambda rated=rated: kn.balance(rated, ["A", "B"]),
            lambda rated=rated: kn.match_quality(rated, "A", "B"),
        ):
            with pytest.raises(kn.InputError, match=r"^Own has no \w+; the raters of Kinelo have it\.$"):
                ask()
    with pytest.raises(kn.InputError, match="balance asks a rater such as TeamElo, or a rating book, not str"):
        kn.balance("TeamElo", ["A", "B"])


def test_what_a_question_does_not_take_is_refused(rater, book, tmp_path):
    with pytest.raises(kn.InputError, match="compares matches of two sides; give both"):
        kn.match_quality(rater, ["A", "B"])
    with pytest.raises(kn.InputError, match="a rater remembers none"):
        kn.explain(rater, "3", of="B")
    with pytest.raises(kn.InputError, match=r"'stones' is no covariate of this rater; it has none"):
        kn.fair_value(book, "A", "B", "stones")
    with pytest.raises(kn.InputError, match="Give the matches that the rater has rated"):
        kn.explain(kn.TeamElo.classic().update(kn.read_matches(TABLE)), "3")
    races = kn.RankElo(start={"A": 1500, "B": 1600})
    with pytest.raises(kn.InputError, match="RankElo takes no home_lineup here"):
        kn.match_quality(races, "A", "B", home_lineup=["a"])
    with pytest.raises(kn.InputError, match="RankElo takes no neutral here"):
        kn.fair_value(races, "A", "B", "weight", neutral=True)
    with pytest.raises(kn.InputError, match="holds no matches yet"):
        kn.explain_last(kn.RatingBook(tmp_path / "empty.db", kn.Glicko()), "A")
