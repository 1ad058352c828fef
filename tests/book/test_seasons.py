"""Seasons of a book: tables kept for good, and ratings that are those of one run in which every season began nearer."""

import numpy as np
import pytest
from test_check_and_export import run
from test_milestones import games, matches
from test_taken_back import Fails

import kinelo as kn
from kinelo.book.milestones import milestones, season_table, seasons, try_season
from kinelo.book.seasons import moves_shown
from kinelo.raters.glicko.rater import Glicko2
from postgres_server import in_turn

pytestmark = pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
RATERS = {
    "classic": lambda: kn.TeamElo.classic(k=24, ties=0.3, home_advantage=0.0, start={"Ashford": 1600.0}),
    "margins": lambda: kn.TeamElo(20.0, 0.0, 10.0, 30.0, 0.4, 0.0, 0.3, 1.0, 1.0, 0.1, home_step=0.0),
    "glicko": lambda: kn.Glicko(300.0, 30.0, 40.0, 0.6),
    "glicko2": lambda: Glicko2(),
    "full": lambda: kn.KalmanElo(sharpness=1.0, ties=0.4, covariance="full"),
    "diagonal": lambda: kn.KalmanElo(sharpness=1.0, ties=0.4, covariance="diagonal"),
    "players": lambda: kn.PlayerElo(sharpness=1.0),
    "rank": lambda: kn.RankElo(walk=0.3, prior_spread=0.9, newcomer=-0.2, regression=0.1, retirement=0.2),
}
NEWCOMER = {"classic": 200.0, "margins": 200.0, "glicko": 300.0, "glicko2": 350.0}


