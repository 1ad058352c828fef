"""An audit of contests: which K, by backtest and by theory, on made-up contests whose truth is known."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.advice.audit.alike import Measured
from kinelo.advice.audit.backtest import lowest
from kinelo.advice.audit.contest_theory import ContestLeague, RatingErrors, expected_losses, field_luck, pair_loss
from kinelo.advice.audit.contests import Beliefs, contest_curve, field_correlation, right_start, who_does_not_finish
from kinelo.cli.app import app
from kinelo.errors import InputError
from kinelo.forecasts.contest_scores import order_log_loss

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


def read(seed: int) -> kn.Contests:
    return kn.read_contests(played(seed)[0], slots=["driver"])


@pytest.fixture(scope="module")
def races() -> kn.Contests:
    return read(1)


@pytest.fixture(scope="module")
def found(races: kn.Contests) -> kn.advice.ContestAudit:
    return kn.audit(races, kn.TeamElo.classic(k=20))


def later_loss(contests: kn.Contests, k: float) -> float:
    test = kn.backtest(contests, kn.TeamElo.classic(k=k), train_until=contests.date[CONTESTS // 2])
    return float(test.scores["order_log_loss"][0])


def test_the_curve_by_backtest_is_that_of_backtests(races: kn.Contests, found: kn.advice.ContestAudit) -> None:
    for place in (3, 11):
        k = float(found.measured.k[place])
        assert found.measured.log_loss[place] == pytest.approx(later_loss(races, k), abs=1e-12)
    assert found.gain.mean == pytest.approx(later_loss(races, 20.0) - later_loss(races, found.advice.k), abs=2e-4)


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


def test_theory_says_what_right_ratings_would_lose_and_what_noise_adds() -> None:
    """Against 200,000 pairs drawn: five standard errors."""
    rng, spread, show, noise = np.random.default_rng(4), 270.0, 0.7, 120.0
    gap = spread * rng.normal(size=200_000)
    luck = rng.normal(size=(2, gap.size))
    won = gap / POINTS + luck[0] - luck[1] > 0
    rating = show * gap + noise * rng.normal(size=gap.size)
    loss = np.logaddexp(0.0, np.where(won, -2.0, 2.0) * NU * rating)
    league = ContestLeague(0.0, 0.0, 200.0, 0.0, 200.0)
    expected = pair_loss(spread**2, np.array([show]), np.array([noise**2]), league, NU)[0]
    assert abs(loss.mean() - expected) < 5.0 * loss.std() / math.sqrt(loss.size)


def test_theory_follows_the_errors_of_ratings(races: kn.Contests, found: kn.advice.ContestAudit) -> None:
    """Differences of log-loss at three K from the true parameters, against what was played: off by 0.003 by chance."""
    strength = played(1)[1].reshape(CONTESTS, SIZE)[CONTESTS // 2 :]
    within = POINTS * math.sqrt(strength.var(axis=1, ddof=1).mean())
    walk = POINTS * WALK * math.sqrt(365.25 / 7.0)
    assert found.start is not None
    league = ContestLeague(walk, 0.0, min(POINTS, within), 1500.0 - found.start.value, within)
    ks = np.array([80.0, 190.0, 450.0])
    told = expected_losses(races, league, ks, NU, CONTESTS // 2)
    seen = np.array([later_loss(races, k) for k in ks.tolist()])
    assert np.abs(np.diff(told) - np.diff(seen)).max() < 0.012


def settled(k: float, size: int, league: ContestLeague, out: float = 0.0) -> tuple[float, float]:
    """Where ratings of a field that always meets come to rest: the part of strengths that they show, and the variance
    of the rest. Slope and noise depend on how far ratings lie apart, so both are sought by turns.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    weights, there, luck = weights / weights.sum(), 1.0 - out, field_luck(league, NU)
    show, rest, variance = 1.0, 0.0, league.within**2
    for _ in range(400):
        apart = math.sqrt(2.0 * (show**2 * variance + rest))
        slope = NU * float(weights @ np.cosh(NU * apart * nodes) ** -2.0)
        show = (there**2 * luck.slope - out * there * league.tilt) / slope
        part, shared = k / 2.0 * slope, (size - 2.0) * there * luck.alike
        shake = there**2 * luck.luck * (1.0 + shared) + out * there * size
        pulled = min(league.fragile, out * there) / slope  # y settles at −γφ/(γβ); no chances vary more than that
        rest = ((k / 2.0) ** 2 * shake / (size - 1.0) + 2.0 * (1.0 - part) * k / 2.0 * pulled) / (
            1.0 - (1.0 - part) ** 2 - part**2 / (size - 1.0)
        )
    return show, rest


