"""An audit of leagues whose truth is known, and of matches that cannot be audited."""

import json
import math
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.advice.audit.estimate import estimate_league, filter_league
from kinelo.advice.audit.gaps import GapForecasts, bands_of, bands_table, law_of
from kinelo.advice.audit.in_use import SystemInUse, implied_gap, trace_steps
from kinelo.advice.audit.inputs import auditable, compare_ratings
from kinelo.advice.audit.kernels import Calendar, Parameters
from kinelo.advice.audit.recursion import Recursion
from kinelo.errors import InputError

NU = math.log(10) / 800


def played(sides, rounds, step, rate, seed, *, spread=120.0, home=60.0, kappa=0.6, newcomers=0):
    """A league in which every round pairs all sides at random; strengths return at a rate and move by a step per round.

    ``newcomers`` sides are replaced in every round by others of unknown strength, rated anew.
    """
    rng = np.random.default_rng(seed)
    theta, name, fresh = rng.normal(0, spread, sides), list(range(sides)), sides
    rows, truth = [], []
    for turn in range(rounds):
        order = rng.permutation(sides)
        for i, j in zip(order[::2], order[1::2]):
            up = math.exp(NU * (2 + kappa) / 2 * (theta[i] - theta[j] + home))
            u, whole = rng.random(), up + 1 / up + kappa
            rows.append((turn, name[i], name[j], 1.0 if u * whole < up else 0.5 if u * whole < up + kappa else 0.0))
            truth.append(theta[i] - theta[j])
        theta = theta * math.exp(-rate) + rng.normal(0, step, sides)
        for i in rng.choice(sides, newcomers, replace=False):
            theta[i], name[i], fresh = rng.normal(0, spread), fresh, fresh + 1
    day, first, second, result = zip(*rows)
    dates = np.datetime64("2000-01-01") + np.array(day)
    table = {"date": dates, "home": [f"s{n}" for n in first], "away": [f"s{n}" for n in second], "result": result}
    return kn.read_matches(table), np.array(truth)


@cache
def walking():
    return played(24, 180, 10.0, 0.0, seed=1)


@cache
def forming():
    return played(24, 180, 14.0, 0.01, seed=2)


@cache
def audited(league, k):
    return kn.audit(league()[0], kn.TeamElo.classic(k=k, home_advantage=None))


@cache
def audited_few():
    return kn.audit(walking()[0][:200])


@pytest.mark.parametrize(("league", "step"), [(walking, 10.0), (forming, 14.0)])
def test_steps_home_and_ties_come_out_of_results_alone(league, step):
    found = audited(league, 100)
    # 2,160 matches tell K*, and with it the step, to about ± 17 %: two and a half standard errors.
    assert found.step == pytest.approx(step, rel=0.42)
    # 1,080 matches tell a home advantage to ± 9.5 points: three standard errors.
    assert found.home.today == pytest.approx(60.0, abs=28.0)
    assert found.home.in_use == pytest.approx(60.0, abs=28.0)
    assert found.league.ties == pytest.approx(0.6, rel=0.15)


def elo(k, kappa=0.6, home=60.0):
    return SystemInUse(f"K = {k:g}", k, kn.TeamElo.classic(k, kappa, home))


@pytest.mark.parametrize(("step", "rate", "newcomers"), [(10.0, 0.0, 0), (4.0, 0.0, 1)])
def test_predicted_error_is_the_true_one_and_k_star_nearly_the_best(step, rate, newcomers):
    # The true parameters: only the theory of errors is on trial.
    parameters = Parameters(step, 1e-3, max(rate * 365.25, 1e-6), 120.0, 0.0, 1e-3, 0.6)
    leagues = [played(30, 200, step, rate, seed, newcomers=newcomers) for seed in range(8)]
    since, system = len(leagues[0][0]) // 2, elo(32.0)

    def true_error(k):
        gaps = [np.subtract(*system.ratings_before(matches, k).T) - truth for matches, truth in leagues]
        return np.mean([np.mean(gap[since:] ** 2) for gap in gaps]) / 2

    recursions = [Recursion(Calendar.of(m), parameters, system.in_kernels(m), since) for m, _ in leagues]
    best = recursions[0].best()
    for k in (best / 2, best, 2 * best):
        # An error lasts 1/γμ, up to 60 matches: eight leagues hold 400 independent ones or more, so √(2/400) is one
        # standard error, 7 %.
        assert np.mean([one.at(k).error for one in recursions]) == pytest.approx(true_error(k), rel=0.14)
    # The K of one calendar's loss, on eight leagues: a K 20 % off the best costs up to 4 %.
    assert true_error(best) < 1.05 * min(true_error(best * 1.2**n) for n in range(-4, 5))


