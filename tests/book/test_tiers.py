"""Tiers of a book: who is where follows from ratings of a few days, by a slow walk as by the board."""

from itertools import pairwise

import numpy as np
import pytest
from test_check_and_export import run
from test_seasons import league

import kinelo as kn
from kinelo.book.tiers import (
    MovedByLuck,
    Seen,
    TierBoard,
    Tiers,
    _looks,
    _walked,
    drawn_anew,
    moved_by_luck,
    set_tiers,
    tier_board,
    tiers_of,
)

pytestmark = pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
RULES = {
    "points": Tiers({"Low": 1300, "Mid": 1470, "High": 1570}, divisions=2, margin=12.0, placement=7, decay=9.0,
                    decay_after=3, decay_most=30.0, every=3),
    "share": Tiers({"Low": 0.5, "Mid": 0.3, "High": 0.2}, by="share", divisions=3, margin=8.0, placement=5, every=2),
}  # fmt: skip
RATERS = {
    "classic": lambda: kn.TeamElo.classic(k=24, ties=0.0, home_advantage=0.0),
    "kalman": lambda: kn.KalmanElo(sharpness=1.0, ties=0.1),
    "rank": lambda: kn.RankElo(walk=0.3, prior_spread=0.9, newcomer=-0.2, regression=0.1),
}
# Every rater, every rule and every database once and more; all together in `make test-long`.
QUICK = [("classic", "points", "sqlite"), ("classic", "share", "postgresql"), ("kalman", "share", "sqlite"),
         ("rank", "points", "sqlite")]  # fmt: skip


def begin(kind, address, rounds=40):
    """A book in which some have rested for the last days, and one has played twice."""
    table, _ = league(7, sides=14, rounds=rounds, seasons=1)
    table["neutral"] = [True] * len(table["home"])
    late = np.array(table["date"]) > "2025-01-30"
    rest = np.array([name in ("s1", "s2", "s9") for name in table["home"]])
    rest |= np.array([name in ("s1", "s2", "s9") for name in table["away"]])
    table = {name: [x for x, gone in zip(column, late & rest) if not gone] for name, column in table.items()}
    for k, day in enumerate(("2025-02-01", "2025-02-02")):
        for name, x in zip(table, (f"n{k}", day, "new", "s4", 1.0, True)):
            table[name].append(x)
    book = kn.RatingBook(address, RATERS[kind]())
    if kind == "rank":
        rows = [{"match_id": m, "date": d, "order": [h, a] if r else [a, h]}
                for m, d, h, a, r, _ in zip(*table.values())]  # fmt: skip
        book.add(rows)
    else:
        book.add(kn.read_matches(table))
    return book


def plain_step(rule, rating, idle, before, placed):
    """The step of one player (counted from the lowest), walked up or down from the one before."""
    weeks = max(idle - rule.decay_after, 0) / 7
    shown = rating - min(rule.decay * weeks, rule.decay_most)
    if rule.by == "points":
        ends = [*rule.bounds.values()]
        bounds = []
        for low, high in pairwise(ends):
            bounds += [low + (high - low) * k / rule.divisions for k in range(rule.divisions)]
        bounds = [*bounds[1:], ends[-1]]
    else:
        everybody, shares = sorted(placed), [*rule.bounds.values()]
        parts = [x / rule.divisions for x in shares[:-1] for _ in range(rule.divisions)]
        bounds = [everybody[min(round(sum(parts[: k + 1]) * len(everybody)), len(everybody) - 1)]
                  for k in range(len(parts))]  # fmt: skip
    step = sum(shown >= bound for bound in bounds)
    if before is not None and before > step:
        step = before
        while step and shown < bounds[step - 1] - rule.margin:
            step -= 1
    return step, shown


