"""FIDE's lists: worked examples of the regulations, a slow twin, tournament reports, and the command line."""

import json
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise
from math import floor

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app
from kinelo.matches.tournament_report import read_report
from kinelo.raters.fide import regulations as rules

# The largest difference of each row of table 8.1.2, as printed, for .50 to .99.
LAST_OF_ROW = [
    3, 10, 17, 25, 32, 39, 46, 53, 61, 68, 76, 83, 91, 98, 106, 113, 121, 129, 137, 145, 153, 162, 170, 179, 188, 197,
    206, 215, 225, 235, 245, 256, 267, 278, 290, 302, 315, 328, 344, 357, 374, 391, 411, 432, 456, 484, 517, 559, 619,
    735,
]  # fmt: skip


def printed(difference):
    """PD by the printed rows, one after the other."""
    row = next((k for k, last in enumerate(LAST_OF_ROW) if abs(difference) <= last), 50)
    higher = Fraction(50 + row, 100)
    return higher if difference >= 0 else 1 - higher


def test_the_tables_are_those_printed():
    found = [Fraction(rules.score_probability(d), 100) for d in range(-800, 801)]
    assert found == [printed(d) for d in range(-800, 801)]
    some = {100: 800, 99: 677, 92: 401, 89: 351, 75: 193, 66: 117, 57: 50, 51: 7, 50: 0, 43: -50, 8: -401, 0: -800}
    assert {p: rules.rating_difference(p) for p in some} == some
    # Both tables are one curve: the middle of each row of one is the difference of the other, but for rounding.
    assert all(rules.ROWS[p - 50] <= rules.rating_difference(p) + 1 <= LAST_OF_ROW[p - 50] + 2 for p in range(50, 99))


BEFORE, SINCE = date(2025, 9, 30), date(2025, 10, 1)


@pytest.mark.parametrize(
    ("own", "opponent", "day", "expected"),
    [
        (2500, 1900, BEFORE, 92), (1900, 2500, BEFORE, 8),  # 2500 beating 1900 with K = 10: .8
        (2500, 1900, SINCE, 92),
        (2813, 2400, SINCE, 93), (2400, 2813, SINCE, 8),  # a game that FIDE published, from both sides
        (2813, 2400, BEFORE, 92), (2736, 2000, SINCE, 100), (2650, 2249, SINCE, 92), (2650, 2238, SINCE, 93),
        (2649, 2238, SINCE, 92), (2000, 2400, SINCE, 8), (2000, 2391, SINCE, 9),
    ],
)  # fmt: skip
def test_the_rule_of_400_points(own, opponent, day, expected):
    assert rules.score_probability(rules.counted_difference(own, opponent, day)) == expected


def test_first_ratings():
    assert rules.first_rating([1850, 1900, 1920, 1937, 1900], 6) == 1922  # 9507 in all and 3 of 5, as FIDE published
    assert rules.first_rating([1850, 1900, 1920, 1937], 8) is None
    assert rules.first_rating([2400] * 9, 18) == 2200
    assert rules.first_rating([1450] * 5, 1) is None  # 1550 and 1.5 of 7: .21, 1320
    assert rules.first_rating([1450] * 6, 4) == 1451  # 1537.5 and 3 of 8, which is .38 (−87): both halves go up


def test_k_by_games_rating_and_age():
    k = rules.development_coefficient
    assert [k(29, 2000, None, 2025), k(30, 2000, None, 2025), k(30, 2399, None, 2025), k(5, 2400, None, 2025)] == [
        40, 20, 20, 10,
    ]  # fmt: skip
    assert [k(80, 2299, 2007, 2025), k(80, 2299, 2007, 2026), k(80, 2300, 2007, 2025), k(9, 2300, 2007, 2025)] == [
        40, 20, 20, 40,
    ]  # fmt: skip
    assert [rules.coefficient_of_period(20, n) for n in (35, 36, 39)] == [20, 19, 17]
    assert [rules.rounded_change(x) for x in (-250, -249, 50, 49, -50, 150)] == [-3, -2, 1, 0, -1, 2]


# A slow twin: everyone's whole story anew for every list, in fractions.

DAY = timedelta(1)


def month(day):
    return date(day.year, day.month, 1)


def next_month(day):
    return month(month(day) + 32 * DAY)


