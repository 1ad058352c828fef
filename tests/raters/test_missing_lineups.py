"""Player ratings where line-ups are missing: of single matches, of a season, of a whole division."""

import numpy as np
import pytest

import kinelo as kn

TEAMS, SQUAD, ON = 12, 8, 5


def league(kind, seed=3, n=1_500):
    """Five seasons of sides drawn from squads that change by a quarter a year; margins in whole scores.

    ``kind`` says whose line-ups are missing; return matches, and which of them lack both.
    """
    rng = np.random.default_rng(seed)
    team = rng.normal(0, 0.6, TEAMS)
    player, ids = rng.normal(0, 0.8, (TEAMS, SQUAD)), np.arange(TEAMS * SQUAD).reshape(TEAMS, SQUAD)
    day = np.sort(rng.integers(0, 5 * 365, n))
    rows, year = [], 0
    for g in range(n):
        if day[g] // 365 > year:
            year = day[g] // 365
            gone = rng.random(player.shape) < 0.25
            player[gone], ids[gone] = rng.normal(0, 0.8, gone.sum()), ids.max() + 1 + np.arange(gone.sum())
        division = rng.integers(0, 2)
        pair = rng.choice(TEAMS // 2, 2, replace=False) + division * TEAMS // 2
        chosen = [rng.choice(SQUAD, ON, replace=False) for _ in pair]
        theta = [team[t] + player[t, on].mean() for t, on in zip(pair, chosen)]
        missing = {
            "none": False,
            "single matches": rng.random() < 0.3,
            "a season": year in (2, 4),
            "a division": division == 1,
            "all but one season": year > 0,
        }[kind]
        lineups = [[] if missing else [f"p{k}" for k in ids[t, on]] for t, on in zip(pair, chosen)]
        margin = round(2 * (theta[0] - theta[1] + 0.2 + rng.normal(0, 1)))
        rows.append((np.datetime64("2015-01-01") + day[g], *(f"T{t:02d}" for t in pair), margin, *lineups, missing))
    names = ("date", "home", "away", "margin", "home_lineup", "away_lineup", "missing")
    table = dict(zip(names, map(list, zip(*rows))))
    return kn.read_matches({name: table[name] for name in names[:-1]}), np.array(table["missing"])


def losses(rater, matches):
    half = len(matches) // 2
    said = rater.fit(matches[:half]).one_step_ahead(matches[half:]).probabilities
    return -np.log(said[np.arange(said.shape[0]), (1 - matches.signed[half:]).astype(int)])


@pytest.mark.parametrize(
    "kind",
    [
        "a division",
        *(pytest.param(k, marks=pytest.mark.long) for k in ("single matches", "a season", "all but one season")),
    ],
)
def test_sides_without_line_ups_are_learnt(kind):
    """On the later half: where no line-up is known, players' ratings forecast as well as those of teams do, to .015
    (two standard errors of the difference), and better by .05 than knowing of nobody.
    """
    matches, missing = league(kind)
    bare = missing[len(matches) // 2 :]
    players, teams = losses(kn.PlayerElo(), matches), losses(kn.KalmanElo(covariance="diagonal"), matches)
    share = np.bincount((1 - matches.signed[: len(matches) // 2]).astype(int), minlength=3) / (len(matches) // 2)
    nobody = -np.log(share[(1 - matches.signed[len(matches) // 2 :]).astype(int)])
    assert players[bare].mean() < teams[bare].mean() + 0.015
    assert players[bare].mean() < nobody[bare].mean() - 0.05
    assert players.mean() < teams.mean() + 0.01
    assert any("no line-up is known of" in note and "the squad of the team" in note for note in matches.notes)


def test_notes_count_what_is_missing_and_are_silent_where_nothing_is():
    matches, missing = league("a division", n=200)
    note = [note for note in matches.notes if "line-up" in note]
    assert note == [
        f"no line-up is known of {2 * missing.sum()} of 400 sides, 6 teams never have one: in player ratings the squad "
        "of the team stands in"
    ]
    assert not any("line-up" in note for note in league("none", n=50)[0].notes)
    table = {"home": list("ABCA"), "away": list("BCAD"), "result": [1, 0, 1, 1]}
    lineups = {"home_lineup": [["a"], [], ["c"], []], "away_lineup": [["b"], ["c"], ["a"], []]}
    (note,) = (note for note in kn.read_matches(table | lineups).notes if "line-up" in note)
    assert note.startswith("no line-up is known of 3 of 8 sides, one team never has one:")


def table_of(first, second):
    """120 matches of C and D without line-ups, 120 of A and B with them; who is named first wins."""
    pairs = [(("C", "D"), ("D", "C")), (("A", "B"), ("B", "A"))]
    rows = [pair for sides in pairs for _ in range(60) for pair in sides]
    lineups = {"A": ["a1", "a2"], "B": ["b1", "b2"]}
    won = {first: 1.0, second: 1.0}
    return {
        "home": [h for h, _ in rows],
        "away": [a for _, a in rows],
        "result": [won.get(h, 0.0) for h, _ in rows],
        "home_lineup": [lineups.get(h, []) for h, _ in rows],
        "away_lineup": [lineups.get(a, []) for _, a in rows],
    }


@pytest.mark.parametrize(("winner", "loser"), [("C", "D"), ("D", "C")])
def test_who_always_wins_without_line_ups_is_the_favourite(winner, loser):
    rater = kn.PlayerElo().fit(kn.read_matches(table_of(winner, "A")))
    fixtures = kn.read_matches({"home": [winner, loser], "away": [loser, winner]}, played=False)
    points = rater.predict(fixtures).points
    assert points[0] > 0.9 and points[1] < 0.1
    strengths = dict(rater.team_strengths_.select("name", "strength").iter_rows())
    assert strengths[winner] > strengths[loser]
    assert set(rater.ratings_["name"]) == {"a1", "a2", "b1", "b2"}


def test_a_new_stand_in_is_what_is_known_of_the_team():
    """Line-ups end with a season: the team is forecast then as its players were, and less surely as time goes by."""
    values = {
        "walk": 0.3, "prior_spread": 1.0, "venue_walk": 0.0, "newcomer": -0.5, "team_prior": 0.3, "noise": 1.0,
        "newcomer_correlation": 0.2, "squad_spread": 0.3, "squad_walk": 0.1, "regression": 0.0, "ties": 0.0,
    }  # fmt: skip
    table = {
        "date": [f"2020-01-{k + 1:02d}" for k in range(20)],
        "home": ["A", "B"] * 10,
        "away": ["B", "A"] * 10,
        "result": [1, 0] * 10,
        "home_lineup": [["a1", "a2"], ["b1", "b2"]] * 10,
        "away_lineup": [["b1", "b2"], ["a1", "a2"]] * 10,
    }
    rater = kn.PlayerElo(**values).update(kn.read_matches(table))
    said = [
        rater.predict(kn.read_matches({"date": [d], "home": ["A"], "away": ["B"]}, played=False)).points[0]
        for d in ("2020-01-21", "2021-01-21", "2024-01-21")
    ]
    assert said[0] > said[1] > said[2] > 0.5
