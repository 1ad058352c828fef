"""Tables of winners and losers: the order of the sides carries nothing of the result."""

import numpy as np
import polars as pl
import pytest

import kinelo as kn


def table(n=600, seed=3):
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.choice(12, 2, replace=False) for _ in range(n)])
    day = np.datetime64("2020-01-01") + np.arange(n) // 4
    return {
        "match_id": [f"m{k}" for k in range(n)],
        "date": day,
        "winner": [f"t{k}" for k in pairs[:, 0]],
        "loser": [f"t{k}" for k in pairs[:, 1]],
        "winner_score": rng.integers(3, 6, n),
        "loser_score": rng.integers(0, 3, n),
    }


def test_the_first_side_wins_half_the_time():
    """Fair coins leave (.42, .58) with probability below 1e-4; the seed is fixed."""
    matches = kn.read_matches(table())
    assert 0.42 < matches.result.mean() < 0.58
    assert matches.neutral.all()
    assert any("order that does not depend on the result" in note for note in matches.notes)


def test_who_stands_first_is_the_same_whoever_won():
    forward = table()
    backward = forward | {"winner": forward["loser"], "loser": forward["winner"]}
    one, other = (kn.read_matches(t).to_polars() for t in (forward, backward))
    assert one.select("home", "away").equals(other.select("home", "away"))
    assert (one["result"] + other["result"] == 1).all()
    again = kn.read_matches(pl.DataFrame(forward)[::-1]).to_polars().sort("match_id")
    assert again.select("home", "result", "margin").equals(one.sort("match_id").select("home", "result", "margin"))


def test_result_margin_and_line_up_stay_with_their_side():
    rows = table(40)
    lineups = pl.DataFrame(
        [(m, side, f"{team} man") for m, w, x in zip(rows["match_id"], rows["winner"], rows["loser"])
         for side, team in (("winner", w), ("loser", x))],
        schema=["match_id", "side", "player"], orient="row",
    )  # fmt: skip
    listed = rows | {"winner_players": [[f"{w} man"] for w in rows["winner"]]}
    listed |= {"loser_players": [[f"{x} man"] for x in rows["loser"]]}
    for matches in (kn.read_matches(rows, lineups), kn.read_matches(listed)):
        assert matches.lineups is not None and set(matches.result) == {0.0, 1.0}
        for k in range(len(matches)):
            m = int(matches.match_id[k][1:])
            home, away = matches.teams[matches.home[k]], matches.teams[matches.away[k]]
            won = home == rows["winner"][m]
            assert {home, away} == {rows["winner"][m], rows["loser"][m]}
            assert matches.result[k] == won
            gap = rows["winner_score"][m] - rows["loser_score"][m]
            assert matches.margin[k] == (gap if won else -gap)
            assert matches.lineups.names(k, 0) == (f"{home} man",) and matches.lineups.names(k, 1) == (f"{away} man",)


def test_no_rater_learns_from_the_order():
    """Sides of equal strength stay near even, whoever is named first."""
    matches = kn.read_matches(table())
    rater = kn.KalmanElo(covariance="diagonal").fit(matches)
    both = kn.read_matches({"home": ["t0", "t1"], "away": ["t1", "t0"], "neutral": [True, True]}, played=False)
    points = rater.predict(both).points
    assert points.sum() == pytest.approx(1.0, abs=0.1)
    assert np.all(np.abs(points - 0.5) < 0.3)


def test_where_one_winner_is_named_letters_are_names_too():
    # "A" would be the second side, "D" a draw and "Home" the first side, were they words.
    table = {
        "home": ["Ann", "Bob", "D", "Ann", "Home"],
        "away": ["Bob", "Cid", "A", "D", "A"],
        "winner": ["A", "Cid", "D", "draw", "A"],
    }
    matches = kn.read_matches(table)
    assert matches.result.tolist() == [0.0, 1.0, 0.5, 0.0]
    assert matches.rejected.counts() == {"unreadable result": 1}
    assert "results were read from the names of winners" in matches.notes
    # Sides that are numbers, also where these might be the first and the second; 0 is a draw, 9 nobody's number.
    numbered = {"home": [7, 1, 2, 2, 7], "away": [2, 2, 1, 7, 1]}
    for winner, results in (
        ([2, 1, 1, 0, 7], [0.0, 1.0, 0.0, 0.5, 1.0]),
        ([2, 1, 9, None, 7.0], [0.0, 1.0, 1.0]),
        ([1, 1, 2, 0, 2], [1.0, 1.0, 0.0, 0.5, 0.0]),  # 1 is no side of the first: they are first and second
    ):
        assert kn.read_matches(numbered | {"winner": winner}).result.tolist() == results
    two = {"home": [1, 2, 1], "away": [2, 1, 2], "winner": ["1", "1", "2"]}
    assert kn.read_matches(two).result.tolist() == [1.0, 0.0, 0.0]
    words = kn.read_matches({"home": ["Ann", "Cid"], "away": ["Bob", "Dan"], "winner": ["A", "H"]})
    assert words.result.tolist() == [0.0, 1.0]
    bad = kn.read_matches({"home": ["x", "y"], "away": ["y", "z"], "winner": ["x", "tie (bothbad)"]})
    said = "results were read from the names of winners, 'tie (bothbad)', where both sides were bad, as a draw"
    assert said in bad.notes
