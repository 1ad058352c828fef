"""Teams of contests as they are: how many play, for how long, and whether they came together."""

import copy
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.raters.adapter import blank_of
from kinelo.raters.rank.state import log_sizes

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "unequal-teams.md"


def given(covariate, kind="player"):
    """A rater of which nothing is left to estimate by kind."""
    walk, spread = {kind: 0.3, covariate: 0.02}, {kind: 0.8, covariate: 0.8}
    return kn.RankElo(covariates=[covariate], walk=walk, prior_spread=spread, newcomer=0.0, regression=0.02)


def lobbies(worth, seed=5, n=700, people=20, party=0.0):
    """Rows of players: the log of a team's size is ``worth`` points, a further friend in the party ``party``."""
    rng = np.random.default_rng(seed)
    strength, rows = rng.normal(0.0, 250.0, people), []
    for k in range(n):
        sizes, friends = (3, 5)[:: rng.choice([1, -1])] if worth else (3, 3), rng.integers(1, 4, 2)
        who = rng.permutation(people)[: sum(sizes)]
        teams = who[: sizes[0]], who[sizes[0] :]
        level = [strength[t].mean() + worth * math.log(t.size) + party * f for t, f in zip(teams, friends)]
        won = rng.random() < 1 / (1 + 10 ** (-(level[0] - level[1]) / 400))
        day = str(np.datetime64("2022-01-01") + k // 3)
        for t, team in enumerate(teams):
            place = 1 + (won != (t == 0))
            rows += [(k, day, f"p{i}", f"{k}{'ab'[t]}", place, int(friends[t])) for i in team]
    return dict(zip(("race", "date", "player", "team", "place", "party"), map(list, zip(*rows))))


def read(table, *advantages):
    kept = {name: column for name, column in table.items() if name != "party" or "party" in advantages}
    return kn.read_contests(kept, team="team", slots=["player"], advantages=list(advantages))


def larger(contests, forecast):
    """Chance and success of the larger team."""
    size = (contests.slots["player"].codes >= 0).sum(axis=1)
    return forecast.win[size == 5].mean(), (contests.place[size == 5] == 1).mean()


@pytest.fixture(scope="module")
def sized():
    contests = read(lobbies(400.0))
    return contests, given("size").fit(contests[:350])


def test_the_worth_of_a_player_more_is_found(sized):
    """The larger team wins about .62; one in a thousand draws of a binomial of 350 lies .085 off, either way."""
    contests, rater = sized
    (row,) = rater.effects_.to_dicts()
    assert row["name"] == "size" and abs(row["effect"] - 400.0) < 3.3 * row["standard_error"] < 300.0
    said, happened = larger(contests[350:], rater.one_step_ahead(contests[350:]))
    assert abs(said - happened) < 0.085 and said > 0.58
    with pytest.warns(kn.KineloWarning, match="different sizes in 350 of 350 contests"):
        blind = kn.RankElo(walk=0.3, prior_spread=0.8, newcomer=0.0, regression=0.02).fit(contests[:350])
    assert abs(larger(contests[350:], blind.one_step_ahead(contests[350:]))[0] - 0.5) < 0.03


def test_sizes_by_hand_and_by_book(sized, tmp_path):
    contests, fitted = sized
    whole, single = blank_of(fitted).update(contests[:9]), blank_of(fitted)
    book = kn.RatingBook(tmp_path / "a.db", blank_of(fitted))
    one_by_one = kn.RatingBook(tmp_path / "b.db", blank_of(fitted))
    book.add(contests[:9])
    for k in range(9):
        names, codes = contests[k].slots["player"].names, contests[k].slots["player"].codes
        order = [[names[c] for c in row if c >= 0] for row in codes[np.argsort(contests[k].place)]]
        single.update_one(order, date=str(contests.date[k]))
        one_by_one.update_one(order, date=str(contests.date[k]), match_id=str(k))
    for other in (single, book.rater, one_by_one.rater):
        assert other.effects_.equals(whole.effects_) and other.ratings_.sort("name").equals(whole.ratings_.sort("name"))
    assert book.check() == [] and one_by_one.check() == []
    taken = copy.deepcopy(whole)
    taken.from_arrays(whole.to_arrays())
    teams = [["p1", "p2", "p3"], ["p4", "p5"]]
    assert taken.predict_one(teams).win.tolist() == whole.predict_one(teams).win.tolist()
    fair = kn.balance(whole, ["p1", "p2", "p3", "p4", "p5"], sides=[3, 2], best=4)
    for split in fair.splits:
        sides = [list(side) for side in split.sides]
        assert split.quality == pytest.approx(kn.match_quality(whole, sides), abs=1e-9)
        assert split.chances[0] == pytest.approx(whole.predict_one(sides).win[0], abs=1e-6)


def test_who_left_counts_for_the_part_played(tmp_path):
    """Shares by hand: what a place teaches goes to team-mates as their minutes do, and the team counts as smaller."""
    start = {"Ann": 1600, "Bob": 1600, "Cid": 1500, "Dee": 1500, "Eve": 1500}
    teams, minutes = [["Ann", "Bob"], ["Cid", "Dee", "Eve"]], {"Ann": 30, "Bob": 10, "Cid": 30, "Dee": 30, "Eve": 0}
    rater = given("size", "entrant").set_params(start=start)
    after = copy.deepcopy(rater).update_one(teams, minutes=minutes).ratings_
    gain = {name: rating - start[name] for name, rating in after.select("name", "rating").rows()}
    assert gain["Ann"] == pytest.approx(3 * gain["Bob"]) and gain["Ann"] > 0 > gain["Cid"]
    assert gain["Cid"] == pytest.approx(gain["Dee"]) and gain["Eve"] == pytest.approx(0.0, abs=1e-9)
    contest = rater._contest_one(teams, minutes=minutes)
    assert np.exp(log_sizes(contest)).tolist() == pytest.approx([40.0, 60.0])
    assert np.exp(log_sizes(rater._contest_one(teams, minutes={"Ann": 30}))).tolist() == pytest.approx([2.0, 3.0])
    book = kn.RatingBook(tmp_path / "m.db", copy.deepcopy(rater))
    book.update_one(teams, minutes=minutes, match_id="x", date="2024-05-01")
    book.add([{"match_id": "y", "order": teams[::-1], "minutes": minutes, "date": "2024-05-02"}])
    twin = copy.deepcopy(rater).update_one(teams, minutes=minutes, date="2024-05-01")
    twin.update_one(teams[::-1], minutes=minutes, date="2024-05-02")
    assert book.rater.ratings_.equals(twin.ratings_) and book.check() == []
    assert book.matches().slots["entrant"].minutes[0, :2].tolist() == [30.0, 10.0]
    book.erase("Bob", "gone")
    assert b"Bob" not in (tmp_path / "m.db").read_bytes() and book.check() == [] and book.remove_player("gone") == 2
    for wrong, said in (({"Zoe": 3}, "not in this contest"), ({"Ann": -1}, "from 0 on"), ([3], "not understood"),
                        ({"Ann": 0, "Bob": 0}, "Nobody of a team")):  # fmt: skip
        with pytest.raises(kn.InputError, match=said):
            rater._contest_one(teams, minutes=wrong)
    with pytest.raises(kn.InputError, match="no minutes"):
        kn.TeamElo.classic(k=20).update_one(teams, minutes=minutes)


def test_a_party_is_a_covariate(tmp_path):
    table = lobbies(0.0, party=80.0)
    contests = read(table, "party")
    rater = given("party").fit(contests)
    (row,) = rater.effects_.to_dicts()
    assert abs(row["effect"] - 80.0) < 3.3 * row["standard_error"] < 70.0
    together = rater.predict_one([(["p1", "p2", "p3"], 3), (["p4", "p5", "p6"], 1)])
    assert together.win[0] > rater.predict_one([(["p1", "p2", "p3"], 1), (["p4", "p5", "p6"], 1)]).win[0] + 0.1
    assert kn.balance(rater, ["p1", "p2", "p3", "p4"]).best.sides, "numbers that nobody says are alike"
    # Which party would make a lobby fair; and the same by book and command line.
    fair = kn.fair_value(rater, ["p1", "p2", "p3"], covariate="party")
    means = rater.predict_one([(name, number) for name, number in fair.items()]).mean
    assert np.ptp(means) < 1e-9 and sum(fair.values()) == pytest.approx(0.0, abs=1e-9)
    more = kn.fair_value(rater, "p1", "p2", "party")
    assert rater.predict_one([("p1", more), ("p2", 0.0)]).win[0] == pytest.approx(0.5, abs=1e-9)
    book = kn.RatingBook(tmp_path / "p.db", blank_of(rater))
    book.add(contests)
    assert kn.fair_value(book, ["p1", "p2", "p3"], covariate="party") == pytest.approx(fair, abs=1e-9)
    done = CliRunner().invoke(
        app, ["predict", "--match", "p1; p2; p3", "--fair", "party", "--book", str(tmp_path / "p.db"), "--json"]
    )
    assert json.loads(done.stdout)["fair"] == kn.fair_value(book, ["p1", "p2", "p3"], covariate="party")
    with pytest.raises(kn.InputError, match="could make fair"):
        kn.fair_value(rater, ["p1", "p2"], covariate="size")


def test_sizes_on_the_command_line(tmp_path):
    import polars as pl

    table = lobbies(400.0, n=60)
    pl.DataFrame({name: column for name, column in table.items() if name != "party"}).write_csv(tmp_path / "l.csv")
    CliRunner().invoke(app, ["read", str(tmp_path / "l.csv"), "--team", "team", "--slot", "player"])
    done = CliRunner().invoke(app, ["rate", str(tmp_path / "l.csv"), "--covariate", "size"])
    assert done.exit_code == 0 and re.search(r"\bsize\b", done.output), done.output


def test_the_page_runs(capsys):
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
    assert len(re.findall(r"\bsize\b", printed := capsys.readouterr().out)) == 1 and "party" in printed
    (row,) = names["rater"].effects_.to_dicts()
    assert 0.0 < row["effect"] < 400.0 + 3.3 * row["standard_error"], "it comes out too small, as the page says"
    six, five = kn.balance(names["rater"], [*names["six"], *names["five"]], sides=[6, 5]).best.sides
    assert {len(six), len(five)} == {6, 5} and {*six, *five} == {*names["six"], *names["five"]}