@pytest.mark.parametrize(
    ("kind", "by", "address"),
    [pytest.param(kind, by, place, marks=() if (kind, by, place) in QUICK else pytest.mark.long)
     for kind in RATERS for by in RULES for place in ("sqlite", "postgresql")], indirect=["address"],
)  # fmt: skip
def test_the_board_is_that_of_a_walk_from_look_to_look(kind, by, address):
    book, rule = begin(kind, address), RULES[by]
    set_tiers(book, rule)
    with kn.RatingBook(address) as other:
        assert tiers_of(other) == rule
        board = tier_board(other)
    played = book.matches()
    end, before = played.date[-1], {}
    for k in range(7, -1, -1):
        day = end - rule.every * k
        rater = RATERS[kind]().update(played[: int(np.searchsorted(played.date, day, side="right"))])
        rows = {r["name"]: r for r in rater.ratings_.to_dicts()}
        idle = {name: (day - np.datetime64(r["last_played"])).astype(int) for name, r in rows.items()}
        shown = {n: plain_step(Tiers({"a": -9e5, "b": 9e5}, decay=rule.decay, decay_after=rule.decay_after,
                                     decay_most=rule.decay_most), r["rating"], idle[n], None, ())[1]
                 for n, r in rows.items()}  # fmt: skip
        placed = [shown[n] for n, r in rows.items() if r["matches"] >= rule.placement]
        last, before = before, {
            n: plain_step(rule, r["rating"], idle[n], before.get(n), placed)[0]
            for n, r in rows.items() if r["matches"] >= rule.placement
        }  # fmt: skip
    steps = {row["name"]: row for row in board.rows}
    assert steps.keys() == rows.keys() and board.date == str(end)
    lowest = [(name, k) for name in list(rule.bounds)[:-1] for k in range(rule.divisions, 0, -1)] + [("High", 1)]
    for name, row in steps.items():
        assert (row["tier"], row["division"]) == (lowest[before[name]] if name in before else (None, None)), name
        assert row["rating"] == pytest.approx(rows[name]["rating"], abs=1e-6)
        assert row["shown"] == pytest.approx(shown[name], abs=1e-6) and row["idle"] == idle[name]
        assert row["to_place"] == max(rule.placement - rows[name]["matches"], 0)
        assert row["moved"] == (before[name] - last[name] if name in before and name in last else None)
    assert steps["new"]["tier"] is None and len({row["tier"] for row in board.rows}) == 4
    assert [row["place"] for row in board.rows] == [*range(1, 16)]
    assert [row["shown"] for row in board.rows] == sorted((row["shown"] for row in board.rows), reverse=True)
    if by == "points":
        assert steps["s1"]["shown"] < steps["s1"]["rating"] - 5.0  # who rests is shown lower, and forecast as before
    book.update_one(*((["s3", "s4"],) if kind == "rank" else ("s3", "s4", "win")))
    new = {row["name"]: row["rating"] for row in tier_board(book).rows}
    assert new == pytest.approx(dict(book.ratings_.select("name", "rating").rows()), abs=1e-9)


def test_a_margin_keeps_who_is_near_a_bound(tmp_path):
    """Of 60 days fewer steps are taken with a margin, and none is where the number did not pass a bound."""
    table, _ = league(5, rounds=60, seasons=1)
    changes = []
    for margin in (0.0, 25.0):
        rule = Tiers({"A": 1300, "B": 1450, "C": 1550}, divisions=3, margin=margin, placement=0)
        rater, before, count = kn.TeamElo.classic(k=24, home_advantage=0.0, ties=0.0), None, 0
        played = kn.read_matches(table | {"neutral": [True] * len(table["home"])})
        for start in range(0, len(played), 7):
            rater.update(played[start : start + 7])
            shown = rater.ratings_.sort("name")["rating"].to_numpy()
            old = np.full(shown.size, -1) if before is None else before
            before = rule.step(old, shown, rule.lower(shown))
            count += 0 if start == 0 else int((before != old).sum())
        changes.append(count)
    assert changes[1] < 0.6 * changes[0]