@pytest.mark.parametrize(("off", "out", "tilt", "fragile"), [
    (0.0, 0, 0.0, 0.0), (0.15, 0, 0.0, 0.0), (0.0, 2, 0.0, 0.0), (0.1, 2, 4e-4, 0.0), (0.0, 2, 0.0, 0.01),
    (0.0, 0, 0.0, 0.01),
])  # fmt: skip
def test_errors_of_ratings_settle_where_luck_and_steps_balance(off, out, tilt, fragile) -> None:
    """Seven who always meet and never change, and of whom some do not finish."""
    names, places = [f"P{k}" for k in range(7)], [*map(str, range(1, 8 - out)), *["DNF"] * out]
    table = {"race": np.repeat(np.arange(900), 7), "driver": names * 900, "place": places * 900}
    league, k = ContestLeague(0.0, 0.0, 180.0, 0.0, 180.0, off, 2.0, tilt, fragile), 90.0
    told = expected_losses(kn.read_contests(table), league, np.array([k]), NU, 800)
    show, rest = settled(k, 7, league, out / 7.0)
    expected = pair_loss(2 * 180.0**2, np.array([show]), np.array([2 * rest]), league, NU)
    assert told == pytest.approx(expected, abs=5e-6)


def test_strengths_spread_no_further_than_within_a_field_and_ratings_stay_meanwhile() -> None:
    """Newcomers do not either; what a rating has in common with a strength fades, and its own variance does not."""
    league = ContestLeague(300.0, 0.3, 500.0, 40.0, 180.0)
    assert league.newcomers == 180.0**2 and league._replace(entry_spread=50.0).newcomers == 50.0**2 + 40.0**2
    state, who = RatingErrors(2, league._replace(entry_spread=50.0), np.array([40.0])), np.array([0, 1], np.int32)
    assert state.advance(who, 0.0).all()
    state.along[:], state.rest[:] = 900.0, 350.0
    whole = state.rest + state.along**2 / state.varies
    assert not state.advance(who, 3650.0).any()
    assert state.varies.ravel() == pytest.approx([180.0**2] * 2) and 0.0 < state.along.max() < 900.0
    assert state.rest + state.along**2 / state.varies == pytest.approx(whole)


def test_what_contests_do_not_tell_widens_the_interval_of_theory(races: kn.Contests) -> None:
    league, ks = ContestLeague(60.0, 0.0, 100.0, 0.0, 200.0), 20.0 * 1.3 ** np.arange(15)

    def reach(error: float) -> float:
        estimates = SimpleNamespace(standard_errors={"prior_spread": error})
        curve = contest_curve(races, league, SimpleNamespace(estimates_=estimates), ks, NU, 80)  # type: ignore[arg-type]
        return curve.high / curve.best.k

    assert reach(math.nan) > 1.02 * reach(0.0)


def test_theory_is_given_walks_by_the_year_and_newcomers_beside_the_others(races: kn.Contests, monkeypatch) -> None:
    class Asked(Exception):
        pass

    def fit(rater: kn.RankElo, contests: kn.Contests) -> None:
        raise Asked(rater.contest_walk, rater.newcomer_follows)

    monkeypatch.setattr("kinelo.advice.audit.contests._quiet", fit)
    with pytest.raises(Asked, match=r"\(0.0, 1.0\)"):
        kn.audit(races)


