"""Parameters by one-step-ahead likelihood: they are where the likelihood is highest, and their errors are honest."""

import itertools
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts import fit
from kinelo.forecasts.fit import estimate
from kinelo.forecasts.parameters import Parameter
from kinelo.forecasts.scores import log_loss


def simulated(matches=3000, teams=30, seed=11, home=0.35, spread=0.9, ties=0.3):
    """Fixed strengths, normal performances, a draw band: what KalmanElo believes in, without margins."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, spread, teams)
    pairs = np.array([rng.choice(teams, 2, replace=False) for _ in range(matches)])
    performance = truth[pairs[:, 0]] - truth[pairs[:, 1]] + home + rng.normal(0, 1, matches)
    result = np.where(np.abs(performance) < ties, 0.0, np.sign(performance))
    day = np.datetime64("2000-01-01") + np.arange(matches) // 5
    names = [f"{k:02d}" for k in range(teams)]
    table = {"date": day.astype(str).tolist(), "home": [names[k] for k in pairs[:, 0]]}
    table |= {"away": [names[k] for k in pairs[:, 1]], "result": result.tolist()}
    return kn.read_matches(table, ordered=True)


def total_loss(rater, matches, values):
    rater._reset(values)
    skipped = len(matches) // 4
    return log_loss(rater.one_step_ahead(matches).probabilities, matches.result)[skipped:].sum()


@pytest.mark.parametrize(
    "make", [lambda: kn.TeamElo(spread=60.0, sharpness_walk=0.0), lambda: kn.KalmanElo(covariance="diagonal")]
)
def test_no_step_away_from_the_estimates_is_better(make):
    matches = simulated()
    rater = make()
    rater._unidentified = rater._unidentified_parameters(matches)
    found = estimate(rater, matches)
    best = total_loss(rater, matches, found.values)
    assert best == pytest.approx(-found.log_likelihood)
    start = {p.name: p.default for p in rater._open_parameters()}
    assert best < total_loss(rater, matches, start)
    for p in rater._open_parameters():
        for factor in (0.8, 1.25):
            moved = dict(found.values)
            moved[p.name] = min(max(moved[p.name] * factor, p.low), p.high)
            # Half a unit of log-likelihood is one standard error: a search need not end nearer than that.
            assert total_loss(rater, matches, moved) > best - 0.5, p.name


def test_known_parameters_are_found_within_their_errors():
    """Forecasts of a classic Elo league generate the results, so the likelihood is exact.

    Estimates lie within 4 standard errors of the truth (two-sided error probability 1e-4 for both together).
    """
    rng = np.random.default_rng(5)
    rows = []
    names = [f"{k:02d}" for k in range(12)]
    strength = dict.fromkeys(names, 1500.0)
    for _ in range(6000):
        home, away = rng.choice(names, 2, replace=False)
        win = 1 / (1 + 10 ** (-(strength[home] - strength[away] + 60) / 400))
        won = rng.random() < win
        strength[home] += 24 * (won - win)
        strength[away] -= 24 * (won - win)
        rows.append((home, away, 1 if won else -1))
    home, away, result = zip(*rows)
    matches = kn.read_matches({"home": home, "away": away, "result": result})
    rater = kn.TeamElo(None, 0.0, 1.0, None, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0).fit(matches)
    found = rater.estimates_
    assert set(found.values) == {"step", "home_advantage"}
    for name, value in {"step": 12.0, "home_advantage": 60.0}.items():
        error = found.standard_errors[name]
        assert 0 < error < value
        assert abs(found.values[name] - value) < 4 * error


def test_what_the_user_fixed_stays():
    rater = kn.KalmanElo(noise=0.9, covariance="diagonal").fit(simulated(600))
    assert "noise" not in rater.estimates_.values
    assert rater.parameters_["noise"] == 0.9
    everything = {p.name: p.default for p in kn.KalmanElo._declared_parameters}
    assert kn.KalmanElo(**everything).fit(simulated(100)).estimates_ is None


def test_parameters_without_evidence_have_no_standard_error():
    class Idle:
        """Forecasts depend on one of two parameters, and that one runs into its bound."""

        def _open_parameters(self):
            return (
                Parameter("pull", 0.2, 0.01, 0.4, True, "probability of a win"),
                Parameter("idle", 1.0, 0.1, 10.0, True, "nothing"),
            )

        def _reset(self, estimated=None):
            self.values = estimated

        def one_step_ahead(self, matches):
            win = np.full(len(matches), self.values["pull"])
            return kn.forecasts.Forecast.of(win, np.zeros_like(win), 1 - win)

    matches = kn.read_matches({"home": ["A"] * 100, "away": ["B"] * 100, "result": [1] * 80 + [-1] * 20})
    found = estimate(Idle(), matches)
    assert found.values["pull"] == pytest.approx(0.4)
    assert np.isnan(found.standard_errors["pull"])
    assert found.values["idle"] == pytest.approx(1.0)
    assert np.isnan(found.standard_errors["idle"])


def test_the_prior_decides_where_matches_tell_no_more():
    """The likelihood rises up to a factor e^0.2 and is flat beyond: the prior holds the estimate near the bend.

    What is minimised is written out: s is a sixth of the range, here of the logarithm.
    """

    class Saturated:
        def _open_parameters(self):
            return (Parameter("factor", 1.0, 0.5, 2.0, True, "helps until it does not"),)

        def _reset(self, estimated=None):
            self.z = np.log(estimated["factor"])

        def loss(self):
            return 0.012 * np.log1p(np.exp(-(self.z - 0.2) / 0.03))

        def one_step_ahead(self, matches):
            win = np.full(len(matches), np.exp(-self.loss()))
            return kn.forecasts.Forecast.of(win, np.zeros_like(win), 1 - win)

    def total(factor):
        rater = Saturated()
        rater._reset({"factor": factor})
        return 100 * rater.loss() + 0.5 * (np.log(factor) / (np.log(4.0) / 6)) ** 2

    matches = kn.read_matches({"home": ["A"] * 100, "away": ["B"] * 100, "result": [1] * 100})
    found = estimate(Saturated(), matches, warm_up=0.0).values["factor"]
    assert 1.2 < found < 1.4
    assert total(found) < min(total(factor) for factor in np.linspace(0.5, 2.0, 301)) + 0.1


def test_standard_error_of_a_proportion():
    class Coin:
        """One parameter with a textbook standard error, √(p(1 − p)/n)."""

        def _open_parameters(self):
            return (Parameter("p", 0.4, 0.01, 0.99, False, "probability of a win"),)

        def _reset(self, estimated=None):
            self.p = estimated["p"]

        def one_step_ahead(self, matches):
            win = np.full(len(matches), self.p)
            return kn.forecasts.Forecast.of(win, np.zeros_like(win), 1 - win)

    result = np.tile([1, -1, 1, 1], 1000)
    matches = kn.read_matches({"home": ["A"] * 4000, "away": ["B"] * 4000, "result": result.tolist()})
    found = estimate(Coin(), matches, warm_up=0.0)
    assert found.values["p"] == pytest.approx(0.75, abs=2e-3)
    assert found.standard_errors["p"] == pytest.approx(np.sqrt(0.75 * 0.25 / 4000), rel=0.02)


@pytest.mark.parametrize("make", [kn.TeamElo, kn.KalmanElo])
def test_a_long_table_is_looked_at_in_part_and_that_is_said(make):
    matches = simulated(400)
    rater = make()
    rater.look = 300
    with pytest.warns(KineloWarning, match="on the latest 300 of 400 matches"):
        rater.fit(matches)
    assert rater.estimates_.matches == 225 and rater.ratings_["matches"].sum() == 800
    rater.look = None
    assert rater.fit(matches).estimates_.matches == 300
    with pytest.raises(InputError, match="look"):
        rater.look = 0


def judged(sets, seed=1):
    """Votes that depend on one another: each judge compares five of nine sides pairwise, in a row."""
    rng = np.random.default_rng(seed)
    home, away, result = [], [], []
    for _ in range(sets):
        liking = rng.normal(size=9)
        for one, other in itertools.combinations(rng.choice(9, 5, replace=False), 2):
            home.append(f"side {one}")
            away.append(f"side {other}")
            result.append(float(liking[one] > liking[other]))
    return kn.read_matches({"home": home, "away": away, "result": result})


class Narrow(kn.TeamElo):
    """A rater whose ratings leave the range of numbers from a certain step on."""

    widest = 40.0

    def _step_ahead(self, matches):
        if self.parameters_["step"] > self.widest:
            raise fit.OutOfRange("leaves the range of numbers")
        return super()._step_ahead(matches)


def test_the_search_stays_where_ratings_are_numbers():
    """These votes ask for a step of about 50; where ratings are no numbers beyond 40, it ends before that."""
    matches = judged(200)
    usual = kn.TeamElo().fit(matches).parameters_["step"]
    assert usual > 41.0
    step = Narrow().fit(matches).parameters_["step"]
    assert 0.8 * Narrow.widest < step <= Narrow.widest


def test_parameters_within_their_ranges_may_leave_the_range_of_numbers():
    rater = kn.TeamElo(step=300.0, newcomer_boost=50.0, settling_matches=300.0)
    with pytest.raises(kn.InputError, match=r"leaves the range of numbers on these matches.*Nothing was changed"):
        rater.update(judged(2_000))
    assert rater.ratings_.height == 0
    fitted = kn.TeamElo(newcomer_boost=50.0, settling_matches=300.0).fit(judged(500))
    assert fitted.ratings_["rating"].is_finite().all()


def test_a_parameter_at_its_bound_is_reported(tmp_path):
    matches = judged(200)
    assert "spread" in kn.TeamElo().fit(matches).estimates_.at_bounds
    matches.to_polars().write_csv(tmp_path / "votes.csv")
    done = CliRunner().invoke(app, ["rate", str(tmp_path / "votes.csv"), "--rater", "team"])
    assert "Spread │ 200 (the end of its range) │" in " ".join(done.stdout.split()), done.output
    told = CliRunner().invoke(app, ["rate", str(tmp_path / "votes.csv"), "--rater", "team", "--json"])
    assert json.loads(told.stdout)["at_bounds"] == ["spread"]


@pytest.mark.parametrize(
    "make",
    [
        kn.TeamElo,
        kn.Glicko,
        kn.Glicko2,
        kn.KalmanElo,
        lambda: kn.KalmanElo(walk=0.3, covariance="diagonal"),
        kn.RankElo,
    ],
    ids=["TeamElo", "Glicko", "Glicko2", "KalmanElo", "KalmanElo by turns", "RankElo"],
)
def test_a_search_that_does_not_move_says_so(make, monkeypatch):
    """No step lowers the loss: the values are those before any match, and one sentence says it; else none does."""
    matches = simulated(200, 7)
    assert make().fit(matches).estimates_.moved
    monkeypatch.setattr(fit, "_step", lambda course, here, score, damping: (here, damping))
    with pytest.warns(
        KineloWarning, match="did not move from its start: no step .* these 200 matches likelier"
    ) as said:
        rater = make().fit(matches)
    assert len(said) == 1 and not rater.estimates_.moved
    assert said[0].filename == __file__


def test_nothing_to_search_is_no_search_that_stands_still():
    """All is given but the noise, which follows from the others."""
    open_ = kn.KalmanElo().fit(simulated(200, 7)).parameters_
    given = {name: value for name, value in open_.items() if name != "noise"}
    assert kn.KalmanElo(**given, covariance="diagonal").fit(simulated(200, 7)).estimates_.moved
