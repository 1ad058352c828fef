"""What a match would change, and why it did: previews to the bit, terms that add up, for every rater and door."""

import copy
import html
import json
import math
import re
from functools import cache, partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app
from kinelo.raters.adapter import blank_of
from kinelo.raters.explanation import Explanation, Reason
from leagues import match_league

pytestmark = pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "changes.md"


def given(kind, **more):
    return partial(kind, **({p.name: p.default for p in kind._declared_parameters} | more))


RATERS = {
    "TeamElo": given(kn.TeamElo, prior_spread=170.0),
    "classic": partial(kn.TeamElo.classic, k=24, home_advantage=55.0),
    "Glicko": given(kn.Glicko),
    "Glicko2": given(kn.Glicko2),
    "KalmanElo": given(kn.KalmanElo, covariance="full", walk=0.5),
    "KalmanElo diagonal": given(kn.KalmanElo, covariance="diagonal"),
    "PlayerElo": given(kn.PlayerElo, covariance="full"),
    "BradleyTerry": partial(kn.BradleyTerry, ridge=0.05),
    "RankElo": given(kn.RankElo, walk=0.4),
}
AT = 60


@cache
def matches(lineups=False):
    table = match_league(1)
    results = table.results.with_columns(weight=pl.Series([1.0, 0.5] * 999)[: table.results.height])
    return kn.read_matches(results, table.lineups if lineups else None, ordered=True)


@cache
def fitted(name):
    return RATERS[name]().fit(matches(name == "PlayerElo")[:AT])


def ratings(rater):
    return dict(rater.ratings_.select("name", "rating").rows())


@pytest.mark.parametrize("name", [name for name in RATERS if name != "RankElo"])
def test_a_preview_is_what_then_happens_to_the_bit(name):
    rater, known = fitted(name), ratings(fitted(name))
    said = {"date": str(matches().date[AT] + 30), "neutral": False}
    home, away = matches().teams[2], matches().teams[0]
    if name == "PlayerElo":
        said |= {"home_lineup": [*known][:3], "away_lineup": [*[*known][4:6], "somebody new"]}
    state = {key: value.tobytes() for key, value in rater.to_arrays().items()}
    seen = kn.preview(rater, home, away, **said)
    assert {key: value.tobytes() for key, value in rater.to_arrays().items()} == state, "the rater is left alone"
    for k, outcome in enumerate(("win", "draw", "loss")):
        after = ratings(copy.deepcopy(rater).update_one(home, away, outcome, **said))
        for person in seen.after:
            assert seen.after[person][k] == after[person]
            change = seen.changes(person)[outcome]
            assert change == (None if person not in known else after[person] - known[person])
    assert seen.changes(next(iter(seen.after)))["win"] > seen.changes(next(iter(seen.after)))["loss"]


def test_a_preview_of_a_contest_tries_every_place():
    rater = kn.RankElo(start={"Ann": 1700, "Bob": 1600, "Cid": 1500}).update_one(["Ann", "Bob", "Cid"])
    known, state = ratings(rater), {key: value.tobytes() for key, value in rater.to_arrays().items()}
    assert [*kn.preview(rater, ["Bob", "somebody new"]).after] == ["Bob", "somebody new"]
    seen = kn.preview(rater, ["Bob", "Ann", "Cid"])
    assert {key: value.tobytes() for key, value in rater.to_arrays().items()} == state, "the rater is left alone"
    assert seen.outcomes == ("1", "2", "3") and [*seen.after] == ["Bob", "Ann", "Cid"]
    for place, order in enumerate((["Cid", "Ann", "Bob"], ["Ann", "Cid", "Bob"], ["Ann", "Bob", "Cid"])):
        assert seen.after["Cid"][place] == ratings(copy.deepcopy(rater).update_one(order))["Cid"]
    gains = [*seen.changes("Cid").values()]
    assert gains == sorted(gains, reverse=True) and gains[0] > 0 > gains[2] and known["Cid"] == seen.ratings["Cid"]
    assert [*kn.preview(rater, ["Bob", "Ann", "Cid"], of=["Ann"]).after] == ["Ann"]
    with pytest.raises(kn.InputError, match="not in this contest"):
        kn.preview(rater, ["Bob", "Ann"], of=["Zoe"])
    with pytest.raises(kn.InputError, match="say of whom"):
        kn.preview(rater, [f"P{k}" for k in range(13)])


