"""Leaderboards: the active, the known, the connected; and pools from the graph of matches."""

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn
from kinelo.matches.pools import pools_of


def league(first: str, sides: list[str], rounds: int, seed: int = 0) -> pl.DataFrame:
    """Everyone against everyone, a match a day; the earlier in the list, the better."""
    rng = np.random.default_rng(seed)
    rows = []
    day = np.datetime64(first)
    for _ in range(rounds):
        for i in range(len(sides)):
            for j in range(i + 1, len(sides)):
                home, away = (i, j) if rng.random() < 0.5 else (j, i)
                better = rng.random() < 0.75
                rows.append((str(day), sides[home], sides[away], int(better == (home < away))))
                day += 1
    return pl.DataFrame(rows, schema=["date", "home", "away", "result"], orient="row")


NAMES = [f"T{k}" for k in range(8)]


def together(*parts: pl.DataFrame) -> kn.matches.Matches:
    return kn.read_matches(pl.concat(parts).with_columns(neutral=pl.lit(True)).sort("date"))


def test_ghosts_and_strangers_are_left_out():
    ghost = pl.DataFrame(
        {
            "date": [str(np.datetime64("2010-01-01") + k) for k in range(30)],
            "home": ["Ghost"] * 30,
            "away": [NAMES[k % 8] for k in range(30)],
            "result": [1] * 28 + [0] * 2,
        }
    )
    lucky = pl.DataFrame({"date": ["2020-03-01"] * 2, "home": ["Lucky"] * 2, "away": NAMES[:2], "result": [1, 1]})
    matches = together(ghost, league("2020-01-01", NAMES, 4), lucky)
    rater = kn.Glicko(350.0, 35.0, 0.0, 0.0).update(matches)
    assert {"Ghost", "Lucky"} <= set(rater.ratings_["name"])
    board = kn.leaderboard(rater, matches)
    assert set(board["name"]) == set(NAMES)
    assert board["place"].to_list() == list(range(1, 9))
    assert "Ghost" in kn.leaderboard(rater, matches, active_days=None)["name"]
    assert "Lucky" in kn.leaderboard(rater, matches, least_matches=2)["name"]
    assert "Lucky" not in kn.leaderboard(rater, matches, least_matches=3)["name"]


class Shown:
    """A table of ratings and nothing else."""

    ratings_ = pl.DataFrame(
        {"name": ["Lucky", "Steady", "Weak"], "rating": [1800.0, 1700.0, 1500.0], "uncertainty": [200.0, 20.0, 20.0]}
    )


def test_the_surest_come_first():
    """The highest rating with the widest doubt: a cautious reader does not rank it first."""
    bold, cautious = kn.leaderboard(Shown(), caution=0.0), kn.leaderboard(Shown())
    assert bold["name"].to_list() == ["Lucky", "Steady", "Weak"]
    assert cautious["name"].to_list() == ["Steady", "Weak", "Lucky"]
    assert cautious["surely"].to_list() == [1660.0, 1460.0, 1400.0]


def test_pools_apart_are_named_and_placed_by_themselves():
    island = [f"I{k}" for k in range(4)]
    bridge = pl.DataFrame({"date": ["2020-02-01"], "home": ["I0"], "away": ["T7"], "result": [1]})
    matches = together(league("2020-01-01", NAMES, 4), league("2020-01-01", island, 8), bridge)
    rater = kn.TeamElo.classic().fit(matches)
    board = kn.leaderboard(rater)
    assert board["pool"].to_list() == ["main"] * 8 + ["around I0"] * 4
    assert board["place"].to_list() == [*range(1, 9), *range(1, 5)]
    pools = matches.pools()
    assert pools.filter(pl.col("pool") == "main")["name"].sort().to_list() == NAMES
    ties = dict(pools.select("name", "tie").iter_rows())
    assert all(ties[name] < 1.0 for name in island) and all(ties[name] > 4.0 for name in NAMES)


