"""Exact scores: the law of scores and the filter of paces beside plain twins, and what is read off them."""

import math

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.matches.fixtures import lineups_of_starters
from kinelo.raters.scores.forecast import ScoreForecast, goals_of, lean_of
from kinelo.raters.scores.kernels import UNSEEN, Law, Pace, Paces, Totals, follow_paces, score_grid, score_losses
from kinelo.raters.tables import board_table

COUNTS = Law(False, 1.3, 0.8, 0.7, 0.07, 0.35)
POINTS = Law(True, 1.7, 0.9, 1.4, 0.0, 0.0)
CHANCES = np.array([[0.5, 0.22, 0.28], [0.1, 0.15, 0.75], [0.62, 0.0, 0.38]])


def forecast(law: Law, mean: list[float], variance: list[float]) -> ScoreForecast:
    return ScoreForecast(CHANCES, law=law, log_even=np.column_stack([mean, variance]))


def uneven_of(q: float) -> float:
    """The u that solves sinh(u) / √cosh(u) = q."""
    return optimize.brentq(lambda u: math.sinh(u) / math.sqrt(math.cosh(u)) - q, -20, 20, xtol=1e-14)


def plain_grid(law: Law, mean: float, variance: float, chances: np.ndarray, size: int) -> np.ndarray:
    """The same chances from SciPy's laws, integrated over both normal laws by a fine sum."""
    lean = stats.norm.ppf(chances[0] + chances[1] / 2)
    grid = np.zeros((size, size))
    x, y = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")

    def share_of_home(even):
        """u and cosh u of a match, where an even one has so many goals."""
        q = law.steepness * lean / math.sqrt(even)
        u = uneven_of(q)
        return u, math.cosh(u)

    if law.points:
        total = math.exp(mean) * share_of_home(math.exp(mean))[1] ** law.mismatch
        margin = stats.norm(law.steepness * lean * total**0.5, law.steepness * total**0.5)
        both = stats.norm(total, math.sqrt(law.dispersion * total + variance * total**2))
        grid = margin.pdf(x - y) * both.pdf(x + y)
    else:
        z = np.linspace(-6, 6, 31)
        weight = stats.norm.pdf(z) / stats.norm.pdf(z).sum()
        p = 1 / law.dispersion
        for t, share in zip(z, weight):
            even = math.exp(mean + math.sqrt(variance) * t)
            u, uneven = share_of_home(even)
            odds = np.exp(2 * u + law.scatter * z)[:, None]
            total = even * uneven**law.mismatch
            first, second = (
                stats.nbinom.pmf(np.arange(size), r * p / (1 - p), p)
                for r in (total * odds / (1 + odds), total / (1 + odds))
            )
            grid += share * (first * weight[:, None]).T @ second
        grid[1:, 1:] *= math.exp(law.closeness)
        grid[np.abs(x - y) == 1] *= math.exp(law.closeness)
    for place, where in enumerate((x > y, x == y, x < y)):
        grid[where] *= chances[place] / grid[where].sum()
    return grid


@pytest.mark.parametrize(("law", "mean", "size"), [(COUNTS, math.log(2.9), 40), (POINTS, math.log(45.0), 90)])
def test_chances_of_scores_are_those_of_plain_laws(law, mean, size):
    variance = np.array([0.02, 0.05, 0.01])
    grid = np.empty((3, size, size))
    score_grid(CHANCES, np.full(3, mean), variance, lean_of(CHANCES), law, grid)
    for k in range(3):
        np.testing.assert_allclose(grid[k], plain_grid(law, mean, variance[k], CHANCES[k], size), atol=2e-6)


@pytest.mark.parametrize(
    ("law", "mean", "variance"),
    [(COUNTS, 0.3, 0.08), (COUNTS, 2.4, 0.3), (POINTS, math.log(45), 0.08)],
)
def test_a_grid_holds_nearly_all_scores_and_not_many_more(law, mean, variance):
    said = forecast(law, [mean] * 3, [variance] * 3)
    for chances in CHANCES:
        wide = plain_grid(law, mean, variance, chances, 2 * said._size)
        least = next(n for n in range(400) if wide.sum() - wide[:n, :n].sum() < 1e-5)
        assert least <= said._size < 3 * least


