"""The five real sets load with at most a column mapping, and team ratings forecast them as well as the peers do."""

import numpy as np
import pytest

import kinelo as kn

pytestmark = pytest.mark.data
BY_ID = {"home": "home_id", "away": "away_id"}


@pytest.mark.parametrize(
    ("folder", "results", "lineups", "columns", "matches", "sides", "appearances"),
    [
        ("intl_football", "matches.csv", None, None, 49_520, 337, 0),
        pytest.param("nba", "matches.csv", "lineups.parquet", BY_ID, 32_190, 30, 847_616, marks=pytest.mark.long),
        pytest.param(
            "mlb_retrosheet",
            "matches_1990on.csv",
            "lineups_1990on.parquet",
            None,
            78_368,
            33,
            1_492_739,
            marks=pytest.mark.long,
        ),
        ("worldcup", "matches.csv", "lineups.csv", None, 1_248, 88, 27_432),
        ("wyscout", "matches.csv", "lineups.csv", None, 1_941, 142, 53_791),
    ],
)
def test_the_set_loads(folder, results, lineups, columns, matches, sides, appearances, match_data):
    table = kn.read_matches(match_data / folder / results, lineups and match_data / folder / lineups, columns)
    assert len(table) == matches and len(table.teams) == sides
    read = 0 if table.lineups is None else table.lineups.player.size
    assert read == appearances
    told = table.rejected.counts()
    forfeit = {"forfeit or awarded match": 1, "line-up of a rejected match": 20}
    twice = {"player listed twice on one side": 74_621}
    assert told == (twice | forfeit if folder == "mlb_retrosheet" else {})
    assert np.all(np.diff(table.day) >= 0)


def test_germany_against_brazil(match_data):
    table = kn.read_matches(match_data / "worldcup" / "matches.csv", match_data / "worldcup" / "lineups.csv")
    (place,) = np.flatnonzero(table.match_id == "M-2014-61")
    names = {table.teams[table.home[place]], table.teams[table.away[place]]}
    assert names == {"Brazil", "Germany"} and abs(table.margin[place]) == 6
    assert table.lineups is not None and len(table.lineups.names(place, 0)) == 14


def log_loss(forecast: kn.forecasts.Forecast, matches: kn.matches.Matches) -> float:
    outcome = (1 - matches.signed).astype(int)
    return float(-np.log(forecast.probabilities[np.arange(len(matches)), outcome]).mean())


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
def test_team_ratings_forecast_internationals(match_data):
    """Peers' calibrated log-losses on the same span: trueskill .8836, glicko2 .8852, riix Glicko .8833."""
    matches = kn.read_matches(match_data / "intl_football" / "matches.csv").since("1990-01-01")
    train, test = matches.before("2005-01-01"), matches.since("2005-01-01")
    assert len(test) == 20_592
    for rater, bound in ((kn.TeamElo(), 0.8820), (kn.Glicko(), 0.8833), (kn.Glicko2(), 0.8833)):
        assert log_loss(rater.fit(train).one_step_ahead(test), test) < bound
