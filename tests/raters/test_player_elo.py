"""Player ratings against a plain loop over dictionaries, and line-ups of every kind."""

import copy
import math
import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.errors import InputError
from kinelo.matches.sample import sample_league
from kinelo.raters import gaussian

YEAR = 365.25
RECENT, FRESH_STARTER, USUAL_GAIN = 10, 0.7, 0.1
VALUES = {
    "walk": 0.4,
    "prior_spread": 0.9,
    "venue_walk": 0.05,
    "newcomer": -0.4,
    "team_prior": 0.6,
    "newcomer_correlation": 0.35,
    "squad_spread": 0.4,
    "squad_walk": 0.3,
    "regression": 0.2,
    "noise": 1.1,
    "margin_power": 0.8,
    "sharpness": 1.3,
    "ties": 0.25,
    "doubt": 1.4,
}
GIVEN = {name: value for name, value in VALUES.items() if name != "doubt"}
"""All but one, so that nothing is taken from the first matches, as from those of a fit."""
ROLES = {"keeper": 2.0, "field": 1.0}


def season(matches=60, teams=5, seed=1, missing=0.15, first_day="1969-06-01"):
    """A league whose line-ups are unequal, change, and lack minutes, starters or everything here and there."""
    rng = np.random.default_rng(seed)
    rows, players = [], []
    day = np.datetime64(first_day)
    for k in range(matches):
        day = day + int(rng.integers(0, 25))
        home, away = rng.choice(teams, 2, replace=False)
        rows.append((f"m{k}", str(day), f"T{home}", f"T{away}", int(rng.integers(0, 4)), int(rng.integers(0, 4))))
        for side, team in (("H", home), ("A", away)):
            if rng.random() < missing:
                continue
            squad = rng.choice(9, rng.integers(3, 8), replace=False)
            with_minutes = rng.random() < 0.7
            for n, number in enumerate(squad):
                minutes = float(rng.integers(0, 90)) if with_minutes and rng.random() < 0.8 else None
                starter = None if rng.random() < 0.2 else int(n < 3)
                players.append((f"m{k}", side, f"{team}/{number}", minutes, starter, "keeper" if n == 0 else "field"))
    names = ["match_id", "date", "home", "away", "home_score", "away_score"]
    results = pl.DataFrame(rows, schema=names, orient="row")
    lineups = pl.DataFrame(
        players,
        schema={"match_id": pl.String, "side": pl.String, "player": pl.String, "minutes": pl.Float64,
                "starter": pl.Int64, "role": pl.String},
        orient="row",
    )  # fmt: skip
    return kn.read_matches(results, lineups=lineups)


