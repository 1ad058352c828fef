"""Sizes at which the code takes another way: every rater crosses them, and ends where it would have ended anyway.

A search of ``MANY · FIRST_LOOK`` matches begins on the first ``FIRST_LOOK``; raters are compared on ``MOST`` matches at
most; ``fit`` estimates on ``look``; beyond ``MOST_SIDES`` sides, or ``MOST_PASS`` of work, no covariance of sides is
kept; scans come in pieces. The tests lower these numbers. The long ones, and the cheapest rater, take them as they are.
"""

import numpy as np
import pytest

import kinelo as kn
from kinelo.forecasts import automatic, fit
from kinelo.raters.choice import RATERS, candidates, rater_called

FIRST = 150
SIDES = 12


def league(count, sides=SIDES, seed=1, lineups=False):
    """Matches of sides of unlike strength, six on a day, with draws, margins and, where asked, line-ups of two."""
    rng = np.random.default_rng(seed)
    strength = np.linspace(-1.2, 1.5, sides)
    home = rng.integers(0, sides, count)
    away = (home + rng.integers(1, sides, count)) % sides
    margin = np.round(2.0 * (strength[home] - strength[away] + 0.3 + rng.normal(0.0, 1.0, count)))
    table = {
        "date": np.datetime64("1900-01-01") + np.arange(count) // 6,
        "home": [f"side {k}" for k in home],
        "away": [f"side {k}" for k in away],
        "home_score": np.maximum(margin, 0).astype(int),
        "away_score": np.maximum(-margin, 0).astype(int),
    }
    if lineups:
        for side, codes in (("home", home), ("away", away)):
            table[f"{side}_lineup"] = [[f"{k}{a}", f"{k}{b}"] for k, a, b in zip(codes, "ab" * count, "cde" * count)]
    return kn.read_matches(table, ordered=True)


@pytest.fixture
def small_sizes(monkeypatch):
    monkeypatch.setattr(fit, "FIRST_LOOK", FIRST)
    monkeypatch.setattr(automatic, "MOST_COMPARED", FIRST)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name == "score" else name for name in RATERS]
)
def test_a_search_that_begins_on_a_part_ends_where_the_other_does(name, small_sizes, monkeypatch):
    """Both stop where a further step promises less than a tenth of a unit of log-likelihood."""
    edge = fit.MANY * FIRST
    for count in (edge - 1, edge):
        matches = league(count, lineups=RATERS[name].needs_lineups)
        found = rater_called(name).fit(matches)
        monkeypatch.setattr(fit, "FIRST_LOOK", 10**9)
        whole = rater_called(name).fit(matches)
        monkeypatch.setattr(fit, "FIRST_LOOK", FIRST)
        assert found.ratings_["matches"].sum() == 2 * count if name != "player" else 4 * count
        if count < edge:
            assert found.parameters_ == whole.parameters_
        elif found.estimates_ is not None:
            assert found.estimates_.matches == whole.estimates_.matches
            assert abs(found.estimates_.log_likelihood - whole.estimates_.log_likelihood) < 0.5
        # Two ends of a search that are equally likely differ by a small part of what ratings are uncertain by.
        one, other = (rater.ratings_.sort("name") for rater in (found, whole))
        apart = np.abs(one["rating"].to_numpy() - other["rating"].to_numpy())
        assert (apart < 0.25 * other["uncertainty"].to_numpy()).all()


@pytest.mark.parametrize("name", RATERS)
def test_a_rater_that_looks_at_the_latest_matches_rates_all(name, small_sizes, monkeypatch):
    """``look`` beyond a search in two parts, as in a table of more than a million matches."""
    look = fit.MANY * FIRST
    matches = league(look + 1, lineups=RATERS[name].needs_lineups)
    rater = rater_called(name)
    if rater.look is None:  # one estimate from all matches
        rater.fit(matches)
    else:
        rater.look = look
        with pytest.warns(kn.KineloWarning, match=f"on the latest {look} of {look + 1} matches"):
            rater.fit(matches)
        alone = rater_called(name).fit(matches[-look:])
        # where a search begins, and the unit of margins, see the one match more; what is learnt on the way sees it too
        learnt = {p.name: alone.parameters_[p.name] for p in rater._declared_parameters if p.learnt}
        # the strengths that paces stand beside are those of another rater, fitted with one match more too
        assert {**rater.parameters_, **learnt} == pytest.approx(alone.parameters_, rel=0.1 if name == "score" else 0.01)
    assert rater.ratings_["matches"].sum() == (4 if name == "player" else 2) * (look + 1)