def test_old_matches_tie_less():
    """A and B met 90 and 60 days before B met C: with a half-life of 30 days, wires of 1/8 + 1/4 and 1 in a row."""
    days = ["2021-01-01", "2021-01-31", "2021-04-01"]
    matches = kn.read_matches({"date": days, "home": ["A", "B", "C"], "away": ["B", "A", "B"], "result": [1, 0, 1]})
    for half_life, early in ((30, 3 / 8), (None, 2)):
        ties = dict(matches.pools(half_life=half_life).select("name", "tie").iter_rows())
        expected = {"A": 2 / (2 / early + 1), "B": 2 / (1 / early + 1), "C": 2 / (1 / early + 2)}
        assert ties == pytest.approx(expected, rel=1e-12)


@given(st.integers(0, 10**6), st.integers(4, 9), st.integers(1, 40))
@settings(max_examples=30, deadline=None)
def test_ties_are_effective_resistances(seed, sides, matches):
    """Against a plain pseudo-inverse of the Laplacian; and a further match never loosens a tie."""
    rng = np.random.default_rng(seed)
    home = rng.integers(0, sides, matches + sides)
    away = (home + rng.integers(1, sides, home.size)) % sides
    home[:sides], away[:sides] = np.arange(sides), (np.arange(sides) + 1) % sides
    weight = rng.uniform(0.1, 2.0, home.size)
    pool, tie = pools_of(home.astype(np.int32), away.astype(np.int32), weight, sides)
    incidence = np.zeros((home.size, sides))
    incidence[np.arange(home.size), home] += 1
    incidence[np.arange(home.size), away] -= 1
    inverse = np.linalg.pinv(incidence.T @ (weight[:, None] * incidence))
    for i in range(sides):
        resistance = [inverse[i, i] + inverse[j, j] - 2 * inverse[i, j] for j in range(sides) if j != i]
        assert tie[i] == pytest.approx(1 / np.median(resistance), rel=1e-8)
    assert (pool >= 0).all()
    _, more = pools_of(
        np.append(home, 0).astype(np.int32), np.append(away, 1).astype(np.int32), np.append(weight, 1), sides
    )
    assert np.all(more >= tie * (1 - 1e-9))


def test_pools_beside_the_main_one_are_numbered_by_their_sides():
    """Four circles that never meet: of 8 sides, then 2, 4 and 3; the numbers are those of their sizes."""
    sizes = (8, 2, 4, 3)
    first = np.cumsum([0, *sizes])
    home = np.concatenate([start + np.arange(size) for start, size in zip(first, sizes, strict=False)])
    away = np.concatenate([start + (np.arange(size) + 1) % size for start, size in zip(first, sizes, strict=False)])
    home, away = np.tile(home, 9).astype(np.int32), np.tile(away, 9).astype(np.int32)
    pool, _ = pools_of(home, away, np.ones(home.size), sum(sizes))
    assert pool.tolist() == [0] * 8 + [3] * 2 + [1] * 4 + [2] * 3


def test_order_of_sides_and_names_does_not_change_pools():
    rng = np.random.default_rng(1)
    home = rng.integers(0, 12, 60).astype(np.int32)
    away = ((home + rng.integers(1, 12, 60)) % 12).astype(np.int32)
    pool, tie = pools_of(home, away, np.ones(60), 12)
    other_pool, other_tie = pools_of(away, home, np.ones(60), 12)
    np.testing.assert_allclose(tie, other_tie)
    assert np.array_equal(pool, other_pool)


def test_loose_pools_are_numbered_from_the_largest():
    """A ring of eight, and apart from it 2, 4, 3 and 2 sides in a row: the first of equal ones comes first."""
    home, away = [*range(8)] * 9, [*range(1, 8), 0] * 9
    first = 8
    for size in (2, 4, 3, 2):
        home += range(first, first + size - 1)
        away += range(first + 1, first + size)
        first += size
    pool, _ = pools_of(np.array(home), np.array(away), np.ones(len(home)), first + 1)
    assert pool.tolist() == [0] * 8 + [3] * 2 + [1] * 4 + [2] * 3 + [4] * 2 + [-1]