class PlainPlayers:
    """The same rating, written down as one would explain it, with dictionaries and lists."""

    def __init__(self, values, unit, known, bench=0.3, size=0.0):
        self.v, self.unit, self.known, self.bench, self.size = values, unit, known, bench, size
        self.players, self.usual, self.recent, self.seen = {}, {}, {}, {}
        self.venue = {True: [0.0, 0.0], False: [0.0, values["noise"] ** 2]}
        self.start = self.today = None

    def shares(self, rows):
        known = [r["minutes"] for r in rows if not math.isnan(r["minutes"])]
        longest = max(known, default=0.0)
        out = []
        for r in rows:
            if longest > 0:
                share = (np.mean(known) if math.isnan(r["minutes"]) else r["minutes"]) / longest
            else:
                share = self.bench if r["starter"] == 0 else 1.0
            out.append((r["player"], share * r["weight"], r["starter"], share))
        return [entry for entry in out if entry[1] > 0]

    def scaled(self, lineup):
        total = self.size or sum(w for _, w in lineup)
        return [(q, w / total) for q, w in lineup]

    def average_recent(self, team, without=(), substitutes=False):
        past = self.recent.get(team, [])
        out = {}
        for lineup in past:
            for q, w, starter, _ in lineup:
                if q not in without and not (substitutes and starter != 0):
                    out[q] = out.get(q, 0.0) + w / len(past)
        return list(out.items())

    def faded(self, q, day):
        x, P, last = self.players[q]
        if q[0] == "team":
            return x, P + self.v["squad_walk"] ** 2 * (day - last) / YEAR
        rho = self.v["regression"]
        f = math.exp(-rho * (day - last) / YEAR)
        return x * f, P * f * f + self.v["walk"] ** 2 * (1 - f * f) / (2 * rho)

    def entry(self, q, known, day):
        """Mean and variance with which somebody begins beside those known, ``(share, x)`` each."""
        mean = sum(w * x for w, x in known)
        start = day if self.start is None else self.start
        level = self.v["newcomer"] * (1 - math.exp(-(day - start) / YEAR))
        if q[0] == "team":
            return 0.0, self.v["squad_spread"] ** 2
        if q[0] == "squad":
            return mean / sum(w for w, _ in known) if known else level, self.v["prior_spread"] ** 2
        return level + self.v["team_prior"] * mean, self.v["prior_spread"] ** 2

    def members(self, lineup, day):
        """Share, mean and variance of everyone in a line-up."""
        met = {q: self.faded(q, day) for q, _ in lineup if q in self.players}
        known = [(w, met[q][0]) for q, w in lineup if q in met and q[0] != "team"]
        return {q: (w, *(met.get(q) or self.entry(q, known, day))) for q, w in lineup}

    def belief(self, lineup, day):
        parts = self.members(lineup, day)
        fresh = sum(w for q, w in lineup if q not in self.players and isinstance(q, str))
        together = self.v["newcomer_correlation"] * fresh**2 * self.v["prior_spread"] ** 2
        return sum(w * x for w, x, _ in parts.values()), sum(w * w * P for w, _, P in parts.values()) + together

    def trust(self, team, day):
        return math.exp(-(day - self.seen[team]) / YEAR) if team in self.seen else 0.0

    def likely(self, team, day):
        q, past = self.trust(team, day), self.average_recent(team)
        recent = [(name, q * w) for name, w in self.scaled(past)] if past else []
        return [*recent, (("squad", team), 1 - q)] if q < 1 else recent

    def foresee(self, team, rows, day):
        lineup = []
        if rows and self.known == "minutes":
            lineup = self.scaled([(q, w) for q, w, _, _ in self.shares(rows)]) if self.shares(rows) else []
        elif rows and self.known == "starters":
            starters = [
                (r["player"], self.usual.get(r["player"], FRESH_STARTER) * r["weight"])
                for r in rows
                if r["starter"] != 0
            ]
            names = [q for q, _ in starters]
            lineup = starters + self.average_recent(team, names, substitutes=bool(starters))
            lineup = self.scaled(lineup) if lineup else []
        own = [(("team", team), 1.0)]
        if lineup:
            return self.belief(lineup + own, day)
        mean, variance = self.belief(self.likely(team, day) + own, day)
        past = [self.belief(self.scaled([(q, w) for q, w, _, _ in one]), day)[0] for one in self.recent.get(team, [])]
        return mean, variance + self.trust(team, day) ** 2 * (np.var(past) if past else 0.0)

    def play(self, teams, rows, y, neutral, weight, day):
        if self.start is None:
            self.start = self.today = day
        for belief in self.venue.values():
            belief[1] += self.v["venue_walk"] ** 2 * (day - self.today) / YEAR
        self.today = day
        venue = self.venue[neutral]
        sides = [self.foresee(team, listed, day) for team, listed in zip(teams, rows)]
        expected = (venue[0] + sides[0][0] - sides[1][0], venue[1] + sides[0][1] + sides[1][1])
        S, surprise, lineups = venue[1] + self.v["noise"] ** 2 / weight, y - venue[0], []
        for sign, team, listed in zip((1, -1), teams, rows):
            played = self.scaled([(q, w) for q, w, _, _ in self.shares(listed)]) if self.shares(listed) else []
            lineup = (played or self.likely(team, day)) + [(("team", team), 1.0)]
            theta, doubt = self.belief(lineup, day)
            surprise -= sign * theta
            S += doubt
            lineups.append(self.members(lineup, day))
        for sign, parts, team, listed in zip((1, -1), lineups, teams, rows):
            for q, (w, x, P) in parts.items():
                self.players[q] = (x + sign * w * P * surprise / S, P - (w * P) ** 2 / S, day)
            kept = self.shares(listed)
            if kept:
                past = self.recent.setdefault(team, [])
                past.append(kept)
                del past[:-RECENT]
                self.seen[team] = day
                for q, _, _, share in kept:
                    before = self.usual.get(q)
                    self.usual[q] = share if before is None else before + USUAL_GAIN * (share - before)
        pull = venue[1]
        venue[0] += pull * surprise / S
        venue[1] -= pull * pull / S
        return expected


