"""What tables of results and forecasts refuse, word by word."""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.season import Rules
from kinelo.matches.columns import distinct_names
from kinelo.matches.dated import read_day
from kinelo.matches.fixtures import lineups_of_starters
from kinelo.matches.loading import load_table
from kinelo.matches.reading_file import kept_reading, reading_file
from refusals import check_refusal

TWO = {"date": ["2024-01-01", "2024-01-08"], "home": ["A", "B"], "away": ["B", "C"], "result": [1.0, 0.5]}
RACES = {"race": [1, 1, 2, 2], "driver": list("ABBA"), "place": [1, 2, 1, 2], "grid": [1.0, 3.0, 2.0, 1.0]}
THIRDS = np.full((2, 3), 1 / 3)


def matches(**more):
    return kn.read_matches(TWO | more)


def changed(table, **columns):
    """A table put together by hand, as a rater sees it."""
    return kn.TeamElo.classic(k=20).update(replace(table, **columns))


def races(**columns):
    return kn.RankElo().update(replace(kn.read_contests(RACES), **columns))


def classic():
    return kn.TeamElo.classic(k=20).update(matches())


def by_hand(what, complaint):
    return (
        f"These {what} do not hold together: {complaint}. Read them with kinelo.read_{what} instead of making them by "
        "hand."
    )


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


