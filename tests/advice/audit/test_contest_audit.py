"""An audit of contests: which K, by backtest and by theory, on made-up contests whose truth is known."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.advice.audit.backtest import lowest
from kinelo.advice.audit.contest_theory import (
    POOL,
    ContestLeague,
    DrawnEntries,
    FollowedRatings,
    expected_losses,
    field_of,
    surprises_alike,
)
from kinelo.advice.audit.contests import (
    Beliefs,
    StrengthsFound,
    _system,
    contest_curve,
    entrants_alone,
    not_used,
    right_start,
    starting_ratings,
    who_does_not_finish,
)
from kinelo.advice.audit.inflation import Shift
from kinelo.cli.commands import app
from kinelo.errors import InputError
from kinelo.forecasts.contest_scores import order_log_loss
from kinelo.raters.rank.hindsight import drawn_strengths

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
    assert abs(math.log(found.curve.best.k / best)) < 0.25
    assert 1.2 < found.advice.high / found.advice.low < 2.2


STILL = ContestLeague(0.0, 0.0, 200.0)


def two_divisions(rng: np.random.Generator) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Who is in each of 60 contests of two divisions, and where they stand: they walk, and four change places when the
    order of their strengths has changed; a division has nine and every contest seven of them.
    """
    strength = np.sort(260.0 * rng.normal(size=18))
    order, fields, strengths = np.arange(18), [], []
    for c in range(60):
        strength = strength + 35.0 * rng.normal(size=18)
        if c % 10 == 9:
            order = order[np.argsort(strength[order] + 60.0 * rng.normal(size=18))]
        fields.append(rng.choice(order[:9] if c % 2 else order[9:], 7, replace=False))
        strengths.append(strength[fields[-1]])
    return fields, strengths


def replayed(fields, strengths, out, league, k, rng, times=3_000):
    """Ratings after all contests and the log-loss of the later half, of Elo played pair by pair with new luck."""
    ratings, losses = np.zeros((times, 18)), []
    for number, (who, strength) in enumerate(zip(fields, strengths)):
        z = rng.normal(size=(times, who.size))
        off = rng.random(z.shape) < league.off
        noise = np.where(off, -league.depth + (3.0 - league.depth / 3.0) * z, z)
        shown = strength + POINTS * noise
        gone = rng.random(z.shape) < out[number]
        shown = np.where(gone, -1e9, shown)
        change = np.zeros(z.shape)
        for i in range(who.size):
            for j in range(who.size):
                if i != j:
                    gap = ratings[:, who[i]] - ratings[:, who[j]]
                    change[:, i] += (np.sign(shown[:, i] - shown[:, j]) - np.tanh(NU * gap)) / (who.size - 1)
                    if i < j and number >= 30:
                        both, won = ~gone[:, i] & ~gone[:, j], shown[:, i] > shown[:, j]
                        losses.append(np.logaddexp(0.0, np.where(won, -2.0, 2.0) * NU * gap)[both])
        ratings[:, who] += k / 2.0 * change
    return ratings, np.concatenate(losses)