def test_luck_of_a_field_is_that_of_performances_drawn() -> None:
    """Slope, luck and what two matches of one entrant share, from 4,000 fields of 200: about four standard errors."""
    rng, within, off, depth = np.random.default_rng(7), 320.0, 0.12, 2.4
    found = field_luck(ContestLeague(0.0, 0.0, 200.0, 0.0, within, off, depth), NU)
    strength = within * rng.normal(size=(4_000, 3))
    z = rng.normal(size=strength.shape)
    noise = np.where(rng.random(z.shape) < off, -depth + (3.0 - depth / 3.0) * z, z)
    shown = strength + POINTS * noise
    first, second = np.sign(shown[:, 0] - shown[:, 1]), np.sign(shown[:, 0] - shown[:, 2])
    gap = strength[:, 0] - strength[:, 1]
    assert gap @ first / (gap @ gap) == pytest.approx(found.slope, rel=0.06)
    chance = np.array([expected_result(one, off, depth) for one in (gap, strength[:, 0] - strength[:, 2])])
    assert np.mean((first - chance[0]) ** 2) == pytest.approx(found.luck, abs=0.04)
    assert np.mean((first - chance[0]) * (second - chance[1])) == pytest.approx(found.luck * found.alike, abs=0.035)


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
    found = who_does_not_finish(races, Beliefs(races.contest, mean, np.zeros(mean.size)))
    assert found["tilt"] == pytest.approx(-0.001, rel=0.25)
    assert found["fragile"] == pytest.approx(0.01, rel=0.25)


def test_fields_that_never_mix_are_alike(found: kn.advice.ContestAudit) -> None:
    assert abs(found.alike.value) < 0.08 and not found.like_meets_like
    contest = np.repeat(np.arange(40), 25)
    rng = np.random.default_rng(1)
    level = 200.0 * rng.normal(size=40)[contest]
    told = Beliefs(contest, level + 150.0 * rng.normal(size=1000), np.full(1000, 130.0**2))
    # Between contests 200², within them 150² and what is not known of each.
    truth = 200.0**2 / (200.0**2 + 150.0**2 + 130.0**2)
    correlation = field_correlation(told, 0)
    assert abs(correlation.value - truth) < 3.0 * correlation.error
    assert 0.02 < correlation.error < 0.12


def test_newcomers_should_start_where_they_are(found: kn.advice.ContestAudit, races: kn.Contests) -> None:
    """Newcomers are weaker than the others of their first field, by which the start is below theirs."""
    assert found.start is not None and found.start.value + 2.0 * found.start.error < 1500.0
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
    assert even is not None and even.value == pytest.approx(np.mean(by_hand), abs=1e-9)


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


def test_another_rater_is_held_against_elo_at_its_best(races: kn.Contests) -> None:
    found = kn.audit(races, kn.RankElo())
    assert found.k is None and found.other is not None
    test = kn.backtest(races, kn.RankElo(), train_until=races.date[CONTESTS // 2])
    assert found.other.log_loss == pytest.approx(float(test.scores["order_log_loss"][0]), abs=1e-9)
    assert found.verdict.startswith("RankElo forecasts this league")


def test_what_an_audit_of_contests_does_not_take_is_refused(races: kn.Contests, tmp_path) -> None:
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
    said = f"160 contests cannot tell which K is best: all from {low} to {high} may be right"
    assert few.verdict == f"{said}, and K = 20 is probably too small."
    assert replace(few, k=found.advice.k).verdict == f"{said}."
    assert dict(replace(found, walk=Measured(20.4, math.nan)).rows())["Strengths"].endswith(
        "and move by 20 points a year, up or down"
    )
    assert dict(replace(found, walk=Measured(0.2, math.nan)).rows())["Strengths"].endswith("and do not move")


def test_the_luck_of_a_contest_grows_where_some_do_not_finish(found) -> None:
    """Eighteen of whom six do not finish: who does is luck against all opponents at once."""
    luck, there = field_luck(found.league, NU), 2.0 / 3.0
    ended = np.tile(np.repeat([0, 1], [12, 6]), CONTESTS).astype(np.int8)
    some = replace(found, contests=replace(found.contests, ended=ended))
    whole = there**2 * luck.luck * (1.0 + 16.0 * there * luck.alike) / 17.0 + there * (1.0 - there) * 18.0 / 17.0
    pair = there**2 * luck.luck + 2.0 * there * (1.0 - there)
    assert some.share_of_luck == pytest.approx(whole / pair) and some.share_of_luck > 1.2 * found.share_of_luck