def test_a_number_that_an_entrant_carries_is_not_taken_for_the_entrant_of_that_name():
    table = {"race": [1] * 3, "horse": ["7", "8", "9"], "place": [1, 2, 3], "weight": ["8", "9", "7"]}
    rater = kn.RankElo(covariates=["weight"], prior_spread=0.5).update(kn.read_contests(table, advantages=["weight"]))
    field = [("7", 8), ("8", 9), ("9", 7)]
    seen = kn.preview(rater, field)
    assert [*seen.after] == ["7", "8", "9"]
    assert seen.after["8"][0] == ratings(copy.deepcopy(rater).update_one([field[1], field[0], field[2]]))["8"]


@pytest.mark.parametrize("name", RATERS)
def test_terms_add_up_to_the_change(name):
    rater = RATERS[name]().fit(matches(name == "PlayerElo")[: AT + 1])
    played = matches(name == "PlayerElo")
    explained = kn.explain(rater, played.match_id[AT])
    walker = blank_of(rater).update(played[:AT])
    before = ratings(walker)
    after = ratings(walker.update(played[AT : AT + 1]))
    assert explained.reasons
    for person, reason in explained.reasons.items():
        assert (reason.before, reason.after) == (before.get(person), after[person])
        if reason.before is not None:
            assert math.fsum(reason.terms.values()) == pytest.approx(after[person] - before[person], abs=1e-9)
            assert math.copysign(1, reason.score - reason.expected) == math.copysign(1, reason.terms["surprise"])
    kinds = {term for reason in explained.reasons.values() for term in reason.terms}
    assert ("others" in kinds) == (name in ("KalmanElo", "PlayerElo"))
    assert ("venue" in kinds) == (not played.neutral[AT])


def test_plain_elo_by_hand():
    table = {
        "date": ["2024-01-01", "2024-01-08"], "home": ["A", "B"], "away": ["B", "A"], "result": [1, 0],
        "weight": [1.0, 0.5], "match_id": ["x", "y"],
    }  # fmt: skip
    rater = kn.TeamElo.classic(k=20, home_advantage=60.0).fit(kn.read_matches(table))
    reason = kn.explain(rater, "y").reasons["A"]
    first = 20 * (1 - 1 / (1 + 10 ** (-60 / 400)))
    gap = 2 * first  # A above B
    neutral, away = 1 / (1 + 10 ** (-gap / 400)), 1 / (1 + 10 ** (-(gap - 60) / 400))
    assert reason.before == pytest.approx(1500 + first)
    assert reason.change == pytest.approx(10 * (1 - away))
    assert reason.terms["weight"] == pytest.approx(-10 * (1 - away))
    assert reason.terms["venue"] == pytest.approx(20 * (neutral - away))
    assert reason.terms["surprise"] + reason.terms.get("drift", 0) == pytest.approx(20 * (1 - neutral))
    assert (reason.score, reason.expected) == (1.0, pytest.approx(neutral))
    assert reason.gain == pytest.approx(20.0, rel=1e-6)
    assert reason.sentence().startswith(f"A: {reason.before:.1f} → {reason.after:.1f} (+{reason.change:.1f}): ")
    for wrong in ("z", ""):
        with pytest.raises(kn.InputError, match="no match with the identifier"):
            kn.explain(rater, wrong)


def test_a_sentence_names_terms_from_a_twentieth_of_a_point_on_the_largest_first():
    terms = {"surprise": 7.31, "venue": -8.53, "rest": 0.049, "weight": 0.051}
    known, new = Reason("Ann", 1500.0, 1498.8, terms, 0.5, 0.21), Reason("Cid", None, 1512.34, {})
    assert known.sentence() == (
        "Ann: 1500.0 → 1498.8 (-1.2): -8.5 for the venue, +7.3 for the result against what was expected (score 0.5, "
        "expected 0.21, 25.2 points for one), +0.1 for the weight of the match."
    )
    assert known.gain == pytest.approx(7.31 / 0.29) and known.change == pytest.approx(-1.2)
    small = Reason("Bob", 1500.0, 1500.04, {"rest": 0.012, "surprise": 0.028}, 1.0, 1.0)
    assert small.sentence() == (
        "Bob: 1500.0 → 1500.0 (+0.0): +0.0 for the result against what was expected, "
        "+0.0 for the rest before the match."
    )
    assert (small.gain, new.gain, new.change) == (None, None, None)
    assert new.sentence() == "Cid enters the ratings with 1512.3."
    told = Explanation("m7", "2024-01-08", {one.name: one for one in (known, small, new)}, "It came late.")
    assert told.lines() == ["It came late.", known.sentence(), small.sentence(), new.sentence()]
    heads = [column.label for column in told.table().columns]
    assert heads == ["Name", "Before", "Change", "Surprise", "Weight", "Venue", "Rest"]
    assert [[str(cell) for cell in row][:4] for row in told.table().cells()][:2] == [
        ["Ann", "1500.0", "-1.2", "+7.3"], ["Bob", "1500.0", "+0.0", "+0.0"],
    ]  # fmt: skip


