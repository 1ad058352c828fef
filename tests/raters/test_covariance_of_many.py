"""Whether the covariance is kept where it is too large to search with: it is tried with beliefs read anew."""

import copy

import numpy as np
import pytest

import kinelo as kn
from kinelo.forecasts.scores import log_loss


def squads(seed: int, a_day: int, spread: tuple[float, float], teams: int = 16, squad: int = 16) -> kn.matches.Matches:
    """Two seasons of sides of 11 out of a squad, a match of every two at each ground; the order in a day is unknown."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(0, spread[0], teams)[:, None] + rng.normal(0, spread[1], (teams, squad))
    pairs = [(h, a) for h in range(teams) for a in range(teams) if h != a] * 2
    rows = []
    for g, k in enumerate(rng.permutation(len(pairs))):
        sides = [(t, rng.permutation(squad)[:11]) for t in pairs[k]]
        home, away = (skill[t, on].mean() for t, on in sides)
        margin = round(1.5 * (home - away + 0.2 + rng.normal()))
        names = [[f"{t}/{p}" for p in on] for t, on in sides]
        rows.append((np.datetime64("2020-01-01") + g // a_day, *(f"T{t}" for t in pairs[k]), margin, *names))
    columns = "date", "home", "away", "margin", "home_lineup", "away_lineup"
    return kn.read_matches(dict(zip(columns, map(list, zip(*rows)))))


@pytest.mark.parametrize(
    ("seed", "a_day", "spread"), [pytest.param(7, 1, (0.7, 0.2), marks=pytest.mark.long), (5, 8, (0.5, 0.5))]
)
def test_a_large_covariance_is_compared_as_it_would_be_used(monkeypatch, seed, a_day, spread):
    matches = squads(seed, a_day, spread)
    first, later = matches[:240], matches[240:]
    assert (first.unordered is not None) == (a_day > 1)
    monkeypatch.setattr("kinelo.raters.gaussian.MOST_WORK", 0.0)
    best, alone = kn.PlayerElo().fit(first), kn.PlayerElo(covariance="diagonal").fit(first)
    assert best.covariance_ == "full"
    assert best.estimates_.matches == alone.estimates_.matches
    assert best.estimates_.log_likelihood > alone.estimates_.log_likelihood
    assert best.parameters_["walk"] == alone.parameters_["walk"]
    assert best.parameters_["sharpness"] != alone.parameters_["sharpness"]
    losses = [
        log_loss(copy.deepcopy(r).one_step_ahead(later).probabilities, later.result).mean() for r in (best, alone)
    ]
    assert losses[0] < losses[1]


@pytest.mark.parametrize("given", [{"start": {"0/1": 1550.0}}, {"sharpness": 1.1, "ties": 0.3, "doubt": 1.0}])
def test_how_beliefs_are_read_stands_where_ratings_begin_with_it_or_it_is_given(monkeypatch, given):
    matches = squads(5, 1, (0.7, 0.2))[:240]
    monkeypatch.setattr("kinelo.raters.gaussian.MOST_WORK", 0.0)
    best, alone = (kn.PlayerElo(covariance=kind, **given).fit(matches) for kind in ("auto", "diagonal"))
    assert best.covariance_ == "full"
    assert best.parameters_ == alone.parameters_
    assert best.estimates_.log_likelihood > alone.estimates_.log_likelihood