@pytest.mark.parametrize(("law", "mean"), [(COUNTS, [0.9, 1.2, 1.0]), (POINTS, [3.8, 5.2, 4.4])])
def test_scores_of_an_outcome_have_its_chance(law, mean):
    said = forecast(law, mean, [0.02, 0.03, 0.01])
    grids = said.scores
    x, y = np.meshgrid(np.arange(grids.shape[1]), np.arange(grids.shape[1]), indexing="ij")
    for place, where in enumerate((x > y, x == y, x < y)):
        np.testing.assert_allclose(grids[:, where].sum(axis=1), CHANCES[:, place], atol=1e-12)


@pytest.mark.parametrize(("law", "mean"), [(COUNTS, [0.9, 1.2, 1.0]), (POINTS, [3.8, 5.2, 4.4])])
def test_who_is_named_first_does_not_matter(law, mean):
    variance = [0.02, 0.03, 0.01]
    turned = ScoreForecast(CHANCES[:, ::-1], law=law, log_even=np.column_stack([mean, variance]))
    np.testing.assert_allclose(turned.scores, forecast(law, mean, variance).scores.transpose(0, 2, 1), atol=1e-12)


@pytest.mark.parametrize(("law", "mean"), [(COUNTS, [0.9, 1.2, 1.0]), (POINTS, [3.8, 5.2, 4.4])])
def test_losses_are_those_of_the_grid(law, mean):
    said = forecast(law, mean, [0.02, 0.03, 0.01])
    size = said.scores.shape[1]
    for home, away in ((2, 1), (0, 0), (1, 3), (7, 7), (1, 0), (0, 1), (1, 1)):
        losses, goals = np.empty(3), (np.full(3, home), np.full(3, away))
        score_losses(CHANCES, said._beliefs, law, goals, size, losses)
        chance = said.scores[:, home, away]
        np.testing.assert_allclose(losses, -np.log(np.maximum(chance, 1e-15)), rtol=1e-4)  # no side has −1
    goals = np.array([-1, 0, 2]), np.array([3, -1, 2])
    score_losses(CHANCES, said._beliefs, law, goals, size, losses)
    assert np.isnan(losses).tolist() == [True, True, False]


def plainly(grid, above):
    """Chances of the scores for which this is above 0, at it and below, one by one."""
    found = [0.0, 0.0, 0.0]
    for (x, y), chance in np.ndenumerate(grid):
        found[1 - (above(x, y) > 0) + (above(x, y) < 0)] += chance
    return found