def test_a_contest_is_explained():
    races = kn.read_contests(
        {"race": [1] * 3 + [2] * 3, "date": ["2024-01-01"] * 3 + ["2024-06-01"] * 3,
         "driver": ["Ann", "Bob", "Cid", "Cid", "Ann", "Bob"], "place": [1, 2, 3, 1, 2, 3]}
    )  # fmt: skip
    for rater in (kn.RankElo(walk=0.4, prior_spread=0.8, newcomer=0.0, regression=0.1), kn.TeamElo.classic(k=30)):
        explained = kn.explain(rater.fit(races), "2")
        assert set(explained.reasons) == {"Ann", "Bob", "Cid"}
        for reason in explained.reasons.values():
            assert math.fsum(reason.terms.values()) == pytest.approx(reason.change, abs=1e-9)
        assert explained.reasons["Cid"].terms["places"] > 0 > explained.reasons["Bob"].terms["places"]


@pytest.mark.parametrize("name", ["classic", "KalmanElo", "PlayerElo"])
def test_an_account_tells_every_match_and_what_lies_between(name):
    rater, played = fitted(name), matches(name == "PlayerElo")[:AT]
    person = rater.ratings_["name"][1]
    told = kn.explain_last(rater, person, last=4)
    assert len(told.steps) == 4 and told.after == ratings(rater)[person]
    for step in told.steps:
        assert kn.explain(rater, step.match_id).reasons[person] == step.reason
    moved = [x for step in told.steps for x in (step.elsewhere, *step.reason.terms.values())]
    assert math.fsum([*moved, told.since]) == pytest.approx(told.after - told.before, abs=1e-8)
    assert math.fsum(told.totals().values()) == pytest.approx(told.change, abs=1e-8)
    assert ("elsewhere" in told.totals()) == (name != "classic"), "plain Elo moves nobody who does not play"
    for step in told.steps:
        at = int((played._keys == step.match_id).nonzero()[0][0])
        own = [played.teams[code] for code in (played.home[at], played.away[at])]
        if name != "PlayerElo":
            first = own[0] == person
            verb = {1.0: "won against", 0.5: "drew with", 0.0: "lost to"}
            assert step.words == f"{verb[abs(played.result[at] - (not first))]} {own[first]}"
        else:
            pattern = f"(won|drew|lost) for ({'|'.join(own)}) (against|with|to) ({'|'.join(own)})"
            assert re.fullmatch(pattern, step.words)
    meanwhile = [row["change"] for row in told.table().rows if str(row["words"]).startswith("while others played")]
    assert meanwhile == [x for x in (*(step.elsewhere for step in told.steps), told.since) if abs(x) >= 0.05]
    assert told.table().rows[-1]["change"] == told.change and told.lines()[0] == told.summary()
    with pytest.raises(kn.InputError, match="in none of these"):
        kn.explain_last(rater, "nobody at all")


def races():
    return kn.read_contests(
        {"race": [1] * 3 + [2] * 3 + [3] * 2, "date": ["2024-01-01"] * 3 + ["2024-02-01"] * 3 + ["2024-03-01"] * 2,
         "driver": ["Ann", "Bob", "Cid", "Cid", "Ann", "Bob", "Bob", "Ann"], "place": [1, 2, 3, 1, 2, 3, 1, 2]}
    )  # fmt: skip


def test_an_account_of_contests_and_its_page(tmp_path):
    rater = kn.RankElo(walk=0.4, prior_spread=0.8, newcomer=0.0, regression=0.1).fit(races())
    told = kn.explain_last(rater, "Cid", last=1)
    assert told.steps[0].words == "2: place 1 of 3" and told.after == ratings(rater)["Cid"]
    assert math.fsum(told.totals().values()) == pytest.approx(told.change, abs=1e-9)
    page = kn.pages.share_page(rater, of="Cid", last=1)
    assert told.summary().replace("'", "&#x27;") in page and "2: place 1 of 3" in page
    rows = kn.preview(rater, ["Cid", "Ann", "Bob"], of=["Cid"]).changes("Cid")
    assert f"{rows['1']:+.1f}" in page.split("What would the next one change?")[1]
    whole = kn.explain_last(rater, "Bob")
    assert whole.before is None and whole.change is None and "from the first on" in whole.summary()