CASES = {
    # Made by hand
    "a side against itself": (
        lambda: changed(matches(), away=np.array([0, 2], np.int32)), by_hand("matches", "A plays itself"),
    ),
    "a result beyond one": (
        lambda: changed(matches(), result=np.array([0.5, 1.5])),
        by_hand("matches", "result holds 1.5, which is not between 0 and 1"),
    ),
    "results of words": (
        lambda: changed(matches(), result=["1", "0"]),
        by_hand("matches", "result must be an array of numbers, not list"),
    ),
    "results of some": (
        lambda: changed(matches(), result=np.array([0.5])),
        by_hand("matches", "result has 1 value where 2 are needed"),
    ),
    "days of words": (
        lambda: changed(matches(), date=["2024-01-01", "2024-01-08"]),
        by_hand("matches", "date must be an array of days (datetime64[D]), not list"),
    ),
    "a day before all": (
        lambda: changed(matches(), date=np.array(["1203-01-01", "2024-01-08"], "M8[D]")),
        by_hand("matches", "date holds 1203-01-01, which is no day of them"),
    ),
    "a code beyond the names": (
        lambda: changed(matches(), home=np.array([0, 3], np.int32)),
        by_hand("matches", "home holds the code 3, and there are 3 names"),
    ),
    "identifiers of some": (
        lambda: changed(matches(), identifiers=("m1",)), by_hand("matches",
        "identifiers has 1 value where 2 are needed"),
    ),
    "conditions of a list": (
        lambda: changed(matches(), conditions=["wet"]), by_hand("matches", "conditions must be a mapping, not list"),
    ),
    "a condition of words": (
        lambda: changed(matches(), conditions={"pitch": ["wet", "dry"]}),
        by_hand("matches", "conditions['pitch'] must be a Condition, not list"),
    ),
    "line-ups of a list": (
        lambda: changed(matches(), lineups=[]), by_hand("matches", "lineups must be Lineups, not list"),
    ),
    "an entrant twice": (
        lambda: races(entrant=np.array([0, 0, 1, 0], np.int32)), by_hand("contests",
        "an entrant stands twice in one contest"),
    ),
    "a contest of nobody": (
        lambda: races(first=np.array([0, 0, 4])),
        by_hand("contests", "first must rise from 0 to 4, the number of entries"),
    ),
    "titles of some": (
        lambda: races(titles=("Rome",)), by_hand("contests", "titles has 1 value where 2 are needed"),
    ),
    "slots of a list": (
        lambda: races(slots=[]), by_hand("contests", "slots must be a mapping from kinds to Slots, not list"),
    ),
    "slots of words": (
        lambda: races(slots={"driver": list("ABBA")}), by_hand("contests", "slots['driver'] must be Slots, not list"),
    ),
    "minutes of some": (
        lambda: races(slots={"driver": replace(kn.read_contests(RACES).slots["driver"], minutes=np.ones(3))}),
        by_hand("contests", "the minutes of slots['driver'] must have a number for each of its codes"),
    ),
    # Read
    "contests for a rater of sides": (
        lambda: kn.KalmanElo().update(kn.read_contests(RACES)),
        "These are contests of many entrants, not matches of two sides; RankElo and TeamElo.classic rate them.",
    ),
    "no day": (
        lambda: read_day("May"), "'May' is not a date; write it as year-month-day, for example '2005-01-31'.",
    ),
    "a day that is very long": (
        lambda: read_day("x" * 90),
        f"'{'x' * 59}… is not a date; write it as year-month-day, for example '2005-01-31'.",
    ),
    "a table of nothing": (
        lambda: kn.read_matches(pl.DataFrame({"home": [], "away": [], "result": []})),
        "the table contains no matches; at least one row below the header is needed.",
    ),
    "columns of unequal length": (
        lambda: kn.read_matches({"home": ["A"], "away": ["B", "C"], "result": [1, 0]}),
        "The columns of the table differ in length ('home': 1, 'away': 2, 'result': 2).",
    ),
    "a row that is a number": (
        lambda: load_table([{"home": "A"}, 7]),
        "A list of matches holds one dictionary per row, but row 2 is of type int.",
    ),
    "three sides": (
        lambda: kn.read_matches({"team1": ["A"], "team2": ["B"], "team3": ["C"], "winner": ["A"]}),
        "the table has more than two sides per match ('team3'); only matches of two sides are read. Contests of many "
        "need a row for each entrant (kinelo.read_contests).",
    ),
    "results beyond all scales": (
        lambda: kn.read_matches(TWO | {"result": [3, 11]}, results="points"),
        "The result column 'result' holds numbers as large as 11; results are 0, 0.5, 1 or -1, 0, 1, and a difference "
        "of scores is named with columns={'margin': ...}.",
    ),
    "a scale that is not there": (
        lambda: kn.read_matches(TWO, results="percent"),
        "results='percent' is not a scale; it is 'points' (0, ½, 1) or 'signed' (-1, 0, 1).",
    ),
    "a team that is a number": (
        lambda: kn.read_contests(RACES, team=7), "team must be the name of a column, not 7.",
    ),
    "what slots and advantages share": (
        lambda: kn.read_contests(RACES, slots=["driver", "grid"], advantages=["grid"]),
        "'grid' is named among slots= and advantages=; it is one or the other.",
    ),
    "line-ups without players": (
        lambda: kn.read_matches(TWO | {"match_id": ["m1", "m2"]}, lineups={"match_id": ["m1"], "side": ["home"]}),
        "Line-ups in long form need a match, a side (or a team) and a player column; name them with "
        "columns={'lineup_match': ..., 'side': ..., 'player': ...}, found 'match_id', 'side'.",
    ),
    "a time below nought": (
        lambda: lineups_of_starters({"Ann": -5.0}, ["Cid"]),
        "-5.0 is no time that somebody played; a time is a number from 0 on.",
    ),
    "a line-up that is a word": (
        lambda: lineups_of_starters("Ann", ["Cid"]),
        "'Ann' is not a line-up; a line-up is a list of names that are not blank.",
    ),
    "strokes of fewer rounds": (
        lambda: kn.read_contests(
            {"event": [1] * 4, "player": list("ABCD"), "strokes": [280, 284, 291, 141]}, best="lowest"
        ),
        "Some have far fewer 'strokes' than others of their contest: they may have played fewer rounds. Mark them in a "
        "column 'status', as CUT or DNF.",
    ),
    "a column twice": (
        lambda: distinct_names(["date", "home", "away", "score", "score"]),
        "The table has two columns called 'score'; give each its own name.",
    ),
    "a column twice, and its own name": (
        lambda: distinct_names(["visitor", "G", "home", "G", "away_score"]),
        "The table has two columns called 'G'; give each its own name.",
    ),
    "a choice by a file": (
        lambda: kn.raters.choose_rater("results.csv"),
        "matches must be read before they are used: kinelo.read_matches('results.csv').",
    ),
    "a choice by fixtures": (
        lambda: kn.raters.choose_rater(kn.read_matches({k: TWO[k] for k in ("date", "home", "away")}, played=False)),
        "Matches without a result cannot be fitted; read them with played=True to reject such rows.",
    ),
    "a backtest on fixtures": (
        lambda: kn.backtest(
            kn.read_matches({**TWO, "result": [1, None]}, played=False), {"elo": classic()}, train_until="2024-01-05"
        ),
        "Matches without a result cannot be tested; read them with played=True to reject such rows.",
    ),
    "more cups than fit": (
        lambda: kn.knockout(classic(), ["A", "B"], date="2024-02-01", realisations=10**9),
        "1,000,000,000 realisations of 2 sides are too many at once; ask for fewer.",
    ),
    # Forecasts
    "chances that are no numbers": (
        lambda: Forecast(np.where(np.arange(6).reshape(2, 3) == 4, np.nan, THIRDS), ()),
        "1 of 2 forecasts are no numbers.",
    ),
    "chances of two": (
        lambda: Forecast(np.full((2, 2), 0.5), ()),
        "A forecast is an array of rows (home win, draw, away win) and a tuple of unknown names, not shape (2, 2) and "
        "tuple.",
    ),
    "forecasts of other matches": (
        lambda: Forecast(np.full((1, 3), 1 / 3), (), matches()), "1 forecast does not belong to 2 matches.",
    ),
    "ratings of one side": (
        lambda: Forecast(THIRDS, (), ratings_before=np.zeros((2, 1))),
        "ratings_before holds two ratings for each of 2 matches.",
    ),
    "a metric that is not known": (
        lambda: kn.backtest(matches(), {"elo": classic()}, train_until="2024-01-05").mean_score("elo", "luck"),
        "Metric 'luck' is not known; these are: log_loss, brier, rps, accuracy.",
    ),
    "a rater that was not tested": (
        lambda: kn.backtest(matches(), {"elo": classic()}, train_until="2024-01-05").mean_score("oracle", "brier"),
        "'oracle' was not put to the test; these were: elo.",
    ),
    "places of a list": (
        lambda: Rules(places=[1, 2]), "places must be a mapping from names to places, not list.",
    ),
    "a place of nought": (
        lambda: Rules(places={"up": (0, 2)}),
        "places['up']=(0, 2) must be a first and a last place, from 1 or back from -1.",
    ),
    "one place": (
        lambda: Rules(places={"up": (1,)}),
        "places['up']=(1,) must be a first and a last place, from 1 or back from -1.",
    ),
    "tie-breaks that are not there": (
        lambda: Rules(tie_breaks=["toss"]), r"tie_breaks=\['toss'\] must be a list of any of .*head_to_head.*\.",
    ),
    "margins of what draws none": (
        lambda: kn.season(
            classic(), kn.read_matches({k: TWO[k] for k in ("date", "home", "away")}, played=False),
            rules=Rules(tie_breaks=["margin"]), seed=1,
        ),
        "ClassicElo draws no margins, so that tie_breaks cannot use them; take 'wins' or 'head_to_head', or a rater "
        "that does (KalmanElo).",
    ),
    "margins of matches among those level of what draws none": (
        lambda: kn.season(
            classic(), kn.read_matches({k: TWO[k] for k in ("date", "home", "away")}, played=False),
            rules=Rules(tie_breaks=["head_to_head_margin"], places={}), seed=1,
        ),
        "ClassicElo draws no margins, so that tie_breaks cannot use them; take 'wins' or 'head_to_head', or a rater "
        "that does (KalmanElo).",
    ),
    "pools of no time": (
        lambda: matches().pools(half_life=0.0), "half_life must be a number of days above 0, or None, not 0.0.",
    ),
    "pools of fewer than none": (
        lambda: matches().pools(firm=-1), "firm must be a number of matches from 0 on, not -1.",
    ),
}  # fmt: skip