def test_what_is_asked_is_summed_over_scores():
    said = forecast(COUNTS, [0.9, 1.2, 1.0], [0.02, 0.03, 0.01])
    for k, grid in enumerate(said.scores):
        assert said.totals(2.5)[k] == pytest.approx(plainly(grid, lambda x, y: x + y - 2.5))
        assert said.totals(3.0)[k] == pytest.approx(plainly(grid, lambda x, y: x + y - 3))
        assert said.handicap(-1.5)[k] == pytest.approx(plainly(grid, lambda x, y: x - 1.5 - y))
        assert said.handicap(1.0)[k] == pytest.approx(plainly(grid, lambda x, y: x + 1 - y))
        # Half of the stake on each of the lines beside a quarter.
        half = 0.5 * np.array([plainly(grid, lambda x, y: x - y), plainly(grid, lambda x, y: x - 0.5 - y)])
        assert said.handicap(-0.25)[k] == pytest.approx(half.sum(axis=0))
        half = 0.5 * np.array([plainly(grid, lambda x, y: x + y - 2.5), plainly(grid, lambda x, y: x + y - 3)])
        assert said.totals(2.75)[k] == pytest.approx(half.sum(axis=0))
        half = 0.5 * np.array([plainly(grid, lambda x, y: x - 1 - y), plainly(grid, lambda x, y: x - 0.5 - y)])
        assert said.handicap(-0.75)[k] == pytest.approx(half.sum(axis=0))
        assert said.both_score[k] == pytest.approx(plainly(grid, lambda x, y: min(x, y))[0])
        goals = [sum(pair[side] * chance for pair, chance in np.ndenumerate(grid)) for side in (0, 1)]
        assert said.expected[k] == pytest.approx(goals)
        best = max(np.ndenumerate(grid), key=lambda one: one[1])[0]
        assert said.likeliest[k] == f"{best[0]}-{best[1]}"
    table = said.to_polars()
    assert table["expected_away"].to_list() == pytest.approx(said.expected[:, 1].tolist())
    assert table["likeliest"].to_list() == said.likeliest
    assert table["both_score"].to_list() == pytest.approx(said.both_score.tolist())
    assert len(set(table["line"])) > 1
    for k, (line, over) in enumerate(table.select("line", "over").rows()):
        assert 0.5 >= said.expected[k].sum() - line > -0.5
        assert over == pytest.approx(said.totals(line)[k, 0])


def test_grids_come_in_parts_of_any_size(monkeypatch):
    said = forecast(COUNTS, [0.9, 1.2, 1.0], [0.02, 0.03, 0.01])
    whole, totals = said.scores, said.totals(2.5)
    monkeypatch.setattr("kinelo.raters.scores.forecast.MOST_CELLS", 10.0 * whole.shape[1] ** 2)
    np.testing.assert_array_equal(said.scores, whole)
    np.testing.assert_allclose(said.totals(2.5), totals, rtol=1e-12)
    monkeypatch.setattr("kinelo.raters.scores.forecast.MOST_CELLS", 3.0 * whole.shape[1] ** 2 - 1.0)
    with pytest.raises(kn.InputError, match=r"of all scores of 3 matches are .* ask for fewer matches"):
        _ = said.scores


@pytest.mark.parametrize("closeness", [0.1, -0.1])
def test_close_scores_come_oftener_than_others_of_their_outcome(closeness):
    at = {"mean": [0.9, 1.2, 1.0], "variance": [0.0, 0.0, 0.0]}
    plain, close = (forecast(COUNTS._replace(closeness=d), **at).scores[0] for d in (0.0, closeness))
    ratio = np.log(close / plain) / closeness
    assert [ratio[2, 1] - ratio[2, 0], ratio[1, 2] - ratio[0, 2]] == pytest.approx([2.0, 2.0])
    once = [ratio[1, 0] - ratio[3, 0], ratio[3, 1] - ratio[3, 0], ratio[1, 1] - ratio[0, 0]]
    assert once == pytest.approx([1.0, 1.0, 1.0])


def plain_paces(days, home, away, totals, weights, lean, pace, law, level):
    """The filter of paces by its equations, with a dictionary."""
    x, v, last, said = {}, {}, {}, []
    middle, doubt, since = level
    for day, i, j, total, weight, g in zip(days, home, away, totals, weights, lean):
        level_doubt = doubt + (pace.level_walk**2 * (day - since) / 365.25 if since is not None else 0.0)
        now = {}
        for side in (i, j):
            kept = math.exp(-0.5 * (pace.walk / pace.spread) ** 2 * (day - last.get(side, day)) / 365.25)
            now[side] = kept * x.get(side, 0.0), pace.spread**2 * (1 - kept**2) + kept**2 * v.get(side, pace.spread**2)
        mean = middle + now[i][0] + now[j][0]
        variance = level_doubt + now[i][1] + now[j][1]
        said.append((mean, variance))
        if math.isnan(total) or weight == 0.0:
            continue
        q = law.steepness * g / math.sqrt(math.exp(mean))
        u = uneven_of(q)
        expected = math.exp(mean) * math.cosh(u) ** law.mismatch
        precision = weight * expected / law.dispersion
        surprise = (total - expected) / expected
        after = 1.0 / (1.0 / variance + precision)  # what is believed of log T
        shift = after * precision * surprise
        middle, since = middle + level_doubt / variance * shift, day
        doubt = level_doubt - level_doubt**2 / variance**2 * (variance - after)
        for side in (i, j):
            before = now[side][1]
            x[side] = now[side][0] + before / variance * shift
            v[side] = before - before**2 / variance**2 * (variance - after)
            last[side] = day
    return said, x, (middle, doubt)