def twin(games, start, born):
    """Ratings on every list: ``games`` are (day, white, black, points of White, event)."""
    events = {}
    for game in games:
        events.setdefault(game[4] or month(game[0]), []).append(game)
    placed = []
    for name, own in events.items():
        first, last = min(g[0] for g in own), max(g[0] for g in own)
        due = next_month(first)
        if isinstance(name, str):
            due = month(last)
            while due - 3 * DAY < last:
                due = next_month(due)
        placed.append((due, first, own))
    names = sorted({name for g in games for name in g[1:3]} | set(start))
    lists = {date(1900, 1, 1): dict(start)}
    highest, count, pool = dict(start), dict.fromkeys(names, 99) | dict.fromkeys(set(names) - set(start), 0), {}
    heard = set()

    def on(day):
        return lists[max(one for one in lists if one <= day)]

    day = min(g[0] for g in games)
    while day <= max(due for due, *_ in placed):
        before, new = on(day - DAY), dict(on(day - DAY))
        gains = {name: [] for name in names}
        for _, first, own in [one for one in placed if one[0] == day]:
            listed = on(first)
            zero = {
                n for n in names if before.get(n) is None and n not in heard
                and not sum(g[3] if g[1] == n else 1 - g[3] for g in own if n in g[1:3])
            }  # fmt: skip
            heard |= {n for g in own for n in g[1:3]} | set(start)
            for _, white, black, points, _ in own:
                for name, other, score in ((white, black, points), (black, white, 1 - points)):
                    if listed.get(other) is None or name in zero:
                        continue
                    if before.get(name) is None:
                        pool.setdefault(name, []).append((day, listed[other], score))
                        continue
                    mine = before[name] if listed.get(name) is None else listed[name]
                    gap = mine - listed[other]
                    if not (mine >= 2650 and first >= SINCE):
                        gap = min(max(gap, -400), 400)
                    gains[name].append(score - printed(gap))
        for name in names:
            if before.get(name) is None:
                kept = [one for one in pool.get(name, []) if (day - one[0]).days < 26 * 30.4]
                if len(kept) >= 5:
                    met, score = [one[1] for one in kept] + [1800, 1800], sum(one[2] for one in kept) + 1
                    p = floor(100 * Fraction(score) / len(met) + Fraction(1, 2))
                    first_ = floor(Fraction(sum(met), len(met)) + rules.rating_difference(p) + Fraction(1, 2))
                    if first_ >= 1400:
                        new[name], pool[name] = min(first_, 2200), []
                        count[name] += len(kept)
                        highest[name] = max(highest.get(name, 0), new[name])
            elif gains[name]:
                year = (day - DAY).year
                young = name in born and year <= born[name] + 18 and highest[name] < 2300
                k = 10 if highest[name] >= 2400 else 40 if young or count[name] < 30 else 20
                while k * len(gains[name]) > 700:
                    k -= 1
                change = k * sum(gains[name])
                half = Fraction(1, 2)
                new[name] = before[name] + (floor(change + half) if change > 0 else -floor(half - change))
                count[name] += len(gains[name])
                if new[name] < 1400:
                    new[name], pool[name] = None, []
                else:
                    highest[name] = max(highest[name], new[name])
        lists[day] = new
        day = next_month(day)
    return {day: {n: r for n, r in one.items() if r is not None} for day, one in lists.items()}


START = {"Ann": 2711, "Bob": 2395, "Cid": 2290, "Dee": 1899, "Eve": 1612, "Fay": 1405}
BORN = {"Cid": 2008, "Eve": 2007, "Gus": 2011}
NAMES = [*START, "Gus", "Hal", "Ike"]


def league(seed, events):
    """Two years of games: every month some, in events of a week (also over the end of a month) or without any."""
    rng = np.random.default_rng(seed)
    games = []
    for k in range(24):
        first = date(2024, 3, 1) + 30 * k * DAY + int(rng.integers(0, 26)) * DAY
        for _ in range(int(rng.integers(8, 30))):
            white, black = rng.choice(len(NAMES), 2, replace=False)
            strong = white < black
            points = rng.choice([1, Fraction(1, 2), 0], p=[0.6, 0.25, 0.15] if strong else [0.15, 0.25, 0.6])
            day = first + int(rng.integers(0, 7)) * DAY
            games.append((day, NAMES[white], NAMES[black], Fraction(points), f"event {k}" if events else ""))
    return sorted(games, key=lambda game: game[0])


def table_of(games):
    day, home, away, result, event = map(list, zip(*games))
    return pl.DataFrame({"date": day, "home": home, "away": away, "result": list(map(float, result)), "event": event})


def read(games, events):
    return kn.read_matches(table_of(games), conditions=["event"] if events else [], ordered=True)


