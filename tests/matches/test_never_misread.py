"""What strangers' files hold is read as it is meant where the file decides, and asked about where it does not."""

import gzip

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.matches.dates import read_dates
from kinelo.matches.names import read_numbers
from kinelo.raters.start import read_start
from kinelo.results.spreadsheet import harmless


def table(n=12, **columns):
    sides = {"home": [f"S{k % 4}" for k in range(n)], "away": [f"S{(k + 1) % 4}" for k in range(n)]}
    dates = {"date": [f"2024-01-{k + 1:02d}" for k in range(n)]}
    return dates | sides | columns


def noted(matches, *words):
    return [note for note in matches.notes if all(word in note for word in words)]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1,012", "998"], [1012, 998]),
        (["1,012", "2,5"], [1.012, 2.5]),
        (["0,125", "1,000"], [0.125, 1.0]),
        (["1,012.5", "2,001"], [1012.5, 2001]),
        (["1.012,5", "2.001"], [1012.5, 2001]),
        (["1 012", "1\N{NO-BREAK SPACE}013", "1\N{NARROW NO-BREAK SPACE}014"], [1012, 1013, 1014]),
        (["1'012", "2’500"], [1012, 2500]),
        (["\N{MINUS SIGN}3", "4"], [-3, 4]),
        (["1,234,567", "1,5"], [1234567, 1.5]),
        (["2,5", "1,234,567", "1,012"], [2.5, 1234567, np.nan]),
        (["12,34,567", "1_000", "x", "3"], [np.nan, np.nan, np.nan, 3]),
    ],
)
def test_a_column_decides_what_its_commas_mean(cells, expected):
    assert read_numbers(pl.Series("n", cells)).tolist() == pytest.approx(expected, nan_ok=True)


def test_thousands_are_said_and_win():
    matches = kn.read_matches(table(2, home_score=["1,012", "998"], away_score=["999", "1,000"]))
    assert matches.result.tolist() == [1, 0] and noted(matches, "'1,012'", "1012", "write 1.012")
    assert not noted(kn.read_matches(table(2, home_score=["2,5", "1"], away_score=["1", "0,5"])), "thousands")


def test_thousands_in_a_list_to_start_from(tmp_path):
    (tmp_path / "list.csv").write_text('name,rating\nA,"1,512"\nB,998\n')
    with pytest.warns(kn.KineloWarning, match="'1,512' in 'rating' was read as 1512"):
        assert read_start(tmp_path / "list.csv").rating.tolist() == [1512, 998]


@pytest.mark.parametrize("cell", ["2021-03-01", "2021-03-01 00:00:00", "1-Mar", "Mar-01", "01/03/2021", "3. Jan"])
def test_scores_that_became_dates_are_set_aside(cell):
    matches = kn.read_matches(table(3, score=["2-1", cell, "0-0"]))
    assert len(matches) == 2 and matches.rejected.counts() == {"a score that became a date": 1}
    assert noted(matches, "1 entry of 'score' is a date, as a spreadsheet makes of scores such as 3-1: that match was")
    assert matches.rejected.content.tolist() == [cell]


def test_sets_and_halves_are_no_dates():
    matches = kn.read_matches(table(3, score=["6-4 3-6 7-6", "21-19 21-18", "11-9, 11-8, 11-3"]))
    assert matches.result.tolist() == [1, 1, 1] and len(matches.rejected) == 0


@pytest.mark.parametrize(
    "other",
    ["Ajax\u200b", "\u200eAjax", "A\u200djax", "\ufeffAjax", "\u202aAjax\u202c", "\u2066Ajax\u2069", "Ajax\u00ad"],
)
def test_marks_that_nobody_sees_split_no_side(other):
    matches = kn.read_matches({"home": ["Ajax", other], "away": ["PSV", "PSV"], "result": [1, 0]})
    assert matches.teams == ("Ajax", "PSV") and noted(matches, "marks that cannot be seen", "'Ajax'")