def test_paces_are_those_of_a_plain_filter():
    generator = np.random.default_rng(4)
    home = generator.integers(0, 6, 80)
    away = (home + generator.integers(1, 6, 80)) % 6
    day, lean = np.sort(generator.integers(0, 900, 80)), generator.normal(0, 0.6, 80)
    totals, weights = generator.poisson(3.1, 80).astype(float), generator.choice([0.0, 0.6, 2.0], 80)
    totals[generator.random(80) < 0.2] = np.nan
    pace = Pace(0.3, 0.25, 0.1)
    said, x, level = plain_paces(day, home, away, totals, weights, lean, pace, COUNTS, (1.1, 0.04, None))
    state = np.array([1.1, 0.04, -math.inf]), np.zeros(6), np.zeros(6), np.full(6, UNSEEN)
    mean, variance = np.empty(80), np.empty(80)
    follow_paces(Totals(day, home, away, totals, weights, lean), pace, COUNTS, Paces(*state), mean, variance)
    np.testing.assert_allclose(np.column_stack([mean, variance]), said, rtol=1e-10)
    np.testing.assert_allclose(state[1], [x.get(k, 0.0) for k in range(6)], rtol=1e-10)
    np.testing.assert_allclose(state[0][:2], level, rtol=1e-10)


def league(seed, rounds=6, sides=12, spread=0.25, base=0.2, home=0.15):
    """A league whose attacks and defences are known, and the rates of its goals."""
    generator = np.random.default_rng(seed)
    attack, defence = generator.normal(0, spread, sides), generator.normal(0, 0.6 * spread, sides)
    pairs = [(i, j) for _ in range(rounds) for i in range(sides) for j in range(sides) if i != j]
    generator.shuffle(pairs)
    i, j = np.array(pairs).T
    rates = np.exp(base + home + attack[i] - defence[j]), np.exp(base + attack[j] - defence[i])
    goals = [generator.poisson(rate) for rate in rates]
    names = np.array([f"side {k}" for k in range(sides)])
    date = np.datetime64("2020-01-01") + np.arange(len(pairs))
    table = {"date": date, "home": names[i], "away": names[j], "home_score": goals[0], "away_score": goals[1]}
    return kn.read_matches(pl.DataFrame(table)), rates, attack, defence


@pytest.fixture(scope="module")
def played():
    """792 matches, the rater fitted on the first 500, its forecasts of the others, and the truth."""
    matches, rates, attack, defence = league(5)
    rater = kn.ScoreElo(kn.KalmanElo(covariance="diagonal"), level_walk=0.01, pace_walk=0.02).fit(matches[:500])
    return matches, rater, rater.one_step_ahead(matches[500:]), rates, attack, defence


def test_goals_are_forecast_nearly_as_well_as_their_rates_would(played):
    """One league; the loss beyond the truth's is a matter of 292 matches, with a standard error of about .012."""
    matches, _, said, rates, *_ = played
    goals = goals_of(matches)
    truth = -sum(stats.poisson.logpmf(goals[s][500:], rates[s][500:]) for s in (0, 1))
    plain = -sum(stats.poisson.logpmf(goals[s][500:], goals[s][:500].mean()) for s in (0, 1))
    lost = said.score_losses(matches[500:]) - truth
    assert -0.02 < lost.mean() < 0.5 * (plain - truth).mean()
    for side in (0, 1):
        assert np.corrcoef(said.expected[:, side], rates[side][500:])[0, 1] > 0.8
        assert said.expected[:, side].mean() == pytest.approx(rates[side][500:].mean(), rel=0.08)


