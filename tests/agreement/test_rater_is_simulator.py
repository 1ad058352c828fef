"""The rater that is told a rating system ends where the simulator does."""

import numpy as np
import pytest

import kinelo as kn

LEAGUE = kn.Normal(np.linspace(4, 10, 12), 1.0, names=[f"team {k}" for k in range(12)])


@pytest.mark.parametrize(
    "system",
    [
        kn.RatingSystem(kn.Tanh(0.5), gamma=0.07),
        kn.RatingSystem(kn.model.Davidson(0.31, 0.8), kn.model.Local(), 0.1),
        kn.RatingSystem(kn.model.Probit(0.4), gamma=0.1),
        kn.RatingSystem(kn.Tanh(0.5), gamma=kn.model.FallingSteps(0.05, 2.0, 30)),
    ],
    ids=["tanh", "ties, local", "probit", "falling"],
)
def test_team_elo_ends_at_the_simulators_ratings_bit_for_bit(system):
    run = kn.simulate(system, LEAGUE, steps=40_000, matches_per_step=1, seed=3)
    played = int(run.matches_played[0, -1])
    matches = kn.micro.simulate_matches(system, LEAGUE, matches=played, seed=3)
    assert len(matches) == played
    table = kn.TeamElo(system=system, initial=7.0, prior_spread=1.0).fit(matches).ratings_
    rated = dict(zip(table["name"], table["rating"]))
    assert [rated[name] for name in LEAGUE.names] == run.rating[0, -1].values.tolist()


def test_matches_are_the_first_ones_of_a_longer_run_and_give_results_that_files_give():
    system = kn.RatingSystem(kn.model.Davidson(0.5, 1.0), gamma=0.1)
    short, long = (kn.micro.simulate_matches(system, LEAGUE, matches=n, seed=1) for n in (100, 40_000))
    assert (short.result == long.result[:100]).all() and (short.home == long.home[:100]).all()
    assert set(long.result) == {0.0, 0.5, 1.0} and (np.diff(long.day) >= 0).all()
    busy = np.stack([np.concatenate([long.day, long.day]), np.concatenate([long.home, long.away])])
    assert np.unique(busy, axis=1).shape[1] == 80_000  # nobody plays twice on a day
    again = kn.read_matches(
        {"date": short.date, "home": [short.teams[k] for k in short.home], "away": [short.teams[k] for k in short.away],
         "result": short.result}
    )  # fmt: skip
    assert (again.result == short.result).all()


def test_a_system_and_its_own_numbers_are_not_given_twice():
    system = kn.RatingSystem(kn.Tanh.elo(), gamma=10.0)
    for name, value in {"step": 3.0, "ties": 0.1, "scale": 300.0, "newcomer_boost": 0.0}.items():
        with pytest.raises(kn.InputError, match=f"takes {name} from its system"):
            kn.TeamElo(system=system, **{name: value})
    for odd in (
        kn.RatingSystem(kn.Tanh(0.5), gamma=[0.1, 0.2]),
        kn.RatingSystem(kn.Tanh(0.5), schedule=kn.model.Rounds()),
    ):
        with pytest.raises(kn.InputError, match="TeamElo"):
            kn.TeamElo(system=odd)


def test_a_probit_system_forecasts_by_its_own_law():
    system = kn.RatingSystem(kn.model.Probit(0.4), gamma=0.1)
    matches = kn.micro.simulate_matches(system, LEAGUE, matches=3000, seed=2)
    rater = kn.TeamElo(system=system, initial=7.0, spread=1.0)
    forecast = rater.update(matches).predict(matches[:50])
    rated = dict(zip(rater.ratings_["name"], rater.ratings_["rating"]))
    first = kn.Normal([rated[matches.teams[matches.home[0]]], rated[matches.teams[matches.away[0]]]], 1.0)
    win, _, _ = kn.model.outcome_probabilities(system.outcome, first)
    assert forecast.probabilities[0, 0] == pytest.approx(win[0, 1], abs=1e-9)