@pytest.mark.parametrize(("seed", "events"), [(1, True), (2, False), (3, True)])
def test_every_list_is_that_of_the_slow_twin(seed, events):
    games = league(seed, events)
    rater = kn.FideElo(START, BORN, event="event" if events else None).fit(read(games, events))
    expected = twin(games, START, BORN)
    last = max(expected)
    assert rater.list_date_ == last
    for day, ratings in expected.items():
        if day.year > 1900:
            found = dict(rater.list_on(str(day)).select("name", "rating").rows())
            assert found == ratings, day
    assert dict(rater.ratings_.select("name", "rating").rows()) == expected[last]
    seen = {name for one in expected.values() for name in one}
    assert seen > set(START), "some newcomer has a rating"


def test_lists_made_on_the_way_are_those_made_at_once():
    games = league(4, True)
    matches = read(games, True)
    whole = kn.FideElo(START, BORN, event="event").fit(matches)
    parts = kn.FideElo(START, BORN, event="event")
    stops = [0, *np.flatnonzero(np.diff(matches.conditions["event"].codes) != 0) + 1, len(matches)]
    for first, last in pairwise(stops):
        parts.update(matches[first:last])
        arrays = parts.to_arrays()
        parts = kn.FideElo(START, BORN, event="event")
        parts.from_arrays(arrays)
    assert parts.ratings_.equals(whole.ratings_) and parts.unrated_.equals(whole.unrated_)
    assert parts.calculations_.equals(whole.calculations_)


def test_a_stored_list_knows_which_events_are_over():
    def game(date, event):
        table = {"date": [date], "home": ["Ann"], "away": ["Bob"], "result": [1], "event": [event]}
        return kn.read_matches(table, conditions=["event"])

    start = {"Ann": 2000, "Bob": 1900}
    rater = kn.FideElo(start=start, event="event").fit(game("2024-05-20", "Open")).update(game("2024-06-04", "Cup"))
    again = kn.FideElo(start=start, event="event")
    again.from_arrays(rater.to_arrays())
    for one in (rater, again):
        with pytest.raises(kn.InputError, match="'Open' stands on a list since its match of 2024-05-20"):
            one.update(game("2024-06-05", "Open"))
        assert one.update(game("2024-06-06", "Other")).ratings_.height == 2


def test_calculations_add_up_to_the_change():
    rater = kn.FideElo(START, BORN).fit(read(league(2, False), False))
    lines, shown = rater.calculations_, rater.ratings_
    for name, change, games in shown.select("name", "change", "games").rows():
        own = lines.filter(name=name)
        assert own.height == games
        if games and change is not None:
            total = float(own["k"][0] * own["change"].sum())
            assert change == (floor(total + 0.5 + 1e-9) if total > 0 else -floor(0.5 - total + 1e-9)), name


def one(day, home, away, result, **more):
    return kn.read_matches({"date": [day], "home": [home], "away": [away], "result": [result], **more})


@pytest.mark.parametrize(
    ("given", "matches", "said"),
    [
        ({}, lambda: one("2024-05-01", "A", "B", 1), "Nobody is rated"),
        ({"start": {"A": 2000}}, lambda: one("2024-02-29", "A", "B", 1), "earlier regulations"),
        ({"start": {"A": 2000}}, lambda: one("2024-05-01", "A", "B", 0.75), "1, ½ or 0 points"),
        ({"start": {"A": 2000.5}}, lambda: one("2024-05-01", "A", "B", 1), "whole numbers"),
        ({"start": {"A": 2000}, "as_of": "2023-01-01"}, lambda: one("2024-05-01", "A", "B", 1), "lies before"),
        ({"start": {"A": 2000}, "event": "cup"}, lambda: one("2024-05-01", "A", "B", 1), "no column 'cup'"),
        ({"start": {"A": 2000}, "born": {"A": "x"}}, lambda: one("2024-05-01", "A", "B", 1), "born in 'x'"),
        ({"start": {"name": ["A"], "rating": [2000], "k": [32]}}, lambda: one("2024-05-01", "A", "B", 1), "40, 20"),
        (
            {"start": {"A": 2000}, "event": "cup"},
            lambda: kn.read_matches(
                {"date": ["2024-05-01", "2024-05-20", "2024-06-15"], "home": ["A"] * 3, "away": ["B"] * 3,
                 "result": [1, 1, 0], "cup": ["C"] * 3}, conditions=["cup"],
            ),
            "lasts 45 days",
        ),
    ],
)  # fmt: skip
def test_what_the_rules_do_not_cover_is_refused(given, matches, said):
    with pytest.raises(kn.InputError, match=said):
        kn.FideElo(**given).fit(matches())


