"""Fair teams: every split, one by one, by the rater's own match quality; wishes, search, and the other doors."""

import json
import math
import re
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app
from kinelo.raters.balance import _canonical, _drafted, all_splits, number_of_splits
from leagues import match_league

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "fair-teams.md"
KNOWN = {
    "name": ["Ann", "Bob", "Cid", "Dee", "Eve", "Fay", "Gus"],
    "rating": [1890.0, 1760.0, 1704.0, 1611.0, 1555.0, 1490.0, 1333.0],
    "deviation": [40.0, 65.0, 50.0, 45.0, 150.0, 40.0, 90.0],
}


def glicko():
    return kn.Glicko(deviation=300.0, growth=10.0, home_advantage=0.0, ties=0.5, start=KNOWN)


def by_hand(present, size):
    """Quality of every split into two, from ratings and deviations alone, by a sum over a normal law."""
    table = {n: (r, d) for n, r, d in zip(*KNOWN.values(), strict=True)}
    found = {}
    for one in combinations(present, size):
        other = tuple(name for name in present if name not in one)
        mean = sum(table[n][0] for n in one) / len(one) - sum(table[n][0] for n in other) / len(other)
        spread = math.sqrt(sum((table[n][1] / len(side)) ** 2 for side in (one, other) for n in side))
        z = np.linspace(mean - 9 * spread, mean + 9 * spread, 20_001)
        weight = np.exp(-0.5 * ((z - mean) / spread) ** 2)
        # Davidson in points of expected score: win : draw : loss = e^x : κ : e^−x, with the slope of 400 points
        kappa = 0.5
        x = math.log(10) / 800 * (1 + kappa / 2) * z
        total = np.exp(x) + kappa + np.exp(-x)
        found[one, other] = 1 - float(((np.exp(x) - np.exp(-x)) / total) ** 2 @ weight / weight.sum())
    return found


def test_every_split_by_hand():
    expected = by_hand(KNOWN["name"], 4)
    fair = kn.balance(glicko(), KNOWN["name"], best=35)
    assert fair.exact and fair.looked_at == 35 == len(fair.splits)
    assert {split.sides: pytest.approx(split.quality, abs=1e-7) for split in fair.splits} == expected
    assert [split.quality for split in fair.splits] == sorted((s.quality for s in fair.splits), reverse=True)
    for split in fair.splits[:3]:
        assert sum(split.chances) == pytest.approx(1.0)
        mirrored = split.quality > 0.9 and abs(split.chances[0] - split.chances[2])
        assert mirrored is False or mirrored < 0.2


def test_splits_are_counted_once():
    for sizes in ((2, 2), (3, 2, 2), (2, 2, 2), (3, 3, 1, 1)):
        found = all_splits(sizes)
        assert len(found) == number_of_splits(sizes) == len({tuple(row) for row in found.tolist()})
        assert all(np.bincount(row).tolist() == list(sizes) for row in found)
        sets = {frozenset(frozenset(np.flatnonzero(row == k).tolist()) for k in range(len(sizes))) for row in found}
        assert len(sets) == len(found)
        every = {
            frozenset(frozenset(order[sum(sizes[:k]) : sum(sizes[: k + 1])]) for k in range(len(sizes)))
            for order in permutations(range(sum(sizes)))
        } if sum(sizes) < 8 else sets  # fmt: skip
        assert sets == every


def players():
    table = match_league(1)
    values = {p.name: p.default for p in kn.PlayerElo._declared_parameters}
    matches = kn.read_matches(table.results, table.lineups, ordered=True)
    return kn.PlayerElo(**values | {"doubt": 2.5}, covariance="full").fit(matches)


def test_a_rater_of_players_splits_by_its_own_match_quality():
    rater = players()
    present = [*rater.ratings_["name"].to_list()[:5], "somebody new"]
    fair = kn.balance(rater, present, best=10)
    for split in fair.splits:
        lineups = dict(zip(("home_lineup", "away_lineup"), split.sides, strict=True))
        quality = kn.match_quality(rater, "one", "two", neutral=True, **lineups)
        assert split.quality == pytest.approx(quality, abs=1e-9)
        said = rater.predict_one("one", "two", neutral=True, **lineups)
        assert split.chances == pytest.approx(said.probabilities[0], abs=1e-9)
    assert len(fair.splits) == 10 and fair.unknown == ("somebody new",)