def test_a_season_begins_with_steps_of_its_own(tmp_path):
    book = begin("classic", tmp_path / "x.db")
    set_tiers(book, RULES["points"])
    book.season("One", reset=0.8, date=str(book.matches().date[-1] - 1))
    board = tier_board(book)
    assert all(row["moved"] is None for row in board.rows)
    assert {row["name"]: row["rating"] for row in board.rows} == pytest.approx(
        dict(book.ratings_.select("name", "rating").rows())
    )
    with pytest.raises(kn.InputError, match="Nobody who was placed has played in the last 3 days"):
        moved_by_luck(book)
    book.season("Two", reset=0.5)
    code, said = run("tiers", book.path)
    rows = tier_board(book).rows
    assert code == 0 and said.count("placed after") == 1 and "Nobody who was placed has played" in said
    bounds = RULES["points"].lower(np.empty(0))
    for row in rows[:-1]:
        step = int((bounds[1:] <= row["shown"]).sum())
        assert row["name"] == "new" or (row["tier"], row["division"]) == RULES["points"].steps[step]


@pytest.mark.parametrize(
    "kind", ["classic", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("kalman", "rank"))]
)
def test_luck_alone_moves_as_many_as_results_drawn_from_forecasts(kind, tmp_path):
    """Where results really are drawn from the forecasts, as many move as is said: over 12 boards within 4 standard
    errors (chance of more: .0001); and a K near 0 moves nobody."""
    book, rule = begin(kind, tmp_path / "x.db"), RULES["share" if kind == "kalman" else "points"]
    set_tiers(book, rule)
    found = moved_by_luck(book, seed=1)
    played, day = book.matches(), book.matches().date[-1] - rule.every
    half = int(np.searchsorted(played.date, day, side="right"))
    rater = RATERS[kind]().update(played[:half])
    then, now = (dict(one.ratings_.select("name", "matches").rows()) for one in (rater, book.rater))
    assert found.players == sum(now[name] > n for name, n in then.items() if n >= rule.placement) < len(then)
    generator, shares = np.random.default_rng(5), []
    for k in range(12):
        drawn = drawn_anew(played[half:], rater.predict(played[half:]), generator)
        other = kn.RatingBook(tmp_path / f"{k}.db", RATERS[kind]())
        other.add(played[:half])
        other.add(drawn)
        set_tiers(other, rule)
        shares.append(moved_by_luck(other, seed=2).moved)
    error = np.std(shares, ddof=1) * (1 / 12 + 1 / found.draws) ** 0.5
    assert abs(np.mean(shares) - found.by_luck) < 4.0 * error and found.days == rule.every and found.draws == 20
    assert 0.02 < found.by_luck < 0.9
    if kind == "classic":
        still = kn.RatingBook(tmp_path / "still.db", kn.TeamElo.classic(k=1e-6, ties=0.0, home_advantage=0.0))
        still.add(played)
        set_tiers(still, rule)
        assert moved_by_luck(still).by_luck == 0.0 == moved_by_luck(still).moved


@pytest.mark.parametrize("kind", ["classic", "rank"])
def test_results_are_drawn_with_the_chances_of_their_forecasts(kind, tmp_path):
    """Of 1,000 drawn matches the favourites win as often as forecast, within 4 standard errors (chance: .0001)."""
    book = begin(kind, tmp_path / "x.db")
    names, generator = book.ratings_["name"].to_list(), np.random.default_rng(3)
    if kind == "rank":
        match = book.matches()[-1:]
        chance = book.rater.predict(match).win[0]
        first = match.entrants[match.entrant[0]]
        forecast = book.rater.predict(match)
        won = [drawn_anew(match, forecast, generator) for _ in range(1000)]
        share = np.mean([one.entrants[one.entrant[np.argmin(one.place)]] == first for one in won])
    else:
        match = kn.read_matches({"home": [names[0]] * 1000, "away": [names[-1]] * 1000, "result": [0.0] * 1000,
                                 "neutral": [True] * 1000, "date": ["2026-01-01"] * 1000})  # fmt: skip
        forecast = book.predict(match)
        chance, share = forecast.points[0], drawn_anew(match, forecast, generator).result.mean()
    assert abs(share - chance) < 4.0 * (chance * (1 - chance) / 1000) ** 0.5 and not 0.42 < chance < 0.58


