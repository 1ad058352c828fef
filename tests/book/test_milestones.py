"""Parameters learnt anew in a book: the ratings are those of one run with them, and what was before is kept."""

import threading

import numpy as np
import pytest
from test_taken_back import Fails

import kinelo as kn
from kinelo.book.milestones import milestones, ratings_at
from postgres_server import in_turn

pytestmark = pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
LEAGUE = kn.sample_league(teams=7, seasons=2, seed=3).results


def games(count=60, players=9, seed=5):
    """Free-for-alls and teams of players whose strengths differ much more than a newcomer's default says."""
    rng = np.random.default_rng(seed)
    strength, rows = rng.normal(0.0, 2.5, players), []
    for k in range(count):
        met = rng.permutation(players)[:4]
        order = met[np.argsort(-(strength[met] + rng.logistic(size=4)))]
        rows.append(
            {"match_id": f"g{k}", "order": [f"p{n}" for n in order], "date": str(np.datetime64("2024-01-01") + k // 3)}
        )
    return rows


def matches(first, last):
    return kn.read_matches(LEAGUE.sort("date", maintain_order=True)[first:last])


RATERS = {
    "team": (lambda: kn.TeamElo(home_step=0.0, ties=0.4, start={"Ashford": 1600.0}), "step"),
    "kalman": (lambda: kn.KalmanElo(sharpness=1.0, ties=0.4), "walk"),
    "rank": (lambda: kn.RankElo(), "prior_spread"),
}


def begin(kind, address):
    book = kn.RatingBook(address, RATERS[kind][0]())
    book.add(games()[:40] if kind == "rank" else matches(0, 60))
    return book


@in_turn(RATERS, "kalman", "rank", "team")
def test_a_refit_is_a_fit_of_what_the_book_holds(kind, address):
    """Also in another process, which had the book open before and goes on after."""
    book, name = begin(kind, address), RATERS[kind][1]
    with kn.RatingBook(address) as other:
        before = book.ratings_
        assert other.ratings_.equals(before)
        found = book.refit()
        plain = RATERS[kind][0]().fit(book.matches())
        assert found.after == dict(plain.parameters_) and found.after[name] != found.before[name]
        assert found.loss_after < found.loss_before and found.matches == len(book) == (40 if kind == "rank" else 60)
        assert book.check() == [] and dict(book.rater.parameters_) == found.after
        for one in (book, other, kn.RatingBook(address)):
            assert one.ratings_.equals(plain.ratings_.select(one.ratings_.columns))
        pair = before["name"][0], before["name"][3]
        chances = [
            one.predict_one([*pair]) if kind == "rank" else one.predict_one(*pair) for one in (book, other, plain)
        ]
        numbers = [one.win if kind == "rank" else one.probabilities for one in chances]
        assert np.array_equal(numbers[0], numbers[1]) and np.allclose(numbers[0], numbers[2], atol=1e-12)
        kept = ratings_at(other, 1)
        assert kept["name"].to_list() == before["name"].to_list() and kept["place"].to_list() == [
            *range(1, before.height + 1)
        ]
        assert kept["rating"].to_list() == before["rating"].to_list()
        now = dict(book.ratings_.select("name", "rating").rows())
        assert dict(kept.select("name", "rating_after").rows()) == now
        (said,) = milestones(book)
        assert (said["what"], said["matches"], said["date"]) == ("refit", found.matches, str(book.matches().date[-1]))
        assert said["details"]["before"] == dict(found.before) and said["details"]["after"] == dict(found.after)
        # The other process, whose ratings began otherwise, counts matches as the first one would.
        one = (["p0", "p8", "p3"], None, None) if kind == "rank" else (*pair, "win")
        other.update_one(*one, match_id="later", date="2030-01-01")
        late = (["p1", "p2"], None, None) if kind == "rank" else (pair[1], pair[0], "draw")
        other.update_one(*late, match_id="late", date="2024-01-02")
        assert book.check() == [] == other.check() and book.ratings_.equals(other.ratings_)
        assert ratings_at(book, 1).equals(kept)
        assert book.refit(after=3) is None and book.refit(after=2).matches == found.matches + 2
        assert len(milestones(other)) == 2 and other.check() == []


@pytest.mark.parametrize(
    ("kind", "address"),
    [("team", "sqlite"), ("rank", "postgresql"),
     *(pytest.param(*other, marks=pytest.mark.long)
       for other in (("kalman", "sqlite"), ("team", "postgresql"), ("rank", "sqlite")))],
    indirect=["address"],
)  # fmt: skip
def test_a_refit_that_fails_changes_nothing(kind, address, monkeypatch):
    book = begin(kind, address)
    failing, before = Fails(monkeypatch, book), book.ratings_
    parameters = dict(book.rater.parameters_)
    failing.at = 1
    while True:
        failing.count = 0
        try:
            found = book.refit()
        except OSError:
            failing.at += 1
            with kn.RatingBook(address) as other:
                assert other.ratings_.equals(before) and dict(other.rater.parameters_) == parameters
                assert milestones(other) == [] == milestones(book) and book.ratings_.equals(before)
            continue
        break
    assert failing.at > 9
    failing.at = 0
    assert book.check() == [] and len(milestones(book)) == 1 and found.after == dict(book.rater.parameters_)


def test_a_refit_among_many_who_read_and_write(address):
    """Forecasts asked meanwhile are those of before or of after, and nothing that is sent is lost."""
    book, rows = begin("rank", address), games(60)
    old, new, wrong = book.predict_one(["p0", "p1", "p2"], date="2024-02-01").win, None, []
    done = threading.Event()

    def read():
        while not done.is_set():
            chances = book.predict_one(["p0", "p1", "p2"], date="2024-02-01").win.tolist()
            if not (chances == pytest.approx(old.tolist(), abs=1e-9) or len(milestones(book))):
                wrong.append(chances)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for one in readers:
        one.start()
    assert book.refit() is not None
    done.set()
    for one in readers:
        one.join()
    with kn.RatingBook(address) as other:
        other.add(rows[40:50])
        for row in rows[50:]:
            book.update_one(row["order"], match_id=row["match_id"], date=row["date"])
        new = book.predict_one(["p0", "p1", "p2"], date="2024-02-01").win
        assert wrong == [] and len(book) == 60 and book.check() == [] and book.ratings_.equals(other.ratings_)
    assert not np.allclose(new, old)


def test_what_cannot_be_learnt_is_refused(tmp_path):
    given = kn.RatingBook(tmp_path / "given.db", kn.TeamElo.classic(k=24, ties=0.3, home_advantage=0.0))
    with pytest.raises(kn.InputError, match="holds no matches to learn from yet"):
        given.refit()
    with pytest.raises(kn.InputError, match="at least 1"):
        given.refit(after=0)
    given.add(matches(0, 9))
    with pytest.raises(kn.InputError, match=r"All parameters of the ClassicElo .* were given"):
        given.refit()
    with pytest.raises(kn.InputError, match="has no milestone 1"):
        ratings_at(given, 1)


def test_a_name_is_erased_from_what_is_kept_too(address):
    book = begin("rank", address)
    book.refit()
    kept = ratings_at(book, 1)
    book.erase("p3", "somebody")
    expected = kept.with_columns(name=kept["name"].replace("p3", "somebody"))
    assert ratings_at(book, 1).equals(expected) and "p3" in kept["name"] and book.check() == []
