"""Every row of a diagnosis that names a number, applied in a league that is played: kinds drawn at random."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

import kinelo as kn
from kinelo.theory.relaxation import relaxation_of
from theory_settings import draw_setting

LEAGUES = 12


class Played:
    """Leagues under a system from given ratings: the later two thirds of what was recorded, about league means."""

    def __init__(self, system, league, dynamics, start, matches):
        schedule, teams = system.schedule, league.teams
        sides = 2 if schedule is None else schedule.sides
        batch = (schedule.period(teams) if schedule is not None else 0) or max(1, teams // sides)
        per_step = batch * sides / teams
        every = max(1, round(matches / 90 / per_step))
        run = kn.simulate(
            system, league, steps=90 * every, matches_per_step=batch, realisations=LEAGUES, seed=3,
            record_every=every, dynamics=dynamics, start=start,
        )  # fmt: skip
        self.rating = run.rating.values[:, 30:]
        self.strength = run.strength.values[:, 30:] if "strength" in run else league.theta + 0 * self.rating
        self.span = 60 * every * per_step

    def error(self, factor=1.0):
        """Mean square of rating less strength, one for each league."""
        return (factor * self.rating - self.strength).var(axis=2, ddof=1).mean(axis=1)

    def slope(self, theta):
        """Of mean ratings on mean strengths."""
        x = theta - theta.mean()
        return self.rating.mean(axis=1) @ x / (x @ x)

    def noise(self):
        """Standard deviation of a rating in time."""
        return np.sqrt(self.rating.var(axis=1).mean(axis=1))

    def slopes(self):
        """Of ratings on strengths, and of strengths on ratings."""
        x, y = (one - one.mean(axis=2, keepdims=True) for one in (self.strength, self.rating))
        both, own, rated = ((one * other).mean(axis=(1, 2)) for one, other in ((x, y), (x, x), (y, y)))
        return both / own, both / rated


def near(said, played, doubt=0.02, about=None):
    """Within 4 standard errors of leagues (a false alarm in 10,000) and what theory says of its own doubt."""
    error = played.std(ddof=1) / np.sqrt(played.size)
    assert abs(said - played.mean()) < 4 * error + doubt * max(abs(said), abs(played.mean())), (about, said, played)


def numbers(row):
    """The numbers of a row, as they are printed."""
    return [float(one) for one in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", row.replace(",", ""))]


CASES = [
    pytest.param(kind, seed, marks=[pytest.mark.long] if seed > 21 else [])
    for kind in ("rest", "window", "rounds", "field", "form", "field form")
    for seed in (21, 22)
]


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_every_row_holds_as_played(kind, seed):
    setting = draw_setting(kind, seed)
    system, league, dynamics = setting.system, setting.league, setting.dynamics
    found = kn.diagnose(system, league, dynamics)
    rows = dict(found.rows())
    doubt = max([0.02, *(0.3 * one.error for one in found.caveats)])
    matches = float(np.clip(4 * found.matches_until_converged, 1500, 12_000))
    now = Played(system, league, dynamics, found.state.rating, matches)
    before = numbers(rows["Error"])[0]
    near(before, now.error(), doubt + 0.01, "error")
    near(
        float(re.search(r"slope (-?[\d.]+)", rows["Scale of the ratings"])[1]), now.slope(league.theta), doubt, "slope"
    )
    near(numbers(rows["Rating noise"])[0], now.noise(), doubt + 0.02, "noise")
    changed = {}
    if "makes the slope 1" in rows["Unbiased step size"] if "Unbiased step size" in rows else False:
        gamma, _, _, noise, _, error, _ = numbers(rows["Unbiased step size"])
        there = kn.unbiased_gamma(system, league)
        rough = max([0.02, *(one.error for one in there.caveats)])
        played = Played(replace(system, gamma=gamma), league, None, there_ratings(system, league, gamma), matches)
        near(1.0, played.slope(league.theta), rough, "unbiased slope")
        near(noise, played.noise(), rough, "unbiased noise")
        near(error, played.error(), 2 * rough, "unbiased error")
        changed["unbiased"] = error, played.error()
    if "follows best" in rows.get("Best step size", ""):
        gamma, _, error = numbers(rows["Best step size"])
        played = Played(replace(system, gamma=gamma), league, dynamics, found.state.rating, matches)
        near(error, played.error(), doubt + 0.01, "best error")
        changed["best"] = error, played.error()
    if found.remedy is not None:
        falls = re.search(r"falls from ([\d.e-]+) to ([\d.e-]*\d)", found.advice[0])
        assert float(falls[1]) == pytest.approx(before, rel=0.01)
        other, better = now, found.remedy.system
        if better is not None:
            longer = max(1.0, system.gamma / better.gamma)
            other = Played(better, league, dynamics, found.state.rating, longer * matches)
        after = other.error(found.remedy.factor)
        near(float(falls[2]), after, doubt + 0.02, "remedy")
        changed["remedy"] = float(falls[2]), after
    if "Following strengths" in rows:
        spread, on_strengths, on_ratings = numbers(rows["Following strengths"])
        near(on_strengths, now.slopes()[0], doubt, "on strengths")
        near(on_ratings, now.slopes()[1], doubt, "on ratings")
        near(spread, np.sqrt(now.strength.var(axis=2, ddof=1).mean(axis=1)), 0.02, "spread")
    # Both ways: what is said to lower the error lowers it, and what is said to raise it raises it.
    for name, (said, played) in changed.items():
        if abs(said - before) > 0.1 * before:
            assert (said < before) == (played.mean() < now.error().mean()), name


def there_ratings(system, league, gamma):
    """Where ratings settle at another step."""
    return kn.stationary(replace(system, gamma=gamma), league, noise="gaussian").rating


def test_learning_says_what_a_rating_varies_by_given_strength_and_how_strengths_leave_it_behind():
    system, league = kn.RatingSystem(kn.Tanh(0.5), gamma=0.2, schedule=kn.model.Field(3)), kn.Normal([0.0] * 9, 0.4)
    learning = kn.model.Learning(0.5, 0.1, 0.5)
    found = kn.diagnose(system, league, learning)
    rows = dict(found.rows())
    now = Played(system, league, learning, np.zeros(9), 6000)
    near(numbers(rows["Error"])[0], now.error(), 0.03, "error")
    x, y = (one - one.mean(axis=2, keepdims=True) for one in (now.strength, now.rating))
    slope = (x * y).mean() / (x * x).mean()
    assert rows["Rating noise"].startswith("given the strength of a team a rating varies by ±")
    near(numbers(rows["Rating noise"])[0], np.sqrt(((y - slope * x) ** 2).mean(axis=(1, 2))), 0.05, "noise")
    growth = (now.strength[:, -1].mean(axis=1) - now.strength[:, 0].mean(axis=1)) / (now.span * 59 / 60)
    near(numbers(rows["Common learning"])[0], growth, 0.02, "drift")
    assert "per contest" in rows["Common learning"] and "contests per team" in rows["Time to settle (whole league)"]


def test_an_open_league_of_contests_is_off_by_what_its_row_says():
    """All who play, newcomers included, to three hundredths."""
    league, turnover = kn.Fixed([5.5, 6.0, 7.5, 8.5] * 4), kn.model.Turnover(0.02, [5.5, 6.0, 7.5, 8.5], 6.9)
    errors = []
    for sides in (2, 4):
        system = kn.RatingSystem(kn.Tanh(0.5), gamma=0.15, schedule=kn.model.Field(sides))
        found = kn.diagnose(system, league, turnover)
        now = Played(system, league, turnover, np.full(16, 6.9), 3000)
        errors.append(numbers(dict(found.rows())["Error"])[0])
        near(errors[-1], now.error(), 0.03, sides)
    assert errors[1] < 0.9 * errors[0]


def test_best_steps_are_not_named_where_newcomers_are_not_counted():
    open_form = (kn.model.Form(0.02, 0.8), kn.model.Turnover(0.01, [0.0, 3.0], 1.5, "strongest"))
    found = kn.diagnose(kn.RatingSystem(kn.Tanh(0.5), gamma=0.1), kn.Fixed(np.linspace(0, 3, 7) ** 1.1), open_form)
    assert found.motion.best is None and "not computed" in dict(found.rows())["Best step size"]


@pytest.mark.parametrize(("kind", "seed", "doubt"), [("rest", 22, 0.04), ("window", 21, 0.15)])
def test_a_disturbance_of_the_whole_league_fades_as_fast_as_its_row_says(kind, seed, doubt):
    """From ratings pushed along the slowest mode, up and down: what is left of the push after its memory.

    A push also moves the noise that smooths a window, which the mode leaves out: that is worth a tenth.
    """
    system, league, _ = draw_setting(kind, seed)[1:]
    found = kn.diagnose(system, league)
    said = numbers(dict(found.rows())["Time to settle (whole league)"])[0]
    mode = relaxation_of(found.state).mode
    # Small beside the teams' own gaps, so that it fades by its slope.
    push = 0.1 * np.ptp(found.state.rating) * mode / np.abs(mode).max()
    # Matches that are played: of the pairs drawn, those within the window.
    apart = np.abs(np.subtract.outer(found.state.rating, found.state.rating))[~np.eye(league.teams, dtype=bool)]
    noise = np.sqrt(2 * np.mean(found.state.variance))
    share = 1.0 if system.pairing.constant else float(np.mean(ndtr((system.pairing.c - apart) / noise)))
    memory, batch = said / np.log(100) / share, max(1, league.teams // 2)
    steps = max(1, round(memory * league.teams / 2 / batch))
    ends = []
    for sign in (1, -1):
        run = kn.simulate(
            system, league, steps=steps, matches_per_step=batch, realisations=1500, seed=5, record_every=steps,
            start=found.state.rating + sign * push,
        )  # fmt: skip
        ends.append(sign * (run.rating.values[:, -1] - found.state.rating) @ push / (push @ push))
    # The same luck either way: what is left of half their difference.
    left = (ends[0] + ends[1]) / 2
    near(np.exp(-steps * batch * 2 / league.teams / memory), left, doubt, "left")


@pytest.mark.parametrize("leaving", ["random", "weakest", pytest.param("strongest", marks=pytest.mark.long)])
def test_an_open_league_drifts_as_its_row_says(leaving):
    """As it stands: over the first match of a team, before those who came have changed who leaves."""
    league = kn.Fixed([4.0, 5.5, 7.0, 7.5, 9.0, 11.0])
    system = kn.RatingSystem(kn.Tanh(0.3), gamma=0.1)
    turnover = kn.model.Turnover(0.02, [3.0, 5.0], 6.5, leaving)
    found = kn.diagnose(system, league, turnover)
    mean_rating, mean_strength, excess = numbers(dict(found.rows())["Open league"])
    way = "inflation" if mean_rating > mean_strength else "deflation"
    assert f": {way} by" in dict(found.rows())["Open league"]
    run = kn.simulate(
        system, league, steps=1, matches_per_step=3, realisations=30_000, seed=6, record_every=1, dynamics=turnover,
        start=kn.stationary(system, league).rating,
    )  # fmt: skip
    for said, name in ((mean_rating, "rating"), (mean_strength, "strength")):
        moved = run[name].values.mean(axis=2)
        near(said, moved[:, -1] - moved[:, 0], 0.03, name)
    assert excess == pytest.approx(abs(mean_rating - mean_strength), rel=0.02)


@pytest.mark.parametrize(("kind", "seed"), [("rest", 22), ("field", 22), ("form", 21)])
def test_choosing_opponents_pays_what_its_row_says(kind, seed):
    """Expected results, played over and over in small steps: first by the one that chooses, then by all."""
    setting = draw_setting(kind, seed)
    system, league = setting.system, setting.league
    found = kn.diagnose(system, league, setting.dynamics)
    row = dict(found.rows())["Choosing opponents"]
    said = re.search(r"pays team (\d+) most: ([+-][\d.e-]+) if it meets only team (\d+) .*, ([+-][\d.e-]+) once", row)
    s = mean_results(system.outcome, league, setting.dynamics)
    everybody = 1 - np.eye(league.teams)
    start = settle(system.outcome, s, everybody / (league.teams - 1), league.theta)
    alone = [
        (start[j] + np.interp(s[i, j], system.outcome.b(WIDE), WIDE) - start[i], i, j)
        for i in range(league.teams) for j in range(league.teams) if i != j
    ]  # fmt: skip
    if said is None:
        assert row.startswith("gains nothing") and max(alone)[0] < 1e-4
        return
    own, other, held, reacting = int(said[1]), int(said[3]), float(said[2]), float(said[4])
    # Nobody gains more by anyone.
    assert max(alone)[1:] == (own, other)
    # Only against one opponent, whose rating stays.
    gap = start[own] - start[other]
    for _ in range(4000):
        gap += 0.2 / system.outcome.steepest * (s[own, other] - system.outcome.b(gap))
    assert gap + start[other] - start[own] == pytest.approx(held, rel=0.006, abs=1e-3)
    weight = everybody / (league.teams - 1)
    weight[own, :] = weight[:, own] = 0.0
    weight[own, other] = weight[other, own] = 1.0
    assert settle(system.outcome, s, weight, start)[own] - start[own] == pytest.approx(reacting, rel=0.006, abs=1e-3)


WIDE = np.linspace(-40.0, 40.0, 400_001)


def mean_results(outcome, league, dynamics):
    """E b(x_i − x_j) over performances, on a fine grid."""
    form = 0.0 if dynamics is None else dynamics.spread**2
    sigma2 = np.broadcast_to(getattr(league, "sigma", 0.0), league.theta.shape) ** 2 + form
    x = np.linspace(-8, 8, 2001)
    weight = np.exp(-(x**2) / 2)
    weight /= weight.sum()
    gap, spread = np.subtract.outer(league.theta, league.theta), np.sqrt(np.add.outer(sigma2, sigma2))
    return outcome.b(gap[..., None] + spread[..., None] * x) @ weight


def settle(outcome, s, weight, rating):
    """Where ratings end that move in small steps by what these matches are expected to bring; their mean stays."""
    rating = np.array(rating, dtype=float)
    for _ in range(60_000):
        drift = (weight * (s - outcome.b(np.subtract.outer(rating, rating)))).sum(axis=1)
        rating += 0.3 / outcome.steepest * drift
        if np.abs(drift).max() < 1e-11:
            break
    return rating
