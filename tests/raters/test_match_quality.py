"""How even a match is believed to be: the definition by plain sampling, and its laws."""

import numpy as np
import pytest
from scipy import stats

import kinelo as kn

TABLE = kn.sample_league(teams=6, seasons=2, seed=4).results
RATERS = {
    "TeamElo": lambda: kn.TeamElo(),
    "classic": lambda: kn.TeamElo.classic(k=24),
    "Glicko": lambda: kn.Glicko(),
    "Glicko2": lambda: kn.Glicko2(),
    "KalmanElo": lambda: kn.KalmanElo(),
    "BradleyTerry": lambda: kn.BradleyTerry(),
}
SIDES = ["Ashford", "Bramley", "Calder", "Dunmore"]


def begun(kind, ratings, deviations):
    """A rater to whom so much is known of A, B, C, … and nothing else."""
    names = [chr(ord("A") + k) for k in range(len(ratings))]
    table = {"name": names, "rating": ratings, "deviation": deviations}
    fixed = {"TeamElo": {"home_advantage": 60.0}, "Glicko": {"home_advantage": 60.0}, "KalmanElo": {}}[kind]
    return getattr(kn, kind)(start=table, **fixed)


@pytest.mark.parametrize("name", RATERS)
def test_on_neutral_ground_it_is_the_same_for_both_and_one_at_the_most(name):
    rater = RATERS[name]().update(kn.read_matches(TABLE))
    home, away = zip(*((a, b) for a in (*SIDES, "new") for b in (*SIDES, "newer") if a != b))
    there, back = (kn.match_quality(rater, *pair, neutral=True) for pair in ((home, away), (away, home)))
    assert there == pytest.approx(back, abs=1e-12)
    assert (there > 0).all() and (there < 1).all()
    assert np.unique(there.round(9)).size > len(SIDES)


@pytest.mark.parametrize("kind", ["TeamElo", "Glicko", "KalmanElo"])
def test_it_is_largest_for_equal_sides_and_falls_with_their_uncertainty(kind):
    gaps = [0, 10, 50, 150, 400, 900]
    rater = begun(kind, [1500.0] + [1500.0 + gap for gap in gaps], [40.0] * 7)
    by_gap = kn.match_quality(rater, "A", list("BCDEFG"), neutral=True)
    assert (np.diff(by_gap) < 0).all() and by_gap[0] > 0.85 and by_gap[-1] < 0.1
    rater = begun(kind, [1500.0] * 7, [5.0, 5.0, 30.0, 80.0, 150.0, 220.0, 300.0])
    by_doubt = kn.match_quality(rater, "A", list("BCDEFG"), neutral=True)
    assert (np.diff(by_doubt) < 0).all() and by_doubt[0] > 0.998


def test_an_advantage_is_made_good_by_a_difference_of_ratings():
    """60 points of home advantage: the visitor who is 60 better makes the most even match."""
    rater = begun("TeamElo", [1500.0, 1500.0, 1560.0, 1620.0], [30.0] * 4)
    level, even, worse = kn.match_quality(rater, "A", ["B", "C", "D"])
    assert even > level and level == pytest.approx(worse, abs=1e-9)
    assert even == pytest.approx(kn.match_quality(rater, "A", "B", neutral=True), abs=1e-12)


@pytest.mark.parametrize("kind", ["TeamElo", "Glicko", "KalmanElo"])
def test_it_is_the_mean_over_what_is_believed(kind):
    """Against a plain sum over 65 points of the normal law, forecasts of sides that are certain at each."""
    gap, deviation = 120.0, (90.0, 140.0)
    rater = begun(kind, [1500.0 + gap, 1500.0], deviation)
    x = np.linspace(-8, 8, 65)
    weight = stats.norm.pdf(x) / stats.norm.pdf(x).sum()
    sums = 0.0
    for z, w in zip(gap + np.hypot(*deviation) * x, weight):
        win, _, loss = (
            begun(kind, [1500.0 + z, 1500.0], [1e-6, 1e-6]).predict_one("A", "B", neutral=True).probabilities[0]
        )
        sums += w * (win - loss) ** 2
    assert kn.match_quality(rater, "A", "B", neutral=True) == pytest.approx(1 - sums, abs=2e-6)


@pytest.mark.parametrize("doubt", [0.4, 2.5])
def test_what_is_doubted_of_strengths_counts(doubt):
    """Deviations that are given are those of forecasts, the doubt of a filter included: quality is the same."""
    start = {"name": ["A", "B"], "rating": [1500.0, 1580.0], "deviation": [90.0, 150.0]}
    usual, doubted = (kn.KalmanElo(start=start, doubt=d) for d in (1.0, doubt))
    expected = kn.match_quality(usual, "A", "B", neutral=True)
    assert kn.match_quality(doubted, "A", "B", neutral=True) == pytest.approx(expected, abs=1e-9)


def test_one_pair_is_a_number_and_lists_are_arrays():
    rater = begun("Glicko", [1500.0, 1550.0, 1700.0], [50.0] * 3)
    one = kn.match_quality(rater, "A", "B")
    assert isinstance(one, float)
    assert kn.match_quality(rater, "A", ["B", "C"]).tolist() == [one, kn.match_quality(rater, "A", "C")]
    assert kn.match_quality(rater, ["A", "A"], ["B", "C"]).tolist() == kn.match_quality(rater, "A", ["B", "C"]).tolist()
    singly = [kn.match_quality(rater, x, "A") for x in "BC"]
    assert kn.match_quality(rater, ["B", "C"], "A") == pytest.approx(singly, abs=1e-12)
    assert kn.match_quality(rater, "A", []).tolist() == []
    for home, away, said in (
        (["A", "B"], ["B", "C", "A"], "2 sides cannot be paired with 3"),
        ("A", ["B", "A"], "against itself"),
        ("A", 3, "neither the name of a side nor a list of names"),
        ("A", [3], "is not the name of a side"),
    ):
        with pytest.raises(kn.InputError, match=said):
            kn.match_quality(rater, home, away)


