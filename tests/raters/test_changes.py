"""What a match would change, and why it did: previews to the bit, terms that add up, for every rater and door."""

import copy
import json
import math
import re
from functools import cache, partial
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app
from kinelo.raters.adapter import blank_of
from leagues import match_league

pytestmark = pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "changes.md"


def given(kind, **more):
    return partial(kind, **({p.name: p.default for p in kind.parameters if p.name != "late_retirement"} | more))


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
    seen = rater.preview(home, away, **said)
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
    known = ratings(rater)
    seen = rater.preview(["Bob", "Ann", "Cid"])
    assert seen.outcomes == ("1", "2", "3") and [*seen.after] == ["Bob", "Ann", "Cid"]
    for place, order in enumerate((["Cid", "Ann", "Bob"], ["Ann", "Cid", "Bob"], ["Ann", "Bob", "Cid"])):
        assert seen.after["Cid"][place] == ratings(copy.deepcopy(rater).update_one(order))["Cid"]
    gains = [*seen.changes("Cid").values()]
    assert gains == sorted(gains, reverse=True) and gains[0] > 0 > gains[2] and known["Cid"] == seen.ratings["Cid"]
    assert [*rater.preview(["Bob", "Ann", "Cid"], of=["Ann"]).after] == ["Ann"]
    with pytest.raises(kn.InputError, match="not in this contest"):
        rater.preview(["Bob", "Ann"], of=["Zoe"])
    with pytest.raises(kn.InputError, match="say of whom"):
        rater.preview([f"P{k}" for k in range(13)])


@pytest.mark.parametrize("name", RATERS)
def test_terms_add_up_to_the_change(name):
    rater = RATERS[name]().fit(matches(name == "PlayerElo")[: AT + 1])
    played = matches(name == "PlayerElo")
    explained = rater.explain(played.match_id[AT])
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
    reason = rater.explain("y").reasons["A"]
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
            rater.explain(wrong)


def test_a_contest_is_explained():
    races = kn.read_contests(
        {"race": [1] * 3 + [2] * 3, "date": ["2024-01-01"] * 3 + ["2024-06-01"] * 3,
         "driver": ["Ann", "Bob", "Cid", "Cid", "Ann", "Bob"], "place": [1, 2, 3, 1, 2, 3]}
    )  # fmt: skip
    for rater in (kn.RankElo(walk=0.4, prior_spread=0.8, newcomer=0.0, regression=0.1), kn.TeamElo.classic(k=30)):
        explained = rater.fit(races).explain("2")
        assert set(explained.reasons) == {"Ann", "Bob", "Cid"}
        for reason in explained.reasons.values():
            assert math.fsum(reason.terms.values()) == pytest.approx(reason.change, abs=1e-9)
        assert explained.reasons["Cid"].terms["places"] > 0 > explained.reasons["Bob"].terms["places"]


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

    expected = rater.preview(home, away, neutral=True)
    assert book.preview(home, away, neutral=True).to_dict() == expected.to_dict()
    assert said("preview", f"{home} - {away}", "--neutral") == json.loads(json.dumps(expected.to_dict()))
    explained = rater.explain(match)
    assert book.explain(match).to_dict() == explained.to_dict()
    assert said("explain", match) == json.loads(json.dumps(explained.to_dict()))
    shown = CliRunner().invoke(app, ["explain", match, "--book", str(tmp_path / "league.db")])
    assert shown.output.splitlines() == explained.lines()
    for wrong in (["preview", "nobody"], ["explain", "no such match"], ["preview", "A - B", "--of", "A"]):
        refused = CliRunner().invoke(app, [*wrong, "--book", str(tmp_path / "league.db")])
        assert refused.exit_code == 2 or isinstance(refused.exception, kn.InputError)


def test_the_page_runs(capsys):
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
    reason = names["one"]
    assert sum(reason.terms.values()) == pytest.approx(reason.change, abs=1e-9)
    assert "First wins" in capsys.readouterr().out