def test_games_before_2024_go_by_the_rules_of_a_day_that_is_named():
    rater = kn.FideElo({"A": 2700, "B": 2000}, as_of="2025-10-01").fit(one("2019-05-01", "A", "B", 0))
    assert rater.ratings_.select("name", "rating").rows() == [("A", 2690.0), ("B", 2018.0)]
    capped = kn.FideElo({"A": 2700, "B": 2000}, as_of="2024-03-01").fit(one("2019-05-01", "A", "B", 1))
    assert capped.calculations_["change"].to_list() == [0.08, -0.08]


# Tournament reports.

ROUNDS = {
    1: "   4 w 1     3 b =     2 w 1     5 b 1     6 w 1",
    2: "   5 w 1     6 b 1     1 b 0     3 w =     4 b +",
    3: "   6 w 1     1 w =     5 b 1     2 b =  0000 - H",
    4: "   1 b 0     5 w 1     6 b =     0 - U     2 w -",
    5: "   2 b 0     4 b 0     3 w 0     1 w 0  0000 - Z",
    6: "   3 b 0     2 w 0     4 w =               1 b 0",
}
ENTRANTS = {
    1: ("Adler, Ida", 2421, "1990/01/01"), 2: ("Brandt, Jon", 2105, "2009/07/01"), 3: ("Cohen, Eva", 1988, "1975/00/0"),
    4: ("Dietz, Max", 1733, ""), 5: ("Ernst, Pia", 1650, "2001/02/03"), 6: ("Falk, Ole", 0, "2008"),
}  # fmt: skip


def report(rounds=ROUNDS, dates=True):
    lines = ["012 Spring Open", "022 Halle", "032 GER", "042 2024/04/26", "052 2024/04/30"]
    if dates:
        lines.append("132" + " " * 88 + "  ".join(f"24/04/{day}" for day in range(26, 31)))
    for rank, (name, rating, born) in ENTRANTS.items():
        head = f"001 {rank:>4} m    {name:<33} {rating:>4} GER {1000 + rank:>11} {born:<10}  0.0    0  "
        lines.append(head + rounds[rank])
    return "\r".join(lines) + "\r"


def test_a_tournament_report_is_read_and_rated(tmp_path):
    path = tmp_path / "open.trf"
    path.write_text(report(), newline="")
    matches = kn.read_matches(path, conditions=["event"])
    assert len(matches) == 12 and matches.side_headers == ("White", "Black")
    assert sorted(zip(matches.date.astype(str), matches.match_id))[0] == ("2024-04-26", "Spring Open 1.1")
    assert any("1 forfeits, 3 byes" in note for note in matches.notes)
    players = kn.matches.tournament_players(path)
    assert players.row(5) == ("Falk, Ole", None, 2008, "", "GER", "1006")
    rater = kn.FideElo(players, event="event").fit(matches)
    # Ended two days before May: it stands on the list of June. By hand: Brandt (K = 40) .08 − .13 − .16.
    assert rater.list_date_ == date(2024, 6, 1)
    assert rater.ratings_.select("name", "rating", "change").rows() == [
        ("Adler, Ida", 2420, -1), ("Brandt, Jon", 2097, -8), ("Cohen, Eva", 2002, 14), ("Dietz, Max", 1739, 6),
        ("Ernst, Pia", 1637, -13),
    ]  # fmt: skip
    assert rater.unrated_.rows() == [("Falk, Ole", 4, 0.5)]
    done = CliRunner().invoke(app, ["rate", str(path), "--rules", "fide", "--json"])
    found = json.loads(done.stdout)["ratings"]
    assert [(row["name"], row["rating"]) for row in found] == rater.ratings_.select("name", "rating").rows()
    shown = CliRunner().invoke(app, ["rate", str(path), "--rules", "fide", "--book", str(tmp_path / "club.db")])
    assert "The list of 2024-06-01" in shown.output and "Falk, Ole 4" in shown.output
    kept = kn.RatingBook(tmp_path / "club.db")
    assert kept.ratings_.select("name", "rating").rows() == rater.ratings_.select("name", "rating").rows()
    assert kept.check() == []