@pytest.mark.parametrize("doubt", [0.0, 0.4, 2.5])
def test_one_against_one_is_a_match_as_the_rater_forecasts_it(doubt):
    """Whatever the share of doubt that its readings take."""
    rater = kn.KalmanElo(walk=0.3, prior_spread=1.2, noise=0.8, doubt=doubt, ties=0.5, sharpness=1.4)
    rater.update(kn.read_matches({"home": list("ABCADB"), "away": list("BCABAD"), "result": [1, 1, 0.5, 1, 0.5, 0]}))
    [split] = kn.balance(rater, ["D", "A"], best=1).splits
    said = rater.predict_one("D", "A", neutral=True).probabilities[0]
    assert split.sides == (("D",), ("A",)) and split.chances == pytest.approx(said, abs=1e-9)


def test_a_rater_of_contests_splits_by_its_own_match_quality():
    rater = kn.RankElo(start={"Ann": 1700, "Bob": 1600, "Cid": 1580, "Dee": 1400, "Eve": 1300, "Fay": 1250})
    fair = kn.balance(rater, ["Ann", "Bob", "Cid", "Dee", "Eve", "Fay"], sides=3, best=15)
    assert len(fair.splits) == 15
    for split in fair.splits:
        assert split.quality == pytest.approx(kn.match_quality(rater, [list(side) for side in split.sides]), abs=1e-9)
        assert sum(split.chances) == pytest.approx(1.5)


def test_wishes_are_kept_and_priced():
    rater, names = glicko(), KNOWN["name"]
    free = kn.balance(rater, names, best=99)
    wished = kn.balance(rater, names, together=[["Ann", "Bob"]], apart=[["Cid", "Gus"]], best=99)
    kept = [
        split for split in free.splits
        if any({"Ann", "Bob"} <= set(side) for side in split.sides)
        and not any({"Cid", "Gus"} <= set(side) for side in split.sides)
    ]  # fmt: skip
    assert wished.splits == tuple(kept) and 0 < len(kept) < len(free.splits)
    apart_alone = kn.balance(rater, names, apart=[["Cid", "Gus"]])
    assert wished.costs["together: Ann, Bob"] == pytest.approx(apart_alone.best.quality - wished.best.quality)
    assert wished.costs["together: Ann, Bob"] > 0.001
    spread = kn.balance(rater, names, roles={"Ann": "tank", "Bob": "tank", "Gus": "healer"}, best=99)
    assert all(len({"Ann", "Bob"} & set(side)) == 1 for split in spread.splits for side in split.sides)
    late = kn.balance(rater, [*names[:4], "Max", "Neu"], newcomers=1, best=99)
    assert late.unknown == ("Max", "Neu") and [*late.costs] == ["newcomers spread: Max, Neu"]
    assert all(len({"Max", "Neu"} & set(side)) == 1 for split in late.splits for side in split.sides)


def test_the_search_finds_what_looking_at_all_finds(monkeypatch):
    rng = np.random.default_rng(3)
    known = {f"P{k}": float(r) for k, r in enumerate(rng.normal(1500, 250, 10).round(2))}
    rater = kn.TeamElo.classic(start=known)
    wish = {"together": [["P1", "P2"]], "apart": [["P3", "P4"]]}
    exact = kn.balance(rater, list(known), **wish)
    monkeypatch.setattr("kinelo.raters.balance.MOST_SPLITS", 10)
    searched = kn.balance(rater, list(known), **wish)
    assert exact.exact and not searched.exact and searched.looked_at > 100
    assert searched.best.quality == pytest.approx(exact.best.quality, abs=2e-4)
    assert searched.best.quality <= exact.best.quality + 1e-12
    assert searched == kn.balance(rater, list(known), **wish), "the same seed, the same splits"
    assert {"P1", "P2"} <= set(next(side for side in searched.best.sides if "P1" in side))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"players": "Ann"}, "a list of names"), ({"players": ["Ann"]}, "Between 2"),
        ({"players": ["Ann", "Ann"]}, "named twice"), ({"sides": 1}, "into 1 sides"), ({"sides": [4, 4]}, "need 8"),
        ({"sides": "two"}, "number of sides"), ({"together": [["Ann", "Zoe"]]}, "'Zoe' of together"),
        ({"together": [["Ann"]]}, "two names or more"), ({"apart": [["Ann", "Bob", "Cid"]]}, "cannot be apart"),
        ({"together": [["Ann", "Bob"]], "apart": [["Ann", "Bob"]]}, "meets all wishes"),
        ({"together": [["Ann", "Bob", "Cid", "Dee", "Eve"]]}, "on a side of 4"), ({"best": 0}, "at least 1"),
        ({"roles": ["tank"]}, "by name"), ({"newcomers": -1}, "of matches"), ({"date": "soon"}, "not a date"),
    ],
)  # fmt: skip
def test_what_cannot_be_split_is_refused(asked, said):
    with pytest.raises(kn.InputError, match=said):
        kn.balance(glicko(), **({"players": KNOWN["name"]} | asked))