def test_ratings_before_each_match_are_the_rater_s_own():
    matches = walking()[0][:200]
    system = SystemInUse("K = 40", 40.0, kn.TeamElo.classic(40.0, 0.6, 60.0, start={"s1": 1700.0, "s3": 1333.0}))
    found = system.ratings_before(matches, 40.0)
    for place in (0, 1, 57, 199):
        rater = system.blank().update(matches[:place]) if place else system.blank()
        known = dict(zip(rater.ratings_["name"], rater.ratings_["rating"]))
        for side, codes in enumerate((matches.home, matches.away)):
            assert found[place, side] == pytest.approx(
                known.get(matches.teams[codes[place]], 1500.0) - 1500.0, abs=1e-6
            )


def test_newcomers_raise_k_star():
    settled, open_ = (_known(number) for number in (0, 1))
    assert open_.best() > 1.4 * settled.best()


def _known(newcomers):
    matches, _ = played(30, 200, 4.0, 0.0, 3, newcomers=newcomers)
    parameters = Parameters(4.0, 1e-3, 1e-6, 120.0, 0.0, 1e-3, 0.6)
    return Recursion(Calendar.of(matches), parameters, elo(32.0).in_kernels(matches), 1500)


def test_the_audit_says_which_way_to_go_and_backtest_agrees():
    found = audited(walking, 100)
    assert found.verdict.startswith("K = 100 is too large for this league: K = ")
    assert repr(found).startswith("Audit: K = 100")
    advice, (low, high) = found.advice, found.measured.interval
    assert advice.agree and advice.telling
    assert advice.k == pytest.approx(math.sqrt(found.curve.best.k * found.measured.best))
    assert (advice.low, advice.high) == pytest.approx(
        (math.sqrt(found.curve.low * low), math.sqrt(found.curve.high * high))
    )
    assert found.best.k == advice.k
    lost = found.measured.at(advice.k) - found.measured.log_loss.min()
    assert abs(math.log(advice.k / found.measured.best)) < math.log(1.25) or lost < 0.0005
    # The rater's own forecasts of the later half: what moving from K = 100 to the K advised lowers the log-loss by.
    matches, later = found.matches, slice(found.since, None)
    lost = [-np.log(forecast(matches, k, found)[later]).mean() for k in (100.0, advice.k)]
    # Between two K 10 % apart the loss is taken as a straight line: off by its bend, about 0.03, times ln(1.1)²/8.
    assert found.tested.mean == pytest.approx(lost[0] - lost[1], abs=3.5e-5)
    assert f"a {100 * math.expm1(found.tested.mean):.2f} % (" in found.verdict
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["advice"]["k"] == advice.k
    assert "<table" in found._repr_html_()
    parts = kn.tracking(found.system, found.strengths, found.dynamics).parts
    assert math.sqrt(parts.total) == pytest.approx(math.sqrt(found.now.error), rel=0.15)


def forecast(matches, k, found):
    """Probability of each result before it is seen."""
    said = kn.TeamElo.classic(k, found.league.ties, found.home.in_use).one_step_ahead(matches).probabilities
    return said[np.arange(len(matches)), (2 - 2 * matches.result).astype(int)]