@pytest.mark.parametrize(("off", "unfinished", "k"), [(0.0, False, 60.0), (0.0, False, 200.0), (0.15, True, 110.0)])
def test_ratings_of_divisions_follow_strengths_as_they_do_when_replayed(off, unfinished, k) -> None:
    """Against 3,000 replays of one calendar: chance moves means by 2 points, deviations by 1 % and losses by 0.001; the
    rest is what the theory leaves out.
    """
    rng = np.random.default_rng(11)
    fields, strengths = two_divisions(rng)
    league = STILL._replace(
        off=off, depth=2.0, within=float(np.std(np.array(strengths) - np.mean(strengths, 1, keepdims=True)))
    )
    frail = np.where(np.arange(18) % 3 == 0, 0.4, 0.1) * unfinished
    out = [frail[who] for who in fields]
    ratings, losses = replayed(fields, strengths, out, league, k, rng)
    followed, alike, told = FollowedRatings(np.zeros(18), np.array([k]), NU), surprises_alike(league, NU), []
    for number, (who, strength) in enumerate(zip(fields, strengths)):
        field = field_of(strength, out[number], 1.0, league, NU)
        if number >= 30:
            there = rng.random((40, 7)) >= out[number]
            told += [(followed.loss(who, field, one)[0], one.sum() * (one.sum() - 1)) for one in there if one.sum() > 1]
        followed.meet(who, field, alike)
    level = followed.mean.mean()
    assert np.abs(followed.mean[:, 0] - level - ratings.mean(axis=0)).max() < 12.0
    assert np.sqrt(followed.variance[:, 0]) == pytest.approx(ratings.std(axis=0), rel=0.15)
    loss, weight = np.transpose(told)
    assert loss @ weight / weight.sum() == pytest.approx(losses.mean(), abs=0.004)


def test_some_of_a_large_field_stand_for_all_of_it(monkeypatch) -> None:
    """Sixty who always meet, each against all others or against 24 who lie evenly among them."""
    rng, who, league = np.random.default_rng(2), np.arange(60, dtype=np.int32), STILL
    strength, out = 200.0 * rng.normal(size=60), np.where(np.arange(60) % 4 == 0, 0.3, 0.0)
    found = []
    for pool in (POOL, 60):
        monkeypatch.setattr("kinelo.advice.audit.contest_theory.POOL", pool)
        followed, alike, losses = (
            FollowedRatings(np.zeros(60), np.array([90.0, 300.0]), NU),
            surprises_alike(league, NU),
            [],
        )
        for number in range(24):
            field = field_of(strength, out, 1.3, league, NU, number)
            losses.append(followed.loss(who, field, out == 0.0))
            followed.meet(who, field, alike)
            assert field.others.size == pool
        found.append((np.mean(losses[12:], axis=0), followed.mean - followed.mean.mean(axis=0)))
    assert found[0][0] == pytest.approx(found[1][0], abs=2e-3)
    assert np.abs(found[0][1] - found[1][1]).max() < 12.0 and np.abs(found[1][1]).max() > 150.0