def test_the_doors_agree(tmp_path):
    table = match_league(2)
    table.results.drop("surface").write_csv(tmp_path / "results.csv")
    rater = kn.TeamElo.classic(k=20).fit(kn.read_matches(tmp_path / "results.csv"))
    book = kn.RatingBook(tmp_path / "league.db", kn.TeamElo.classic(k=20))
    book.add(kn.read_matches(tmp_path / "results.csv"))
    names = rater.ratings_["name"].to_list()[:6]
    expected = kn.balance(rater, names, [4, 2], together=[names[:2]])
    assert kn.balance(book, names, [4, 2], together=[names[:2]]) == expected
    (tmp_path / "lobby.txt").write_text("\n".join(names))
    words = ["predict", "--balance", tmp_path / "lobby.txt", "--book", tmp_path / "league.db", "--sides", "4,2"]
    done = CliRunner().invoke(app, list(map(str, [*words, "--together", ", ".join(names[:2]), "--json"])))
    assert json.loads(done.stdout) == {"rater": "ClassicElo", **json.loads(json.dumps(expected.to_dict()))}
    typed = ["predict", "--balance", "; ".join(names), "--book", str(tmp_path / "league.db")]
    shown = CliRunner().invoke(app, typed)
    assert shown.exit_code == 0 and "All 10 splits were looked at." in shown.output
    for wrong in (["--sides", "two"], ["--role", "Ann"], ["--results", "x.csv"], ["--match", "A - B"], ["--fair", "x"]):
        refused = CliRunner().invoke(app, [*typed, *wrong])
        assert refused.exit_code == 2 or isinstance(refused.exception, kn.InputError)


def test_the_page_runs(capsys):
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
    assert "together: Ann, Bob" in capsys.readouterr().out


@pytest.mark.parametrize("group", [[[["A"], ["B"]]], np.array("A")], ids=["lists of lists", "an array of no dimension"])
def test_what_is_no_group_of_names_is_refused_in_a_sentence(group):
    rater = kn.TeamElo.classic(start=dict.fromkeys("ABCD", 1500.0))
    for wish in ("together", "apart"):
        with pytest.raises(kn.InputError, match=f"{wish} must be a list of groups"):
            kn.balance(rater, list("ABCD"), **{wish: group})


def test_the_search_goes_on_until_every_wish_is_met():
    """Of 24 players in three sides seven pairs stay together and four apart: no single exchange brings that about."""
    names = [f"P{k}" for k in range(24)]
    start = {"name": names, "rating": [1500.0 + 29.0 * k for k in range(24)], "deviation": [60.0] * 24}
    together = [[f"P{one}", f"P{other}"] for one, other in zip(range(7), (13, 18, 9, 22, 15, 20, 11))]
    apart = [["P7", "P8"], ["P10", "P12"], ["P14", "P16"], ["P0", "P1"]]
    found = kn.balance(kn.Glicko(start=start), names, sides=3, together=together, apart=apart, best=2)
    assert not found.exact
    for split in (found.best, *found.splits):
        side = {name: k for k, members in enumerate(split.sides) for name in members}
        assert sorted(map(len, split.sides)) == [8, 8, 8] and len(side) == 24
        assert all(side[one] == side[other] for one, other in together)
        assert all(side[one] != side[other] for one, other in apart)


