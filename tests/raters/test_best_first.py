"""Every table of ratings is sorted, the best first, whatever the order in which names came."""

import datetime

import numpy as np
import pytest

import kinelo as kn
from kinelo.raters.bradley_terry.rater import BradleyTerry
from kinelo.raters.tables import advantages_table

NAMES = ["Cob", "Ash", "Fen", "Bay", "Elm", "Dun"]
STRENGTHS = {"Cob": 40.0, "Ash": -180.0, "Fen": 210.0, "Bay": -60.0, "Elm": 120.0, "Dun": -130.0}
"""Neither in the order of names nor in that of appearance, nor either reversed."""
BEST = sorted(NAMES, key=lambda name: -STRENGTHS[name])
assert BEST not in (NAMES, NAMES[::-1], sorted(NAMES), sorted(NAMES)[::-1])


def league(lineups=False):
    """Four rounds in which everybody wins against everybody who is weaker, but for a win in five."""
    table = {"date": [], "home": [], "away": [], "result": [], "home_score": [], "away_score": []}
    pairs = [(one, other) for one in NAMES for other in NAMES if one != other]
    rng = np.random.default_rng(4)
    for k, (one, other) in enumerate([*pairs, *pairs[::-1]]):
        won = (STRENGTHS[one] > STRENGTHS[other]) != (rng.random() < 0.12)
        row = (datetime.date(2024, 1, 1) + datetime.timedelta(k), one, other, float(won), 3 * won, 2 - 2 * won)
        for column, value in zip(table, row, strict=True):
            table[column].append(value)
    sides = None
    if lineups:
        # A player of each name beside another, who stays out of every third match.
        rows = {"match": [], "team": [], "player": []}
        for k in range(len(table["home"])):
            for team in (table["home"][k], table["away"][k]):
                for player in (f"{team}1", f"{team}2" if k % 3 else f"{team}3"):
                    for column, value in zip(rows, (k, team, player), strict=True):
                        rows[column].append(value)
        table["match"] = list(range(len(table["home"])))
        sides = rows
    return kn.read_matches(table, sides) if sides else kn.read_matches(table)


def best_first(table, column="rating"):
    values = table[column].to_list()
    return values == sorted(values, reverse=True) and len(set(values)) == len(values) > 3


@pytest.mark.parametrize(
    "rater",
    [kn.TeamElo.classic(k=30), kn.TeamElo(), kn.Glicko(), kn.Glicko2(), kn.KalmanElo(), kn.ScoreElo(), kn.RankElo(),
     kn.BradleyTerry()],
    ids=lambda rater: type(rater).__name__,
)  # fmt: skip
def test_ratings_come_the_best_first(rater):
    matches = league()
    rater.update(matches)
    assert best_first(rater.ratings_) and rater.ratings_["name"][0] == "Fen" and rater.ratings_["name"][-1] == "Ash"
    assert dict(rater.ratings_.select("name", "matches").rows()) == dict.fromkeys(NAMES, 20)


def test_players_and_teams_come_the_best_first():
    matches = league(lineups=True)
    rater = kn.PlayerElo().update(matches)
    assert best_first(rater.ratings_) and best_first(rater.team_strengths_, "strength")
    corrected = rater.corrected(kn.TeamElo.classic(k=30).update(matches).ratings_)
    assert best_first(corrected, "strength")
    history = kn.rating_history(rater, matches, points=2)
    last = history.filter(history["date"] == history["date"].max())
    assert best_first(last) and set(last["team"]) <= set(NAMES)


def test_ranks_are_those_of_ratings_and_pools_the_largest_first():
    table = {"home": ["A", "B", "P", "Q", "R", "Q", "X", "X", "Y"] * 3,
             "away": ["B", "A", "Q", "R", "P", "P", "Y", "Y", "X"] * 3,
             "result": [1, 0.5, 0, 0.5, 1, 1, 0, 0, 0.5] * 3}  # fmt: skip
    extra = {"home": ["Q"], "away": ["S"], "result": [1.0]}
    votes = kn.read_matches({key: [*table[key], *extra[key]] for key in table})
    with pytest.warns(kn.KineloWarning, match="form 3 pools .* outside the largest are 'A', 'B', 'X', 'Y'"):
        rater = BradleyTerry().fit(votes)
    found = rater.intervals()
    assert found["rank"].to_list() == [1, 2, 3, 4, 5, 6, 7, 8] and best_first(found)
    pools = dict(found.select("name", "pool").rows())
    assert pools == {"P": 1, "Q": 1, "R": 1, "S": 1, "A": 2, "B": 2, "X": 3, "Y": 3}
    assert rater.ratings_["name"].to_list() == found["name"].to_list()


def test_shares_of_a_mixture_come_the_largest_first():
    rater = kn.raters.Mixture([kn.TeamElo.classic(k=2), kn.TeamElo.classic(k=30), kn.TeamElo.classic(k=400)])
    rater.fit(league())
    shares = list(rater.weights_.values())
    assert shares == sorted(shares, reverse=True) and len(set(shares)) == 3


def test_what_advantages_are_worth_comes_the_largest_first():
    rng = np.random.default_rng(3)
    races, drivers = 30, [f"d{k}" for k in range(5)]
    table = {"race": [], "driver": [], "lane": [], "place": []}
    for race in range(races):
        lanes = rng.permutation(5)
        worth = np.array([0.0, 2.0, -1.0, 3.0, 1.0])[lanes] + rng.normal(0, 0.7, 5)
        for k, place in enumerate((-worth).argsort().argsort() + 1):
            for column, value in zip(table, (race, drivers[k], f"lane {lanes[k]}", int(place)), strict=True):
                table[column].append(value)
    contests = kn.read_contests(table, slots=["driver"], advantages=["lane"])
    rater = kn.RankElo().update(contests)
    shown = advantages_table(rater).cells()
    assert [row[1] for row in shown][:2] == ["lane 3", "lane 1"] and shown[-1][1] == "lane 2" and len(shown) == 5