def test_periods_are_quarters_with_their_own_best_k():
    found = audited(walking, 100)
    assert [one.matches for one in found.periods] == pytest.approx([540] * 4, abs=12)
    assert found.periods[0].first == str(found.matches.date[0]) and found.periods[-1].last == str(
        found.matches.date[-1]
    )
    since = found.matches.date >= np.datetime64(found.periods[-1].first)
    ks = found.measured.k[::2]
    losses = [-np.log(forecast(found.matches, float(k), found)[since]).mean() for k in ks]
    # The last quarter by hand, in steps of 20 %, matches of its first day aside.
    assert abs(math.log(ks[int(np.argmin(losses))] / found.periods[-1].measured)) < math.log(1.25)
    assert all(one.low <= one.measured <= one.high for one in found.periods)


def test_the_error_of_a_rating_is_found():
    """Against true strengths, at K = 100."""
    _, truth = walking()
    found = audited(walking, 100)
    true = math.sqrt(np.mean((np.subtract(*found.before.T) - truth)[found.since :] ** 2) / 2)
    assert math.sqrt(found.now.error) == pytest.approx(true, rel=0.2)


@pytest.mark.usefixtures("few_replays")
def test_a_table_of_ratings_is_held_against_strengths():
    matches, first = walking()[0][:200], audited_few()
    names = list(first.strengths.names)
    strength = {one.side: one.strength for one in first.misrated}
    told = dict(zip(matches.teams, first.opponents.today.strength))
    rating = [2.0 * told[name] + 1500 for name in names]
    found = kn.audit(matches, ratings={"name": names, "rating": rating}).ratings
    assert found.extremes[0].off > 0 > found.extremes[-1].off
    assert set(strength) <= set(matches.teams)


def test_what_cannot_be_audited_is_said_in_a_sentence():
    matches, _ = walking()
    with pytest.raises(InputError, match="at least 60 matches and has 10"):
        kn.audit(matches[:10])
    with pytest.raises(InputError, match="do not belong to these sides: 2 of 2"):
        kn.audit(matches, ratings={"name": ["x", "y"], "rating": [1.0, 2.0]})
    with pytest.raises(InputError, match="no column rating"):
        kn.audit(matches, ratings={"name": ["s1", "s2"]})
    with pytest.raises(InputError, match="names a side twice"):
        kn.audit(matches, ratings={"name": ["s1", "s1"], "rating": [1.0, 2.0]})
    with pytest.raises(InputError, match="no usable rating for 's1'"):
        kn.audit(matches, ratings={"name": ["s1", "s2"], "rating": ["high", "2.0"]})
    with pytest.raises(InputError, match="must be a rater"):
        kn.audit(matches, 32)
    with pytest.raises(InputError, match="K must be above 0"):
        kn.audit(matches, kn.TeamElo.classic(k=0))
    with pytest.raises(InputError, match="Every match is a draw"):
        kn.audit(replace(matches[:100], result=np.full(100, 0.5)))


@pytest.mark.usefixtures("few_replays")
def test_partial_answers_come_with_what_is_missing():
    matches, few = walking()[0], audited_few()
    assert any("200 matches are few" in note for note in few.notes)
    assert any("do not show what happens between seasons" in note for note in few.notes)
    caveat = few.lead.caveat
    assert caveat.startswith("These matches tell the best K to a factor of ") and few.verdict.endswith(caveat)
    assert few.verdict.startswith("200 matches cannot tell which K is best: all K from ")
    assert not few.advice.telling
    one_day = kn.audit(replace(matches[:200], date=np.full(200, matches.date[0])))
    assert any("have one date" in note for note in one_day.notes)


@pytest.mark.usefixtures("few_replays")
def test_winners_named_first_are_turned():
    matches, truth = walking()
    decided = matches[matches.signed != 0][:800]
    truth = truth[matches.signed != 0][500:800]
    home = np.where(decided.signed > 0, decided.home, decided.away)
    away = np.where(decided.signed > 0, decided.away, decided.home)
    names = np.array(decided.teams)
    table = {"date": decided.date, "home": names[home], "away": names[away], "result": np.ones(len(decided))}
    found = kn.audit(kn.read_matches(table))
    assert any("order of sides gives away the result" in note for note in found.notes)
    assert found.home.today == 0.0
    # Where draws are left out, results follow gaps 1 + κ/2 times as steeply; 24 sides tell their spread to a seventh.
    assert found.spread == pytest.approx((1 + 0.6 / 2) * float(truth.std()) / math.sqrt(2), rel=0.2)