def test_what_is_no_leaderboard():
    with pytest.raises(kn.InputError, match="has no leaderboard"):
        kn.leaderboard(object())
    with pytest.raises(kn.InputError, match="caution is a finite number"):
        kn.leaderboard(kn.TeamElo(), caution=float("nan"))
    assert kn.leaderboard(kn.TeamElo()).height == 0


def resting_league() -> kn.matches.Matches:
    """R, the best, plays 2020 alone; the others 2020 and 2021; S stops half a year before the end."""
    names = ["R", *NAMES]
    early, late = league("2020-01-01", names, 6, seed=1), league("2021-01-01", NAMES, 9, seed=2)
    won = pl.when(pl.col("home") == "R").then(1).when(pl.col("away") == "R").then(0).otherwise("result")
    early = early.with_columns(result=won.cast(pl.Int64))
    last = str(np.datetime64("2021-01-01") + 75)
    return together(
        early, late.filter((pl.col("date") <= last) | ((pl.col("home") != "T7") & (pl.col("away") != "T7")))
    )


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_uncertainty_is_that_of_today(covariance):
    """Against the formula: f² v + what a rest adds, times the doubt; those who played last are as they were."""
    matches = resting_league()
    values = {"walk": 0.5, "regression": 0.3, "doubt": 1.7}
    rater = kn.KalmanElo(**values, covariance=covariance).update(matches)
    then, today = rater.ratings_.sort("name"), rater.ratings_on().sort("name")
    idle = (then["last_played"].max() - then["last_played"]).dt.total_days().to_numpy() / 365.25
    if covariance == "diagonal":
        size, place = len(rater._state), rater._state.name_index.index
        v = np.array([rater._state.variances()[place[name]] for name in then["name"]])
        f = np.exp(-0.3 * idle)
        grown = f**2 * v + 0.25 * (1 - f**2) / 0.6
        share = np.full(size, 1 / size)  # all played within two years
        expected = np.sqrt(1.7 * (grown - 2 * grown * share + np.sum(share**2 * grown))) * rater._points_per_unit
        np.testing.assert_allclose(today["uncertainty"], expected, rtol=1e-9)
    more = today["uncertainty"].to_numpy() - then["uncertainty"].to_numpy()
    assert more[then["name"].to_list().index("R")] == more.max() > 5
    on = rater.ratings_on("2025-01-01").sort("name")
    assert (on["uncertainty"] > today["uncertainty"]).all()


def test_who_rests_is_marked_fades_and_leaves():
    matches = resting_league()
    rater = kn.KalmanElo(walk=0.5, regression=0.3).update(matches)
    assert rater.ratings_["name"][0] == "R"
    assert "R" not in kn.leaderboard(rater, matches)["name"]
    board = kn.leaderboard(rater, matches, active_days=None)
    notes, idle = (dict(board.select("name", column).iter_rows()) for column in ("note", "idle_days"))
    assert notes["R"] == f"has not played for {idle['R']} days" and idle["R"] > 365
    assert notes["T7"] == f"has not played for {idle['T7']} days" and notes["T0"] == ""
    rating, surely = (dict(board.select("name", column).iter_rows()) for column in ("rating", "surely"))
    seen = dict(rater.ratings_.select("name", "rating").iter_rows())
    assert rating["R"] < seen["R"] and rating["R"] - surely["R"] > rating["T0"] - surely["T0"]


