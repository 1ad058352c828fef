"""Contests on the command line: the same commands and words as for matches, recognised by the columns of the file."""

import gzip
import json

import numpy as np
import polars as pl
import pytest
from typed import kinelo, one_sentence

import kinelo as kn
from kinelo.cli.loading import kind_of_file
from kinelo.matches import loading


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Races, the same with one to come, and scores."""
    path = tmp_path_factory.mktemp("races")
    table = kn.matches.sample_contests(contests=60, entrants=12, size=6, cars=4, seed=1)
    table.write_csv(path / "races.csv")
    head = "date,contest,entrant,car,place\n"
    (path / "next.csv").write_text(head + "".join(f"2021-06-01,next,P{k},C{k % 4},\n" for k in range(4)))
    (path / "scores.csv").write_text("race,driver,score\n1,A,3\n1,B,5\n")
    table.write_csv(path / "both.csv")  # of which entrants and cars are rated
    assert kinelo("read", path / "both.csv", "--slot", "entrant", "--slot", "car").returncode == 0
    return path


def test_rate_shows_a_board_for_each_kind(folder):
    done = kinelo("rate", folder / "both.csv", "--top", "3")
    assert done.returncode == 0, done.stderr
    assert "60 contests, RankElo: entrant" in done.stdout and "60 contests, RankElo: car" in done.stdout
    assert "the lowest 'place' is best" in done.stderr


def test_rate_says_the_same_as_json_and_as_a_table(folder, tmp_path):
    done = kinelo("rate", folder / "races.csv", "--json", "--out", tmp_path / "r.csv")
    told = json.loads(done.stdout)
    rater = kn.RankElo().fit(kn.read_contests(folder / "races.csv"))
    assert told["contests"] == 60 and told["rater"] == "RankElo"
    assert [row["name"] for row in told["ratings"]] == rater.ratings_["name"].to_list()
    assert (tmp_path / "r.csv").read_text().splitlines()[1].split(",")[1] == rater.ratings_["name"][0]


def test_plain_elo_rates_contests(folder):
    done = kinelo("rate", folder / "races.csv", "--k", "24", "--json")
    told = {row["name"]: row["rating"] for row in json.loads(done.stdout)["ratings"]}
    rater = kn.TeamElo.classic(k=24).fit(kn.read_contests(folder / "races.csv"))
    assert told == dict(rater.ratings_.select("name", "rating").rows())
    assert "does not use" not in done.stderr
    slots = kinelo("rate", folder / "both.csv", "--k", "24")
    assert "note: plain Elo rates each entrant as a whole and does not use car" in slots.stderr


def test_predict_forecasts_what_has_no_places_yet(folder):
    done = kinelo("predict", folder / "next.csv", "--results", folder / "races.csv", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    rows = told["forecasts"]
    assert {row["entrant"] for row in rows} == {"P0", "P1", "P2", "P3"}
    assert sum(row["win"] for row in rows) == pytest.approx(1.0)
    assert told["rater"] == "RankElo" and told["unknown"] == []


def test_predict_forecasts_what_took_place_since_a_day_from_what_came_before(folder):
    races = kn.read_contests(folder / "races.csv")
    day = str(races.date[50])
    done = kinelo("predict", folder / "races.csv", "--played-since", day, "--json")
    rater = kn.RankElo().fit(races.before(day))
    expected = rater.one_step_ahead(races.since(day)).to_polars()
    rows = json.loads(done.stdout)["forecasts"]
    for contest in dict.fromkeys(row["contest"] for row in rows):
        chances = [row["win"] for row in rows if row["contest"] == contest]
        assert len(set(chances)) > 3 and chances == sorted(chances, reverse=True), "the likeliest winner first"
    told = {(row["contest"], row["entrant"]): row["win"] for row in rows}
    assert told == pytest.approx({(c, e): w for c, e, w in expected.select("contest", "entrant", "win").rows()})
    # Contests in the order of the file, and in each the likeliest winner first.
    order = {label: k for k, label in enumerate(expected["contest"].unique(maintain_order=True))}
    wanted = sorted(expected.select("contest", "entrant", "win").rows(), key=lambda row: (order[row[0]], -row[2]))
    assert list(told) == [(contest, entrant) for contest, entrant, _ in wanted] and len(order) > 5
    shown = kinelo("predict", folder / "races.csv", "--played-since", "1990-01-01")
    assert shown.returncode == 2 and "no contests before" in shown.stderr


def test_a_field_is_shown_under_its_title_once(folder):
    day = str(kn.read_contests(folder / "races.csv").date[58])
    shown = kinelo("predict", folder / "races.csv", "--played-since", day).stdout
    lines = [line for line in shown.splitlines() if line.strip()]
    told = json.loads(kinelo("predict", folder / "races.csv", "--played-since", day, "--json").stdout)["forecasts"]
    for contest in ("59", "60"):
        rows = [row for row in told if row["contest"] == contest]
        at = next(k for k, line in enumerate(lines) if line.strip() == f"{contest}, {rows[0]['date']}")
        cells = [[cell.strip() for cell in line.split("│")] for line in lines[at + 4 : at + 4 + len(rows)]]
        assert [cell[1] for cell in cells] == [row["entrant"] for row in rows]
        assert [cell[4] for cell in cells] == [f"{row['expected_place']:.1f}" for row in rows]


def test_luck_depends_on_a_column_by_every_door(tmp_path):
    """Races on two tracks by turns, one of them mostly luck: the command, the book and the rater say the same."""
    rng, rows = np.random.default_rng(3), ["race,date,driver,track,place"]
    strength = rng.normal(size=12)
    for c in range(44):
        track, day = ("oval", "road")[c % 2], np.datetime64("2022-01-03") + 7 * c
        chosen = rng.choice(12, 7, replace=False)
        order = chosen[np.argsort(-(strength[chosen] + (3.0, 0.8)[c % 2] * rng.normal(size=7)))]
        rows += [f"{c},{day},D{k},{track},{place}" for place, k in enumerate(order, 1)]
    (tmp_path / "races.csv").write_text("\n".join(rows))
    coming = [f"{90 + k},2024-01-01,D{d},{t}," for k, t in enumerate(("oval", "road")) for d in (0, 1, 2)]
    (tmp_path / "next.csv").write_text("\n".join([rows[0], *coming]))
    luck = ["--noise-by", "track"]
    assert kinelo("read", tmp_path / "races.csv", "--slot", "driver").returncode == 0
    races = kn.read_contests(tmp_path / "races.csv", slots=["driver"], advantages=["track"])
    rater = kn.RankElo(noise_by=["track"]).fit(races)
    said = kinelo("rate", tmp_path / "races.csv", *luck, "--book", tmp_path / "book")
    assert said.returncode == 0 and "Luck by" in said.stdout and "Contests" in said.stdout
    told = json.loads(kinelo("rate", tmp_path / "races.csv", *luck, "--json").stdout)
    assert told["noise_factors"] == rater.noise_factors_.to_dicts()
    fields = kn.read_contests(tmp_path / "next.csv", slots=["driver"], advantages=["track"], played=False)
    wanted = dict(zip(zip(fields.contest.tolist(), fields.entrant.tolist()), rater.predict(fields).win))
    assert max(wanted[1, k] for k in range(3)) > max(wanted[0, k] for k in range(3)) + 0.05
    for words in (["--results", tmp_path / "races.csv", *luck], ["--book", tmp_path / "book"]):
        done = kinelo("predict", tmp_path / "next.csv", *words, "--json")
        rows = json.loads(done.stdout)["forecasts"]
        found = {(int(r["contest"]) - 90, fields.entrants.index(r["entrant"])): r["win"] for r in rows}
        assert found == pytest.approx(wanted, abs=1e-9)
    typed = ["predict", "--match", "D0; D1; D2", "--json", "--noise-by", "track=oval"]
    by_hand = rater.predict_one(["D0", "D1", "D2"], conditions={"track": "oval"}).win
    assert abs(by_hand - rater.predict_one(["D0", "D1", "D2"]).win).max() > 0.01
    for words in (["--results", tmp_path / "races.csv"], ["--book", tmp_path / "book"]):
        rows = json.loads(kinelo(*typed, *words).stdout)["forecasts"]
        assert {r["entrant"]: r["win"] for r in rows} == pytest.approx(dict(zip(("D0", "D1", "D2"), by_hand)))
        never = kinelo(*typed[:-1], "track=ovall", *words)
        assert (
            "note: 'ovall' is no 'track' that was met (" in never.stderr
            and "nothing is known of its luck" in never.stderr
            and never.returncode == 0
        )
    refused = kinelo(*typed, "--noise-by", "weather=wet", "--book", tmp_path / "book")
    assert refused.returncode == 2 and "knows no 'weather': leave out its level" in refused.stderr
    refused = kinelo("rate", tmp_path / "races.csv", "--noise-by", "track", "--k", "24")
    assert refused.returncode == 2 and "plain Elo" in refused.stderr


def test_contests_without_dates_are_tested_and_forecast_from_a_contest_on(folder, tmp_path):
    table = pl.read_csv(folder / "races.csv").select(race="contest", driver="entrant", place="place")
    names = {str(k): f"R{k}" for k in range(1, 61)}
    table.with_columns(pl.col("race").cast(pl.String).replace(names)).write_csv(tmp_path / "plain.csv")
    whole = kn.read_contests(tmp_path / "plain.csv")
    for words, first in (("R41", 40), ("45", 45), ("0.5", 30)):
        told = json.loads(kinelo("backtest", tmp_path / "plain.csv", "--train-until", words, "--json").stdout)
        assert told["contests"] == 60 - first
    assert "from R31, one step" in " ".join(kinelo("backtest", tmp_path / "plain.csv").stdout.split())
    done = json.loads(kinelo("predict", tmp_path / "plain.csv", "--played-since", "R58", "--json").stdout)
    expected = kn.RankElo().fit(whole[:57]).one_step_ahead(whole[57:]).to_polars()
    assert {row["contest"] for row in done["forecasts"]} == {"R58", "R59", "R60"}
    assert sorted(row["win"] for row in done["forecasts"]) == pytest.approx(sorted(expected["win"]))
    refused = kinelo("backtest", tmp_path / "plain.csv", "--train-until", "2024-01-01")
    assert refused.returncode == 2 and "name a contest, how many come before, or a share" in refused.stderr


def test_a_name_never_met_may_be_misspelt(folder, tmp_path):
    (tmp_path / "n.csv").write_text("date,contest,entrant,place\n2030-01-01,n,P11x,\n2030-01-01,n,P1,\n")
    done = kinelo("predict", tmp_path / "n.csv", "--results", folder / "races.csv")
    assert "P11x has never taken part: it is forecast as a newcomer; did you mean P11" in done.stderr


def test_backtest_scores_contests(folder, tmp_path):
    done = kinelo("backtest", folder / "races.csv", "--json", "--picture", tmp_path / "calibration.png")
    told = json.loads(done.stdout)
    assert (tmp_path / "calibration.png").stat().st_size > 10_000
    best, *others = (row["winner_log_loss"] for row in told["scores"])
    assert [row["difference"] for row in told["differences"]] == pytest.approx([other - best for other in others])
    compared = {"RankElo", "BradleyTerry", "plain Elo, K = 32"}
    assert told["contests"] == 30 and {row["rater"] for row in told["scores"]} == compared
    shown = kinelo("backtest", folder / "races.csv", "--rater", "rank", "--metric", "pairs_right")
    assert "pairs right" in shown.stdout
    lines = shown.stdout.split("What RankElo expected, and what came")[1].splitlines()
    bands = told["bands"]["RankElo"]
    rows = [[f"{row['entries']:,}", f"{row['expected']:.1f} ± {row['error']:.1f}"] for row in bands]
    read = [[cell.strip() for cell in line.strip("│").split("│")[1:3]] for line in lines if " %" in line]
    assert len(rows) > 2 and read == rows


def test_leaderboard_and_book_take_contests(folder, tmp_path):
    assert json.loads(kinelo("rate", folder / "races.csv", "--json").stdout)["leaderboard"][0]["place"] == 1
    first = kinelo("rate", folder / "races.csv", "--book", tmp_path / "book")
    assert "60 new" in first.stdout, first.stderr
    again = kinelo("rate", folder / "races.csv", "--book", tmp_path / "book")
    assert "0 new" in again.stdout and "60 counted before" in again.stdout
    listed = kinelo("book", tmp_path / "book", "--list").stdout.splitlines()
    assert len(listed) == 61 and "60 contests" in listed[-1]
    assert "60 new contests" in first.stdout
    said = kinelo("predict", folder / "next.csv", "--book", tmp_path / "book", "--json")
    assert len(json.loads(said.stdout)["forecasts"]) == 4
    boards = [
        json.loads(kinelo("rate", source, "--json").stdout)["leaderboard"]
        for source in (tmp_path / "book", folder / "races.csv")
    ]
    assert boards[0] == boards[1]


def test_plain_elo_keeps_a_book_of_contests(folder, tmp_path):
    first = kinelo("rate", folder / "races.csv", "--k", "24", "--book", tmp_path / "book", "--json")
    assert first.returncode == 0, first.stderr
    again = kinelo("rate", folder / "races.csv", "--book", tmp_path / "book", "--json")
    assert json.loads(again.stdout)["ratings"] == json.loads(first.stdout)["ratings"]
    assert "60 contests" in kinelo("book", tmp_path / "book").stdout
    board = json.loads(kinelo("rate", tmp_path / "book", "--json", "--caution", "1").stdout)["leaderboard"]
    assert [row["surely"] for row in board] == sorted(
        (row["rating"] - row["uncertainty"] for row in board), reverse=True
    )
    for more, sentence in (("--k", "24"), "keeps its rater"), (("--rater", "rank"), "is a book of ClassicElo"):
        done = kinelo("rate", folder / "races.csv", "--book", tmp_path / "book", *more)
        assert done.returncode == 2 and sentence in done.stderr
    (tmp_path / "m.csv").write_text("date,home,away,result\n2024-01-01,A,B,1\n2024-01-02,B,A,1\n")
    kinelo("rate", tmp_path / "m.csv", "--k", "24", "--book", tmp_path / "of-matches")
    wrong = kinelo("rate", folder / "races.csv", "--book", tmp_path / "of-matches")
    assert wrong.returncode == 2 and "is a book of matches of two sides" in wrong.stderr


def test_pictures_and_pages_are_made_of_contests_too(folder, tmp_path):
    page, picture = tmp_path / "page.html", tmp_path / "p.png"
    done = kinelo("rate", folder / "both.csv", "--out", page, "--picture", picture)
    assert done.returncode == 0, done.stderr
    assert f"Page: {page}" in done.stdout and f"Picture: {picture}" in done.stdout
    assert picture.read_bytes()[:4] == b"\x89PNG" and "<h2>Leaderboard: car</h2>" in page.read_text()


def test_files_of_a_pattern_are_rated_in_chunks(folder, tmp_path):
    races = kn.matches.sample_contests(contests=60, entrants=12, size=6, cars=4, seed=1)
    races.head(180).write_csv(tmp_path / "a.csv")
    races.tail(180).write_csv(tmp_path / "b.csv")
    done = kinelo("rate", tmp_path / "*.csv", "--k", "24", "--out", tmp_path / "out.txt")
    assert done.returncode == 0, done.stderr
    assert "2 files, 12 names, ClassicElo" in done.stdout
    rater = kn.TeamElo.classic(k=24).fit(kn.read_contests(races))
    assert (tmp_path / "out.txt").read_text().splitlines()[1].split(",")[0] == rater.ratings_["name"][0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("rate", "races.csv", "--rater", "kalman"), "rates matches of two sides"),
        (("rate", "races.csv", "--lineups", "races.csv"), "there is no --lineups"),
        (("rate", "races.csv", "--covariate", "car"), "The covariate 'car' must hold numbers"),
        (("rate", "races.csv", "--by", "car"), "The column 'car' does not say the same of all entrants"),
        (("audit", "races.csv", "--farming"), "matches of two sides"),
        (("rate", "races.csv", "--rules", "fide"), "These are contests of many entrants, not matches of two sides"),
        (("read", "races.csv", "--slot", "wheel"), "names 'wheel'"),
        (("read", "races.csv", "--dates", "xyz"), "no order of dates"),
        (("read", "races.csv", "--disqualified", "first"), "disqualified must be 'behind', 'last' or 'out'"),
        (("rate", "scores.csv", "--column", "entrant=driver"), "Nothing tells whether"),
        (("predict", "races.csv"), "none is left to forecast"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(folder, words, sentence, monkeypatch):
    monkeypatch.chdir(folder)
    done = kinelo(*words)
    assert done.returncode == 2 and sentence in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_options_of_contests_are_refused_for_matches(tmp_path):
    (tmp_path / "m.csv").write_text("date,home,away,result\n2024-01-01,A,B,1\n2024-01-02,B,A,1\n")
    done = kinelo("read", tmp_path / "m.csv", "--slot", "home")
    assert done.returncode == 2 and "matches of two sides" in done.stderr


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize("header", ["date;race;driver;place", "date;home;away;result"])
def test_a_file_is_known_by_its_beginning(tmp_path, monkeypatch, header, ending):
    """However long it is, and where its first piece ends within a letter of two bytes."""
    path = tmp_path / f"long.{ending}"
    text = "\n".join([header, *(f"2024-01-01;{k};Öö{'é' * (k % 7)};1" for k in range(9000))]).encode()
    path.write_bytes(gzip.compress(text) if ending == "csv.gz" else text)
    with monkeypatch.context() as patched:
        patched.setattr(loading, "load_table", lambda path: pytest.fail("the whole file was read"))
        assert loading.head_of(path).columns == header.split(";")
        assert kind_of_file(path).two_sided == ("race" not in header)


@pytest.mark.parametrize("codec", ["utf-16", "utf-8-sig", "cp1252"])
def test_files_of_any_encoding_are_known_by_their_columns(tmp_path, codec):
    text = "\n".join(["date,race,driver,place", *(f"2024-01-01,{k},Ö,1" for k in range(9000))])
    (tmp_path / "long.csv").write_bytes(text.encode(codec))
    assert loading.head_of(tmp_path / "long.csv").columns == ["date", "race", "driver", "place"]
    kn.sample_league(4, 1).results.write_parquet(tmp_path / "league.pq")
    assert loading.head_of(tmp_path / "league.pq").columns[2] == "home_team"
    (tmp_path / "league.json").write_text('[{"a": 1}, {"b": 2}]')
    assert loading.head_of(tmp_path / "league.json").columns == ["a", "b"]


def test_the_disqualified_stand_where_they_are_wanted(tmp_path):
    rows = "race,driver,place\n1,A,1\n1,B,2\n1,C,DSQ\n2,A,1\n2,B,2\n2,C,3\n"
    (tmp_path / "r.csv").write_text(rows)
    contests = []
    for more in ((), ("--disqualified", "behind")):
        kinelo("read", tmp_path / "r.csv", *more)
        contests.append(json.loads(kinelo("rate", tmp_path / "r.csv", "--json").stdout))
    played = [{row["name"]: row["matches"] for row in one["ratings"]}["C"] for one in contests]
    assert played == [1, 2]


def test_conditions_and_ratings_to_begin_with_are_those_of_the_library(folder, tmp_path):
    table = kn.matches.sample_contests(contests=40, entrants=8, size=5, cars=4, seed=2)
    table = table.with_columns(weather=table["car"])
    table.write_csv(tmp_path / "r.csv")
    (tmp_path / "start.csv").write_text("name,rating\nP1,1800\nP2,1300\n")
    done = kinelo("rate", tmp_path / "r.csv", "--condition", "weather", "--start", tmp_path / "start.csv", "--json")
    assert done.returncode == 0, done.stderr
    races = kn.read_contests(tmp_path / "r.csv", advantages=["weather"])
    rater = kn.RankElo(conditions=["weather"], start=tmp_path / "start.csv").fit(races)
    told = {row["name"]: row["rating"] for row in json.loads(done.stdout)["ratings"]}
    assert told == pytest.approx(dict(rater.ratings_.select("name", "rating").rows()))
    words = ("--results", tmp_path / "r.csv", "--start", tmp_path / "start.csv", "--match", "P1; P2; P3", "--json")
    typed = json.loads(kinelo("predict", *words, "--condition", "weather=C1").stdout)["forecasts"]
    wanted = rater.predict_one([(name, "C1") for name in ("P1", "P2", "P3")]).win
    assert {row["entrant"]: row["win"] for row in typed} == pytest.approx(dict(zip(("P1", "P2", "P3"), wanted)))
    plain = kinelo("rate", tmp_path / "r.csv", "--k", "20", "--condition", "weather")
    assert plain.returncode == 2 and "leave out --rater, --condition and --covariate" in plain.stderr


def test_a_contest_is_typed_and_a_book_knows_what_it_rates(folder, tmp_path):
    """A file that says nothing of slots is read with the kinds of the book, and needs no column of places."""
    assert kinelo("rate", folder / "both.csv", "--book", tmp_path / "b").returncode == 0
    rater = kn.RatingBook(tmp_path / "b").rater
    typed = "P0 + C0; P1 + C1; P2 + C2"
    done = kinelo("predict", "--book", tmp_path / "b", "--match", typed, "--match", "P3 + C3; P1 + C0", "--json")
    rows = json.loads(done.stdout)["forecasts"]
    said = rater.predict_one([("P0", "C0"), ("P1", "C1"), ("P2", "C2")])
    first = {row["entrant"]: row["win"] for row in rows if row["contest"] == "1"}
    assert [first[name] for name in ("P0", "P1", "P2")] == pytest.approx(said.win.tolist())
    assert {row["entrant"] for row in rows if row["contest"] == "2"} == {"P3", "P1"}
    (tmp_path / "field.csv").write_text("contest,entrant,car\nx,P0,C0\nx,P1,C1\nx,P2,C2\n")
    file = kinelo("predict", tmp_path / "field.csv", "--book", tmp_path / "b", "--json")
    again = {row["entrant"]: row["win"] for row in json.loads(file.stdout)["forecasts"]}
    assert again == pytest.approx(first)
    more = (folder / "races.csv").read_text().splitlines()[:7]
    (tmp_path / "more.csv").write_text("\n".join(more))
    assert kinelo("rate", tmp_path / "more.csv", "--book", tmp_path / "b").returncode == 0
    (tmp_path / "later.csv").write_text("\n".join([more[0], *(row.replace("2020", "2031") for row in more[1:])]))
    assert kinelo("read", tmp_path / "later.csv").returncode == 0  # which says nothing of slots
    later = kinelo("rate", tmp_path / "later.csv", "--book", tmp_path / "b")
    assert later.returncode == 0 and "1 new contest," in later.stdout, later.stderr
    (tmp_path / "alone.csv").write_text((tmp_path / "later.csv").read_text().replace("2031", "2032"))
    assert kinelo("read", tmp_path / "alone.csv", "--slot", "entrant").returncode == 0
    assert kinelo("rate", tmp_path / "alone.csv", "--book", tmp_path / "b").returncode == 2, "cars are left out"
    for match, words in (("P0 - P1", "names no contest"), ("P0; P1 + C1", "'P0' is no entrant; it needs a name for")):
        refused = kinelo("predict", "--book", tmp_path / "b", "--match", match)
        assert refused.returncode == 2 and words in refused.stderr
    by_file = kinelo("predict", "--results", folder / "races.csv", "--match", "P0; P1; P2")
    assert by_file.stdout.startswith("P0, P1, P2, 20") and by_file.stdout.count("│ P") == 3


def test_a_retirement_is_partly_luck_and_may_be_counted_in_full(tmp_path):
    """A, B and C finish 1-2-3, D retires: D stands below C only where retiring is finishing last."""
    rows = [(race, name, place) for race in (1, 2) for name, place in zip("ABCD", ("1", "2", "3", "DNF"))]
    text = "race,driver,place\n" + "".join(f"{race},{name},{place}\n" for race, name, place in rows)
    (tmp_path / "r.csv").write_text(text)
    ratings = {}
    for how in ("behind", "last", "out"):
        (tmp_path / f"{how}.csv").write_text(text)
        kinelo("read", tmp_path / f"{how}.csv", "--unfinished", how)
        done = kinelo("rate", tmp_path / f"{how}.csv", "--json")
        ratings[how] = {row["name"]: row["rating"] for row in json.loads(done.stdout)["ratings"]}
    assert ratings["behind"]["D"] > ratings["behind"]["C"]
    assert ratings["last"]["D"] < ratings["last"]["C"] and "D" not in ratings["out"]
    usual = kinelo("rate", tmp_path / "r.csv")
    assert "partly luck" in usual.stderr and f"kinelo read {tmp_path / 'r.csv'} --unfinished last" in usual.stderr
    found = kn.RankElo().fit(kn.read_contests(tmp_path / "r.csv")).parameters_["retirement"]
    said = " ".join(usual.stdout.split())
    assert f"(retirement {found:.3g})" in said and "the rest is luck" in said
    assert "luck" not in kinelo("rate", tmp_path / "last.csv").stdout
    assert "must be 'behind', 'last' or 'out'" in kinelo("read", tmp_path / "r.csv", "--unfinished", "first").stderr


def test_where_nobody_has_taken_part_so_often_everyone_is_shown(folder):
    asked = ("--least-matches", "999")
    done = kinelo("rate", folder / "races.csv", *asked)
    assert "note: Nobody has taken part in 999 contests yet, so everyone is shown." in done.stderr
    assert "P3" in done.stdout


def test_a_contest_among_the_results_is_not_forecast_again(folder, tmp_path):
    """A list of races whose first stands among the results: with --played-since it is forecast from those before."""
    races = kn.read_contests(folder / "races.csv")
    last, day = races[-1], races.date[-1]
    rows = [f"{day},{last.identifiers[0]},{name},\n" for name in last.present]
    rows += [f"2021-06-01,next,P{k},\n" for k in range(3)]
    (tmp_path / "list.csv").write_text("date,contest,entrant,place\n" + "".join(rows))
    words = ("predict", tmp_path / "list.csv", "--results", folder / "races.csv", "--json")
    done = kinelo(*words)
    assert {row["contest"] for row in json.loads(done.stdout)["forecasts"]} == {"next"}
    assert "note: 1 contest that has taken place is left out (see --played-since)" in done.stderr
    since = json.loads(kinelo(*words, "--played-since", day).stdout)["forecasts"]
    ahead = kn.RankElo().fit(races[:-1]).one_step_ahead(last).to_polars()
    found = {row["entrant"]: row["win"] for row in since if row["contest"] == last.identifiers[0]}
    assert found == pytest.approx(dict(ahead.select("entrant", "win").rows()))
    assert len(since) == len(rows)


def test_a_board_for_each_value_is_that_of_its_contests_alone(folder, tmp_path):
    table = pl.read_csv(folder / "races.csv").with_columns(cup=pl.when(pl.col("contest") % 3 == 0).then(pl.lit("B")))
    table = table.with_columns(pl.when(pl.col("contest") > 6).then(pl.col("cup").fill_null("A")).otherwise("cup"))
    table.write_csv(tmp_path / "r.csv")
    done = kinelo("rate", tmp_path / "r.csv", "--by", "cup", "--least-matches", "0", "--json")
    assert "note: 4 contests without a value in 'cup' stand on no board" in done.stderr
    rows = json.loads(done.stdout)["leaderboard"]
    for cup in ("A", "B"):
        own = kn.read_contests(table.filter(pl.col("cup") == cup).drop("cup"))
        board = kn.leaderboard(kn.RankElo().fit(own), own, least_matches=0)
        assert [(row["name"], row["rating"]) for row in rows if row["cup"] == cup] == [
            (name, pytest.approx(rating)) for name, rating in board.select("name", "rating").rows()
        ]


def test_a_log_of_teams_is_read_rated_and_forecast_as_it_is_told(tmp_path, monkeypatch):
    """What the first refusal names is a command to copy; teams are then typed as 'ANN + BOB; CID + DEE'."""
    monkeypatch.chdir(tmp_path)
    rng, rows = np.random.default_rng(6), ["match_id,played_at,team,player,won"]
    for game in range(40):
        ann_wins = rng.random() < 0.8
        for k, name in enumerate(("Ann", "Bob", "Cid", "Dee", "Eve", "Fay")):
            team = "blue" if k < 3 else "red"
            rows.append(f"{game},2026-01-{1 + game // 2:02d},{team},{name},{int((k < 3) == ann_wins)}")
    (tmp_path / "log.csv").write_text("\n".join(rows))
    refused = one_sentence(kinelo("rate", "log.csv"))
    told = "kinelo read log.csv --column contest=match_id --column score=won --best highest --team team"
    assert told in refused
    read = kinelo(*told.split()[1:])
    assert "40 contests" in read.stdout and "rated: player (6)" in read.stdout, read.stderr
    words = ("predict", "--results", "log.csv", "--json", "--match")
    answer = json.loads(kinelo(*words, "Ann + Bob + Cid; Dee + Eve + Fay").stdout)
    rater = kn.RankElo().fit(kn.read_contests("log.csv"))
    teams = [["Ann", "Bob", "Cid"], ["Dee", "Eve", "Fay"]]
    assert [row["win"] for row in answer["forecasts"]] == pytest.approx(rater.predict_one(teams).win.tolist())
    assert answer["unknown"] == [] and answer["forecasts"][0]["win"] > 0.6
    shown = kinelo(*words[:3], "--match", "Ann + Bob + Cid; Dee + Eve + Fay").stdout
    assert "First three" not in shown and "First three" in kinelo(*words[:3], "--match", "Ann; Bob; Cid; Dee").stdout


def test_a_pair_that_is_rated_under_one_name_is_no_team(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["race,crew,place", *(f"{k},{name},{p}" for k in range(12) for p, name in enumerate(("A + B", "C", "D"), 1))]
    (tmp_path / "crews.csv").write_text("\n".join(rows))
    assert kinelo("read", "crews.csv", "--column", "entrant=crew").returncode == 0
    answer = json.loads(kinelo("predict", "--results", "crews.csv", "--match", "A + B; C", "--json").stdout)
    assert answer["unknown"] == [] and answer["forecasts"][0]["entrant"] == "A + B"


@pytest.mark.filterwarnings("ignore:parameters were estimated")
def test_what_is_kept_of_contests_stays_beside_what_is_asked(tmp_path, monkeypatch):
    """Lanes that a reading keeps and tracks that ``--noise-by`` names are both read, of a file and of a pattern."""
    monkeypatch.chdir(tmp_path)
    rng, head = np.random.default_rng(8), "race,date,driver,lane,water,place"
    for year in (2024, 2025):
        rows = [head]
        for race in range(24):
            for place, k in enumerate(rng.permutation(6)[:4], 1):
                rows.append(f"{race},{year}-02-{race + 1:02d},R{k},L{(k + race) % 4},W{race % 2},{place}")
        (tmp_path / f"{year}.csv").write_text("\n".join(rows))
        assert kinelo("read", f"{year}.csv", "--slot", "driver", "--advantage", "lane").returncode == 0
    done = kinelo("rate", "2024.csv", "--noise-by", "water", "--json")
    told = json.loads(done.stdout)
    assert {row["level"] for row in told["noise_factors"]} == {"W0", "W1"}, done.stderr
    assert {row["name"] for row in told["advantages"]} >= {"L0", "L3"}
    assert kinelo("rate", "202*.csv", "--noise-by", "water", "--out", "all.csv").returncode == 0
    races = kn.matches.scan_contests(["2024.csv", "2025.csv"], advantages=["lane", "water"])
    twin = kn.RankElo(noise_by=["water"]).fit(races).ratings_
    shown = pl.read_csv(tmp_path / "all.csv")
    assert dict(shown.select("name", "rating").rows()) == pytest.approx(dict(twin.select("name", "rating").rows()))