def test_attack_and_defence_are_found(played):
    _, rater, _, _, attack, defence = played
    table = rater.ratings_.sort("name")
    order = np.argsort([f"side {k}" for k in range(12)])
    assert np.corrcoef(table["attack"], np.exp(attack[order]))[0, 1] > 0.85
    assert np.corrcoef(table["defence"], np.exp(-defence[order]))[0, 1] > 0.6
    assert (table["attack"].mean(), table["defence"].mean()) == pytest.approx((1.3, 1.3), rel=0.15)


def test_outcomes_are_those_of_strengths(played):
    matches, _, said, *_ = played
    alone = kn.KalmanElo(covariance="diagonal").fit(matches[:500])
    np.testing.assert_array_equal(said.probabilities, alone.one_step_ahead(matches[500:]).probabilities)


def test_what_asks_for_outcomes_alone_is_answered_by_the_strengths(played):
    matches, rater, *_ = played
    alone = kn.KalmanElo(covariance="diagonal").fit(matches[:500]).update(matches[500:])
    day = matches.date[-1] + np.timedelta64(40)
    table = rater.ratings_on(day).drop("attack", "defence")
    assert table.equals(alone.ratings_on(day).select(table.columns))
    four = ["side 3", "side 5", "side 1", "side 8"]
    questions = (
        lambda one: kn.next_matches(one, count=3, target="leader").to_dict(),
        lambda one: kn.tiers(one).to_dict(as_series=False),
        lambda one: kn.knockout(one, four, date=day, realisations=500, seed=4).to_dict(),
        lambda one: kn.balance(one, four, sides=2).splits,
        lambda one: kn.preview(one, "side 3", "side 5", date=day).to_dict(),
        lambda one: kn.watch(one, matches[400:]).to_dict(as_series=False),
    )
    for ask in questions:
        assert ask(rater) == ask(alone)


def test_effects_are_those_of_the_strengths():
    matches, *_ = league(7, rounds=2, sides=6)
    generator = np.random.default_rng(3)
    noted = matches.to_polars().with_columns(
        rest=generator.normal(size=len(matches)), surface=pl.Series(generator.choice(["grass", "hall"], len(matches)))
    )
    home, away = goals_of(matches)
    table = noted.select("date", "home", "away", "rest", "surface").with_columns(home_score=home, away_score=away)
    known = kn.read_matches(table, conditions=["rest"])
    alone = kn.KalmanElo(covariance="diagonal", covariates=["rest"])
    rater = kn.ScoreElo(kn.KalmanElo(covariance="diagonal", covariates=["rest"]), pace_walk=0.02, level_walk=0.02)
    assert rater.fit(known).effects_.equals(alone.fit(known).effects_)
    assert rater.effects_["name"].to_list() == ["rest"]


def test_a_league_goes_on_in_pieces_and_from_what_was_stored(played):
    matches, rater, said, *_ = played
    again = kn.ScoreElo(kn.KalmanElo(covariance="diagonal"), level_walk=0.01, pace_walk=0.02).fit(matches[:500])
    parts = [again.one_step_ahead(matches[500:600])]
    other = kn.ScoreElo(kn.KalmanElo(covariance="diagonal"))
    other.from_arrays(again.to_arrays())
    assert other.to_arrays()["law"].tolist() == again.to_arrays()["law"].tolist() == [0]  # counts
    parts.append(other.one_step_ahead(matches[600:]))
    np.testing.assert_allclose(np.concatenate([p.log_even for p in parts]), said.log_even, rtol=1e-12)
    assert parts[0].joined(parts, matches[500:]).expected == pytest.approx(said.expected)
    assert other.ratings_.equals(rater.ratings_)