@pytest.mark.usefixtures("few_replays")
def test_sides_apart_are_named():
    matches, _ = played(10, 80, 5.0, 0.0, seed=5)
    other, _ = played(4, 40, 5.0, 0.0, seed=6)
    first, second = matches.to_polars(), other.to_polars()
    names = {"home": [f"t{n}" for n in second["home"]], "away": [f"t{n}" for n in second["away"]]}
    table = {
        key: first[key].to_list() + list(names.get(key, second[key])) for key in ("date", "home", "away", "result")
    }
    found = kn.audit(kn.read_matches(table))
    assert any("hardly tied" in note for note in found.notes)


def log_posterior(calendar, one, unit):
    """Likelihood times priors, normal in the logarithm of what is positive, in points of a scale with this unit."""
    centres = (6.0 * unit, 30.0 * unit, 0.05, 150.0 * unit, 3.0 * unit, 0.7)
    values = (one.walk_per_match, one.walk_per_year, one.return_per_year, one.newcomer_spread, one.home_drift, one.ties)
    widths = (1.5, 1.5, 1.5, 1.0, 1.5, 1.5)
    off = [math.log(value / centre) / width for value, centre, width in zip(values, centres, widths)]
    off.append(one.newcomer_level / (400.0 * unit))
    return float(calendar.weight @ filter_league(calendar, one).likelihood) - 0.5 * float(np.sum(np.square(off)))


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_the_estimate_is_where_likelihood_times_prior_is_largest(unit):
    calendar = Calendar.of(walking()[0])
    found = estimate_league(calendar, NU / unit)
    top = log_posterior(calendar, found.parameters, unit)
    drawn = [log_posterior(calendar, one, unit) for one in found.draw(calendar, 40, seed=3)]
    assert max(drawn) < top + 0.02
    # Half a chi-square with as many degrees as there are parameters to find lies below the top on average.
    assert np.mean(top - np.array(drawn)) == pytest.approx(len(found.free) / 2, abs=1.0)


def test_a_match_of_weight_two_counts_as_two():
    calendar = Calendar.of(walking()[0][:300])
    parameters = Parameters(1e-6, 1e-6, 1e-6, 120.0, 0.0, 1e-6, 0.6)
    heavy = calendar._replace(weight=np.full(300, 2.0))
    columns = {name: np.repeat(getattr(calendar, name), 2) for name in TABLE}
    twice = Calendar(**columns, sides=calendar.sides, until=np.arange(1, 601))
    # The filter takes a side as normal after each match, so two steps differ a little from one that counts double.
    found, expected = (filter_league(one, parameters).path for one in (heavy, twice))
    found, expected = found[-30:], expected[1::2][-30:]
    assert found[:, :, 3] == pytest.approx(expected[:, :, 3], abs=6.0)
    assert found[:, :, 4] == pytest.approx(expected[:, :, 4], rel=0.08)


TABLE = ("home", "away", "result", "neutral", "weight", "day")


@pytest.mark.usefixtures("few_replays")
def test_another_rater_is_held_against_elo_at_its_best_k():
    matches, _ = walking()
    found = kn.audit(matches, kn.Glicko())
    assert found.verdict.startswith("Glicko forecasts this league")
    assert found.k is None
    assert found.other.k == found.measured.best
    later = matches[found.since :]
    theirs = kn.Glicko().fit(matches[: found.since]).one_step_ahead(later).probabilities
    lost = -np.log(theirs[np.arange(len(later)), (2 - 2 * later.result).astype(int)]).mean()
    assert found.other.log_loss == pytest.approx(lost)
    assert found.other.difference.mean == pytest.approx(lost - found.other.elo_log_loss)
    best = -np.log(forecast(matches, found.other.k, found)[found.since :]).mean()
    assert found.other.elo_log_loss == pytest.approx(best, abs=2e-5)
    assert found.other.slope[0] == pytest.approx(1.0, abs=3 * found.other.slope[1])
    assert len(found.other.bands) == 5
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("ties", [0.0, 0.7])
def test_the_gap_behind_a_forecast_is_found(ties):
    gap = np.array([-400.0, -30.0, 0.0, 120.0])
    up = np.exp(NU * (2 + ties) / 2 * gap)
    assert implied_gap((up - 1 / up) / (up + 1 / up + ties), ties, NU) == pytest.approx(gap)


