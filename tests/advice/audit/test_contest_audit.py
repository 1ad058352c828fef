"""An audit of contests: which K, and what their fields show, on made-up contests whose truth is known."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.advice.audit.alike import Range
from kinelo.advice.audit.backtest import lowest
from kinelo.advice.audit.contests import entrants_alone, not_used, right_start
from kinelo.advice.audit.inflation import Shift
from kinelo.cli.commands import app
from kinelo.errors import InputError
from kinelo.forecasts.contest_scores import order_log_loss
from kinelo.matches.contests import UNFINISHED

NU = math.log(10.0) / 800.0
POINTS = 1.0 / (math.sqrt(math.pi) * NU)
SIZE, CONTESTS, WALK = 18, 160, 0.07


def played(seed: int, oval: float = 1.0) -> tuple[dict[str, list], np.ndarray]:
    """A table of contests a week apart, and the true strength of each row, in units of the noise on roads.

    Everybody walks; in each contest two of the field are new, in place of the weakest of some.
    """
    rng = np.random.default_rng(seed)
    strength, names = rng.normal(size=40), np.arange(40)
    table: dict[str, list] = {"race": [], "date": [], "driver": [], "place": [], "track": []}
    truth = []
    for c in range(CONTESTS):
        strength += WALK * rng.normal(size=strength.size)
        some = rng.choice(40, 5, replace=False)
        gone = some[np.argsort(strength[some])[:2]]
        strength[gone] = rng.normal(size=2)
        names[gone] = 100 + 2 * c + np.arange(2)
        field = np.append(gone, rng.choice(np.setdiff1d(np.arange(40), gone), SIZE - 2, replace=False))
        track = ("oval", "road")[int(rng.random() < 0.6)]
        order = field[np.argsort(-strength[field] - (oval if track == "oval" else 1.0) * rng.normal(size=SIZE))]
        truth.append(strength[order])
        table["race"] += [c + 1] * SIZE
        table["date"] += [str(np.datetime64("2010-01-03") + 7 * c)] * SIZE
        table["driver"] += [f"P{n}" for n in names[order]]
        table["place"] += list(range(1, SIZE + 1))
        table["track"] += [track] * SIZE
    return table, np.concatenate(truth)


def read(seed: int) -> kn.matches.Contests:
    return kn.read_contests(played(seed)[0], slots=["driver"])


@pytest.fixture(scope="module")
def races() -> kn.matches.Contests:
    return read(1)


@pytest.fixture(scope="module")
def found(races: kn.matches.Contests) -> kn.advice.ContestAudit:
    return kn.audit(races, kn.TeamElo.classic(k=20))


def later_loss(contests: kn.matches.Contests, k: float) -> float:
    test = kn.backtest(contests, kn.TeamElo.classic(k=k), train_until=contests.date[CONTESTS // 2])
    return float(test.scores["order_log_loss"][0])


def test_the_curve_by_backtest_is_that_of_backtests(races: kn.matches.Contests, found: kn.advice.ContestAudit) -> None:
    for place in (3, 11):
        k = float(found.measured.k[place])
        assert found.measured.log_loss[place] == pytest.approx(later_loss(races, k), abs=1e-12)
    assert found.tested.mean == pytest.approx(later_loss(races, 20.0) - later_loss(races, found.advice.k), abs=2e-4)


@pytest.mark.long
def test_the_k_found_is_the_best_of_other_samples(found: kn.advice.ContestAudit) -> None:
    """Five other samples tell the best K to 3 %, and an audit is 6 % off on average: 20 % fails once in 300."""
    ks, half = 40.0 * 1.4 ** np.arange(8), CONTESTS // 2
    total = np.zeros(ks.size)
    for seed in range(11, 16):
        other = read(seed)
        total += [order_log_loss(kn.TeamElo.classic(k=float(k)).one_step_ahead(other))[half:].sum() for k in ks]
    best = lowest(ks, total[:, None])[0]
    assert abs(math.log(found.advice.k / best)) < 0.2
    assert found.advice.low < best < found.advice.high
    assert 1.2 < found.advice.high / found.advice.low < 2.2


def test_fields_drawn_from_all_hardly_differ(found: kn.advice.ContestAudit) -> None:
    assert abs(found.alike.value) < 0.08 and not found.like_meets_like
    assert "fields hardly differ in strength" in dict(found.rows())["Fields"]


def test_newcomers_should_start_where_they_are(found: kn.advice.ContestAudit, races: kn.matches.Contests) -> None:
    """Newcomers are weaker than the others of their first field, by which the start is below theirs.

    It may be off by as much as chance moves the mean of the 160 who came, whose strengths lie a unit apart.
    """
    strength, ahead = POINTS * played(1)[1], kn.TeamElo.classic(k=found.measured.best).one_step_ahead(races).mean
    first = np.isin(np.arange(strength.size), np.unique(races.entrant, return_index=True)[1])
    belong = []
    for low, high in zip(races.first[CONTESTS // 2 : -1], races.first[CONTESTS // 2 + 1 :]):
        new, x, rated = first[low:high], strength[low:high], ahead[low:high]
        belong += list(rated[~new].mean() + x[new] - x[~new].mean())
    assert found.start is not None and len(belong) == found.start.sides
    assert found.start.mean < 1480.0 and abs(found.start.mean - np.mean(belong)) < 2.0 * found.start.error
    assert 0.8 * POINTS / math.sqrt(len(belong)) < found.start.error < 2.0 * POINTS / math.sqrt(len(belong))
    used = kn.TeamElo.classic(k=50).one_step_ahead(races)
    truth = kn.RankElo(
        newcomer=0.0,
        walk=0.4,
        prior_spread=1.0,
        regression=0.0,
        off=0.0,
        anchor=0.0,
        experience=0.0,
        contest_walk=0.0,
        newcomer_follows=1.0,
    ).fit(races)
    even = right_start(races, CONTESTS // 2, used, truth)
    new = np.zeros(races.entrant.size, bool)
    new[np.unique(races.entrant, return_index=True)[1]] = True
    by_hand = []
    for c in range(CONTESTS // 2, CONTESTS):
        own = slice(races.first[c], races.first[c + 1])
        by_hand += [used.mean[own][~new[own]].mean()] * int(new[own].sum())
    assert even is not None and even.mean == pytest.approx(np.mean(by_hand), abs=1e-9)


def test_every_door_gives_one_answer_and_says_luck_by_track(tmp_path) -> None:
    path = tmp_path / "races.csv"
    pl.DataFrame(played(1, oval=2.5)[0]).filter(pl.col("race") <= 48).write_csv(path)
    here = kn.audit(kn.read_contests(path, advantages=["track"]), kn.TeamElo.classic(k=20))
    answer = CliRunner().invoke(app, ["audit", str(path), "--noise-by", "track", "--k", "20", "--json"])
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout) == json.loads(json.dumps(here.to_dict()))
    factor = {one.level: one.factor for one in here.luck}
    assert factor["oval"] / factor["road"] > 2.0
    rows = dict(here.rows())
    assert rows["Luck by track"].startswith("more than usual at oval; plain Elo counts")
    assert "K = 20 is too small for these contests: K = " in here.verdict
    page = kn.pages.share_page(here)
    assert "48 contests with 864 entries" in page and f"best: {here.advice.k:.3g}" in page
    assert len(kn.plot.audit(here).axes) == 1


def test_columns_of_which_plain_elo_uses_nothing_are_named() -> None:
    table = played(1)[0]
    table["car"] = [f"C{hash_of % 7}" for hash_of in range(len(table["place"]))]
    table["day"] = [f"D{race}" for race in table["race"]]
    contests = kn.read_contests(table, slots=["driver", "car"], advantages=["track", "day"])
    columns = entrants_alone(contests)[1]
    assert columns == ["track"]
    (note,) = not_used(contests, columns, None)
    assert note.startswith(
        "Plain Elo rates each entrant as a whole and does not use car and day; RankElo does. Luck is"
    )
    assert not_used(contests, columns, kn.RankElo()) == () == not_used(read(1), [], None)


def test_another_rater_is_held_against_elo_at_its_best(races: kn.matches.Contests) -> None:
    found = kn.audit(races, kn.RankElo())
    assert found.k is None and found.other is not None
    test = kn.backtest(races, kn.RankElo(), train_until=races.date[CONTESTS // 2])
    assert found.other.log_loss == pytest.approx(float(test.scores["order_log_loss"][0]), abs=1e-9)
    assert found.verdict.startswith("RankElo forecasts these contests")


def test_what_an_audit_of_contests_does_not_take_is_refused(races: kn.matches.Contests, tmp_path) -> None:
    with pytest.raises(InputError, match="by=… is for audits of matches"):
        kn.audit(races, by={"P1": "A"})  # type: ignore[call-overload]
    with pytest.raises(InputError, match="at least 40 contests and has 12"):
        kn.audit(races[:12])
    with pytest.raises(InputError, match="audit one of these"):
        kn.audit(races, kn.Glicko())
    with pytest.raises(InputError, match="one K for all"):
        kn.audit(races, kn.TeamElo.classic(k=32, k_of={"P1": 40}))
    path = tmp_path / "races.csv"
    pl.DataFrame(played(1)[0]).write_csv(path)
    answer = CliRunner().invoke(app, ["audit", str(path), "--by", "track"])
    assert isinstance(answer.exception, InputError) and "there is no --by" in str(answer.exception)


def test_few_contests_are_said_to_tell_little_and_the_k_in_use_is_held_against_what_they_tell(found) -> None:
    few = replace(found, advice=replace(found.advice, telling=False))
    low, high = f"{found.advice.low:.3g}", f"{found.advice.high:.3g}"
    start = f"K = 20 is too small for these contests: all K from {low} to {high} may be right. On the later "
    assert few.verdict.startswith(start)
    assert few.findings[0].advice == f"Take K = {found.advice.k:.3g} ({low} to {high})."
    unsure = replace(few, tested=replace(found.tested, low=-0.001))
    assert unsure.verdict.startswith(
        f"160 contests cannot tell which K is best: all K from {low} to {high} may be right, but K = 20 forecasts no "
        "worse beyond chance. These contests tell the best K to a factor of "
    )
    assert [one.kind for one in unsure.findings if one.kind == "K"] == []


def test_strengths_move_where_the_walk_lies_five_errors_above_nothing(found) -> None:
    for walk, said in (
        (Shift(20.4, 4.0, 9), "move over the years"),
        (Shift(20.4, 4.2, 9), "show no clear movement"),
        (Shift(20.4, math.nan, 9), "show no clear movement"),  # at its bound
    ):
        assert dict(replace(found, walk=walk).rows())["Strengths"] == said


def test_fields_that_are_alike_and_who_does_not_finish_are_said_below_the_k(found) -> None:
    alike = replace(found, fields=found.fields._replace(correlation=Range(0.5, 0.31, 0.7)))
    assert alike.lead.caveat.startswith("Fields are alike: ratings show less than the differences")
    assert replace(alike, fields=alike.fields._replace(correlation=Range(0.5, 0.29, 0.7))).lead.caveat == ""
    ended = found.contests.ended.copy()
    ended[:: ended.size // 80] = UNFINISHED
    share = 100 * np.mean(ended == UNFINISHED)
    out = replace(found, contests=replace(found.contests, ended=ended))
    assert out.lead.caveat.startswith(f"Of all entries {share:.0f} % do not finish, whom plain Elo counts as beaten")