def listed_rows(matches, g, side):
    lineups = matches.lineups
    lo, hi = lineups.offsets[2 * g + side : 2 * g + side + 2]
    return [
        {
            "player": lineups.players[lineups.player[c]],
            "minutes": lineups.minutes[c],
            "starter": lineups.starter[c],
            "weight": ROLES[lineups.roles[lineups.role[c]]] if lineups.roles else 1.0,
        }
        for c in range(lo, hi)
    ]


def play_plain(plain, matches, g, y):
    """Let the plain loop use match ``g``, which shows ``y``; return what it expected."""
    teams = (matches.teams[matches.home[g]], matches.teams[matches.away[g]])
    rows = [listed_rows(matches, g, side) for side in (0, 1)]
    return plain.play(teams, rows, y, bool(matches.neutral[g]), matches.weight[g], int(matches.day[g]))


@pytest.mark.parametrize("strength", ["mean", "sum"])
@pytest.mark.parametrize("known", ["starters", "minutes", "none"])
def test_kernel_agrees_with_dictionaries(known, strength):
    matches = season(120)
    rater = kn.PlayerElo(**VALUES, known=known, strength=strength, role_weights=ROLES)
    rater._margin_unit, rater._lineup_size = 1.5, 4.0
    rater._reset()
    mean, variance, _ = rater._run(matches, rater._signal(matches))
    plain = PlainPlayers(VALUES, 1.5, known, size=4.0 if strength == "sum" else 0.0)
    unit = 1.5
    for g in range(len(matches)):
        m = matches.margin[g]
        y = np.sign(m) * abs(m / unit) ** 0.8
        unit += (abs(m) - unit) / 1000
        expected = play_plain(plain, matches, g, y)
        assert (mean[g], variance[g]) == pytest.approx(expected, abs=1e-9), g
    ratings = rater.ratings_
    assert set(ratings["name"]) == {q for q in plain.players if isinstance(q, str)}
    for name, rating in ratings.select("name", "rating").iter_rows():
        assert (rating - 1500) / rater._points_per_unit == pytest.approx(plain.players[name][0], abs=1e-9)
    strengths = dict(rater.team_strengths_.select("name", "spread").iter_rows())
    for team, past in plain.recent.items():
        day = int(matches.day[-1])
        values = [plain.belief(plain.scaled([(q, w) for q, w, _, _ in lineup]), day)[0] for lineup in past]
        spread = plain.trust(team, day) * np.std(values)
        assert strengths[team] / rater._points_per_unit == pytest.approx(spread, abs=1e-7)