def test_players_who_are_always_together_are_not_ranked():
    """Line-ups of A and B never change; of C and D they are drawn anew: those alone are told apart."""
    rng = np.random.default_rng(4)
    strength = {f"{team}{k}": rng.normal(0, 1.5) for team in "CD" for k in range(6)}
    rows = []
    for k in range(600):
        home, away = ("A", "B") if k % 3 == 0 else ("C", "D")
        lineups = [
            [f"{team}{j}" for j in (range(3) if team in "AB" else rng.choice(6, 3, replace=False))]
            for team in (home, away)
        ]
        gap = sum(strength.get(p, 0.0) for p in lineups[0]) - sum(strength.get(p, 0.0) for p in lineups[1])
        rows.append((str(np.datetime64("2022-01-01") + k), home, away, gap / 3 + rng.normal(0, 0.6), *lineups))
    names = ("date", "home", "away", "margin", "home_lineup", "away_lineup")
    matches = kn.read_matches(dict(zip(names, map(list, zip(*rows)))))
    board = kn.leaderboard(kn.PlayerElo().fit(matches), matches)
    fixed = board.filter(pl.col("team").is_in(["A", "B"]))
    moving = board.filter(pl.col("team").is_in(["C", "D"]))
    assert fixed["place"].null_count() == fixed.height == 6
    assert set(fixed["note"]) == {"not ranked: not separable from teammates"}
    assert moving["place"].null_count() == 0 and moving.height == 12
    best = max(strength, key=strength.__getitem__)
    assert best in moving.sort("place")["name"].head(3)


@pytest.mark.data
def test_internationals_rank_no_ghosts(match_data):
    """Occitania (last played 2014) and Northern Cyprus (tied to the rest by some two matches) leave Brazil's table."""
    matches = kn.read_matches(match_data / "intl_football" / "matches.csv").since("1990-01-01")
    for rater in (kn.TeamElo.classic(k=40), kn.Glicko(350.0, 35.0, 60.0, 0.7)):
        board = kn.leaderboard(rater.update(matches), matches)
        main = board.filter(pl.col("pool") == "main")
        assert "Occitania" not in board["name"]
        assert "Brazil" in main["name"].head(10) and "Northern Cyprus" not in main["name"]
        assert board.filter(pl.col("name") == "Northern Cyprus")["pool"][0].startswith("around")
        assert board["matches"].min() >= 10


def test_contests_have_a_board_for_each_kind(tmp_path):
    races = kn.read_contests(
        kn.matches.sample_contests(contests=40, entrants=12, size=6, cars=4, seed=1), slots=["entrant", "car"]
    )
    rater = kn.RankElo().update(races)
    board = kn.leaderboard(rater, races, least_matches=15, caution=1.0)
    rated = rater.ratings_on()
    for kind in races.kinds:
        own, all_of_them = board.filter(kind=kind), rated.filter((pl.col("kind") == kind) & (pl.col("matches") >= 15))
        assert set(own["name"]) == set(all_of_them["name"]) and own["place"].to_list() == [*range(1, own.height + 1)]
        surely = (all_of_them["rating"] - all_of_them["uncertainty"]).sort(descending=True)
        assert own["surely"].to_list() == pytest.approx(surely.to_list())
    book = kn.RatingBook(tmp_path / "b", kn.RankElo())
    book.add(races)
    assert kn.leaderboard(book, least_matches=15, caution=1.0).equals(board)


def test_where_nobody_qualifies_everyone_is_shown_and_that_is_said():
    table = {"home": ["A", "B", "C", "A"] * 3, "away": ["B", "C", "A", "D"] * 3, "result": [1, 1, 0, 1] * 3}
    rater = kn.TeamElo.classic().fit(kn.read_matches(table))
    everyone = kn.leaderboard(rater, least_matches=0)
    with pytest.warns(kn.KineloWarning, match="Nobody has played 100 matches yet, so everyone is shown"):
        assert kn.leaderboard(rater, least_matches=100).equals(everyone)
    races = kn.read_contests({"race": [1, 1, 2, 2], "driver": ["Ann", "Bob", "Ann", "Cid"], "place": [1, 2, 2, 1]})
    ranked = kn.RankElo().update(races)
    with pytest.warns(kn.KineloWarning, match="Nobody has taken part in 10 contests yet, so everyone is shown"):
        assert set(kn.leaderboard(ranked, races)["name"]) == {"Ann", "Bob", "Cid"}
    assert kn.leaderboard(ranked, races, least_matches=2)["name"].to_list() == ["Ann"]