def test_a_forecast_leaves_the_rater_alone_and_is_that_of_the_next_step(played):
    matches, rater, *_ = played
    before = rater.to_arrays()
    coming = kn.read_matches(
        {"home": ["side 3", "side 7"], "away": ["side 5", "nobody"], "date": [str(matches.date[-1])] * 2}, played=False
    )
    said = rater.predict(coming)
    alone = rater.predict_one("side 3", "side 5", date=str(matches.date[-1]))
    assert said.expected[0] == pytest.approx(alone.expected[0])
    assert said.log_even[1, 1] > said.log_even[0, 1]  # a newcomer's pace is not known
    assert said.unknown == ("nobody",)
    after = rater.to_arrays()
    assert all(np.array_equal(before[name], after[name], equal_nan=before[name].dtype.kind == "f") for name in before)


def test_a_forecast_of_what_was_played_does_not_read_its_scores(played):
    matches, rater, *_ = played
    part = matches[-30:]
    sides = [[matches.teams[code] for code in codes] for codes in (part.home, part.away)]
    table = dict(zip(("home", "away"), sides, strict=True)) | {"date": [str(day) for day in part.date]}
    np.testing.assert_array_equal(
        rater.predict(part).log_even, rater.predict(kn.read_matches(table, played=False)).log_even
    )


def test_goals_are_those_against_the_average_of_the_table():
    """Ratings to begin with keep their level, so that the average side is not rated as a newcomer is."""
    matches, *_ = league(7, rounds=2, sides=6)
    start = {f"side {k}": 1800 + 30 * k for k in range(6)}
    rater = kn.ScoreElo(kn.KalmanElo(covariance="diagonal", start=start), pace_walk=0.02, level_walk=0.02).fit(matches)
    table = rater.ratings_
    assert table["rating"].mean() > 1700
    lead = (table["rating"] - table["rating"].mean()).to_numpy() * (table["attack"] - table["defence"]).to_numpy()
    assert (lead > 0).all() and abs((table["attack"] / table["defence"]).log().mean()) < 0.1


def test_margins_of_seasons_follow_the_scores(played):
    """Means of 4,000 draws lie within 4 standard errors: an error of 1 in 2,000 for all six."""
    _, rater, *_ = played
    coming = kn.read_matches(
        {"home": ["side 0", "side 4", "side 9"], "away": ["side 8", "side 1", "side 2"]}, played=False
    )
    outcome, margin = rater._play_out(coming, 4000, 3)
    said = rater.predict(coming)
    n = said.scores.shape[1]
    by = np.subtract.outer(np.arange(n), np.arange(n))
    for k in range(3):
        for place, sign in ((0, 1), (2, -1)):
            where = sign * by > 0
            law = said.scores[k][where] / said.scores[k][where].sum()
            mean = float(law @ by[where])
            spread = math.sqrt(float(law @ (by[where] - mean) ** 2))
            drawn = margin[outcome[:, k] == place, k]
            assert drawn.mean() == pytest.approx(mean, abs=4 * spread / math.sqrt(drawn.size))
        assert (margin[outcome[:, k] == 1, k] == 0).all()


