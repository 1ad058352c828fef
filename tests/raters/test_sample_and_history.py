"""The made-up league has the traits it promises; histories follow the ratings."""

import math

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.matches.sample import _double_round_robin
from kinelo.pictures.histories import draw_histories
from kinelo.raters.choice import RATERS, rater_called
from kinelo.raters.history import broken_line


def test_league_has_draws_home_advantage_and_lineups():
    league = kn.sample_league(teams=20, seasons=3, seed=11)
    matches = kn.read_matches(league.results, league.lineups)
    assert len(matches) == 3 * 380 and len(matches.rejected) == 0 and len(matches.notes) == 1
    assert 0.18 < np.mean(matches.result == 0.5) < 0.32
    assert np.mean(matches.signed) > 0.08
    assert matches.lineups is not None and matches.lineups.known().all()
    starters = np.add.reduceat(matches.lineups.starter, matches.lineups.offsets[:-1])
    assert np.all(starters == 11)
    minutes = np.add.reduceat(matches.lineups.minutes, matches.lineups.offsets[:-1])
    assert np.all(minutes == 990)


def test_the_same_seed_gives_the_same_league():
    first, second, other = (kn.sample_league(teams=6, seasons=1, seed=s) for s in (1, 1, 2))
    assert first.results.equals(second.results) and first.lineups.equals(second.lineups)
    assert not first.results.equals(other.results)


@pytest.mark.parametrize("teams", [2, 5, 8])
def test_round_robin_pairs_everyone_at_home_and_away(teams):
    weeks = _double_round_robin(teams)
    pairs = [pair for week in weeks for pair in week]
    assert sorted(pairs) == [(a, b) for a in range(teams) for b in range(teams) if a != b]
    for week in weeks:
        playing = [team for pair in week for team in pair]
        assert len(playing) == len(set(playing))


def test_impossible_leagues_are_refused():
    with pytest.raises(kn.InputError, match="teams must be a whole number of at least 2"):
        kn.sample_league(teams=1)


def test_history_ends_at_the_ratings_and_leaves_the_rater_alone():
    matches = kn.read_matches(kn.sample_league(teams=6, seasons=2, seed=4).results)
    rater = kn.TeamElo().fit(matches)
    before = rater.ratings_
    history = kn.rating_history(rater, matches, points=15)
    assert rater.ratings_.equals(before)
    assert history["date"].n_unique() == 15
    last = history.filter(pl.col("date") == history["date"].max()).drop("date")
    assert last.sort("name").equals(before.sort("name"))
    with pytest.raises(kn.InputError, match="at least 2 points"):
        kn.rating_history(rater, matches, points=1)


def test_the_history_of_one_side_has_both_ends_of_a_long_rest():
    """A rests for 365 days, which is long, and later for 364; the others play on."""
    days = ["2010-01-01", "2010-03-01", "2011-03-01", "2011-04-01", "2012-03-30", "2012-05-01"]
    table = {"date": [*days, "2010-09-01", "2011-09-01"], "home": ["A"] * 6 + ["B"] * 2, "away": ["B"] * 6 + ["C"] * 2}
    matches = kn.read_matches(pl.DataFrame(table).with_columns(result=1).sort("date"))
    history = kn.rating_history(kn.TeamElo.classic(), matches, points=2, side="A")
    assert set(history["name"]) == {"A"}
    assert [str(day) for day in history["date"]] == ["2010-01-01", "2010-03-01", "2011-03-01", "2012-05-01"]


@pytest.mark.parametrize("teams", [6, pytest.param(50, marks=pytest.mark.long)])
def test_picture_of_histories(teams):
    matches = kn.read_matches(kn.sample_league(teams=teams, seasons=1, seed=4).results)
    history = kn.rating_history(kn.TeamElo.classic(), matches, points=8)
    figure = draw_histories(history, ["Ashford", "Calder"], "Two clubs")
    (axes,) = figure.axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert any(label.startswith("Ashford") for label in labels)
    assert any(f"{teams - 2} others" in label for label in labels)
    assert axes.get_ylabel() == "rating (points)"
    with pytest.raises(kn.InputError, match="'Nowhere' has no rating"):
        draw_histories(history, ["Nowhere"])
    both = draw_histories(history, ["Ashford"], now=history)
    assert [axes.get_title(loc="left") or axes.get_title() for axes in both.axes] == ["As seen then", "As we know now"]
    assert both.axes[0].get_ylim() == both.axes[1].get_ylim()


def test_raters_by_name():
    assert {type(rater_called(name)).__name__ for name in RATERS} == {choice.kind for choice in RATERS.values()}
    with pytest.raises(kn.InputError, match="choose one of team, player"):
        rater_called("fifa")