def test_one_letter_has_one_code_and_blanks_are_blanks():
    names = ["Atl\u00e9tico Madrid", "Atle\u0301tico\u00a0Madrid", "Atl\u00e9tico\u2009Madrid"]
    matches = kn.read_matches({"home": names, "away": ["B"] * 3, "result": [1, 0, 1]})
    assert matches.teams == (names[0], "B")
    persian = ["علی\u200cرضا", "علیرضا"]
    apart = kn.read_matches({"home": persian, "away": ["B"] * 2, "result": [1, 0]})
    assert set(apart.teams) == {*persian, "B"} and noted(apart, "differ only in case, blanks or accents")


def test_marks_split_no_side_in_pieces_winners_and_aliases(tmp_path):
    frame = pl.DataFrame({"home": ["Ajax\u200b", "Ajax"], "away": ["PSV", "\u200ePSV"], "result": [1.0, 0.0]})
    frame.with_columns(date=pl.lit("2024-01-01").str.to_date()).write_parquet(tmp_path / "g.parquet")
    assert kn.matches.scan_matches(tmp_path / "g.parquet").collect().teams == ("Ajax", "PSV")
    won = kn.read_matches({"home": ["Ajax", "PSV"], "away": ["PSV", "Ajax"], "winner": ["Ajax\u200b", "\u200eAjax"]})
    assert won.result.tolist() == [1, 0]
    renamed = kn.read_matches({"home": ["A\u200b"], "away": ["B"], "result": [1]}, aliases={"A": "C\u200e"})
    assert renamed.teams == ("C", "B")


def test_a_name_guarded_against_formulas_is_the_name(tmp_path):
    written = harmless(pl.DataFrame({"name": ["@home", "=1+1", "'s-Gravenhage"], "rating": [1600, 1500, 1400]}))
    written.write_csv(tmp_path / "list.csv")
    start = read_start(tmp_path / "list.csv")
    assert start.names == ("@home", "=1+1", "'s-Gravenhage")
    matches = kn.read_matches({"home": ["@home", "@home"], "away": ["=1+1", "'s-Gravenhage"], "result": [1, 1]})
    assert kn.TeamElo.classic(start=tmp_path / "list.csv").fit(matches).ratings_["name"].to_list()[0] == "@home"


def test_places_given_as_scores_are_reported_and_can_be_said():
    places = table(12, score1=[1, 2] * 6, score2=[2, 1] * 6)
    told = kn.read_matches(places, columns={"home_score": "score1", "away_score": "score2"})
    assert told.result.tolist() == [0, 1] * 6 and noted(told, "if these are places", "'home_place': 'score1'")
    said = kn.read_matches(places, columns={"home_place": "score1", "away_place": "score2"})
    assert said.result.tolist() == [1, 0] * 6 and not noted(said, "places")
    goals = table(12, home_score=[1, 2, 0] * 4, away_score=[2, 1, 0] * 4)
    assert not noted(kn.read_matches(goals), "places")


def leagues(column, levels, *, same=False, seed=1, offset=1):
    """Two double rounds of ten names: strengths of their own in each, or the same ones."""
    rng = np.random.default_rng(seed)
    names, rows = [f"Club {k}" for k in range(10)], []
    strengths = [rng.normal(0, 1, 10)] * 2 if same else [rng.normal(0, 1, 10), rng.normal(0, 1, 10)]
    for group, (level, strength) in enumerate(zip(levels, strengths)):
        for k, (a, b) in enumerate((a, b) for a in range(10) for b in range(10) if a != b):
            day = np.datetime64("2024-01-06") + 7 * (k % 30) + offset * group
            rows.append(
                (str(day), names[a], names[b], float(rng.random() < 1 / (1 + np.exp(strength[b] - strength[a]))), level)
            )
    return pl.DataFrame(rows, ["date", "home", "away", "result", column], orient="row")


@pytest.mark.parametrize(
    ("column", "levels", "offset"),
    [
        ("league", ("men", "women"), 1),
        ("league", ("First", "Second"), 1),
        ("comp", ("A", "B"), 0),
        ("Serie", ("1", "2"), 60),
    ],
)
def test_names_that_stand_in_closed_groups_are_reported_and_kept_apart(column, levels, offset):
    matches = kn.read_matches(leagues(column, levels, offset=offset))
    note = noted(matches, f"10 names play in more than one '{column}'", f"columns={{'group': '{column}'}}")
    assert len(note) == 1
    apart = kn.read_matches(leagues(column, levels, offset=offset), columns={"group": column})
    assert len(apart.teams) == 20 and f"Club 0 ({levels[1]})" in apart.teams
    assert not noted(apart, "more than one")