def test_points_are_told_from_counts_by_their_number():
    generator = np.random.default_rng(2)
    pairs = [(i, j) for _ in range(8) for i in range(8) for j in range(8) if i != j]
    i, j = np.array(pairs).T
    total, margin = generator.normal(210, 18, i.size), generator.normal(2.0 + 1.5 * (j - i), 12, i.size)
    home, away = np.round((total + margin) / 2), np.round((total - margin) / 2)
    home[home == away] += 1
    names = np.array([f"side {k}" for k in range(8)])
    matches = kn.read_matches({"home": names[i], "away": names[j], "home_score": home, "away_score": away})
    rater = kn.ScoreElo(kn.KalmanElo(covariance="diagonal"), pace_walk=0.02, level_walk=0.01).fit(matches[:300])
    said = rater.one_step_ahead(matches[300:])
    assert rater._law.points
    assert not kn.ScoreElo(law="counts")._points_in(210.0)
    assert [kn.ScoreElo()._points_in(total) for total in (30.0, 30.5)] == [False, True]
    floors = [kn.ScoreElo(dispersion=0.6, law=law).update(matches[:9])._law.dispersion for law in ("counts", "points")]
    assert floors == [1.0, 0.6]  # counts are no less spread than Poisson's
    spread = (home + away)[300:].var()
    expected = rater.parameters_["dispersion"] * 210.0
    assert expected == pytest.approx(spread, rel=0.25)
    over, level, under = said.totals(209.5).mean(axis=0)
    assert (over, level) == (pytest.approx(0.5, abs=0.06), 0.0)
    assert under == pytest.approx(1 - over)
    lost = said.score_losses(matches[300:]).mean()
    assert lost == pytest.approx(math.log(2 * math.pi * math.e * 18 * 12 / 2), abs=0.12)  # of two normal laws


def test_totals_are_read_with_scores():
    table = {"home": ["A", "B", "C", "A"], "away": ["B", "C", "A", "C"]}
    scores = {"home_score": [2, 0, 1, None], "away_score": [1, 0, 3, None]}
    matches = kn.read_matches(table | scores, played=False)
    assert matches.total.tolist()[:3] == [3.0, 0.0, 4.0]
    assert math.isnan(matches.total[3])
    assert matches[1:3].total.tolist() == [0.0, 4.0]
    assert kn.read_matches(table | {"result": [1, 0.5, 0, 1]}).total is None
    assert kn.read_matches(table | {"margin": [1, 0, -2, 1]}).total is None
    lines = kn.read_matches(table | {"score": ["2-1 aet", "3-3 (4-2 pens)", "6-4 3-6 7-5", "0:2"]})
    assert lines.total[[0, 1, 3]].tolist() == [3.0, 6.0, 2.0]
    assert math.isnan(lines.total[2])  # sets are no goals
    places = {"home_place": [1, 2, 1, 3], "away_place": [2, 1, 4, 1]}
    assert kn.read_matches(table | places, columns={k: k for k in places}).total is None


def test_matches_without_scores_tell_of_strengths_alone():
    matches, *_ = league(7, rounds=2, sides=6)
    total = matches.total.copy()
    total[::3] = np.nan
    holed = matches[:]
    object.__setattr__(holed, "total", total)
    with pytest.warns(kn.KineloWarning, match="20 of 60 matches have no whole scores: they tell of strengths"):
        rater = kn.ScoreElo(pace_walk=0.02, level_walk=0.02).fit(holed)
    assert rater.estimates_ is not None
    losses = rater.one_step_ahead(holed[-1:]).score_losses(holed[-1:])
    assert losses.shape == (1,)
    assert rater.strengths is None
    pace = rater._state.pace.copy()
    rater.update_one("side 0", "side 1", "win", margin=3.0)  # a margin is no score
    np.testing.assert_array_equal(rater._state.pace, pace)


def test_a_rater_that_was_never_fitted_learns_the_level_on_the_way():
    matches, *_ = league(7, rounds=3, sides=6)
    rater = kn.ScoreElo().update(matches)
    assert rater._law.points is False
    assert rater.learnt_["level"].value == pytest.approx(matches.total.mean(), rel=0.12)
    assert 0.0 < rater.learnt_["level"].error < 0.4


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda m: kn.ScoreElo("kalman"), r"strengths='kalman'\) cannot be used: strengths are a KalmanElo or a Pla"),
        (lambda m: kn.ScoreElo(kn.TeamElo()), r"cannot be used: strengths are a KalmanElo or a PlayerElo\."),
        (lambda m: kn.ScoreElo(law="goals"), r"law='goals'\) cannot be used: law is 'auto', 'counts' or 'points'\."),
        (lambda m: kn.ScoreElo(dispersion=0.0), "dispersion is a finite number above 0"),
        (lambda m: kn.ScoreElo().fit(m), r"None of these 4 matches has whole scores of both sides, which ScoreElo n"),
        (lambda m: forecast(COUNTS, [1, 1, 1], [0, 0, 0]).totals(-1), "line is a finite number of at least 0"),
        (lambda m: forecast(COUNTS, [1, 1, 1], [0, 0, 0]).handicap(math.nan), "line is a finite number"),
    ],
)
def test_what_cannot_be_used_is_said(make, said):
    matches = kn.read_matches({"home": ["A", "B"] * 2, "away": ["B", "A"] * 2, "margin": [1, 0.5, -2, 1]})
    with pytest.raises(kn.InputError, match=said):
        make(matches)