def test_a_history_may_begin_before_the_first_line_up():
    """Nobody is rated until a line-up is known; the history then begins there."""
    table = {
        "match_id": ["a", "b", "c", "d"],
        "date": ["1930-07-13", "1934-05-27", "1970-05-31", "1974-06-13"],
        "home": ["A", "B", "A", "C"],
        "away": ["B", "C", "C", "A"],
        "result": [1, 0, 1, 1],
    }
    lineups = {
        "match_id": ["c"] * 4 + ["d"] * 4,
        "side": ["home", "home", "away", "away"] * 2,
        "player": ["p", "q", "r", "s", "r", "s", "p", "q"],
    }
    matches = kn.read_matches(table, lineups=lineups)
    history = kn.rating_history(kn.PlayerElo().update(matches), matches)
    assert sorted({str(day) for day in history["date"]}) == ["1970-05-31", "1974-06-13"]
    assert set(history["name"]) == {"p", "q", "r", "s"}


@pytest.mark.parametrize(("gap", "broken"), [(364, False), (365, True)])
def test_a_line_breaks_where_a_side_did_not_play_for_a_year(gap, broken):
    """And points are spread evenly over the days: of ten four, the first and the last among them."""
    start = np.datetime64("2020-01-01")
    days = np.sort(np.concatenate([start + np.array([0, 3, 7]), start + 7 + gap + np.array([0, 1, 5, 6, 9, 20, 40])]))
    away = ["B", "C", "B", "B", "C", "B", "C", "B", "C", "B"]
    table = {"date": days.astype(str), "home": ["A"] * 10, "away": away, "result": [1, 0, 0.5, 1, 0, 1, 1, 0, 1, 0]}
    matches = kn.read_matches(table)
    history = kn.rating_history(kn.TeamElo.classic(), matches, side="A")
    date, rating, doubt = broken_line(history, history["date"].unique().sort().to_numpy())
    assert np.flatnonzero(np.isnan(rating)).tolist() == np.flatnonzero(np.isnan(doubt)).tolist() == [3] * broken
    assert date.astype("datetime64[D]").tolist() == [*days[:3].tolist(), *[days[3].item()] * broken, *days[3:].tolist()]
    few = kn.rating_history(kn.TeamElo.classic(), matches, points=4)
    assert few["date"].unique(maintain_order=True).to_list() == days[[0, 3, 6, 9]].tolist()
    walker = kn.TeamElo.classic().update(matches[:4])
    at = few.filter(date=days[3].item())
    assert dict(at.select("name", "rating").rows()) == dict(walker.ratings_.select("name", "rating").rows())


@pytest.mark.parametrize("contests", [False, True])
def test_upsets_are_what_was_least_foreseen_the_least_first(contests):
    if contests:
        rng = np.random.default_rng(3)
        rows = [
            (race, name, place) for race in range(12) for place, name in enumerate(rng.permutation(list("ABCD")), 1)
        ]
        rows[1] = (0, rows[1][1], 1)  # two share the first place
        data = kn.read_contests(dict(zip(("race", "driver", "place"), zip(*rows))))
        rater = kn.RankElo(walk=0.4, prior_spread=0.8)
        ahead = kn.RankElo(walk=0.4, prior_spread=0.8).one_step_ahead(data)
        wanted = []
        for race in range(12):
            names = [data.entrants[code] for code in data.entrant[4 * race : 4 * race + 4]]
            win = dict(zip(names, ahead.win[4 * race : 4 * race + 4].tolist()))
            places = data.place[4 * race : 4 * race + 4]
            first = [name for name, place in zip(names, places) if place == places.min()]
            favourite = max(win, key=win.__getitem__)
            chance = math.prod(win[name] for name in first) ** (1 / len(first))
            wanted.append((chance, " and ".join(first), favourite, win[favourite]))
        columns = ("chance", "winner", "favourite", "favourite_chance")
    else:
        result = [1, 0.5, 0, 0, 1, 1, 0.5, 1]
        data = kn.read_matches({"home": list("ABCABACA"), "away": list("BCABACBC"), "result": result})
        rater = kn.Glicko(350.0, 30.0, 60.0, ties=0.6)
        ahead = kn.Glicko(350.0, 30.0, 60.0, ties=0.6).one_step_ahead(data).probabilities
        wanted = [
            (float(chances[{1: 0, 0.5: 1, 0: 2}[said]]), data.teams[home], data.teams[away], said, *chances.tolist())
            for chances, said, home, away in zip(ahead, result, data.home, data.away)
        ]
        columns = ("chance", "home", "away", "result", "home_win", "draw", "away_win")
    found = kn.raters.upsets(rater, data).select(columns).rows()
    for row, expected in zip(found, sorted(wanted, key=lambda one: one[0]), strict=True):
        assert [one if isinstance(one, str) else pytest.approx(one) for one in expected] == list(row)