def test_a_long_rest_makes_a_match_less_certain():
    rater = kn.Glicko(growth=60.0, home_advantage=0.0).update(kn.read_matches(TABLE))
    equal = min(SIDES[1:], key=lambda name: abs(rater.predict_one(SIDES[0], name, neutral=True).points[0] - 0.5))
    last = rater.ratings_["last_played"].max()
    now, later = (kn.match_quality(rater, SIDES[0], equal, date=str(day), neutral=True) for day in (last, "2060-01-01"))
    assert later < now


def test_a_book_forecasts_as_its_rater_does(tmp_path):
    matches = kn.read_matches(TABLE)
    book = kn.RatingBook(tmp_path / "book", kn.TeamElo.classic(k=24))
    book.add(matches)
    pair = SIDES[0], SIDES[1]
    said = book.predict_one(*pair, neutral=True)
    assert said.probabilities.tobytes() == book.rater.predict_one(*pair, neutral=True).probabilities.tobytes()
    assert (
        said.probabilities.tobytes() != book.predict_one(*pair).probabilities.tobytes() or not book.rater.home_advantage
    )
    assert kn.match_quality(book, *pair) == kn.match_quality(book.rater, *pair)
    again = kn.RatingBook(tmp_path / "book")
    assert again.predict_one(*pair, neutral=True).probabilities.tobytes() == said.probabilities.tobytes()


def test_a_contest_is_as_even_as_its_pairs_and_a_pair_as_two_sides():
    """Plain sums over the law of both beliefs stand beside the library's nodes."""
    start = {"name": ["A", "B", "C"], "rating": [1500.0, 1640.0, 1310.0], "deviation": [40.0, 90.0, 150.0]}
    rater = kn.RankElo(start=start, off=0.1, depth=0.9, walk=0.2, regression=0.0)
    pairs = [kn.match_quality(rater, pair) for pair in (["A", "B"], ["C", "A"], ["B", "C"])]
    assert len(set(pairs)) == 3
    assert kn.match_quality(rater, ["A", "B", "C"]) == pytest.approx(np.mean(pairs), abs=1e-12)
    assert kn.match_quality(rater, "A", ["B", "C"]) == pytest.approx([pairs[0], pairs[1]], abs=1e-12)
    assert kn.match_quality(rater, "B", "A") == pytest.approx(pairs[0], abs=1e-12)
    points = 400.0 / np.log(10.0) * 2.0 / np.sqrt(np.pi)
    gap, spread = 140.0 / points, np.hypot(40.0, 90.0) / points
    x = np.linspace(-8.0, 8.0, 4001)
    weight = stats.norm.pdf(x) / stats.norm.pdf(x).sum()
    ahead = np.zeros(x.size)
    for mine in (0, 1):
        for theirs in (0, 1):
            share = (0.1 if mine else 0.9) * (0.1 if theirs else 0.9)
            mean = gap + spread * x - 0.9 * mine + 0.9 * theirs  # an off day: 0.9 lower, 3 − 0.9/3 times as wide
            ahead += share * stats.norm.cdf(mean / np.hypot(1.0 + 1.7 * mine, 1.0 + 1.7 * theirs))
    assert pairs[0] == pytest.approx(float(weight @ (1.0 - (2.0 * ahead - 1.0) ** 2)), abs=1e-6)


def test_a_large_field_is_as_even_as_all_of_its_pairs(monkeypatch):
    """Beyond 64 entrants pairs are not taken one by one, nor is anybody paired with himself; parts give the same."""
    names = [f"N{k}" for k in range(70)]
    ratings, deviations = [1500.0 + 13.0 * (k % 31) for k in range(70)], [40.0 + k for k in range(70)]
    table = {"name": names, "rating": ratings, "deviation": deviations}
    rater = kn.RankElo(start=table, off=0.1, depth=0.9, walk=0.2, regression=0.0)
    found = kn.match_quality(rater, names)
    monkeypatch.setattr("kinelo.raters.rank.reading.PAIRS_AT_ONCE", 1000)
    assert kn.match_quality(rater, names) == pytest.approx(found, abs=1e-13)
    monkeypatch.setattr("kinelo.forecasts.pair_sums.BLOCK", 70)
    assert found == pytest.approx(kn.match_quality(rater, names), abs=1e-9)


def test_two_sides_are_as_even_for_a_rater_of_contests_as_its_forecasts_say():
    rater = kn.RankElo(off=0.0, walk=0.01, prior_spread=0.01, regression=0.0, newcomer=0.0).fit(kn.read_matches(TABLE))
    home, away = kn.match_quality(rater, "Ashford", "Bramley"), kn.match_quality(rater, "Bramley", "Ashford")
    assert home != away and kn.match_quality(rater, "Ashford", "Bramley", neutral=True) not in (home, away)
    fixture = {"home": ["Ashford"], "away": ["Bramley"]}
    win, _, loss = rater.predict(kn.read_matches(fixture, played=False)).probabilities[0]
    assert home == pytest.approx(1.0 - (win - loss) ** 2, abs=2e-3)