@pytest.mark.parametrize(
    ("split", "sizes", "same"),
    [
        ([1, 0, 1, 0], (2, 2), [0, 1, 0, 1]), ([0, 1, 1, 0], (2, 2), [0, 1, 1, 0]),
        ([1, 1, 0, 0, 0], (3, 2), [1, 1, 0, 0, 0]),
        ([2, 1, 0, 1, 2, 0], (2, 2, 2), [0, 1, 2, 1, 0, 2]), ([2, 1, 0, 1, 0, 0], (3, 2, 1), [2, 1, 0, 1, 0, 0]),
    ],
)  # fmt: skip
def test_sides_of_one_size_stand_in_the_order_of_their_first_players(split, sizes, same):
    assert _canonical(np.array(split, np.int8), sizes).tolist() == same


@pytest.mark.parametrize(("sides", "splits"), [([4, 3], 35), ([3, 2, 2], 105)])
def test_what_is_shown_of_a_split_is_what_was_found(sides, splits):
    names = KNOWN["name"]
    fair = kn.balance(glicko(), names, sides, together=[["Ann", "Bob"]], apart=[["Cid", "Gus"]], best=3)
    cost = {
        wish: kn.balance(glicko(), names, sides, **other).best.quality - fair.best.quality
        for wish, other in (("together: Ann, Bob", {"apart": [["Cid", "Gus"]]}),
                            ("apart: Cid, Gus", {"together": [["Ann", "Bob"]]}))
    }  # fmt: skip
    assert fair.costs == pytest.approx(cost) and max(cost.values()) > 0.002
    assert fair.lines() == [
        f"All {splits} splits were looked at.",
        *(f"Without the wish '{wish}' the best split is evener by {points:.3f}." for wish, points in cost.items()),
    ]
    searched = replace(fair, exact=False, looked_at=12345)
    assert searched.lines()[0] == "A search looked at 12,345 splits."
    shown = " – ".join(", ".join(side) for side in fair.best.sides)
    assert repr(searched) == f"Balance: {shown}, quality {fair.best.quality:.3f} (best of 12,345 splits)"
    heads = [column.label for column in fair.table().columns]
    several = ["Side 1 takes", "Side 2 takes", "Side 3 takes"]
    chances = ["First wins", "Draw", "Second wins"] if len(sides) == 2 else several
    assert heads == ["", *(f"Side {k + 1}" for k in range(len(sides))), "Quality", *chances]
    for place, (row, split) in enumerate(zip(fair.table().rows, fair.splits, strict=True), 1):
        wanted = [place, split.quality, *map(", ".join, split.sides), *split.chances]
        assert list(row.values()) == wanted and [len(side) for side in split.sides] == sides


def test_points_of_three_sides_are_the_mean_of_those_against_the_others():
    rater = kn.TeamElo.classic(start=dict(zip(KNOWN["name"], KNOWN["rating"])), ties=0.0)
    (split,) = kn.balance(rater, KNOWN["name"], 3, best=1).splits
    known = dict(zip(KNOWN["name"], KNOWN["rating"]))
    mean = [sum(known[name] for name in side) / len(side) for side in split.sides]
    for one in range(3):
        points = [1 / (1 + 10 ** ((mean[other] - mean[one]) / 400)) for other in range(3) if other != one]
        assert split.chances[one] == pytest.approx(sum(points) / 2)
    assert [len(side) for side in split.sides] == [3, 2, 2]


def test_a_search_begins_with_players_chosen_by_strength_there_and_back():
    level = np.array([5.0, 9.0, 1.0, 7.0, 3.0, 8.0, 2.0])
    assert _drafted(level, (4, 3)).tolist() == [0, 0, 0, 1, 0, 1, 1]


@pytest.mark.parametrize(("newcomers", "group"), [(2, ""), (3, "C, D"), (4, "A, C, D"), (5, "")])
def test_newcomers_have_played_less_than_is_said(newcomers, group):
    """Neither nobody nor everybody is spread; a rating from a list is that of somebody settled."""
    table = {"home": ["A", "A", "A", "B", "B"], "away": ["B", "C", "C", "D", "D"], "result": [1, 0, 1, 1, 0.5]}
    rater = kn.TeamElo.classic().update(kn.read_matches({**table, "home": [*"AAABB"], "away": [*"BCCDD"]}))
    rater.update_one("B", "E", "win")
    fair = kn.balance(rater, list("ABCD"), newcomers=newcomers)
    assert [*fair.costs] == ([f"newcomers spread: {group}"] if group else [])