def played(kind, first, last):
    """Matches (of players: with line-ups) or contests of a book, on several days."""
    if kind == "rank":
        return games()[first:last]
    if kind != "players":
        return matches(first, last)
    rng, rows = np.random.default_rng(4), []
    for k in range(60):
        home, away = rng.permutation(4)[:2]
        rows.append({
            "match_id": f"m{k}", "home": f"T{home}", "away": f"T{away}", "result": float(rng.choice([0, 0.5, 1])),
            "date": str(np.datetime64("2024-01-01") + k // 3),
            **{f"{side}_lineup": [f"p{team}{j}" for j in rng.permutation(4)[:3]]
               for side, team in (("home", home), ("away", away))},
        })  # fmt: skip
    return rows[first:last]


def begin(kind, address, last=60):
    book = kn.RatingBook(address, RATERS[kind]())
    book.add(played(kind, 0, last))
    return book


def cut(book):
    """A day in the middle of a book on which something was played, and not the last one."""
    return str(book.matches().date[len(book) // 2])


def points(table):
    return dict(table.select("name", "rating").rows())


@in_turn(RATERS)
def test_the_next_season_begins_nearer_to_the_mean(kind, address):
    """Every rating is a quarter of its way nearer, doubt is larger, and the table of the season is as ratings were."""
    book = begin(kind, address, 30)
    before = book.ratings_
    season = book.season("One", reset=0.25, moves=20.0, rewards={"gold": 1, "silver": 0.5})
    old, now = points(before), points(book.ratings_)
    mean = np.mean([*old.values()])
    assert now == pytest.approx(
        {name: mean + 0.75 * (x - mean) for name, x in old.items()}, abs=0.01 if kind == "rank" else 1e-9
    )
    doubt, was = book.ratings_.sort("name")["uncertainty"], before.sort("name")["uncertainty"]
    if kind in NEWCOMER:  # the deviations of others are relative, or drawn wider by forecasts
        assert np.allclose(doubt**2, np.minimum(was**2 + 400.0, NEWCOMER[kind] ** 2))
    assert (doubt >= was - 1e-9).all() and (doubt > was + 0.2).any()
    table = season_table(book, "One")
    assert points(table) == old and dict(table.select("name", "rating_after").rows()) == now
    rewards = dict(table.select("place", "reward").rows())
    half = len(old) // 2
    assert rewards == {k: "gold" if k == 1 else "silver" if k <= half else None for k in range(1, len(old) + 1)}
    assert (season.players, season.reset, season.moves, season.first_day) == (len(old), 0.25, 20.0, None)
    assert season.last_day == str(book.matches().date[-1]) and seasons(book) == [season] and book.check() == []
    # What comes without a date is of the next season, and everybody counts from where that began.
    names = list(old)[:2]
    book.update_one(*((names,) if kind == "rank" else (*names, "win") if kind != "players" else ("T0", "T1", "win")))
    assert str(book.matches().date[-1]) == str(np.datetime64(season.last_day) + 1) and book.check() == []
    later = str(np.datetime64(season.last_day) + 9)
    if kind == "rank":
        book.add([{"match_id": f"l{k}", "order": names[:: (-1) ** k], "date": later} for k in range(2)])
    elif kind != "players":
        book.add(
            [{"match_id": f"l{k}", "home": names[0], "away": names[1], "result": k, "date": later} for k in (0, 1)]
        )
    assert book.check() == []


@in_turn(RATERS, "classic", "glicko2", "full", "diagonal", "players", "rank")
def test_ratings_are_those_of_one_run_however_matches_and_seasons_arrive(kind, address, tmp_path):
    """Two seasons, closed on the way or when all was played; results late, put right and taken out; another process."""
    book, late = (begin(kind, where, 20) for where in (tmp_path / "plain.db", address))
    book.add(played(kind, 0, 60))
    days = [str(book.matches().date[k]) for k in (18, 41)]
    wishes = [{"name": "One", "reset": 0.3, "date": days[0], "moves": 15.0},
              {"name": "Two", "reset": 0.5, "date": days[1], "moves": 0.0}]  # fmt: skip
    for wish in wishes:
        book.season(**wish)
    with kn.RatingBook(address) as other:
        late.season(**wishes[0])
        table = season_table(other, "One")
        other.add(played(kind, 0, 60))
        late.season(**wishes[1])
        assert late.ratings_.equals(other.ratings_) and late.check() == [] == other.check()
        ours, theirs = points(book.ratings_), points(late.ratings_)
        assert ours == pytest.approx(theirs, abs=1e-6) if kind in ("full", "diagonal", "players") else ours == theirs
        some = played(kind, 3, 4)
        name = some[0]["match_id"] if isinstance(some, list) else some.match_id[0]
        for one in (book, other):
            one.remove(name)
        assert season_table(late, "One").equals(table) and book.check() == [] == late.check()
        other.add(played(kind, 3, 4))
        assert late.check() == [] and points(late.ratings_) == pytest.approx(ours, abs=3.0)  # another place of its day
        assert [one.name for one in seasons(other)] == ["One", "Two"]
        assert seasons(other)[1].first_day == str(np.datetime64(days[0]) + 1)
        history = kn.rating_history(late, points=500)
        last = history.filter(history["date"] == history["date"].max())
        assert set(last["name"]) and points(last) == pytest.approx(
            {name: points(late.ratings_)[name] for name in last["name"]}, abs=1e-6
        )


@in_turn(["classic", "full", "rank"], "classic", "rank")
def test_a_season_that_fails_is_not_closed_and_closed_again_it_is_closed_once(kind, address, monkeypatch):
    book = begin(kind, address, 40)
    failing, before = Fails(monkeypatch, book), book.ratings_
    wish = {"name": "One", "reset": 0.4, "date": cut(book), "rewards": {"gold": 2}}
    failing.at = 1
    while True:
        failing.count = 0
        try:
            season = book.season(**wish)
        except OSError:
            failing.at += 1
            with kn.RatingBook(address) as other:
                assert other.ratings_.equals(before) and seasons(other) == [] == seasons(book)
                assert book.ratings_.equals(before) and book.check() == []
            continue
        break
    assert failing.at > 7
    failing.at = 0
    after = book.ratings_
    assert not after.equals(before) and book.season(**wish) == season == book.season("One", reset=0.4)
    assert book.ratings_.equals(after) and len(milestones(book)) == 1 and book.check() == []
    with pytest.raises(kn.InputError, match="'One' was closed with"):
        book.season("One", reset=0.5)


def test_who_did_not_play_in_a_season_is_not_in_its_table(tmp_path):
    book = kn.RatingBook(tmp_path / "x.db", kn.TeamElo.classic(k=24))
    for k, pair in enumerate(("AB", "CD", "AC")):
        book.update_one(*pair, "win", match_id=f"m{k}", date=f"2026-0{k + 1}-10")
    book.season("One", date="2026-01-31")
    book.season("Two", date="2026-02-20")
    book.season("Three", date="2026-03-20")
    assert [sorted(season_table(book, name)["name"]) for name in ("One", "Two", "Three")] == [["A", "B"], ["C", "D"],
                                                                                           ["A", "C"]]  # fmt: skip
    assert season_table(book, "Two")["place"].to_list() == [1, 2]
    assert [(one.first_day, one.last_day) for one in seasons(book)] == [
        (None, "2026-01-31"), ("2026-02-01", "2026-02-20"), ("2026-02-21", "2026-03-20")
    ]  # fmt: skip
    with pytest.raises(kn.InputError, match="Nobody played from 2026-03-21 to 2026-03-25"):
        book.season("Four", date="2026-03-25")
    with pytest.raises(kn.InputError, match="2026-03-10, and the season before ended with 2026-03-20"):
        book.season("Four")
    with pytest.raises(kn.InputError, match="A season cannot end with 2026-03-20"):
        book.season("Four", date="2026-03-20")
    book.update_one("A", "B", "win", date="2026-03-21")
    book.season("Four", date="2026-03-21")
    assert book.erase("B") == "erased 1" and "erased 1" in season_table(book, "One")["name"].to_list()


def test_what_is_no_season_is_refused(tmp_path):
    book = kn.RatingBook(tmp_path / "x.db", kn.TeamElo.classic(k=24))
    with pytest.raises(kn.InputError, match="holds no matches yet"):
        book.season("One")
    book.update_one("A", "B", "win")
    with pytest.raises(kn.InputError, match="have no dates, and a season ends with a day"):
        book.season("One")
    book.update_one("A", "B", "win", date="2026-01-01")
    for words, why in (
        ({"name": " "}, "is not the name of a season"), ({"reset": 1.5}, "reset"), ({"reset": float("nan")}, "reset"),
        ({"moves": -1.0}, "moves"), ({"rewards": {"gold": 1.5}}, "A reward goes to"),
        ({"rewards": {"": 1}}, "is not the name of a reward"),
        ({"date": "2029-01-01"}, "cannot end with 2029-01-01: the last match is of 2026-01-01[.]"),
    ):  # fmt: skip
        with pytest.raises(kn.InputError, match=why):
            book.season(**({"name": "One"} | words))
    with pytest.raises(kn.InputError, match="has no season 'Nine'"):
        season_table(book, "Nine")
    with pytest.raises(kn.InputError, match="needs at least 80 matches"):
        try_season(book, 0.3)
    assert seasons(book) == []
    votes = kn.RatingBook(tmp_path / "y.db", kn.BradleyTerry())
    votes.add(matches(0, 30))
    with pytest.raises(kn.InputError, match="BradleyTerry cannot begin a season nearer to the mean"):
        votes.season("One", reset=0.1)
    assert votes.season("One").reset == 0.0 and votes.check() == [] and len(season_table(votes, "One")) == 7


def league(seed, sides=14, rounds=40, moved=0.0, seasons=2):
    """A table of a league in natural units, where everybody moves between seasons; the day each season begins."""
    rng = np.random.default_rng(seed)
    strength, rows, day = rng.normal(0.0, 200.0, sides), [], np.datetime64("2025-01-01")
    starts = []
    for _ in range(seasons):
        starts.append(str(day))
        for _ in range(rounds):
            order = rng.permutation(sides)
            for i, j in zip(order[::2], order[1::2]):
                won = rng.random() < 1.0 / (1.0 + 10.0 ** ((strength[j] - strength[i]) / 400.0))
                rows.append((f"m{len(rows)}", str(day), f"s{i}", f"s{j}", float(won)))
            day += 1
        strength += rng.normal(0.0, moved, sides)
    names = ("match_id", "date", "home", "away", "result")
    return dict(zip(names, map(list, zip(*rows)))), starts


@pytest.mark.parametrize(("moved", "low", "high"), [(0.0, 0.0, 30.0), (200.0, 80.0, 400.0)])
def test_what_moves_between_seasons_is_found_where_there_is_any(moved, low, high, tmp_path):
    found = []
    for seed in range(3):
        table, starts = league(20 + seed, rounds=30, moved=moved, seasons=3)
        played = kn.read_matches(table | {"neutral": [True] * len(table["home"])})
        book = kn.RatingBook(tmp_path / f"{seed}.db", kn.Glicko(350.0, 5.0, 0.0, ties=0.0))
        book.add(played)
        for k, day in enumerate(starts[1:]):
            book.season(f"S{k}", date=str(np.datetime64(day) - 1), moves=0.0)
        found.append(moves_shown(book._ratings))
    assert low <= np.median(found) <= high


def test_a_trial_says_what_a_reset_does(tmp_path):
    """Later on nothing is left of it; a stronger one costs more; and the book stays as it is."""
    table, _ = league(3, rounds=60)
    book = kn.RatingBook(tmp_path / "x.db", kn.TeamElo.classic(k=20, ties=0.0, home_advantage=0.0))
    book.add(kn.read_matches(table))
    before = book.ratings_
    none, weak, strong = (try_season(book, part, 0.0) for part in (0.0, 0.2, 0.7))
    assert book.ratings_.equals(before) and seasons(book) == []
    assert none.right_after == 0.0 and set(none.extra) == {0.0} and set(none.ranks) == {1.0}
    assert 0.0 < np.mean(weak.extra[:6]) < np.mean(strong.extra[:6])
    assert abs(np.mean(strong.extra[-10:])) < 0.4 * np.mean(strong.extra[:6])
    assert min(strong.ranks) < 0.99 and strong.right_after > 5 and strong.ranks[-1] > 0.99
    last = max(k for k, value in enumerate(strong.ranks) if value < 0.99)
    assert strong.right_after == strong.played[last + 1]
    name, now, then = strong.falls[0]
    mean = before["rating"].mean()
    assert (name, now) == before.select("name", "rating").row(0) and then == pytest.approx(mean + 0.3 * (now - mean))
    said = " ".join(strong.lines())
    assert f"{name} {then - now:+.0f} ({now:.0f} → {then:.0f})" in said and "a reset of 0.7" in said
    assert f"right again (.99) after {strong.right_after:.0f} matches each" in said


def test_a_season_is_tried_and_closed(tmp_path):
    """The trial changes nothing; the sentence says what was closed; options go with their verb."""
    league, path = kn.sample_league(teams=6, seasons=4, seed=2).results, tmp_path / "league.db"
    book = kn.RatingBook(path, kn.TeamElo.classic(k=24))
    book.add(kn.read_matches(league))
    before = book.ratings_
    code, said = run("season", path, "One", "--reset", ".6", "--try")
    assert code == 0 and book.ratings_.equals(before), said
    name, now = before.select("name", "rating").row(0)
    then = before["rating"].mean() + 0.4 * (now - before["rating"].mean())
    assert f"a reset of 0.6 and moves of 0 points: {name} {then - now:+.0f} ({now:.0f} → {then:.0f})" in said
    assert "Forecasts: log-loss +0." in said
    code, said = run("season", path, "One", "--reset", ".6", "--reward", "gold=1", "--reward", "silver=.5")
    last = book.matches().date[-1]
    assert code == 0 and said == (
        f"One is closed: 6 played from the beginning to {last}; their ratings, places and rewards are kept for good. "
        "In the next season ratings are 60% of their way nearer to their mean.\n"
    )
    table = season_table(book, "One")
    assert table["reward"].to_list() == ["gold", "silver", "silver", None, None, None]
    for words, why in (
        (("season", path), "takes a book and a name"), (("check", path, "--try"), "go with kinelo book season BOOK"),
        (("season", path, "Two", "--reward", "gold"), "A reward is said as NAME=10"),
        (("season", path, "Two", "--until", "1999-01-01"), "cannot end with 1999-01-01"),
    ):  # fmt: skip
        with pytest.raises(kn.InputError, match=why):
            run(*words)


def test_a_checkpoint_of_the_day_on_which_a_season_begins_is_taken_anew(tmp_path, monkeypatch):
    """The one kept before knows nothing of the reset; a late match of that day is rated from the new one."""
    monkeypatch.setattr("kinelo.book.carrying.EVERY", 1)
    book = begin("classic", tmp_path / "x.db")
    first = str(book.matches().date[-1])
    kept = "SELECT COUNT(*) FROM checkpoint WHERE date = ?"
    assert book._database.one(kept, (first,)) == (1,)
    book.season("One", reset=0.75, date=str(np.datetime64(first) - 1))
    assert book._database.one(kept, (first,)) == (1,) and book.check() == []
    names = book.ratings_["name"]
    book.update_one(names[0], names[3], "loss", match_id="late", date=first)
    assert book.check() == []