def test_a_report_without_dates_says_so_and_one_that_contradicts_itself_is_refused(tmp_path):
    path = tmp_path / "open.trf"
    path.write_text(report(dates=False), newline="")
    matches = kn.read_matches(path)
    assert set(matches.date.astype(str)) == {"2024-04-26"} and any("first day" in note for note in matches.notes)
    for rounds, said in (
        (ROUNDS | {3: ROUNDS[3].replace("1 w =", "1 w 1")}, r"line 7: round 2 says b= against number 3"),
        (ROUNDS | {3: ROUNDS[3].replace("1 w =", "1 b =")}, r"round 2 says b= against number 3"),
        (ROUNDS | {3: ROUNDS[3].replace("1 w =", "9 w =")}, r"round 2 says"),
        (ROUNDS | {3: ROUNDS[3].replace("1 w =", "1 x =")}, r"line 9: round 2 says '1 x ='"),
    ):
        path.write_text(report(rounds), newline="")
        with pytest.raises(kn.InputError, match=said):
            kn.read_matches(path)
    path.write_text("date,home,away\n001 2024,A,B\n")
    with pytest.raises(kn.InputError, match="not a tournament report"):
        kn.matches.tournament_players(path)


def test_games_of_a_report_stand_by_round_and_by_the_rank_of_white():
    found = read_report(report().replace("\r", "\n").encode(), "open.trf")
    games, rank = found.games, {name: rank for rank, (name, *_) in ENTRANTS.items()}
    order = list(zip(games["round"].to_list(), (rank[name] for name in games["White"])))
    assert order == sorted(order) and len({number for number, _ in order}) > 2 and len(order) == 12
    assert games["match_id"].to_list() == [f"Spring Open {number}.{white}" for number, white in order]
    assert found.notes[0] == "the file is a tournament report of 6 players" and found.event == "Spring Open"


A_PLAYER = "a player has a starting rank in columns 5 to 8, a name in 15 to 47 and a rating in 49 to 52."


@pytest.mark.parametrize(
    ("of", "to", "said"),
    [
        ("001    2 m", "001    1 m", "open.trf, line 8: the starting rank 1 stands twice."),
        ("001    2 m", "001    x m", f"open.trf, line 8: {A_PLAYER}"),
        ("Cohen, Eva", " " * 10, f"open.trf, line 9: {A_PLAYER}"),
        (" 1733 ", " 17x3 ", f"open.trf, line 10: {A_PLAYER}"),
        ("24/04/28", "24/14/28", "open.trf says the day '24/14/28', which is not written as YYYY/MM/DD."),
        ("24/04/28", "28 April", "open.trf says the day '28 April', which is not written as YYYY/MM/DD."),
    ],
)
def test_a_report_that_cannot_be_read_says_where(of, to, said):
    text = report().replace("\r", "\n")
    assert text.count(of) == 1
    with pytest.raises(kn.InputError) as refused:
        read_report(text.replace(of, to).encode(), "open.trf")
    assert str(refused.value) == said


@pytest.mark.parametrize("day", ["2024/04/28", "24.04.28", "24-4-28", "28.04.2024", "28/4/2024"])
def test_days_of_a_report_are_read_as_people_write_them(day):
    lines = [line if not line.startswith("042") else f"042 {day}" for line in report(dates=False).split("\r")]
    found = read_report("\n".join(lines).encode(), "open.trf")
    assert set(found.games["date"]) == {date(2024, 4, 28)}


def test_the_command_line_asks_for_what_the_rules_need(tmp_path):
    games, start = league(2, False), tmp_path / "list.csv"
    table_of(games).write_csv(tmp_path / "games.csv")
    pl.DataFrame({"name": list(START), "rating": list(START.values())}).write_csv(start)
    pl.DataFrame({"name": list(BORN), "born": list(BORN.values())}).write_csv(tmp_path / "born.csv")
    words = ["rate", tmp_path / "games.csv", "--rules", "fide"]

    def called(*more):
        return CliRunner().invoke(app, list(map(str, [*words, *more])))

    done = called("--start", start, "--born", tmp_path / "born.csv", "--json", "--out", tmp_path / "new.csv")
    expected = kn.FideElo(START, BORN).fit(read(games, False)).ratings_.select("name", "rating").rows()
    assert [(row["name"], row["rating"]) for row in json.loads(done.stdout)["ratings"]] == expected
    assert pl.read_csv(tmp_path / "new.csv").select("name", "rating").rows() == expected
    for more in (["--initial", "1200"], ["--event", "cup"], ["--as-of", "soon"], ["--out", "x.html"], ["--k", "20"]):
        refused = called("--start", start, *more)
        assert refused.exit_code == 2 or isinstance(refused.exception, kn.InputError), more
    words[2:] = ["--k", "20"]
    refused = called("--event", "event")
    assert isinstance(refused.exception, kn.InputError) or refused.exit_code == 2