@pytest.mark.parametrize("ties", [0.0, 0.9])
def test_slopes_and_bands_scatter_by_their_standard_errors(ties):
    rng = np.random.default_rng(4)
    rating = rng.normal(100.0, 150.0, (400, 2))
    gaps = GapForecasts(rating[:, 0] - rating[:, 1] + 40.0, law_of(NU, ties))
    up = np.exp(NU * (2 + ties) / 2 * gaps.gap)
    win, draw = up / (up + 1 / up + ties), ties / (up + 1 / up + ties)
    slopes, lowest = [], []
    for _ in range(100):
        u = rng.random(400)
        result = np.where(u < win, 1.0, np.where(u < win + draw, 0.0, -1.0))
        slopes.append(gaps.slope(result))
        band = bands_of(*rating.T, gaps, result)[0]
        lowest.append((band.underrated, band.error))
    for found, true in ((slopes, 1.0), (lowest, 0.0)):
        value, error = np.array(found).T
        # 100 leagues tell a scatter to 1/√200: three of these.
        assert value.std() == pytest.approx(error.mean(), rel=0.21)
        assert value.mean() == pytest.approx(true, abs=3 * error.mean() / math.sqrt(100) + 0.01 * true)


@pytest.mark.usefixtures("few_replays")
def test_a_home_advantage_that_moved_is_said():
    first, second = played(16, 80, 3.0, 0.0, seed=9, home=120.0)[0], played(16, 80, 3.0, 0.0, seed=9, home=0.0)[0]
    table = {
        key: np.concatenate([first.to_polars()[key], second.to_polars()[key]]) for key in ("home", "away", "result")
    }
    table["date"] = np.concatenate([first.date, second.date + 81])
    found = kn.audit(kn.read_matches(table), kn.TeamElo.classic(k=32, home_advantage=120.0))
    # Between 120 and 0 the filter follows within the middle.
    assert found.home.today == pytest.approx(0.0, abs=40.0)
    assert found.home.gain > 0.01
    assert f"is worth {found.home.today:.0f} points today; the system adds 120." in str(found)


def test_steps_are_found_under_any_rule_from_what_ratings_moved():
    matches = replace(walking()[0][:300], weight=np.linspace(0.5, 1.5, 300))
    home = np.where(matches.neutral, 0.0, 60.0)
    system = elo(40.0)
    steps = trace_steps(system.blank(), matches, NU, home)
    assert steps[100:] == pytest.approx(np.column_stack([20.0 * matches.weight] * 2)[100:], rel=1e-6)
    rule = kn.model.FallingSteps(10.0, boost=2.0, matches=30)
    falling = kn.TeamElo(system=kn.RatingSystem(kn.Tanh.elo(), gamma=rule))
    steps = trace_steps(falling, matches, NU, np.zeros(300))
    played_before = np.zeros(len(matches.teams), int)
    for k, pair in enumerate(zip(matches.home, matches.away)):
        for side, team in enumerate(pair):
            if k > 30:
                expected = matches.weight[k] * 10.0 * (1 + 2.0 * 30 / (30 + played_before[team]))
                assert steps[k, side] == pytest.approx(expected, rel=1e-6)
        played_before[list(pair)] += 1