@pytest.mark.parametrize("lineups", [pytest.param(False, marks=pytest.mark.long), True])
def test_the_choice_and_the_mixture_cross_every_size(lineups, small_sizes):
    matches = league(fit.MANY * FIRST, lineups=lineups)
    named = candidates(matches)
    choice = kn.raters.choose_rater(matches)
    assert not choice.left_out and choice.fitted == FIRST // 2 and len(choice.test.matches) == FIRST - FIRST // 2
    assert set(choice.test.forecasts) == set(named)
    assert choice.rater.ratings_["matches"].sum() == (4 if choice.name == "PlayerElo" else 2) * len(matches)
    mixture = kn.raters.Mixture(named).fit(matches)
    assert sum(mixture.weights_.values()) == pytest.approx(1.0)
    said = mixture.predict(matches[-5:]).probabilities
    assert np.isfinite(said).all() and (said > 0).all()


def test_matches_in_pieces_cross_a_search_in_two_parts(tmp_path, small_sizes):
    matches = league(fit.MANY * FIRST + 40)
    path = tmp_path / "results.parquet"
    matches.to_polars().write_parquet(path)
    for make in (lambda: kn.KalmanElo(covariance="diagonal"), kn.TeamElo, kn.Glicko):
        rater = make()
        rater.look = fit.MANY * FIRST
        with pytest.warns(kn.KineloWarning, match=f"estimated on the latest {fit.MANY * FIRST}"):
            rater.fit(kn.matches.scan_matches(path))
        whole = make()
        whole.look = fit.MANY * FIRST
        with pytest.warns(kn.KineloWarning, match=f"estimated on the latest {fit.MANY * FIRST}"):
            whole.fit(matches)
        # A scan learns the unit of margins from what it looks at, a table from all of it: hundredths of a point.
        assert rater.ratings_["rating"].to_list() == pytest.approx(whole.ratings_["rating"].to_list(), abs=0.1)
        assert rater.ratings_["name"].to_list() == whole.ratings_["name"].to_list()


class Breaks(kn.TeamElo):
    """A rater that fails in a way nobody foresaw, on long tables or on all."""

    at = 0

    def fit(self, matches, y=None):
        if len(matches) >= self.at:
            raise ZeroDivisionError("no such thing")
        return super().fit(matches)


def test_what_fails_in_any_way_is_left_out_and_said():
    matches, usual = league(200), kn.TeamElo.classic(k=20)
    for at in (0, 150):
        broken = Breaks()
        broken.at = at
        choice = kn.raters.choose_rater(matches, {"broken": broken, "usual": usual})
        assert choice.name == "usual" and choice.left_out == {"broken": "ZeroDivisionError: no such thing"}
        assert str(choice).endswith(
            "no other rater can be used here. broken is left out: ZeroDivisionError: no such thing."
        )
        with pytest.warns(kn.KineloWarning, match="broken is left out of the mixture: ZeroDivisionError"):
            mixture = kn.raters.Mixture({"broken": broken, "usual": usual}).fit(matches)
        assert mixture.weights_ == {"usual": pytest.approx(1.0)}
    few = kn.raters.choose_rater(matches[:50], {"broken": Breaks(), "usual": usual})
    assert str(few).startswith("usual, the next in line: fewer than 60 matches") and "broken is left out" in str(few)
    for call in (kn.raters.choose_rater, lambda matches, raters: kn.raters.Mixture(raters).fit(matches)):
        with pytest.raises(kn.InputError, match="no such thing"):
            call(matches, {"one": Breaks(), "two": Breaks()})


def test_the_cheapest_rater_crosses_the_sizes_as_they_are():
    matches = league(fit.MANY * fit.FIRST_LOOK, sides=40)
    rater = kn.Glicko().fit(matches)
    assert rater.estimates_ is not None and rater.ratings_["matches"].sum() == 2 * len(matches)


@pytest.mark.long
@pytest.mark.parametrize("name", RATERS)
@pytest.mark.parametrize("count", [fit.MANY * fit.FIRST_LOOK, 200_001])
@pytest.mark.filterwarnings("ignore:.*are estimated on the first")
def test_every_rater_crosses_the_sizes_as_they_are(name, count):
    matches = league(count, sides=40, lineups=RATERS[name].needs_lineups)
    rater = rater_called(name).fit(matches)
    assert rater.ratings_["matches"].sum() == (4 if name == "player" else 2) * count
