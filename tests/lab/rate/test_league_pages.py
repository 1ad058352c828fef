"""Pages of sides, movement, odds, names, previews and the comparison of raters: all as the library says them."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from test_rating_controller import LEAGUE, looked

import kinelo as kn
from kinelo.errors import InputError
from kinelo.lab.rate.controller import CompareController, RatingController, hand_over, handed_over
from kinelo.lab.rate.tables import sample_tables
from kinelo.presentation import chance_in_words
from kinelo.raters.adapter import blank_of
from kinelo.raters.tables import effects_table, luck_table
from kinelo.raters.what_if import with_points


def give(controller: RatingController, tmp_path, kind: str, text: str) -> dict:
    path = tmp_path / f"upload-{kind}"
    path.write_text(text, encoding="utf-8")
    seen = controller.look(kind, str(path), f"{kind}.csv", 10_000, 50)
    return {f["name"]: f["guess"] for t in seen["tables"].values() for f in t["fields"] if f["guess"]}


FIXTURES = (
    "date,home,away,home_score,away_score\n2023-09-01,A,B,2,0\n2023-09-02,C,D,,\n2023-09-03,B,C,,\n2023-09-04,D,A,,\n"
)


def test_the_page_of_a_side_is_the_library_s(tmp_path):
    rest = "\n2025-11-01;A;B;0;3;sun\n2025-11-02;B;A;1;1;sun"
    controller, columns = looked(tmp_path, LEAGUE + rest)
    give(controller, tmp_path, "fixtures", FIXTURES)
    controller.rate(columns, "team")
    page = controller.team("A")
    json.dumps(page, allow_nan=False)
    rater, matches = controller.league.rater, controller.league.played
    now = rater.ratings_.filter(name="A").row(0, named=True)
    assert page["today"] == {"rating": round(now["rating"], 2), "uncertainty": round(now["uncertainty"], 2),
                             "matches": now["matches"]}  # fmt: skip

    line = page["history"]
    gap = line["rating"].index(None)  # no line through two years without a match
    assert line["rating"].count(None) == 1 and line["date"][gap] == "2025-11-01" > line["date"][gap - 1]
    own = [n for n in range(len(matches)) if "A" in (matches.teams[matches.home[n]], matches.teams[matches.away[n]])]
    assert [d for k, d in enumerate(line["date"]) if k != gap] == sorted({str(matches.date[n]) for n in own})
    walker = blank_of(rater)
    walker.update(matches[: own[9] + 1])
    assert line["rating"][9] == pytest.approx(walker.ratings_.filter(name="A")["rating"][0], abs=0.01)

    ranks = dict(zip(page["ranks"]["date"], page["ranks"]["place"]))
    last = rater.ratings_.sort("rating", descending=True)["name"].to_list()
    day = page["ranks"]["date"][-1]
    assert ranks[day] == 1 + [n for n in last if n in "AB"].index("A") and page["ranks"]["of"][-1] == 2

    found = page["upsets"]
    assert len(found) == 6 and all("A" in (one["home"], one["away"]) for one in found)
    chances = [one["chance"] for one in found]
    assert chances == sorted(chances) and chances[0] < 0.4
    one = found[0]
    key = {1.0: "home_win", 0.5: "draw", 0.0: "away_win"}[one["result"]]
    assert one["chance"] == pytest.approx(one[key], abs=1e-6)

    (coming,) = page["fixtures"]
    told = rater.predict(kn.read_matches({"date": ["2023-09-04"], "home": ["D"], "away": ["A"]}, played=False))
    assert [coming["win"], coming["draw"], coming["loss"]] == pytest.approx(told.probabilities[0].tolist(), abs=1e-6)
    assert controller.team("E")["fixtures"] == []
    with pytest.raises(InputError, match="not rated"):
        controller.team("Nobody")


def test_movement_is_the_difference_of_two_leaderboards(tmp_path):
    controller, columns = looked(tmp_path, LEAGUE)
    controller.rate(columns, "team")
    board = controller.rank(None, 0, 0.0, period=190)
    matches = controller.league.played
    earlier = blank_of(controller.league.rater).update(matches.before(matches.date[-1] - 189))
    then = dict(kn.leaderboard(earlier, active_days=None, least_matches=0, caution=0.0).select("name", "place").rows())
    assert {row["name"]: row["before"] for row in board["rows"]} == then
    assert any(row["before"] != row["place"] for row in board["rows"])
    assert "before" not in controller.rank(None, 0, 0.0)["rows"][0]
    assert {row["before"] for row in controller.rank(None, 0, 0.0, period=9000)["rows"]} == {None}


def test_odds_are_the_library_s_and_points_move_them(tmp_path):
    controller, columns = looked(tmp_path, LEAGUE)
    give(controller, tmp_path, "fixtures", FIXTURES)
    controller.rate(columns, "team")
    rules = {"win": 3.0, "draw": 1.0, "relegated": 1}

    def ask(kind="season", points=None, fixtures=True, best=4):
        return controller.odds(kind, points or {}, rules, best, fixtures)

    table = ask()
    json.dumps(table, allow_nan=False)
    rule, played = table["words"].split(" goes down. ")
    assert rule.startswith("A win is worth 3 points, a draw 1, a loss 0; ") and rule.endswith("; the last of 4")
    assert played.startswith("1 match played, 3 to come, the rest of the season played 4,000 times.")
    shown = [column["label"] for column in table["table"]["columns"]]
    assert shown == ["Name", "Points", "80 %", "Place", "Title", "Relegation"]
    assert [row[4] for row in table["table"]["rows"]] == [chance_in_words(row["title"]) for row in table["rows"]]
    assert sum(row["title"] for row in table["rows"]) == pytest.approx(1) == sum(r["relegation"] for r in table["rows"])
    for row in table["rows"]:
        assert sum(row["places"]) == pytest.approx(1)
    assert np.array([row["places"] for row in table["rows"]]).sum(axis=0) == pytest.approx(np.ones(4))
    fixtures = kn.read_matches(controller._tables["fixtures"].frame, played=False)
    twin = kn.season(
        controller.league.rater, fixtures, rules=kn.forecasts.Rules(places={"title": (1, 1)}), realisations=4000, seed=1
    )
    assert {row["name"]: row["title"] for row in table["rows"]} == pytest.approx(
        dict(zip(twin.names, twin.chance("title"))), abs=1e-6
    )
    title = {row["name"]: row["title"] for row in table["rows"]}
    for points in (300.0, -300.0):
        moved = {row["name"]: row["title"] for row in ask(points={"C": points})["rows"]}
        assert (moved["C"] - title["C"]) * points > 0 and sum(moved.values()) == pytest.approx(1)

    cup = ask("knockout", fixtures=False)
    assert [sum(row[key] for row in cup["rows"]) for key in ("round_1", "title")] == pytest.approx([2, 1])
    assert [column["label"] for column in cup["table"]["columns"]] == ["Name", "Final", "Wins it"]
    best = kn.leaderboard(controller.league.rater)["name"].to_list()[:4]
    assert cup["bracket"] == [best[0], best[3], best[1], best[2]]
    assert len(ask(fixtures=False)["rows"]) == 4 and "12 to come" in ask(fixtures=False)["words"]
    with pytest.raises(InputError, match="every side once"):
        ask("knockout")
    with pytest.raises(InputError, match="go down"):
        controller.odds("season", {}, {**rules, "relegated": 4}, 4, True)
    with pytest.raises(InputError, match="Only 5 sides"):
        ask(fixtures=False, best=8)
    with pytest.raises(InputError, match="not rated"):
        ask(points={"Nobody": 5.0})


@pytest.mark.parametrize("kind", [kn.TeamElo, kn.KalmanElo, kn.Glicko, kn.Glicko2])
def test_points_added_to_a_side_are_seen_in_its_rating_and_its_forecasts(tmp_path, kind):
    (tmp_path / "league.csv").write_text(LEAGUE, encoding="utf-8")
    matches = kn.read_matches(tmp_path / "league.csv")
    rater = kind().fit(matches)
    before = dict(rater.ratings_.select("name", "rating").iter_rows())
    raised = with_points(rater, {"B": 120.0})
    after = dict(raised.ratings_.select("name", "rating").iter_rows())
    assert after["B"] - after["A"] - (before["B"] - before["A"]) == pytest.approx(120.0, abs=1e-6)
    assert after["C"] - after["A"] == pytest.approx(before["C"] - before["A"], abs=1e-6)
    day = str(matches.date[-1])
    match = kn.read_matches({"date": [day], "home": ["B"], "away": ["C"]}, played=False)
    assert raised.predict(match).probabilities[0, 0] > rater.predict(match).probabilities[0, 0] + 0.05
    assert dict(rater.ratings_.select("name", "rating").iter_rows()) == before


def test_raters_of_players_take_no_points(tmp_path):
    league = kn.sample_league(teams=4, seasons=1, seed=2)
    rater = kn.PlayerElo().fit(kn.read_matches(league.results, league.lineups))
    with pytest.raises(InputError, match="keeps no rating per side"):
        with_points(rater, {"Ashford": 10})


def test_names_come_from_a_column_or_a_file_and_nobody_is_merged(tmp_path):
    controller, columns = looked(tmp_path, LEAGUE)
    columns |= give(controller, tmp_path, "names", "id,name,shirt\nA,Ann 😀,1\nB,Same,2\nC,Same,3\nZ,Gone,4\n")
    assert (columns["name_key"], columns["name_shown"]) == ("id", "name")
    rated = controller.rate(columns, "team")
    assert rated["labels"] == {"A": "Ann 😀", "B": "Same (B)", "C": "Same (C)"}
    assert {row["name"] for row in rated["leaderboard"]["rows"]} == set("ABCDE")  # keys stay keys
    columns["name_shown"] = "nothing"
    with pytest.raises(InputError, match="no column 'nothing'"):
        controller.rate(columns, "team")


def test_a_preview_says_how_rows_are_read_and_why_some_are_not(tmp_path):
    controller, columns = looked(tmp_path, LEAGUE + "\nnever;A;B;1;0;rain\n2023-12-01;A;A;1;0;rain")
    seen = controller.check(columns, ["weather"])
    assert seen["rows"][0] == {"date": "2023-01-01", "home": "A", "away": "B", "result": 0.5, "neutral": False,
                               "weather": "sun"}  # fmt: skip
    assert seen["rejects"]["count"] == 2 == sum(seen["rejects"]["reasons"].values())
    assert seen["rejects"]["rows"][0]["line"] == 202 and "rain" in seen["rejects"]["rows"][0]["content"]
    assert controller.league is None
    with pytest.raises(InputError, match="no column 'snow'"):
        controller.check(columns, ["snow"])


def test_conditions_are_used_and_said_in_the_forecast(tmp_path):
    rows = [
        f"2023-{1 + k // 28:02d}-{1 + k % 28:02d};{home};{'ABCDE'[(k + 1 + k // 5 % 4) % 5]};"
        f"{(2 if home < 'C' else 0) if k % 2 else (0 if home < 'C' else 2)};1;{'mud' if k % 2 else 'dry'}"
        for k, home in enumerate("ABCDE" * 40)
    ]
    controller, columns = looked(tmp_path, "date;home;away;score_1;score_2;pitch\n" + "\n".join(rows))
    rated = controller.rate(columns, "team", ["pitch"])
    assert rated["conditions"] == {"pitch": ["dry", "mud"]}
    mud, dry = (controller.predict("A", "D", False, {"pitch": level})["win"] for level in ("mud", "dry"))
    assert mud > dry + 0.1
    assert rated["luck"] is None
    with pytest.raises(InputError, match="uses no conditions"):
        controller.rate(columns, "glicko", ["pitch"])


def test_luck_by_a_column_is_what_the_library_finds(tmp_path):
    """Half of the matches are drawn by lot: forecasts on grass are bolder, and both are those of the same rater."""
    rng = np.random.default_rng(5)
    rows = []
    for k in range(400):
        first, second = rng.permutation(6)[:2].tolist()
        lot = rng.random() < 0.5
        won = rng.random() < (0.5 if lot else 0.9 if first < second else 0.1)
        names = f"{'ABCDEF'[first]};{'ABCDEF'[second]}"
        rows.append(f"{np.datetime64('2022-01-01') + k};{names};{int(won)};{int(not won)};{'hall' if lot else 'grass'}")
    text = "date;home;away;score_1;score_2;floor\n" + "\n".join(rows)
    controller, columns = looked(tmp_path, text)
    rated = controller.rate(columns, "glicko", noise_by=["floor"])
    (tmp_path / "league.csv").write_text(text)
    matches = kn.read_matches(tmp_path / "league.csv", conditions=["floor"])
    rater = kn.Glicko(noise_by=["floor"]).fit(matches)
    found = luck_table(rater)
    assert found is not None and rated["luck"] == found.to_dict()
    assert set(rated["conditions"]["floor"]) == {"grass", "hall"}
    grass, hall = (controller.predict("A", "F", False, {"floor": level})["win"] for level in ("grass", "hall"))
    assert grass > hall + 0.1
    one = rater.predict_one("A", "F", date=str(matches.date[-1]), conditions={"floor": "grass"})
    assert grass == pytest.approx(one.probabilities[0, 0])
    assert controller.hand_over(str(tmp_path))["noise_by"] == ["floor"]
    with pytest.raises(InputError, match="takes luck to be the same in all matches"):
        controller.rate(columns, "bradley-terry", noise_by=["floor"])


def test_a_column_of_numbers_is_a_covariate(tmp_path):
    """Stones worth 100 points each: the effect, forecasts and seasons are those of the library."""
    rng = np.random.default_rng(6)
    rows = []
    for k in range(300):
        (first, second), stones = rng.permutation(5)[:2].tolist(), int(rng.integers(-3, 4))
        won = rng.random() < 1 / (1 + 10 ** (-(40 * (second - first) + 100 * stones) / 400))
        names = f"{'ABCDE'[first]};{'ABCDE'[second]}"
        rows.append(f"{np.datetime64('2022-01-01') + k};{names};{int(won)};{int(not won)};{stones}")
    text = "date;home;away;score_1;score_2;stones\n" + "\n".join(rows)
    controller, columns = looked(tmp_path, text)
    rated = controller.rate(columns, "glicko", covariates=["stones"])
    (tmp_path / "league.csv").write_text(text)
    matches = kn.read_matches(tmp_path / "league.csv", conditions=["stones"])
    rater = kn.Glicko(covariates=["stones"]).fit(matches)
    found = effects_table(rater)
    assert found is not None and rated["effects"] == found.to_dict() and rated["covariates"] == ["stones"]
    day = str(matches.date[-1])
    for said, stones in (({"stones": "2"}, 2.0), ({}, 0.0)):
        one = rater.predict_one("A", "E", date=day, conditions={"stones": stones})
        told = controller.predict("A", "E", False, said)
        assert told["win"] == pytest.approx(one.probabilities[0, 0])
        assert told["changes"] == kn.preview(rater, "A", "E", date=day, conditions={"stones": stones}).table().to_dict()
    assert controller.odds("season", {}, {"win": 3, "draw": 1, "relegated": 1}, 4, False)["rows"]
    assert controller.hand_over(str(tmp_path))["covariates"] == ["stones"]
    with pytest.raises(InputError, match="must hold numbers"):
        controller.rate(columns, "glicko", covariates=["home"])


def test_what_to_play_next_is_that_of_the_library(tmp_path):
    controller, columns = looked(tmp_path, LEAGUE + "\n2026-05-01;Y;Z;1;0;sun\n2026-05-02;Z;Y;1;0;sun")
    controller.rate(columns, "glicko")
    controller.rank(30, 0, 0.0)  # of all rated only Y and Z are ranked
    rater = controller.league.rater
    for ranked, active in ((["Y", "Z"], 30), (list("ABCDEYZ"), None)):
        controller.rank(active, 0, 0.0)
        said = controller.next("order", 4, 2)
        found = kn.next_matches(rater, count=4, target="order", candidates=ranked).table()
        assert said["table"]["rows"] == found.cells() and said["words"] == found.below[0]
    assert said["table"]["rows"][0] != said["table"]["rows"][1]
    json.dumps(said, allow_nan=False)
    with pytest.raises(InputError, match="target="):
        controller.next("luck", 4, 2)


def test_tiers_stand_on_the_board_of_a_rater_of_all_results_at_once(tmp_path):
    controller, columns = looked(tmp_path, LEAGUE)
    board = controller.rate(columns, "bradley-terry")["leaderboard"]
    labels = [one["label"] for one in board["columns"]]
    assert labels[1] == "Tier" and "More to split" in labels
    tier = {name: str(tier) for name, tier in kn.tiers(controller.league.rater).select("name", "tier").rows()}
    assert [row["cells"][1] for row in board["rows"]] == [tier[row["name"]] for row in board["rows"]]
    assert "Tiers are told apart at a level of 95 %" in board["below"]


def test_raters_are_compared_as_the_library_compares_them(tmp_path):
    league = kn.sample_league(teams=6, seasons=3, seed=1, turf=True)
    matches = kn.read_matches(league.results, league.lineups, conditions=["pitch"])
    asked = {"conditions": ["pitch"], "noise_by": ["pitch"], "covariates": []}
    handed = hand_over(matches, tmp_path, {}) | asked
    again, _ = handed_over(str(tmp_path), handed["kind"], handed["sides"], handed["columns"])
    for name in ("day", "result", "margin", "neutral", "weight", "unordered"):
        assert np.array_equal(getattr(again, name), getattr(matches, name)), name
    assert [again.lineups.names(3, s) for s in (0, 1)] == [matches.lineups.names(3, s) for s in (0, 1)]
    assert np.array_equal(again.lineups.minutes, matches.lineups.minutes)
    assert again.conditions["pitch"].names().equals(matches.conditions["pitch"].names())
    said = []
    found = CompareController(said.append).compare(str(tmp_path), handed)
    assert said == [f"{name}, {k} of 3" for k, name in enumerate(("KalmanElo", "TeamElo", "PlayerElo"), 1)]
    json.dumps(found, allow_nan=False)
    half = len(matches) // 2
    rows = found["table"]["rows"]
    for name, loss, *_ in rows:
        test = kn.backtest(
            matches, getattr(kn, name)(conditions=["pitch"], noise_by=["pitch"]), train_until=matches.date[half]
        )
        if len(test.matches) == found["tested"]:
            assert float(loss) == pytest.approx(test.scores["log_loss"][0], abs=6e-5)
    assert [row[2] == "chosen" for row in rows] == [True, False, False] and found["words"].startswith(rows[0][0])
    assert [one["rater"] for one in found["raters"]] == [row[0] for row in rows]
    few = hand_over(matches[:59], tmp_path, {}) | asked
    with pytest.raises(InputError, match=r"^Fewer than 60 matches cannot tell raters apart\.$"):
        CompareController(said.append).compare(str(tmp_path), few)


def test_the_sample_league_has_every_trait():
    tables = sample_tables("football")
    results, fixtures = tables["results"].frame, tables["fixtures"].frame
    clubs = [set(results.filter(pl.col("match_id").str.starts_with(s))["home_team"]) for s in ("S1", "S2", "S3")]
    assert len(clubs[1] - clubs[0]) == 2 == len(clubs[2] - clubs[1])  # newcomers
    assert (results["home_score"] == results["away_score"]).any() and set(results["pitch"]) == {"grass", "turf"}
    assert fixtures["home_score"].is_null().any() and not fixtures["home_score"].is_null().all()
    assert set(tables["lineups"].frame["match_id"]) == set(results["match_id"])
    assert results["date"].max() < fixtures.filter(pl.col("home_score").is_null())["date"].min()


def test_a_league_of_five_thousand_sides_is_listed_whole(tmp_path):
    rng = np.random.default_rng(1)
    pairs = rng.permutation(5000).reshape(-1, 2)
    rows = [f"P{a},P{b},{k % 2}" for k, (a, b) in enumerate(np.concatenate([pairs, pairs[:, ::-1]]))]
    controller, columns = looked(tmp_path, "home,away,result\n" + "\n".join(rows))
    rated = controller.rate(columns, "glicko")
    assert len(rated["leaderboard"]["rows"]) == 5000 and rated["leaderboard"]["more"] == 0