def test_theory_follows_the_errors_of_ratings(races: kn.matches.Contests) -> None:
    """Differences of log-loss at three K from the true strengths, against what was played: off by 0.003 by chance."""
    strength = POINTS * played(1)[1]
    inner = strength.reshape(CONTESTS, SIZE)[CONTESTS // 2 :]
    league = STILL._replace(within=math.sqrt(inner.var(axis=1, ddof=1).mean()))
    ks, nobody = np.array([80.0, 190.0, 450.0]), np.zeros(strength.size)
    alike, half = np.zeros(len(races.entrants)), CONTESTS // 2
    told = expected_losses(races, DrawnEntries(strength, nobody, np.ones(CONTESTS)), league, ks, NU, half, alike)
    seen = np.array([later_loss(races, k) for k in ks.tolist()])
    assert np.abs(np.diff(told) - np.diff(seen)).max() < 0.012 and np.abs(told - seen).max() < 0.02
    half_noise = DrawnEntries(strength, nobody, np.where(np.arange(CONTESTS) % 2, 0.5, 1.0))
    assert (expected_losses(races, half_noise, league, ks, NU, half, alike) < told - 0.02).all()


def test_every_pair_of_finishers_counts_once_to_the_theory() -> None:
    """Contests of three and of seven, of whom two do not finish: 3 pairs and 10, at a K that moves nobody."""
    places = [1, 2, 3, 1, 2, 3, 4, 5, "DNF", "DNF"]
    both = kn.read_contests({"race": [1] * 3 + [2] * 7, "driver": list("ABCDEFGABC"), "place": places})
    rng, ks = np.random.default_rng(6), np.array([1e-9])
    entries = DrawnEntries(250.0 * rng.normal(size=10), np.zeros(10), np.ones(2))
    begin, losses = 300.0 * rng.normal(size=7), []
    for since, until in ((0, 1), (1, 2)):
        losses.append(expected_losses(both[:until], entries, STILL, ks, NU, since, begin)[0])
    told = expected_losses(both, entries, STILL, ks, NU, 0, begin)[0]
    assert told == pytest.approx((3 * losses[0] + 10 * losses[1]) / 13, rel=1e-6)
    assert abs(losses[0] - losses[1]) > 0.1


def test_what_contests_do_not_tell_widens_the_interval_of_theory(races: kn.matches.Contests) -> None:
    league, ks, few = STILL._replace(walk=60.0), 20.0 * 1.5 ** np.arange(9), races[:60]
    nobody = (np.zeros(len(few.entrants)),) * 2
    given = {"walk": 0.5, "newcomer": 0.0, "regression": 0.0, "off": 0.0, "anchor": 0.0, "experience": 0.0}
    truth = kn.RankElo(**given, contest_walk=0.0, newcomer_follows=1.0).fit(few)

    def reach(error: float) -> float:
        truth.estimates_ = replace(truth.estimates_, standard_errors={"prior_spread": error})  # type: ignore[type-var]
        curve = contest_curve(StrengthsFound(few, truth, league, nobody, nobody[0]), ks, NU, 30)
        return curve.high / curve.best.k

    assert reach(math.nan) > 1.02 * reach(0.0)


def test_strengths_are_drawn_given_all_contests() -> None:
    """The truth of forty who walk is one more draw: as far from the mean of the others as they are, to 5 %."""
    rng, walk, size = np.random.default_rng(5), 0.1, 12
    strength, truth, table = rng.normal(size=40), [], {"race": [], "date": [], "driver": [], "place": []}
    for c in range(150):
        strength = strength + walk * rng.normal(size=40)
        field = rng.choice(40, size, replace=False)
        order = field[np.argsort(-strength[field] - rng.normal(size=size))]
        truth.append(strength[order] - strength[order].mean())
        table["race"] += [c + 1] * size
        table["date"] += [str(np.datetime64("2010-01-03") + 7 * c)] * size
        table["driver"] += [f"P{n}" for n in order]
        table["place"] += list(range(1, size + 1))
    contests = kn.read_contests(table)
    given = {"newcomer": 0.0, "regression": 0.0, "off": 0.0, "anchor": 0.0, "prior_spread": 1.0, "experience": 0.0}
    rater = kn.RankElo(**given, walk=walk * math.sqrt(365.25 / 7.0), contest_walk=0.0, newcomer_follows=1.0)
    drawn = drawn_strengths(rater.fit(contests), contests, 40)
    assert np.array_equal(drawn, drawn_strengths(rater, contests, 40))
    # Fields are compared within themselves: nothing shows the level of all.
    cut = drawn.reshape(40, 150, size)
    cut = (cut - cut.mean(axis=2, keepdims=True)).reshape(40, -1)
    usual = math.sqrt(cut.var(axis=0, ddof=1).mean() * (1.0 + 1.0 / 40.0))
    assert math.sqrt(np.mean((np.concatenate(truth) - cut.mean(axis=0)) ** 2)) == pytest.approx(usual, rel=0.05)
    own = np.flatnonzero(contests.entrant == 3)
    weeks = np.diff(contests.day[contests.contest[own]]) / 7.0
    moved = np.mean(np.diff(drawn[:, own], axis=1) ** 2 / weeks)
    assert math.sqrt(moved) == pytest.approx(walk, rel=0.15)


def test_theory_is_given_walks_by_the_year_and_newcomers_beside_the_others(
    races: kn.matches.Contests, monkeypatch
) -> None:
    class Asked(Exception):
        pass

    def fit(rater: kn.RankElo, contests: kn.matches.Contests) -> None:
        raise Asked(rater.contest_walk, rater.newcomer_follows)

    monkeypatch.setattr("kinelo.advice.audit.contests._quiet", fit)
    with pytest.raises(Asked, match=r"\(0.0, 1.0\)"):
        kn.audit(races)


def test_luck_of_a_field_is_that_of_performances_drawn() -> None:
    """What two matches of one entrant share, from 4,000 fields of three: about four standard errors."""
    rng, within, off, depth = np.random.default_rng(7), 320.0, 0.12, 2.4
    found = surprises_alike(ContestLeague(0.0, 0.0, within, off, depth), NU)
    strength = within * rng.normal(size=(4_000, 3))
    z = rng.normal(size=strength.shape)
    noise = np.where(rng.random(z.shape) < off, -depth + (3.0 - depth / 3.0) * z, z)
    shown = strength + POINTS * noise
    first, second = np.sign(shown[:, 0] - shown[:, 1]), np.sign(shown[:, 0] - shown[:, 2])
    gap = strength[:, 0] - strength[:, 1]
    chance = np.array([expected_result(one, off, depth) for one in (gap, strength[:, 0] - strength[:, 2])])
    luck = np.mean((first - chance[0]) ** 2)
    assert np.mean((first - chance[0]) * (second - chance[1])) == pytest.approx(luck * found, abs=0.035)


def expected_result(gap: np.ndarray, off: float, depth: float) -> np.ndarray:
    """Expected result between two by their gap in points, from the four cases of days that are off or not."""
    wide = 3.0 - depth / 3.0
    cases = [(1.0 - off, 0.0, 1.0), (off, -depth, wide)]
    return sum(
        p * q * np.vectorize(math.erf)((gap / POINTS + m - n) / math.sqrt(2.0 * (s * s + t * t)))
        for p, m, s in cases
        for q, n, t in cases
    )  # type: ignore[return-value]


def test_who_does_not_finish_is_found_by_strength_and_by_name() -> None:
    """From 40,000 entries whose chances are known, each to a quarter: about three standard errors."""
    rng, size, contests = np.random.default_rng(3), 20, 2_000
    strength, frail = 200.0 * rng.normal(size=60), 0.1 * rng.choice([-1.0, 1.0], 60)
    field = np.array([rng.choice(60, size, replace=False) for _ in range(contests)])
    out = rng.random(field.shape) < 0.3 - 0.21 * 0.002 * strength[field] * 0.5 + frail[field]
    names = [f"P{k}" for k in field.ravel()]
    place = np.where(out, "DNF", (np.argsort(np.argsort(rng.random(out.shape) + 5.0 * out)) + 1).astype(str))
    table = {"race": np.repeat(np.arange(contests), size), "driver": names, "place": place.ravel()}
    races = kn.read_contests(table)
    mean = np.array([strength[int(races.entrants[code][1:])] for code in races.entrant])
    found, (often, doubt) = who_does_not_finish(races, Beliefs(races.contest, mean, np.zeros(mean.size)), STILL)
    assert found.tilt == pytest.approx(-0.001, rel=0.25)
    assert found.fragile == pytest.approx(0.01, rel=0.25)
    truth = np.array([frail[int(name[1:])] for name in races.entrants])
    assert np.abs(often - truth).max() < 0.08 and doubt == pytest.approx(np.var(often - truth), rel=0.6)
    # Of few contests each, nobody is known less well than before any, and what is believed is drawn to the mean.
    few = races[:120]
    part = Beliefs(few.contest, mean[: few.entrant.size], np.zeros(few.entrant.size))
    found, (often, doubt) = who_does_not_finish(few, part, STILL)
    assert (doubt < found.fragile).all() and 0.005 < found.fragile < 0.015
    assert np.var(often) + doubt.mean() == pytest.approx(found.fragile, rel=0.3)


def test_fields_drawn_from_all_hardly_differ(found: kn.advice.ContestAudit) -> None:
    assert abs(found.alike.value) < 0.08 and not found.like_meets_like and not found.follows_results
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
    pl.DataFrame(played(1, oval=2.5)[0]).filter(pl.col("race") <= 70).write_csv(path)
    here = kn.audit(kn.read_contests(path, advantages=["track"]), kn.TeamElo.classic(k=20))
    answer = CliRunner().invoke(app, ["audit", str(path), "--noise-by", "track", "--k", "20", "--json"])
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout) == json.loads(json.dumps(here.to_dict()))
    factor = {one.level: one.factor for one in here.luck}
    assert factor["oval"] / factor["road"] > 2.0
    rows = dict(here.rows())
    assert rows["Luck by track"].startswith("times the usual noise (80 % interval): oval")
    assert "K = 20 is too small for these contests: K = " in here.verdict
    page = kn.pages.share_page(here)
    assert "70 contests with 1,260 entries" in page and f"best: {here.advice.k:.3g}" in page
    assert len(kn.plot.audit(here).axes) == 1