def test_what_follows_from_the_host_is_no_group():
    """A side that plays at home on turf alone does well there, and worse away on grass."""
    for seed in range(1, 8):
        games = kn.sample_league(20, 1, seed=seed, turf=True).results
        assert games["pitch"].n_unique() == 2
        assert not noted(kn.read_matches(games), "more than one")


def test_a_column_that_only_describes_matches_is_not_reported():
    """One league whose matches are shown on two channels, are played at night or not, or in two halves of the year."""
    games = leagues("league", ("x", "x"))[:90]
    rng = np.random.default_rng(2)
    plain = games.drop("league").with_columns(
        channel=pl.Series(rng.choice(["one", "two"], 90)),
        night=pl.Series(rng.random(90) < 0.5),
        half=pl.when(pl.col("date") < "2024-04-20").then(pl.lit("spring")).otherwise(pl.lit("summer")),
    )
    assert not noted(kn.read_matches(plain), "more than one")
    cup = pl.concat([games, games[:12].with_columns(league=pl.lit("cup"), date=pl.lit("2024-09-01"))])
    assert not noted(kn.read_matches(cup), "more than one")


@pytest.mark.parametrize(
    ("cells", "first", "words"),
    [
        (["44256", "44257.75"], "2021-03-01", "days of a spreadsheet"),
        ([44256.0, 44258.0], "2021-03-01", "days of a spreadsheet"),
        (["1614556800", "1614643200"], "2021-03-01", "seconds since 1970"),
        ([1614556800123, 1614643200123], "2021-03-01", "milliseconds since 1970"),
        ([1614556800000000000, 1614643200000000000], "2021-03-01", "nanoseconds since 1970"),
    ],
)
def test_days_that_are_counted_are_read_and_named(cells, first, words):
    read = read_dates(pl.Series("when", cells))
    assert str(read.days[0]) == first and words in read.notes[0]


def test_years_and_compact_dates_are_no_counts():
    assert str(read_dates(pl.Series("d", ["2021", "2022"])).days[1]) == "2022-01-01"
    assert str(read_dates(pl.Series("d", [20210301, 20210302])).days[1]) == "2021-03-02"


@pytest.mark.parametrize(
    "cells", [["2021-03-01T18:30:00Z", "2021-03-02T12:00:00Z"], [1614623400, 1614686400], [44256.8, 44257.5]]
)
def test_a_column_of_times_that_holds_days_is_read(cells):
    matches = kn.read_matches({"Time": cells, "home": ["A", "B"], "away": ["B", "A"], "result": [1, 0]})
    assert str(matches.date[0]) == "2021-03-01" and noted(matches, "days were read from the column 'Time'")
    plain = kn.read_matches({"Time": ["18:30", "20:00"], "home": ["A", "B"], "away": ["B", "A"], "result": [1, 0]})
    assert not plain.dated


def test_dates_that_nothing_decides_say_so():
    cells = ["03/02/2024", "01/05/2024", "02/03/2024"]
    read = read_dates(pl.Series("d", cells))
    assert str(read.days[0]) == "2024-02-03" and "dates='mdy'" in read.notes[0]
    assert str(read_dates(pl.Series("d", cells), "mdy").days[0]) == "2024-03-02"
    short = read_dates(pl.Series("d", ["01/02/03"]))
    assert "month/day/year or year/month/day" in short.notes[0]
    assert str(read_dates(pl.Series("d", ["01/02/03"]), "ymd").days[0]) == "2001-02-03"
    with pytest.raises(kn.InputError, match="is no order of dates"):
        kn.read_matches(table(1, result=[1]), dates="ydm")  # type: ignore[arg-type]