@pytest.mark.usefixtures("few_replays")
def test_a_rule_of_k_is_rated_by_its_own_rater_and_held_against_every_k():
    matches, _ = walking()
    rule = kn.model.FallingSteps(60.0, boost=2.0, matches=20)
    found = kn.audit(matches, kn.TeamElo.classic(k=rule, home_advantage=60.0))
    assert found.k is None and found.in_use.name == "K = 120 once settled"
    said = kn.TeamElo.classic(k=rule, ties=found.league.ties, home_advantage=60.0).one_step_ahead(matches)
    own = -np.log(said.probabilities[np.arange(len(matches)), (2 - 2 * matches.result).astype(int)])[found.since :]
    best = -np.log(forecast(matches, found.advice.k, found)[found.since :])
    assert found.tested.mean == pytest.approx(own.mean() - best.mean(), abs=2e-5)
    assert found.verdict.startswith("K = 120 once settled serves this league worse than one K: K = ")
    # Settled steps are those of K = 120 to 150: the theory of the rule lies near that of one such K.
    assert found.recursion.loss(110.0) < found.now.log_loss < found.recursion.loss(190.0)
    assert found.now.log_loss - found.best.log_loss == pytest.approx(found.tested.mean, rel=0.35)


@pytest.mark.usefixtures("few_replays")
def test_a_rater_that_has_rated_is_audited_as_if_it_had_not():
    matches = walking()[0][:200]
    used = kn.TeamElo.classic(k=32, home_advantage=None).fit(matches)
    table = used.ratings_
    assert kn.audit(matches, used).verdict == audited_few().verdict
    assert used.ratings_.equals(table)


def evenly(n, days, first=0.5, sides=8):
    """So many matches over so many days, of which the side named first wins a share; two thirds of a day or later."""
    rng = np.random.default_rng(3)
    home = rng.integers(0, sides, n)
    away = (home + rng.integers(1, sides, n)) % sides
    result = np.zeros(n)
    result[: round(first * n)] = 1.0
    table = {
        "date": (np.datetime64("2020-01-01") + np.linspace(0, days, n).round().astype(int)).astype(str),
        "home": [f"s{k}" for k in home], "away": [f"s{k}" for k in away], "result": rng.permutation(result),
        "margin": rng.permutation(np.where(result > 0, 2.0, -1.0)),
    }  # fmt: skip
    return kn.read_matches(table | {"margin": np.where(table["result"] > 0, 2.0, -1.0)})