def test_ratings_to_begin_with_are_known_to_the_theory(races: kn.matches.Contests) -> None:
    """From ratings that are right, small K lose little; from a common start they take long."""
    strength = POINTS * played(1)[1]
    first = np.unique(races.entrant, return_index=True)[1]
    table = {name: 1500.0 + one for name, one in zip(races.entrants, strength[first].tolist()) if name[1:] < "5"}
    in_use = _system(kn.TeamElo.classic(k=20, start=table), races)[0]
    begin = starting_ratings(in_use, races)
    assert begin == pytest.approx([table.get(name, 1500.0) - 1500.0 for name in races.entrants], abs=1e-6)
    entries = DrawnEntries(strength, np.zeros(strength.size), np.ones(CONTESTS))
    losses = [expected_losses(races, entries, STILL, np.array([8.0]), NU, 40, one)[0] for one in (begin, 0.0 * begin)]
    assert losses[0] < losses[1] - 0.01


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
        f"160 contests cannot tell which K is best: all K from {low} to {high} may be right, and K = 20 forecasts no "
        "worse beyond chance. These contests tell the best K to a factor of "
    )
    assert [one.kind for one in unsure.findings if one.kind == "K"] == []


def test_how_far_strengths_lie_apart_is_said_only_where_they_stand_still(found) -> None:
    """Of 160 contests a week apart, of whom 16 play on from one to the next: by hand, years between first and last."""
    days: dict[int, list[int]] = {}
    for day, who in zip(found.contests.day[found.contests.contest].tolist(), found.contests.entrant.tolist()):
        days.setdefault(who, []).append(day)
    years = sum((max(own) - min(own)) * len(own) for own in days.values()) / found.contests.entrant.size / 365.25
    spread = found.fields.spread.value

    def rows_at(walk, error):
        return dict(replace(found, walk=Shift(walk, error, 9)).rows())

    # A walk of w a year has the variance w² T/6 about its mean over T years; a tenth of that of strengths is too much.
    most = math.sqrt(0.6 / years) * spread
    moving, unclear = rows_at(most / 2, most / 12), rows_at(1.03 * most, most / 3)
    assert moving["Strengths"].endswith("points within a field, and move over the years")
    assert unclear["Strengths"].endswith("points within a field; whether they move is not clear")
    for rows in (moving, unclear):
        assert "apart" not in rows["Strengths"] and "ratings show" not in rows["Fields"]
    # A walk at its bound has no error, and one within chance shows nothing.
    for walk, error in ((0.97 * most, math.nan), (0.2, math.nan), (most / 2, most / 4)):
        still = rows_at(walk, error)
        assert still["Strengths"].startswith("lie ± ") and still["Strengths"].endswith("show no movement beyond chance")
        assert "of the true differences ratings show" in still["Fields"]