@pytest.mark.parametrize("contests", [False, True])
def test_what_comes_late_or_is_put_right_is_a_term(tmp_path, contests):
    """The list before and after it arrived, each by one run over what the book had then."""
    if contests:

        def table(*rows):
            cells = [(race, day, who, at) for race, day, order in rows for at, who in enumerate(order, 1)]
            return kn.read_contests(
                dict(zip(("race", "date", "driver", "place"), zip(*cells, strict=True), strict=True))
            )

        late, right = ("L", "2024-01-15", ["Cid", "Ann", "Bob"]), ("L", "2024-01-15", ["Bob", "Cid", "Ann"])
        first = [("a", "2024-01-01", ["Ann", "Bob", "Cid"]), ("b", "2024-02-01", ["Cid", "Bob", "Ann"])]
        rater = kn.RankElo(walk=0.4, prior_spread=0.8, newcomer=0.0, regression=0.1)
    else:

        def table(*rows):
            return kn.read_matches([dict(zip(("match_id", "date", "home", "away", "result"), row)) for row in rows])

        late, right = ("L", "2024-01-15", "Cid", "Ann", 1), ("L", "2024-01-15", "Cid", "Bob", 0)
        first = [("a", "2024-01-01", "Ann", "Bob", 1), ("x", "2024-01-02", "Cid", "Bob", 1),
                 ("b", "2024-02-01", "Ann", "Cid", 0.5)]  # fmt: skip
        rater = kn.TeamElo.classic(k=30)
    book = kn.RatingBook(tmp_path / "a.db", rater)
    book.add(table(*first))
    lists, counted = [ratings(book.rater)], []
    assert not kn.explain(book, "b").note
    for said in (late, right):
        book.add(table(said))
        lists.append(ratings(book.rater))
        explained = kn.explain(book, "L", of="Bob")
        place = kn.explain(book.rater, "L", book.matches())
        assert explained.note and {"Ann", "Bob", "Cid"} >= explained.reasons.keys() >= {"Bob", "Cid"}
        for person, reason in explained.reasons.items():
            assert (reason.before, reason.after) == (lists[-2][person], lists[-1][person])
            assert math.fsum(reason.terms.values()) == pytest.approx(reason.change, abs=1e-9)
            counts = person in place.reasons and said is late
            assert all(reason.terms[k] == v for k, v in place.reasons[person].terms.items()) if counts else True
        assert abs(explained.reasons["Cid"].terms["replay"]) > 0.01
        assert ("correction" in explained.reasons["Cid"].terms) == (said is right)
        counted.append(place.reasons["Cid"].change)
    assert explained.reasons["Cid"].terms["correction"] == pytest.approx(counted[1] - counted[0], abs=1e-9)
    name = str(tmp_path / "a.db")
    shown = CliRunner().invoke(app, ["why", "L", "--book", name])
    assert shown.output.splitlines() == kn.explain(book, "L").lines()
    assert "Ann" in "".join(value for (value,) in book._database.rows("SELECT value FROM about")), (
        "what the match said before is kept"
    )
    book.erase("Ann", "somebody")
    assert b"Ann" not in (tmp_path / "a.db").read_bytes() and kn.explain(book, "L").note
    book.remove("L")
    assert not any("former" in key for (key,) in book._database.rows("SELECT key FROM about"))


