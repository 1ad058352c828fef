"""A rater that was never fitted learns how often sides draw as it goes, from none."""

import numpy as np
import pytest

import kinelo as kn

RATERS = {
    "TeamElo": kn.TeamElo,
    "Glicko": kn.Glicko,
    "Glicko2": kn.Glicko2,
    "KalmanElo": lambda: kn.KalmanElo(covariance="diagonal"),
    "PlayerElo": lambda: kn.PlayerElo(covariance="diagonal"),
    "RankElo": kn.RankElo,
}


def matches(share, seed=3, number=240):
    """Matches of five sides, of which equals draw so often; three share a name's first letter with their players."""
    rng = np.random.default_rng(seed)
    strength = np.array([0.6, 0.2, 0.0, -0.3, -0.5])
    home, away = np.array([rng.permutation(5)[:2] for _ in range(number)]).T
    gap = strength[home] - strength[away] + 0.1
    drawn = rng.random(number) < share * np.exp(-(gap**2))
    won = rng.random(number) < 1.0 / (1.0 + np.exp(-2.0 * gap))
    names = list("ABCDE")
    return kn.read_matches(
        {
            "date": [str(np.datetime64("2024-01-01") + k) for k in range(number)],
            "home": [names[i] for i in home],
            "away": [names[j] for j in away],
            "result": np.where(drawn, 0.5, won),
            "home_lineup": [[f"{names[i]}1", f"{names[i]}2"] for i in home],
            "away_lineup": [[f"{names[j]}1"] for j in away],
        }
    )


def draws(rater, some):
    return rater.predict(some).probabilities[:, 1]


@pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
@pytest.mark.parametrize("name", RATERS)
def test_who_never_draws_is_not_expected_to_and_who_does_is(name):
    """Mean chance of a draw beside the share of draws (240 matches: a standard deviation is .03)."""
    never = matches(0.0)
    assert (draws(RATERS[name]().update(never), never[:9]) == 0.0).all()
    often = matches(0.45)
    ahead = RATERS[name]()
    said = ahead.one_step_ahead(often).probabilities[:, 1]
    first = int(np.flatnonzero(often.result == 0.5)[0])
    assert (said[: first + 1] == 0.0).all() and (said[first + 1 :] > 0.0).all()
    share = float(np.mean(often.result == 0.5))
    assert draws(ahead, often).mean() == pytest.approx(share, abs=0.06)
    assert ahead.parameters_["ties"] == RATERS[name]().update(often).parameters_["ties"]


@pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
@pytest.mark.parametrize("name", RATERS)
def test_every_way_in_learns_the_same_and_a_fit_or_a_number_ends_it(name):
    some = matches(0.35, seed=4, number=90)
    whole, pieces, ahead, kept = (RATERS[name]() for _ in range(4))
    whole.update(some)
    for begin in (0, 1, 40):
        pieces.update(some[begin : {0: 1, 1: 40, 40: 90}[begin]])
    ahead.one_step_ahead(some)
    kept.update(some[:50])
    again = RATERS[name]()
    again.from_arrays(kept.to_arrays())
    again.update(some[50:])
    expected = draws(whole, some[:5])
    for other in (pieces, ahead, again):
        assert draws(other, some[:5]).tolist() == expected.tolist()
    assert expected.std() > 0
    fitted = RATERS[name]().fit(some)
    blank = RATERS[name]()
    blank.from_arrays(fitted.to_arrays())
    assert draws(blank, some[:5]).tolist() == draws(fitted, some[:5]).tolist() != expected.tolist()
    given = type(RATERS[name]())(ties=0.3).update(matches(0.0))
    assert (draws(given, some[:5]) > 0.05).all()
