"""Points won in the season under way count, and what does not show when it began is asked for."""

import itertools
import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.forecasts.season_so_far import season_so_far
from kinelo.lab.rate.leagues import odds

SIDES = ("Ash", "Bix", "Cay", "Dun", "Elm", "Fir")


class Coin:
    """Every match is won by the home side with 0.5, drawn with 0.2, lost with 0.3."""

    def fit(self, matches):
        self._fitted = matches
        return self

    def one_step_ahead(self, matches):
        return self.predict(matches)

    def predict(self, matches):
        return kn.forecasts.Forecast(np.tile([0.5, 0.2, 0.3], (len(matches), 1)))


def rounds(sides=SIDES):
    """A double round robin, round by round."""
    order, first = list(sides), []
    for k in range(len(order) - 1):
        pairs = [(order[i], order[-1 - i]) for i in range(len(order) // 2)]
        first.append([pair[::-1] if k % 2 else pair for pair in pairs])
        order.insert(1, order.pop())
    return first + [[pair[::-1] for pair in pairs] for pairs in first]


def league(starts=("2022-08-06", "2023-08-05", "2024-08-10"), sides=SIDES, seed=1, every=28):
    """Seasons of ten rounds: date, home, away, goals and season."""
    rng = np.random.default_rng(seed)
    rows = []
    for begin in starts:
        for k, pairs in enumerate(rounds(sides)):
            day = str(np.datetime64(begin) + every * k)
            rows += [(day, home, away, *rng.integers(0, 4, 2).tolist(), begin[:4]) for home, away in pairs]
    return pl.DataFrame(rows, ["date", "home", "away", "home_score", "away_score", "season"], orient="row")


def points(table):
    """The table of points by a plain loop."""
    won = dict.fromkeys(SIDES, 0)
    for row in table.iter_rows(named=True):
        gap = row["home_score"] - row["away_score"]
        won[row["home"]] += 3 if gap > 0 else int(gap == 0)
        won[row["away"]] += 3 if gap < 0 else int(gap == 0)
    return won


def to_come(table):
    """Points that matches bring on average where a coin decides them."""
    brings = dict.fromkeys(SIDES, 0.0)
    for row in table.iter_rows(named=True):
        brings[row["home"]] += 3 * 0.5 + 0.2
        brings[row["away"]] += 3 * 0.3 + 0.2
    return brings


def split(table, left, columns=("date", "home", "away", "home_score", "away_score")):
    """Results until so many matches are left, and those as fixtures."""
    table = table.select(columns)
    coming = table[-left:].drop("home_score", "away_score")
    return table[:-left], coming


def read(played, coming):
    return kn.read_matches(played), kn.read_matches(coming, played=False)


@pytest.mark.parametrize("left", [3, 9, 14, 15, 21, 27])
def test_final_points_are_those_so_far_and_what_the_fixtures_bring(left):
    table = league()
    played, coming = split(table, left)
    results, fixtures = read(played, coming)
    found = kn.season(Coin(), fixtures, results=results, realisations=4000)
    so_far = points(played[60:])
    brings = to_come(coming)
    expected = [so_far[name] + brings[name] for name in found.names]
    # A match varies by at most 1.4 points; a mean of 4,000 seasons of up to 10 matches is sure to .07.
    assert found.points.mean(axis=0) == pytest.approx(expected, abs=0.3)
    assert f"{30 - left} results since 2024-08-10 count for the table" in found.notes[0]


def test_the_title_is_what_counting_all_ways_says():
    played, coming = split(league(), 3)
    results, fixtures = read(played, coming)
    so_far, chance = points(played[60:]), dict.fromkeys(SIDES, 0.0)
    pairs = list(zip(coming["home"], coming["away"]))
    for outcome in itertools.product((("home", 0.5), ("draw", 0.2), ("away", 0.3)), repeat=3):
        final = dict(so_far)
        for (home, away), (word, _) in zip(pairs, outcome):
            final[home] += {"home": 3, "draw": 1, "away": 0}[word]
            final[away] += {"home": 0, "draw": 1, "away": 3}[word]
        first = [name for name in SIDES if final[name] == max(final.values())]
        for name in first:
            chance[name] += np.prod([p for _, p in outcome]) / len(first)
    found = kn.season(Coin(), fixtures, results=results, rules=kn.forecasts.Rules(tie_breaks=[]), realisations=20_000)
    table = dict(found.to_polars().select("name", "title").iter_rows())
    assert max(chance.values()) < 0.999 and sum(share > 0.02 for share in chance.values()) > 1
    assert [table[name] for name in SIDES] == pytest.approx([chance[name] for name in SIDES], abs=0.014)  # 4 s.e.


def test_a_season_that_has_not_begun_starts_from_zero():
    table = league(("2022-08-06", "2023-08-05", "2024-08-10"))
    played, coming = split(table, 30)
    found = season_so_far(*reversed(read(played, coming)))
    assert len(found.results) == 0 and found.note == "everyone starts from 0 points: the fixtures are a season"
    first_rounds = coming[:9]
    found = season_so_far(*reversed(read(played, first_rounds)))
    assert len(found.results) == 0 and found.note == "everyone starts from 0 points: a pause of 119 days came before"


def test_rounds_to_come_are_enough():
    played, coming = split(league(), 15)
    found = season_so_far(*reversed(read(played, coming[:6])))
    assert len(found.results) == 15 and "a pause of 119 days came before" in found.note


def test_sides_without_a_fixture_left_stand_in_the_table():
    played, coming = split(league(), 3)
    results, fixtures = read(played, coming[:1])
    found = kn.season(Coin(), fixtures, results=results, realisations=50)
    assert set(found.names) == set(SIDES)
    so_far = points(played[60:])
    idle = [name for name in SIDES if name not in coming[0].row(0)]
    assert [found.points[:, found.names.index(name)].mean() for name in idle] == [so_far[name] for name in idle]


def test_cups_and_other_leagues_do_not_count():
    table = league()
    played, coming = split(table, 15)
    other = league(sides=("Gil", "Hob", "Ivy", "Jay"), seed=3).select(played.columns)
    cup = pl.DataFrame(
        [("2024-08-20", "Gil", "Ash", 1, 0), ("2024-08-21", "Bix", "Hob", 1, 0)], played.schema, orient="row"
    )
    everything = pl.concat([played, other.filter(pl.col("date") < coming["date"][0]), cup]).sort("date")
    found = season_so_far(*reversed(read(everything, coming)))
    assert len(found.results) == 15 and {*found.results.to_polars()["home"]} <= {*SIDES}


def test_a_column_of_seasons_decides():
    """Seasons that follow one another without a pause, of which only the next rounds are known."""
    table = league(("2023-01-07", "2023-03-18", "2023-05-27"), every=7)
    columns = ("date", "home", "away", "home_score", "away_score", "season")
    named = table.with_columns(season=pl.Series(np.repeat(["one", "two", "three"], 30)))
    played, coming = split(named, 12, columns)
    found = season_so_far(*reversed(read(played, coming[:3])))
    assert len(found.results) == 18 and found.note.endswith("they are of the season three")
    # Of fixtures that say no season it is that of the last result, the third of three.
    last = season_so_far(*reversed(read(played, coming[:3].drop("season"))))
    assert last.note == found.note and len(last.results) == 18
    unnamed = season_so_far(*reversed(read(played.drop("season"), coming[:3].drop("season"))))
    assert unnamed.note.startswith("78 results since 2023-01-07 count")


def test_what_nothing_shows_is_asked_for():
    """Matches all year round for three years: no pause, and far from a full schedule."""
    table = league(("2022-01-07", "2022-10-14", "2023-07-21"))
    played, coming = split(table, 12)
    with pytest.raises(kn.InputError, match="Nothing shows when this season began"):
        season_so_far(*reversed(read(played, coming[:3])))


def test_a_day_given_is_taken():
    played, coming = split(league(), 15)
    results, fixtures = read(played, coming)
    assert len(season_so_far(fixtures, results, "2023-08-05").results) == 45
    with pytest.raises(kn.InputError, match="give them too"):
        kn.season(Coin(), fixtures, since="2023-08-05")


def test_a_match_put_off_or_played_since_counts_once():
    """The list of fixtures was made before the last round and names a day on which one match was not played."""
    table = league()
    played, _ = split(table, 12)
    coming = table.select("date", "home", "away")[-15:]
    moved = coming.with_columns(date=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("2024-12-20")).otherwise("date"))
    results, fixtures = read(played, moved)
    found = kn.season(Coin(), fixtures, results=results, realisations=2000)
    assert "18 results since 2024-08-10 count" in found.notes[0]
    so_far, brings = points(table[60:-12]), to_come(table[-12:])
    # Four matches a side are to come, each of which varies by at most 1.4 points: 0.3 are nearly 5 standard errors.
    expected = [so_far[name] + brings[name] for name in found.names]
    assert found.points.mean(axis=0) == pytest.approx(expected, abs=0.3)


def test_a_fixture_takes_no_result_from_before_its_day():
    """Of a pair that met before, at the same place: the earlier match counts as itself, and the fixture is to come."""
    played = kn.read_matches(
        {
            "date": ["2024-08-10", "2024-08-17", "2024-08-24", "2024-09-07"],
            "home": ["Ash", "Bix", "Cay", "Bix"],
            "away": ["Bix", "Cay", "Ash", "Ash"],
            "home_score": [3, 0, 1, 2],
            "away_score": [1, 0, 4, 5],
        }
    )
    coming = kn.read_matches(
        {
            "date": ["2024-08-03", "2024-09-14", "2024-08-31", "2024-09-01"],
            "home": ["Dun", "Cay", "Bix", "Ash"],
            "away": ["Ash", "Ash", "Cay", "Bix"],
        },
        played=False,
    )
    assert sorted(zip(coming.day.tolist(), [coming.teams[one] for one in coming.home]))[0][1] == "Dun"
    found = season_so_far(coming, played, since="2024-08-01")
    assert np.isnan(found.fixtures.result).all() and len(found.results) == 4
    # One that was played on its day, or since, is taken, and counts once.
    late = kn.read_matches({"date": ["2024-08-03", "2024-08-31"], "home": ["Dun", "Bix"], "away": ["Ash", "Ash"]},
                           played=False)  # fmt: skip
    found = season_so_far(late, played, since="2024-08-01")
    assert found.fixtures.result.tolist()[1] == 0.0 and found.fixtures.margin.tolist()[1] == -3.0
    assert len(found.results) == 3


def test_a_fixture_list_with_results_is_the_season():
    table = league()
    season_rows = table[-30:].with_columns(
        pl.when(pl.int_range(pl.len()) < 15).then(pl.col("home_score", "away_score")).otherwise(None)
    )
    fixtures = kn.read_matches(season_rows.drop("season"), played=False)
    results = kn.read_matches(table[:-13].drop("season"))
    found = season_so_far(fixtures, results)
    assert len(found.results) == 0 and np.isfinite(found.fixtures.result).sum() == 17
    gap = (table["home_score"] - table["away_score"])[-30:-13].to_numpy()
    assert found.fixtures.margin[:17].tolist() == gap.tolist()
    assert found.fixtures.result[:17].tolist() == np.where(gap > 0, 1.0, np.where(gap < 0, 0.0, 0.5)).tolist()


def test_points_that_would_be_lost_are_warned_of():
    played, coming = split(league(), 9)
    results, fixtures = read(played, coming)
    with pytest.warns(kn.KineloWarning, match="starts from 0 points; results=matches counts"):
        kn.season(Coin().fit(results), fixtures, realisations=20)


def test_the_command_and_the_lab_count_the_same(tmp_path):
    from kinelo.cli.commands import app

    played, coming = split(league(), 9)
    played.write_csv(tmp_path / "results.csv")
    coming.write_csv(tmp_path / "remaining.csv")
    words = ["season", str(tmp_path / "results.csv"), str(tmp_path / "remaining.csv"), "--rater", "glicko"]
    words += ["--realisations", "4000", "--json"]
    said = CliRunner().invoke(app, words)
    assert said.exit_code == 0, said.output
    assert "note: 21 results since 2024-08-10 count for the table" in said.stderr
    by_command = json.loads(said.stdout)
    results, fixtures = read(played, coming)
    rules = {"win": 3.0, "draw": 1.0, "relegated": 3}
    shown = odds(
        kn.Glicko().fit(results), results, fixtures, (), kind="season", points={}, rules=rules, day="2024-12-01"
    )
    assert {row["name"]: row["points"] for row in shown["rows"]} == pytest.approx(
        dict(zip(by_command["name"], by_command["points"]))
    )
    none = CliRunner().invoke(app, [*words, "--season-start", "none"])
    least = points(played[60:])
    gained = dict(zip(by_command["name"], np.subtract(by_command["points"], 0)))
    fresh = json.loads(none.stdout)
    fresh = dict(zip(fresh["name"], fresh["points"]))
    assert {name: gained[name] - fresh[name] for name in SIDES} == pytest.approx(least, abs=1e-9)


def test_too_many_that_go_down_are_refused(tmp_path):
    from kinelo.cli import main  # noqa: F401
    from kinelo.cli.commands import app

    played, coming = split(league(), 9)
    played.write_csv(tmp_path / "results.csv")
    coming.write_csv(tmp_path / "remaining.csv")
    words = ["season", str(tmp_path / "results.csv"), str(tmp_path / "remaining.csv"), "--relegated", "50"]
    said = CliRunner().invoke(app, words)
    assert isinstance(said.exception, kn.InputError) and "Of 6 sides, 0 to 5 can go down" in str(said.exception)
    results, fixtures = read(played, coming)
    with pytest.raises(kn.InputError, match="lies outside of a table of 6 sides"):
        kn.season(Coin(), fixtures, results=results, rules=kn.forecasts.Rules(places={"cup": (1, 7)}))


def test_what_was_played_more_than_half_a_year_ago_is_of_another_season():
    """After 182 days it is asked about, after 183 nothing counts."""
    table = league(starts=("2022-08-06",)).drop("season").head(12)
    results, last = kn.read_matches(table), np.datetime64(table["date"].max())
    sooner, later = (
        kn.read_matches({"date": [str(last + days)], "home": ["Ash"], "away": ["Bix"]}, played=False)
        for days in (182, 183)
    )
    with pytest.raises(kn.InputError, match="Nothing shows when this season began"):
        season_so_far(sooner, results)
    found = season_so_far(later, results)
    assert len(found.results) == 0 and "nothing was played in the half year before the fixtures" in found.note