def test_a_book_of_scores_is_refused_before_a_file_is_made(tmp_path):
    with pytest.raises(kn.InputError, match="A rating book keeps no scores, which ScoreElo needs"):
        kn.RatingBook(tmp_path / "book.db", kn.ScoreElo())
    assert not list(tmp_path.iterdir())


def test_scores_of_players_sides():
    """A side's pace beside strengths of players, who have no attack of their own."""
    matches, *_ = league(7, rounds=2, sides=6)
    starters = [
        [f"{matches.teams[code]} {n}" for n in range(2)] for pair in zip(matches.home, matches.away) for code in pair
    ]
    object.__setattr__(matches, "lineups", lineups_of_starters(*starters))
    rater = kn.ScoreElo(kn.PlayerElo(covariance="diagonal"), pace_walk=0.02, level_walk=0.02).fit(matches)
    assert "attack" not in rater.ratings_.columns
    said = rater.predict_one("side 0", "side 1", home_lineup=["side 0 0", "side 0 1"])
    assert 0.5 < said.expected[0, 0] < 4.0
    assert rater._state.pace.any()


def test_the_command_line_shows_scores(tmp_path):
    matches, *_ = league(7, rounds=2, sides=6)
    home, away = goals_of(matches)
    table = matches.to_polars().select("date", "home", "away").with_columns(home_score=home, away_score=away)
    table.write_csv(tmp_path / "results.csv")
    files = ["--results", str(tmp_path / "results.csv"), "--out", str(tmp_path / "forecasts.csv")]
    asked = ["predict", *files, "--rater", "score", "--match", "side 1 - side 4", "--match", "side 5 - side 0"]
    said = CliRunner().invoke(app, asked)
    assert said.exit_code == 0, said.output
    written = pl.read_csv(tmp_path / "forecasts.csv")
    rater = kn.ScoreElo().fit(kn.read_matches(tmp_path / "results.csv"))
    expected = rater.predict(
        kn.read_matches({"home": ["side 1", "side 5"], "away": ["side 4", "side 0"]}, played=False)
    )
    assert written["expected_away"].to_list() == pytest.approx(expected.expected[:, 1].tolist())
    assert written["likeliest"].to_list() == expected.likeliest
    assert expected.likeliest[0] in said.output
    assert "{:.2f}–{:.2f}".format(*expected.expected[1]) in said.output
    over = expected.to_polars()["over"][0]
    assert f"{100 * over:.1f} %" in said.output
    rated = CliRunner().invoke(app, ["rate", str(tmp_path / "results.csv"), "--rater", "score"])
    assert rated.exit_code == 0, rated.output
    assert "variance of a total over its mean" in rated.output
    board = kn.leaderboard(rater, kn.read_matches(tmp_path / "results.csv"))
    best, goals = board.row(0, named=True), rater.ratings_on().select("name", "attack", "defence")
    assert (best["name"], best["attack"], best["defence"]) in goals.rows()
    cells = board_table(board, narrow=True).cells()[0]
    assert cells[-3:-1] == [f"{best['attack']:.2f}", f"{best['defence']:.2f}"]
    assert (rater.initial, kn.ScoreElo(kn.KalmanElo(initial=1200.0)).initial) == (1500.0, 1200.0)