def test_eight_days_are_looked_at(tmp_path):
    book, rule = begin("classic", tmp_path / "x.db"), RULES["points"]
    days = [np.datetime64(day, "D") for day, _, _ in _looks(book, rule)]
    assert days == [book.matches().date[-1] - 3 * k for k in (7, 6, 5, 4, 3, 2, 1, 0)]


def test_rules_that_are_none_are_refused(tmp_path):
    for words, why in (
        ({"bounds": {"A": 1}}, "2 to 50 names"), ({"bounds": {"A": 3, "B": 2}}, "name the lowest first"),
        ({"bounds": {"A": 0.5, "B": 0.6}, "by": "share"}, "add up to 1, not to 1.1"), ({"by": "rank"}, "'points' or"),
        ({"bounds": {"A": 1, " ": 2}}, "is not the name of a tier"), ({"divisions": 0}, "divisions"),
        ({"divisions": 21}, "at most 20"), ({"margin": -1}, "margin"), ({"every": 401}, "at most 400"),
    ):  # fmt: skip
        with pytest.raises(kn.InputError, match=why):
            Tiers(**({"bounds": {"A": 1, "B": 2}} | words))
    book = kn.RatingBook(tmp_path / "x.db", kn.Glicko())
    with pytest.raises(kn.InputError, match="keeps no rule of tiers"):
        tier_board(book)
    set_tiers(book, RULES["share"])
    with pytest.raises(kn.InputError, match="holds no matches yet"):
        tier_board(book)
    set_tiers(book, None)
    assert tiers_of(book) is None


def test_the_command_keeps_a_rule_and_shows_the_board(tmp_path):
    book = begin("classic", tmp_path / "x.db")
    rule = tmp_path / "tiers.toml"
    rule.write_text("divisions = 2\nplacement = 7\nevery = 3\n[bounds]\nLow = 1300\nMid = 1470\nHigh = 1570\n")
    code, said = run("tiers", book.path, "--rule", rule)
    first, luck = tier_board(book).rows[0], moved_by_luck(book)
    assert code == 0 and "placed after 5 more" in said and f"{first['name']} │ High 1" in " ".join(said.split())
    assert f"{luck.by_luck:.0%} would have by luck alone" in " ".join(said.split())
    page = tmp_path / "board.html"
    code, said = run("tiers", book.path, "--out", page)
    assert code == 0 and f"{page}: 15 on the board" in said and "<td>placed after 5 more</td>" in page.read_text()
    assert f"<h1>Leaderboard</h1><p>After the matches up to {tier_board(book).date}.</p>" in page.read_text()
    rule.write_text("bounds = 3")
    with pytest.raises(kn.InputError, match="2 to 50 names"):
        run("tiers", book.path, "--rule", rule)
    rule.write_text("[bounds]\nLow = 1\nHigh = 2\n[other]\n")
    with pytest.raises(kn.InputError, match=r"tiers\.toml is no rule of tiers"):
        run("tiers", book.path, "--rule", rule)
    with pytest.raises(kn.InputError, match="go with kinelo book tiers BOOK"):
        run("check", book.path, "--rule", rule)


@pytest.mark.parametrize(("season", "step"), [(9, 1), (10, 1), (11, 0), (17, 0), (18, None)])
def test_steps_are_kept_from_the_first_day_of_a_season_on(season, step):
    """Who stood above a bound by a look of this season stays a step up within the margin below it."""
    rule = Tiers({"A": 0, "B": 100}, divisions=1, margin=50, placement=0)
    looks = [
        (day, Seen([("side", "x")], np.array([rating]), np.array([9]), np.zeros(1)), None)
        for day, rating in ((10, 120.0), (17, 80.0))
    ]
    assert _walked(rule, looks, season) == ({} if step is None else {("side", "x"): step})


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("divisions", 1, 20), ("placement", 0, 10**6), ("decay_after", 0, 10**5), ("every", 1, 400)],
)
def test_whole_numbers_of_a_rule_lie_within_their_limits(name, low, high):
    bounds = {"silver": 1400, "gold": 1600}
    for inside in (low, high):
        assert getattr(Tiers(bounds, **{name: inside}), name) == inside
    for outside, said in (
        (low - 1, f"{name} must be a whole number of at least {low}, not {low - 1}."),
        (high + 1, f"{name} is at most {high:,}, not {high + 1:,}."),
    ):
        with pytest.raises(kn.InputError) as refused:
            Tiers(bounds, **{name: outside})
        assert str(refused.value) == said