def test_the_doors_agree(tmp_path):
    match_league(2).results.drop("surface").write_csv(tmp_path / "results.csv")
    played = kn.read_matches(tmp_path / "results.csv", ordered=True)
    rater = kn.TeamElo.classic(k=24).fit(played)
    book = kn.RatingBook(tmp_path / "league.db", kn.TeamElo.classic(k=24))
    book.add(played)
    home, away, match = played.teams[0], played.teams[3], played.match_id[40]

    def said(*words):
        done = CliRunner().invoke(app, [*map(str, words), "--book", str(tmp_path / "league.db"), "--json"])
        return {key: value for key, value in json.loads(done.stdout).items() if key != "rater"}

    expected = kn.preview(rater, home, away, neutral=True)
    assert kn.preview(book, home, away, neutral=True).to_dict() == expected.to_dict()
    assert said("predict", "--preview", "--match", f"{home} - {away}", "--neutral") == json.loads(
        json.dumps(expected.to_dict())
    )
    explained = kn.explain(rater, match)
    assert kn.explain(book, match).to_dict() == explained.to_dict()
    assert said("why", match) == json.loads(json.dumps(explained.to_dict()))
    shown = CliRunner().invoke(app, ["why", match, "--book", str(tmp_path / "league.db")])
    assert shown.output.splitlines() == explained.lines()
    told = kn.explain_last(rater, home, last=3)
    assert kn.explain_last(book, home, last=3).to_dict() == told.to_dict()
    page = tmp_path / "page.html"
    assert said("why", "--of", home, "--last", 3, "--out", page) == json.loads(json.dumps(told.to_dict()))
    written = page.read_text(encoding="utf-8")
    assert all(html.escape(line) in written for line in told.lines()) and "<script" not in written
    one_by_one = [written.split("the last first")[1].index(html.escape(line)) for line in told.lines()[1:]]
    assert len(one_by_one) == 3 and one_by_one == sorted(one_by_one, reverse=True)
    against = min((name for name in ratings(rater) if name != home), key=lambda x: abs(ratings(rater)[x] - told.after))
    gain = kn.preview(rater, home, against, neutral=True).changes(home)["win"]
    assert re.search(f"{against}.*?{re.escape(f'{gain:+.1f}')}", written.split("What would the next")[1], re.DOTALL)
    odd = (["why"], ["why", match, "--of", home], ["why", "--of", home, "--out", "x.csv"])
    asked = ["predict", "--preview", "--match"]
    for wrong in ([*asked, "nobody"], ["why", "no such match"], [*asked, "A - B", "--of", "A"], *odd):
        refused = CliRunner().invoke(app, [*wrong, "--book", str(tmp_path / "league.db")])
        assert refused.exit_code == 2 or isinstance(refused.exception, kn.InputError)


def test_the_page_runs(capsys):
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
    reason = names["one"]
    assert sum(reason.terms.values()) == pytest.approx(reason.change, abs=1e-9)
    assert "'draw'" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["classic", "full"])
def test_an_account_tells_the_reset_of_a_season_from_what_others_played(name, tmp_path):
    rater = kn.TeamElo.classic(k=24, home_advantage=0.0) if name == "classic" else kn.KalmanElo(sharpness=1.0, ties=0.4)
    book = kn.RatingBook(tmp_path / "b.db", rater)
    for home, away, day in (("A", "B", 1), ("A", "C", 2), ("C", "D", 3)):
        book.update_one(home, away, "win", date=f"2024-01-0{day}", neutral=True)
    ended = ratings(book)
    book.season("One", reset=0.25)
    begun = ratings(book)
    drawn = begun["A"] - ended["A"]
    assert drawn == pytest.approx(0.25 * (np.mean([*ended.values()]) - ended["A"]), abs=1e-9) and drawn < -3
    told = kn.explain_last(book, "A")
    assert told.season_since == pytest.approx(drawn, abs=1e-9)
    assert told.since == pytest.approx(ended["A"] - told.steps[-1].reason.after, abs=1e-9)
    assert told.totals()["season"] == told.season_since
    lately = kn.explain_last(book, "A", last=1).summary()
    assert f"{drawn:+.1f} by the reset of the season" in lately
    assert told.table().rows[len(told.steps)]["words"] == "by the reset of the season, since then"
    book.update_one("C", "B", "win", date="2024-02-01", neutral=True)
    book.season("Two", reset=0.5)
    book.update_one("B", "A", "draw", date="2024-02-02", neutral=True)  # the day on which the next season begins
    both = kn.explain_last(book, "A", last=2)
    assert both.steps[1].season < drawn and both.season_since == 0.0
    assert (abs(both.steps[1].elsewhere) < 1e-9) == (name == "classic")
    assert math.fsum(both.totals().values()) == pytest.approx(both.change, abs=1e-9)
    assert [row["words"] for row in both.table().rows][1] == "by the reset of the season"
    newest = kn.explain_last(book, "A", last=1).steps[0]
    assert (newest.season, newest.elsewhere) == (0.0, 0.0), "what came before the first match told is not told"