@pytest.mark.parametrize("known", ["starters", "minutes", "none"])
def test_prediction_of_the_next_match_is_its_one_step_forecast(known):
    matches = season(80, seed=2)
    rater = kn.PlayerElo(**VALUES, known=known).update(matches[:40])
    before = {name: values.copy() for name, values in rater.to_arrays().items()}
    foreseen = rater.predict(matches[40:41])
    for name, values in rater.to_arrays().items():
        np.testing.assert_array_equal(values, before[name])
    seen = rater.one_step_ahead(matches[40:41])
    np.testing.assert_allclose(seen.probabilities, foreseen.probabilities, atol=1e-12)
    np.testing.assert_allclose(seen.probabilities.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize("known", ["starters", "minutes", "none"])
def test_a_team_never_met_is_as_uncertain_as_any_newcomer_whoever_plays_for_it(known, covariance):
    """Its first match is forecast by ``predict`` as on the way: what a team has whoever plays is doubted in both."""
    rater = kn.PlayerElo(**VALUES, known=known, covariance=covariance).update(season(40, seed=2))
    table = {
        "date": ["1975-01-01"] * 3, "home": ["X", "T1", "X"], "away": ["T0", "Y", "Y"], "result": [1, 0.5, 0],
        "home_lineup": [["0/1", "0/2", "new"], ["1/1", "1/2"], []],
        "away_lineup": [["0/3", "0/4"], ["1/3", "1/4"], ["other"]],
    }  # fmt: skip
    debuts = kn.read_matches(table, ordered=True)
    for k in range(3):
        again = copy.deepcopy(rater)
        foreseen = again.predict(debuts[k : k + 1]).probabilities
        np.testing.assert_allclose(foreseen, again.one_step_ahead(debuts[k : k + 1]).probabilities, atol=1e-12)
    sure = kn.PlayerElo(**VALUES | {"squad_spread": 0.0, "squad_walk": 0.0}, known=known, covariance=covariance)
    sure.update(season(40, seed=2))
    doubts = [one._expect(debuts)[1] for one in (rater, sure)]
    assert (doubts[0] > doubts[1] + 0.9 * VALUES["squad_spread"] ** 2).all()


def forecast_of(mean, variance):
    """Chances of a win, a draw and a loss where this is believed."""
    scale = VALUES["sharpness"] / math.sqrt(1 + VALUES["sharpness"] ** 2 * VALUES["doubt"] * variance)
    band = VALUES["ties"] / VALUES["sharpness"] * scale
    win, loss = (0.5 * math.erfc(-(sign * mean * scale - band) / math.sqrt(2)) for sign in (1, -1))
    return [win, 1 - win - loss, loss]


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize("days", [0, 45, 400, 3000])
def test_a_forecast_after_a_rest_knows_how_strengths_have_faded(days, covariance, monkeypatch):
    """Players fade and grow uncertain, recent line-ups are trusted less, venues and teams move: as on the way, and
    without covariance as in a plain loop, which knows nothing of sizes.
    """
    monkeypatch.setattr("kinelo.raters.player.rater.sizes_differ", lambda lineups: False)
    matches = season(60, seed=4)
    matches = replace(matches, margin=np.full(len(matches), math.nan))  # the plain loop is told results alone
    rater = kn.PlayerElo(**VALUES, ties_walk=0.0, sharpness_walk=0.0, role_weights=ROLES, covariance=covariance).update(
        matches
    )
    plain = PlainPlayers(VALUES, math.nan, "starters")
    for g in range(len(matches)):
        play_plain(plain, matches, g, matches.signed[g])
    day = str(matches.date[-1] + np.timedelta64(days))
    for rows, home in (([], "T1"), (["0/1", "0/2", "0/3"], "T0")):
        table = {"date": [day], "home": [home], "away": ["T2"], "home_lineup": [rows], "away_lineup": [["2/1", "2/4"]]}
        fixture = kn.read_matches(table | {"result": [1]})
        said = rater.predict(kn.read_matches(table, played=False)).probabilities
        np.testing.assert_allclose(said, copy.deepcopy(rater).one_step_ahead(fixture).probabilities, atol=1e-12)
        if covariance == "diagonal":
            expected = play_plain(copy.deepcopy(plain), fixture, 0, 1.0)
            np.testing.assert_allclose(said[0], forecast_of(*expected), atol=1e-9)
        if days:
            sooner = rater.predict(kn.read_matches(table | {"date": [str(matches.date[-1])]}, played=False))
            assert np.abs(said - sooner.probabilities).max() > 1e-4


def test_day_by_day_equals_one_batch_to_the_last_bit():
    matches = season(70, seed=3)
    batch = kn.PlayerElo(**GIVEN).update(matches)
    daily = kn.PlayerElo(**GIVEN)
    for k in range(0, len(matches), 9):
        again = kn.PlayerElo(**GIVEN)
        if k:
            again.from_arrays(daily.to_arrays())
        daily = again.update(matches[k : k + 9])
    one, other = batch.ratings_.sort("name"), daily.ratings_.sort("name")
    assert one.equals(other)
    assert batch.team_strengths_.sort("name").equals(daily.team_strengths_.sort("name"))


def test_unknown_line_up_is_the_average_of_recent_ones():
    """A team that always fields the same players has no spread; one that rotates has."""
    rows = {
        "home": ["A", "B"] * 8,
        "away": ["B", "A"] * 8,
        "result": [1, -1, 1, 1] * 4,
        "home_lineup": [["a1", "a2"], ["b1", "b2"], ["a1", "a2"], ["b3", "b4"]] * 4,
        "away_lineup": [["b1", "b2"], ["a1", "a2"], ["b3", "b4"], ["a1", "a2"]] * 4,
    }
    rater = kn.PlayerElo(**VALUES).update(kn.read_matches(rows))
    spread = dict(rater.team_strengths_.select("name", "spread").iter_rows())
    assert spread["A"] == pytest.approx(0.0, abs=1e-3)
    assert spread["B"] > 10
    fixture = kn.read_matches({"home": ["A"], "away": ["B"]}, played=False)
    with_weak = kn.read_matches(
        {"home": ["A"], "away": ["B"], "home_lineup": [["a1", "a2"]], "away_lineup": [["b1", "b2"]]}, played=False
    )
    unknown, weak = (rater.predict(m).points[0] for m in (fixture, with_weak))
    assert 0 < unknown < 1
    assert unknown != weak


@pytest.mark.parametrize("known", ["starters", "none"])
def test_names_of_a_table_that_have_not_played_yet_are_newcomers(known):
    table = {
        "date": ["2024-01-01", "2025-02-01"], "home": ["A", "C"], "away": ["B", "D"], "result": [1, 0],
        "home_lineup": [["a", "aa"], ["c", "b"]], "away_lineup": [["b", "bb"], ["d", "dd"]],
    }  # fmt: skip
    whole = kn.read_matches(table)
    first, later = (kn.read_matches({name: values[k : k + 1] for name, values in table.items()}) for k in range(2))
    part, alone = (kn.PlayerElo(**VALUES, known=known).update(matches) for matches in (whole[:1], first))
    said, expected = part.predict(whole[1:]), alone.predict(later)
    assert said.unknown == expected.unknown == ("C", "D", "c", "d", "dd")
    assert said.probabilities.tobytes() == expected.probabilities.tobytes()


def test_correction_undoes_the_pull_to_the_mean():
    league = sample_league(teams=8, seasons=3, seed=2)
    matches = kn.read_matches(league.results, lineups=league.lineups)
    players = kn.PlayerElo(**VALUES).update(matches)
    teams = kn.TeamElo.classic(k=20, ties=0.5).update(matches).ratings_
    table = players.corrected(teams)
    assert table.height == 8
    assert (table["spread"] > 0).all()
    assert table["strength"].std() > table["rating"].std()
    with pytest.raises(InputError, match="at least two teams"):
        players.corrected(teams.head(1))


@pytest.mark.long
def test_players_behind_a_simulated_league_are_found_and_help():
    """Line-ups say more than team names where line-ups change: lower log-loss than the filter on teams.

    1,200 matches of players N(0, 1): the gap is about .15 with a standard error of .02.
    """
    rng = np.random.default_rng(4)
    skill = rng.normal(0, 1, (10, 14))
    names = np.array([[f"{t}/{k}" for k in range(14)] for t in range(10)])
    rows = {
        "date": [],
        "home": [],
        "away": [],
        "home_score": [],
        "away_score": [],
        "home_lineup": [],
        "away_lineup": [],
    }
    for g in range(1200):
        h, a = rng.choice(10, 2, replace=False)
        sides = [rng.choice(14, 5, replace=False) for _ in range(2)]
        margin = round(4 * (skill[h, sides[0]].mean() - skill[a, sides[1]].mean() + 0.1 + rng.normal(0, 0.5)))
        rows["date"].append(str(np.datetime64("2010-01-01") + g // 5))
        rows["home"].append(f"T{h}")
        rows["away"].append(f"T{a}")
        rows["home_score"].append(max(margin, 0))
        rows["away_score"].append(max(-margin, 0))
        rows["home_lineup"].append(names[h, sides[0]].tolist())
        rows["away_lineup"].append(names[a, sides[1]].tolist())
    raters = [kn.PlayerElo(covariance="diagonal"), kn.KalmanElo()]
    test = kn.backtest(kn.read_matches(rows), raters, train_until="2010-05-01", metrics=["log_loss"])
    scores = dict(test.scores.select("rater", "log_loss").iter_rows())
    assert scores["PlayerElo"] < scores["KalmanElo"] - 0.08
    ratings = dict(test.raters["PlayerElo"].ratings_.select("name", "rating").iter_rows())
    found = np.array([ratings[name] for name in names.ravel()])
    assert np.corrcoef(found, skill.ravel())[0, 1] > 0.9


def test_weight_of_a_role_is_estimated():
    """The first of each line-up counts three times as much as the others; the estimate lies within 4 errors of 3."""
    rng = np.random.default_rng(8)
    skill = rng.normal(0, 1, (6, 8))
    results, lineups = [], []
    for g in range(1200):
        h, a = rng.choice(6, 2, replace=False)
        strength = []
        for side, team in (("H", h), ("A", a)):
            chosen = rng.choice(8, 4, replace=False)
            weights = np.array([3.0, 1, 1, 1]) / 6
            strength.append(weights @ skill[team, chosen])
            lineups += [(f"{g}", side, f"{team}/{k}", "p" if n == 0 else "f") for n, k in enumerate(chosen)]
        margin = round(5 * (strength[0] - strength[1] + rng.normal(0, 0.5)))
        day = str(np.datetime64("2010-01-01") + g // 8)
        results.append((f"{g}", day, f"T{h}", f"T{a}", max(margin, 0), max(-margin, 0)))
    matches = kn.read_matches(
        pl.DataFrame(results, ["match_id", "date", "home", "away", "home_score", "away_score"], orient="row"),
        lineups=pl.DataFrame(lineups, ["match_id", "side", "player", "role"], orient="row"),
    )
    found = kn.PlayerElo(covariance="diagonal").fit(matches).estimates_
    name = "weight of role p"
    assert abs(found.values[name] - 3) < 4 * found.standard_errors[name]
    assert 0 < found.standard_errors[name] < 0.7


def test_newcomers_lean_on_their_team():
    rows = {
        "home": ["A"] * 12,
        "away": ["B"] * 12,
        "result": [1] * 12,
        "home_lineup": [["a1", "a2", "a3"]] * 11 + [["a1", "a2", "new A"]],
        "away_lineup": [["b1", "b2", "b3"]] * 11 + [["b1", "b2", "new B"]],
    }
    rater = kn.PlayerElo(**VALUES).update(kn.read_matches(rows))
    ratings = dict(rater.ratings_.select("name", "rating").iter_rows())
    assert ratings["new A"] > ratings["new B"]


@pytest.mark.parametrize("size", [1, 4, 11])
def test_what_newcomers_have_in_common_does_not_average_out(size):
    """A side of n newcomers with correlation c: σ² (1/n + c), and what a team has whoever plays. By default a quarter
    stays, however many they are.
    """
    one = {"date": ["2020-01-01"], "home": ["A"], "away": ["B"], "neutral": [True]}
    sides = {"home_lineup": [[f"a{k}" for k in range(size)]], "away_lineup": [[f"b{k}" for k in range(size)]]}
    fixture = kn.read_matches(one | sides, played=False)
    for values, common in ((VALUES, 0.35), ({}, 0.25)):
        rater = kn.PlayerElo(**values)
        rater._reset()
        variance = rater._expect(fixture)[1][0]
        spread, team = (rater.parameters_[name] ** 2 for name in ("prior_spread", "squad_spread"))
        assert variance == pytest.approx(2 * spread * (1 / size + common) + 2 * team, rel=1e-9)


def test_bad_input_is_one_sentence():
    matches = season(30)
    with pytest.raises(InputError, match="need line-ups"):
        kn.PlayerElo().fit(kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]}))
    with pytest.raises(InputError, match="known='all'"):
        kn.PlayerElo(known="all").update(matches)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="strength='max'"):
        kn.PlayerElo(strength="max").update(matches)  # type: ignore[arg-type]