def test_dates_that_the_column_decides_are_read_so():
    by_day = read_dates(pl.Series("d", ["01/02/2024", "25/02/2024"]))
    assert str(by_day.days[0]) == "2024-02-01" and by_day.notes == []
    by_month = read_dates(pl.Series("d", ["01/02/2024", "02/25/2024"]))
    assert str(by_month.days[0]) == "2024-01-02" and by_month.notes == []
    in_order = read_dates(
        pl.Series("d", ["01/02/2024", "01/09/2024", "02/03/2024", "03/01/2024", "04/02/2024", "05/01/2024"])
    )
    assert str(in_order.days[0]) == "2024-01-02" and "so the rows stand in order" in in_order.notes[0]
    same = read_dates(pl.Series("d", ["01/01/2024", "02/02/2024"]))
    assert same.notes == []
    mixed = read_dates(pl.Series("d", ["25/02/2024", "26/02/2024", "02/27/2024", "01/02/2024"]))
    assert np.isnat(mixed.days[2]) and "1 can only be month/day/year" in mixed.notes[0]


def test_two_digit_years_do_not_lie_in_the_future():
    today = np.datetime64("today")
    read = read_dates(pl.Series("d", ["24/05/65", "24/05/98", "29/02/68", "24/05/12"]))
    assert [str(day) for day in read.days] == ["1965-05-24", "1998-05-24", "1968-02-29", "2012-05-24"]
    soon = str(today + 90)
    cell = f"{soon[8:]}/{soon[5:7]}/{soon[2:4]}"
    assert str(read_dates(pl.Series("d", [cell]), "dmy", played=False).days[0]) == soon
    assert read_dates(pl.Series("d", [cell]), "dmy").days[0] < today


def test_carriage_returns_before_line_ends_make_no_rows(tmp_path):
    text = "date,home,away,result\r\r\n2024-01-01,A,B,1\r\r\n2024-01-02,B,A,0\r\r\n"
    for name, raw in (("a.csv", text.encode()), ("a.csv.gz", gzip.compress(text.encode()))):
        (tmp_path / name).write_bytes(raw)
        matches = kn.read_matches(tmp_path / name)
        assert len(matches) == 2 and len(matches.rejected) == 0


@pytest.mark.parametrize(
    "cells", [[1, 2, 0], ["1", "2", "0"], ["1", "2", "none"], ["1", "2", "draw"], ["A", "A", "none"], ["A", "A", "0"]]
)
def test_a_winner_may_be_one_two_or_nobody(cells):
    matches = kn.read_matches({"home": ["A", "B", "A"], "away": ["B", "A", "C"], "winner": cells})
    assert matches.result.tolist() == [1, 0, 0.5] and len(matches.rejected) == 0


def test_games_decide_and_not_the_points_of_all_of_them():
    """The loser of three games has more points in all."""
    sets = table(2, home_points=[55, 42], away_points=[57, 30], home_sets=[2, 2], away_sets=[1, 0])
    matches = kn.read_matches(sets)
    assert matches.result.tolist() == [1, 1] and matches.margin.tolist() == [-2, 12]
    assert noted(matches, "in 1 match the winner has no more points")
    games = {"game1": ["21-19", "21-15"], "game2": ["13-21", "21-15"], "game3": ["21-17", None]}
    for more in (
        games,
        {
            f"{side}_set{k}": [int(c.split("-")[j]) if c else None for c in games[f"game{k}"]]
            for k in (1, 2, 3)
            for j, side in enumerate(("home", "away"))
        },
    ):
        assert kn.read_matches(table(2, home_points=[55, 42], away_points=[57, 30], **more)).result.tolist() == [1, 1]
    quarters = table(2, home_points=[55, 42], away_points=[57, 42], game1=["1-1", "0-2"], game2=["2-0", "1-0"])
    assert kn.read_matches(quarters).result.tolist() == [0, 0.5]


@pytest.mark.parametrize("cells", [[True, False, False], ["yes", "no", None], ["S0", "", "none"], [1, 0, 0]])
def test_retired_matches_are_seen_in_their_own_column(cells):
    matches = kn.read_matches(table(3, result=[1, 0, 1], retired=cells))
    assert len(matches) == 2 and matches.rejected.counts() == {"match not played to its end": 1}