@pytest.mark.parametrize(
    ("n", "days", "first", "said"),
    [
        (60, 400, 0.5, "60 matches are few: they show how far"), (499, 400, 0.5, "499 matches are"),
        (500, 400, 0.5, None), (600, 300, 0.5, None), (600, 299, 0.5, "All matches lie within 299 days: "),
        (600, 1, 0.5, "All matches lie within 1 day: "), (600, 0, 0.5, "All matches have one date: "),
        (600, 400, 0.94, None), (600, 400, 0.95, "The side named first won 95.0 % of decided matches: "),
        (600, 400, 0.06, None), (600, 400, 0.04, "The side named second won 96.0 % of decided matches: "),
    ],
)  # fmt: skip
def test_what_few_or_turned_matches_show_is_noted_on_one_side_of_each_threshold(n, days, first, said):
    matches, notes = evenly(n, days, first), []
    read, start = auditable(matches, notes)
    assert [note.startswith(said) for note in notes] == [True] if said else notes == []
    turned = "named" in (said or "")
    for k in range(n):
        here = (read.home[k], read.away[k], read.result[k], read.margin[k], bool(read.neutral[k]))
        own = (matches.home[k], matches.away[k], matches.result[k], matches.margin[k])
        if turned and k % 2:
            own = (own[1], own[0], 1 - own[2], -own[3])
        assert here == (*own, turned or bool(matches.neutral[k]))
    day = matches.day
    middle = min(k for k in range(n) if day[k] == day[n // 2])
    assert start == (middle if 4 * middle >= n else n // 2)


def test_fewer_than_sixty_matches_are_refused():
    with pytest.raises(InputError, match="An audit needs at least 60 matches and has 59: "):
        auditable(evenly(59, 400), [])


def test_ratings_are_held_against_strengths_about_their_means_over_who_is_active():
    rng = np.random.default_rng(8)
    names = tuple(f"s{k}" for k in range(15))
    strength, doubt = rng.normal(30.0, 150.0, 15), rng.uniform(100.0, 900.0, 15)
    rating = dict(zip(names, 1500.0 + 0.7 * strength + rng.normal(0.0, 40.0, 15)))
    active = np.arange(15) % 7 != 3  # two rest
    columns = {"name": [*rating, "unheard of"], "rating": [*rating.values(), 3000.0]}
    found = compare_ratings(names, pl.DataFrame(columns), strength, doubt, active)
    there = [k for k in range(15) if active[k]]
    r = {k: rating[names[k]] - sum(rating[names[j]] for j in there) / 13 for k in there}
    s = {k: strength[k] - sum(strength[j] for j in there) / 13 for k in there}
    assert found.sides == 13
    order = sorted(there, key=lambda k: -r[k])
    for one, k in zip(found.extremes, [*order[:5], *order[-5:]], strict=True):
        wanted = (names[k], *map(pytest.approx, (r[k], s[k], r[k] - s[k], math.sqrt(doubt[k]))))
        assert (one.side, one.rating, one.strength, one.off, one.error) == wanted


@pytest.mark.parametrize(("ties", "blur"), [(0.0, 0.0), (0.8, 0.0), (0.8, 90.0)])
def test_losses_and_bands_of_gaps_are_sums_over_results(ties, blur):
    """Seen from both sides of every match; fifths of fewer than 30 are left out."""
    rng = np.random.default_rng(6)
    rating = rng.normal(100.0, 150.0, (75, 2))
    gap = rating[:, 0] - rating[:, 1] + 40.0
    result = rng.choice([-1.0, 0.0, 1.0] if ties else [-1.0, 1.0], 75)
    gaps = GapForecasts(gap, law_of(NU, ties), blur)
    x = np.linspace(-8.0, 8.0, 1601)
    weight = np.exp(-(x**2) / 2) / np.exp(-(x**2) / 2).sum()

    def chances(gap):
        """Loss, tie and win."""
        up = np.exp(math.log(10) / 800 * (1 + ties / 2) * (gap + blur * x))
        return np.array([one @ weight for one in (1 / up, ties + 0 * up, up) / (up + 1 / up + ties)])

    def slope(gap):
        return float((chances(gap + 0.01) - chances(gap - 0.01)) @ [-1.0, 0.0, 1.0]) / 0.02

    wanted = -np.mean([math.log(chances(one)[int(said) + 1]) for one, said in zip(gap, result)])
    assert gaps.log_loss(result) == pytest.approx(wanted, rel=1e-4)
    bands = bands_of(*rating.T, gaps, result)
    assert [band.matches for band in bands] == [30] * 5
    order, both = np.argsort(rating.T.ravel()), np.concatenate([gap, -gap])
    seen = np.concatenate([result, -result])
    for band, places in zip(bands, np.split(order, 5)):
        steep = sum(slope(both[k]) for k in places)
        each = [chances(both[k]) for k in places]
        mean = np.array([one[2] - one[0] for one in each])
        variance = np.array([one[2] + one[0] for one in each]) - mean**2
        assert band.rating == pytest.approx(rating.T.ravel()[places].mean())
        assert band.underrated == pytest.approx((seen[places] - mean).sum() / steep, rel=2e-3)
        assert band.error == pytest.approx(math.sqrt(variance.sum()) / steep, rel=2e-3)
    fewer = bands_of(*rating[:74].T, gaps.of(np.arange(75) < 74), result[:74])
    assert 0 < len(fewer) < 5 and {band.matches for band in fewer} == {30}
    said = bands_table(bands)
    assert [row[0] for row in said.cells()] == ["1 (weakest)", "2", "3", "4", "5 (best)"]
    for row, band in zip(said.cells(), bands):
        way = "high" if band.underrated < 0 else "low"
        assert row[1:] == [f"{band.rating:+.0f}", f"{abs(band.underrated):.0f} ± {band.error:.0f} too {way}"]
    assert bands_table(bands[:1]).below == ("Too few matches to tell strong and weak sides apart.",)
    assert bands_table([replace(bands[0], underrated=math.nan), bands[1]]).cells()[0][2] == "–"