def test_a_covariance_that_does_not_fit_is_refused_in_words_that_suit_players(monkeypatch):
    monkeypatch.setattr("kinelo.raters.gaussian.MOST_TOGETHER", 20)
    matches = season(30)
    rows = np.unique(matches.lineups.player).size + 2 * len(matches.teams)
    with pytest.raises(InputError, match=rf"^{rows} strengths are too many .* use covariance='diagonal'\.$"):
        kn.PlayerElo(covariance="full").fit(matches)


def test_a_covariance_has_rows_for_those_who_have_played():
    """A part of a table names all its players; only those in its matches take room, and both kinds of filter are
    tried.
    """
    matches = season(120)
    part = matches[:60]
    rater = kn.PlayerElo(**GIVEN, role_weights=ROLES, covariance="full").update(part)
    listed = np.unique(part.lineups.player).size
    teams = np.unique(np.concatenate([part.home, part.away])).size
    assert rater._state.joined == 3 + listed + 2 * teams and rater.ratings_.height <= listed
    assert rater.one_step_ahead(matches[60:]).probabilities.sum(axis=1) == pytest.approx(np.ones(60))
    assert kn.PlayerElo(role_weights=ROLES).fit(part).covariance_ in ("full", "diagonal")


def test_what_team_mates_share_is_learnt_once_for_all_of_them():
    """Those who always play together are uncertain together: the covariance knows, and the side is doubted as one."""
    table = {
        "date": ["2020-01-01"] * 20,
        "home": ["A"] * 20,
        "away": ["B"] * 20,
        "result": [1] * 20,
        "home_lineup": [["a1", "a2"]] * 20,
        "away_lineup": [["b1", "b2"]] * 20,
    }
    matches, said = kn.read_matches(table), {}
    for covariance in ("diagonal", "full"):
        rater = kn.PlayerElo(covariance=covariance, squad_spread=0.0, squad_walk=0.0).update(matches)
        said[covariance] = rater.ratings_["uncertainty"].min()
    assert said["full"] > 1.2 * said["diagonal"]


@pytest.mark.parametrize("way", ["fit", "update"])
def test_many_players_with_all_parameters_given_are_kept_apart_and_what_the_other_way_costs_is_said(way, monkeypatch):
    """45 players and five teams twice: 55 rows. With nothing to estimate nothing says that a covariance pays."""
    few, given = kn.PlayerElo(**VALUES, role_weights=ROLES), {**VALUES, "role_weights": ROLES}
    with warnings.catch_warnings():
        warnings.simplefilter("error", kn.KineloWarning)
        assert getattr(few, way)(season()).covariance_ == "full"
        monkeypatch.setattr(gaussian, "MOST_UNTRIED", 54)
        assert getattr(kn.PlayerElo(**given, covariance="full"), way)(season()).covariance_ == "full"
    with pytest.warns(kn.KineloWarning, match="the strengths of 55 players and squads .* some 1 µs a match"):
        many = getattr(kn.PlayerElo(**given), way)(season())
    assert many.covariance_ == "diagonal" and not many._state.full
    assert kn.PlayerElo(covariance="auto")._covariance_to_try(season()) == "auto"  # a fit tries both