FILES = {
    "zip": (
        "results.csv", b"PK\x03\x04 no archive",
        "{} is neither a CSV file nor one of Parquet or JSON lines; save it as CSV.",
    ),
    "an empty file": ("results.csv", b" \n ", "{} is empty; a header line and at least one row are needed."),
    "half a list": (
        "results.json", b'[{"home": "A"',
        "{} is not a list of JSON objects: Expecting ',' delimiter: line 1 column 14 (char 13)",
    ),
    "UTF-16 that breaks off": (
        "results.csv", b"\xff\xfeh\x00o", "{} begins like UTF-16 but is not: truncated data at byte 4",
    ),
    "bytes of something else": (
        "results.csv", bytes(range(1, 200)) + b"\0", "{} is neither a CSV file nor one of Parquet or JSON lines.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_says_what_is_wrong(case):
    check_refusal(CASES[case])


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_cannot_be_read_says_why(case, tmp_path):
    name, content, sentence = FILES[case]
    path = written(tmp_path, name, content)
    check_refusal((lambda: kn.read_matches(path), sentence.format(path)))


REPORT = "012 Open\n001    1      {name:<33} {rating:>4} GER\n"
REPORTS = {
    "a report of nobody": (
        "012 Open\n", "{} is not a tournament report (TRF): no line of it begins with 001 and a player.",
    ),
    "a player without a name": (
        REPORT.format(name=" ", rating=2421),
        "{}, line 2: a player has a starting rank in columns 5 to 8, a name in 15 to 47 and a rating in 49 to 52.",
    ),
    "a rating of letters": (
        REPORT.format(name="Adler, Ida", rating="abcd"),
        "{}, line 2: a player has a starting rank in columns 5 to 8, a name in 15 to 47 and a rating in 49 to 52.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REPORTS)
def test_a_tournament_report_says_what_is_wrong(case, tmp_path):
    content, sentence = REPORTS[case]
    path = written(tmp_path, "open.trf", content)
    check_refusal((lambda: kn.matches.tournament_players(path), sentence.format(path)))


READINGS = {
    "no TOML": (
        "kind = matches", "The reading {} is not TOML (Invalid value (at line 1, column 8)); mend it, or delete it.",
    ),
    "no kind": ("best = 'lowest'", "{} must say kind = 'matches' or 'contests', not None."),
    "an answer of another kind": (
        "kind = 'matches'\nbest = 'lowest'", r"{} has the key 'best'; of matches it may hold .*results.*\.",
    ),
    "an answer of another form": ("kind = 'contests'\nbest = 7", "best must be a text in {}, not 7."),
}  # fmt: skip


@pytest.mark.parametrize("case", READINGS)
def test_a_kept_reading_says_what_is_wrong(case, tmp_path):
    content, sentence = READINGS[case]
    path = tmp_path / "results.csv"
    kept = reading_file(path)
    kept.write_text(content)
    check_refusal((lambda: kept_reading(path), sentence.format(re.escape(str(kept)) if "\\" in sentence else kept)))


def test_no_contests_in_the_days_asked_for(tmp_path):
    pl.DataFrame({"date": ["2024-01-01"] * 2, "race": [1, 1], "driver": ["A", "B"], "place": [1, 2]}).write_csv(
        tmp_path / "races.csv"
    )
    scan = kn.matches.scan_contests(tmp_path / "races.csv")
    assert len(scan.to_estimate(None)) == 1
    check_refusal(
        (lambda: scan.since("2024-01-02").to_estimate(None), "There are no contests in the files and days asked for.")
    )