@pytest.mark.parametrize(
    ("idle", "shown", "marked"), [(120, True, False), (121, True, True), (365, True, True), (366, False, False)]
)
def test_who_rests_is_marked_after_120_days_and_leaves_after_a_year(idle, shown, marked):
    """And who has played nine matches is not ranked yet."""
    last = datetime.date(2024, 5, 4)
    rows = [("A", "B", last - datetime.timedelta(days=idle))] * 10 + [("B", "C", last - datetime.timedelta(days=idle))]
    rows += [("C", "D", last)] * 10 + [("E", "D", last)] * 9
    table = dict(zip(("home", "away", "date"), zip(*rows))) | {"result": [1, 0.5, 0] * 10}
    matches = kn.read_matches(table)
    rater = kn.Glicko(350.0, 30.0, 0.0, ties=0.5).update(matches)
    board = kn.leaderboard(rater, matches)
    assert set(board["name"]) == {"C", "D", *("AB" if shown else "")}
    for row in board.to_dicts():
        rests = row["name"] in "AB"
        assert row["idle_days"] == idle * rests
        assert row["note"] == (f"has not played for {idle} days" if rests and marked else "")
        assert row["surely"] == pytest.approx(row["rating"] - 2 * row["uncertainty"])
    assert board["surely"].to_list() == sorted(board["surely"], reverse=True)
    assert set(kn.leaderboard(rater, matches, active_days=idle, least_matches=9)["name"]) == set("ABCDE")
    assert "A" not in kn.leaderboard(rater, matches, active_days=idle - 1)["name"]


def test_who_is_active_is_counted_from_the_last_contest_in_every_kind():
    table = {"race": [1, 1, 2, 2], "date": ["2020-01-01"] * 2 + ["2024-01-01"] * 2, "driver": ["Ann", "Bob"] * 2,
             "car": ["Red", "Blue", "Green", "Green"], "place": [1, 2, 1, 2]}  # fmt: skip
    races = kn.read_contests(table, slots=["driver", "car"])
    board = kn.leaderboard(kn.RankElo().update(races), races, least_matches=0)
    assert set(board["name"]) == {"Ann", "Bob", "Green"}


def test_who_stopped_long_ago_leaves_the_board_of_contests_without_dates():
    """Contests without dates count as a week apart: two years are 104 of them."""
    rows = {"race": [], "driver": [], "place": []}
    for race in range(130):
        field = ["Ann", "Bob", *(["Old"] if race < 20 else ["Late"] if race < 100 else [])]
        rows["race"] += [race] * len(field)
        rows["driver"] += field
        rows["place"] += range(1, len(field) + 1)
    contests = kn.read_contests(rows)
    given = {"walk": 0.3, "prior_spread": 1.0, "off": 0.0, "newcomer": 0.0, "regression": 0.0, "anchor": 0.0}
    for rater in (kn.RankElo(**given, experience=0.0, contest_walk=0.0, newcomer_follows=1.0),
                  kn.TeamElo.classic(k=24)):  # fmt: skip
        board = kn.leaderboard(rater.fit(contests), contests, least_matches=5)
        assert set(board["name"]) == {"Ann", "Bob", "Late"}, type(rater)
        assert set(kn.leaderboard(rater, contests, least_matches=5, active_days=None)["name"]) > {"Old"}
        assert board["last_played"].is_null().all() if "last_played" in board.columns else True


@pytest.mark.parametrize(("days", "tied"), [(29, True), (30, False), (3000, False)])
def test_matches_of_a_billionth_of_their_weight_tie_nobody(days, tied):
    """2⁻²⁹ counts and 2⁻³⁰ does not: beside a match of today such a tie is lost in rounding."""
    today = datetime.date(2024, 5, 4)
    then = today - datetime.timedelta(days=days)
    table = {"date": [then, today, today], "home": ["A", "B", "C"], "away": ["B", "C", "B"], "result": [1, 0, 0.5]}
    pools = kn.read_matches(table).pools(half_life=1.0, firm=1e-12)
    assert (pools.filter(name="A")["tie"][0] > 0.0) == tied
    assert pools.filter(name="B")["pool"][0] == "main" == pools.filter(name="C")["pool"][0]