def test_a_board_shows_tiers_with_arrows_and_kinds_where_there_are_several():
    rows = [
        {"place": k + 1, "kind": kind, "name": name, "rating": 1500.4 + k, "shown": 1480.6 + k, "tier": tier,
         "division": 2, "matches": 31 + k, "idle": k, "to_place": 4, "moved": moved}
        for k, (kind, name, tier, moved) in enumerate(
            [("car", "A", "Gold", 2), ("car", "B", "Gold", -1), ("car", "C", "Low", 0), ("lane", "D", "Low", None),
             ("lane", "E", None, None)])
    ]  # fmt: skip
    both = TierBoard("2024-05-01", tuple(rows), {"car": (None, 1.0), "lane": (None, 2.0)})
    assert both.table().cells() == [
        ["1", "car", "A", "Gold 2 ↑", "1481", "1500", "31"], ["2", "car", "B", "Gold 2 ↓", "1482", "1501", "32"],
        ["3", "car", "C", "Low 2", "1483", "1502", "33"], ["4", "lane", "D", "Low 2", "1484", "1503", "34"],
        ["5", "lane", "E", "placed after 4 more", "1485", "1504", "35"],
    ]  # fmt: skip
    one = TierBoard("2024-05-01", tuple(rows[:1]), {"car": (None, 1.0)})
    assert one.table().cells() == [["1", "A", "Gold 2 ↑", "1481", "1500", "31"]]
    assert "After the matches up to 2024-05-01." in both.html(2) and "<td>B</td>" in both.html(2).replace(
        ' class="name"', ""
    )
    assert "Low 2" not in both.html(2)


def test_luck_is_told_with_its_shares():
    assert MovedByLuck(0.123, 0.456, 1234, 7, 20).lines() == [
        "Of 1,234 placed who played in the last 7 days, 12% changed division; 46% would have by luck alone, with "
        "skills as they were (20 draws)."
    ]


def test_shown_numbers_decay_by_week_up_to_the_most_and_shares_are_those_of_who_is_placed():
    rule = Tiers({"A": 0, "B": 100}, decay=14.0, decay_after=10, decay_most=25.0)
    found = rule.shown(np.full(6, 1500.0), np.array([0, 10, 11, 17, 22, 400]))
    assert found == pytest.approx([1500.0, 1500.0, 1498.0, 1486.0, 1476.0, 1475.0])
    share = Tiers({"A": 0.5, "B": 0.3, "C": 0.2}, by="share", divisions=2)
    # Of ten who are placed: from the 2.5th, 5th, 6.5th and 8th on, rounded to even.
    ordered = np.array([3.0, 9.0, 1.0, 7.0, 5.0, 0.0, 8.0, 2.0, 6.0, 4.0]) * 10
    assert share.lower(ordered)[1:].tolist() == [20.0, 50.0, 60.0, 80.0] and share.lower(ordered)[0] == -np.inf
    assert share.lower(np.empty(0))[1:].tolist() == [np.inf] * 4
    assert share.steps == (("A", 2), ("A", 1), ("B", 2), ("B", 1), ("C", 1))


def test_a_rule_that_is_none_is_said_to_be_of_its_book(tmp_path):
    book = begin("classic", tmp_path / "x.db", rounds=4)
    set_tiers(book, RULES["points"])
    with book._database.transaction():
        book._database.run("UPDATE about SET value = ? WHERE key = 'tiers'", ('{"bounds": {"A": 1}}',))
    with pytest.raises(
        kn.InputError, match=r"x\.db holds a rule of tiers that is none \(Tiers are 2 to 50 .*\); set it again"
    ):
        tiers_of(book)
