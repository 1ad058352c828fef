"""Tables of results: where ratings end, what they cannot show, and what luck does."""

import re

import numpy as np
import pytest

import kinelo as kn

T = kn.Tanh(0.5)
ROCK = [[0.5, 1.0, 0.0], [0.0, 0.5, 1.0], [1.0, 0.0, 0.5]]
ROUND = np.array([[0.5, 0.7, 0.5, 0.4], [0.3, 0.5, 0.7, 0.5], [0.5, 0.3, 0.5, 0.7], [0.6, 0.5, 0.3, 0.5]])


def drawn(table, games, seed):
    """A table estimated from so many games of each pair."""
    upper = np.triu(np.random.default_rng(seed).binomial(games, table) / games, 1)
    return upper + np.tril(1 - upper.T, -1)


def test_a_table_made_of_strengths_ends_where_the_league_does():
    league = kn.Normal(np.linspace(4, 10, 12), 1.0)
    signed = kn.expected_result(T, league)
    for table in ((1 + signed) / 2, signed):
        state = kn.stationary(T, kn.model.Results(table))
        assert state.rating + 7 == pytest.approx(kn.stationary(T, league).rating, abs=1e-9)
    found = kn.diagnose(T, kn.model.Results(signed))
    assert found.rating == pytest.approx(state.rating, abs=1e-9)
    assert found.unexplained == pytest.approx((signed - T.b(found.rating[:, None] - found.rating)) / 2, abs=1e-12)
    gain = kn.farming(T, league, 11)
    assert found.highest[11] - found.rating[11] == pytest.approx(gain.gain, abs=1e-9)


def test_one_order_of_strength_is_shown_whole():
    theta = np.array([0.0, 0.7, 1.5, 4.0])
    found = kn.diagnose(T, kn.model.Results(T.b(theta[:, None] - theta)))
    assert found.rating == pytest.approx(theta - theta.mean(), abs=1e-10) and found.explained == pytest.approx(1)
    assert found.cycle is None and not found.beyond_luck and found.advice[0].startswith("Ratings show everything")
    assert ("Who plays whom", "does not matter: ratings are the same") in found.rows()


def test_rock_paper_scissors():
    found = kn.diagnose(T, kn.model.Results(ROCK, names=["rock", "scissors", "paper"]))
    assert found.rating == pytest.approx(0, abs=1e-12) and found.explained == pytest.approx(0)
    assert found.cycle.teams == ("rock", "scissors", "paper") and found.cycle.real
    assert found.cycle.excess == pytest.approx(0.5) and found.unexplained[0, 1] == pytest.approx(0.5)
    assert "rock beats scissors, scissors beats paper, and paper beats rock" in repr(found) and found.beyond_luck
    assert found.to_dict()["highest"] == [None, None, None] and found.to_dict()["by_luck"] is None


def test_ratings_of_pairs_that_meet_unequally_are_played():
    """Weights by games: the ratings that a rater of those games ends at, which the balance says."""
    games = np.array([[0, 9, 1, 0], [9, 0, 4, 2], [1, 4, 0, 6], [0, 2, 6, 0]])
    found = kn.diagnose(T, kn.model.Results(ROUND, games=games))
    s = np.where(games > 0, 2 * ROUND - 1, 0.0)
    drift = (games * (s - T.b(found.rating[:, None] - found.rating))).sum(axis=1)
    assert np.abs(drift).max() < 1e-9 and found.games == 22 and found.unexplained[0, 3] == 0
    with pytest.raises(kn.InputError, match="team 0 and team 3 never met"):
        kn.stationary(T, kn.model.Results(ROUND, games=games))


def test_a_simulated_table_ends_at_its_ratings():
    table = kn.model.Results(ROUND)
    run = kn.simulate(kn.RatingSystem(T, gamma=0.02), table, steps=4_000, realisations=60, seed=4, record_every=100)
    mean = run.rating.values[:, 15:].mean(axis=(0, 1))
    assert mean == pytest.approx(kn.diagnose(T, table).rating, abs=0.02)


def test_luck_is_not_taken_for_a_cycle_and_a_cycle_not_for_luck():
    """Twenty leagues without a cycle: p below .05 in at most five (once in 400); with one and many games always."""
    theta = np.linspace(0, 2, 6)
    fair = (1 + T.b(theta[:, None] - theta)) / 2
    chances = [kn.diagnose(T, kn.model.Results(drawn(fair, 12, seed), games=12)).by_luck for seed in range(20)]
    assert sum(one < 0.05 for one in chances) <= 5 and 0.25 < np.mean(chances) < 0.75
    found = [kn.diagnose(T, kn.model.Results(drawn(ROUND, 300, seed), games=300)) for seed in range(5)]
    assert all(one.beyond_luck and one.by_luck < 0.01 for one in found)
    few = kn.diagnose(T, kn.model.Results(drawn(ROUND, 4, 1), games=4))
    assert (
        not few.beyond_luck
        and few.advice[0].startswith("No cycle is more than luck can make")
        and "after 24 games" in repr(few)
    )


def test_many_teams_take_the_law_of_the_misfit():
    theta = np.linspace(0, 3, 130)
    fair = (1 + T.b(theta[:, None] - theta)) / 2
    found = kn.diagnose(T, kn.model.Results(drawn(fair, 20, 3), games=20))
    assert 0.001 < found.by_luck < 0.999


def test_played_matches_become_a_table():
    system = kn.RatingSystem(kn.model.Davidson(0.5, 1.0), gamma=0.1)
    played = kn.micro.simulate_matches(system, kn.Fixed([0.0, 1.0, 2.0], names=["a", "b", "c"]), matches=900, seed=1)
    table = kn.model.Results.from_matches(played)
    assert table.names == played.teams and table.games.sum() == 1800 and repr(table) == "Results(3 teams, 900 games)"
    at = (played.home == 0) & (played.away == 1) | (played.home == 1) & (played.away == 0)
    points = np.where(played.home == 0, played.result, 1 - played.result)[at]
    assert (1 + table.signed[0, 1]) / 2 == pytest.approx(points.mean()) and table.games[0, 1] == at.sum()
    assert not kn.diagnose(T, table).beyond_luck


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: kn.model.Results([[0.5, 0.6], [0.6, 0.5]]), r"at \[0, 1\] it holds 0.6 and 0.6"),
        (lambda: kn.model.Results([[0.5, 0.6]]), "square table"),
        (lambda: kn.model.Results([[0.5, np.nan], [np.nan, 0.5]]), "is nan"),
        (lambda: kn.model.Results([[0.0, 1.5], [-1.5, 0.0]]), "between −1 and 1"),
        (lambda: kn.model.Results(ROCK, games=[[0, 1], [1, 0]]), "games must be a number or a table"),
        (lambda: kn.model.Results(ROCK, games=0), "at least one match"),
        (lambda: kn.model.Results(ROCK, names=["a"]), "one name per team"),
        (lambda: kn.model.Results.from_matches([1, 2]), "matches must be Matches"),
        (lambda: kn.diagnose(T, kn.model.Results([[0.5, 1.0], [0.0, 0.5]])), "won or lost everything"),
        (
            lambda: kn.diagnose(T, kn.model.Results(ROUND, games=np.kron(np.eye(2), 1 - np.eye(2)))),
            "never met the others",
        ),
        (lambda: kn.diagnose(T, kn.model.Results(ROCK), check=True), "no strengths that could move"),
        (
            lambda: kn.diagnose(kn.RatingSystem(T, kn.model.Window(1.0)), kn.model.Results(ROCK)),
            "pairing must be AllPlayAll",
        ),
        (
            lambda: kn.simulate(kn.RatingSystem(T), kn.model.Results(ROCK), steps=1, sampling="literal"),
            "no performances",
        ),
        (
            lambda: kn.theory.contest_worth(kn.RatingSystem(T, schedule=kn.model.Field(3)), kn.model.Results(ROCK)),
            "no strengths",
        ),
    ],
)
def test_what_is_no_table_is_refused(make, said):
    with pytest.raises(kn.InputError, match=said):
        make()


def test_a_frame_names_its_teams_and_may_have_its_columns_in_any_order():
    pd = pytest.importorskip("pandas")
    import polars as pl

    table = [[0.5, 0.9, 0.2], [0.1, 0.5, 0.7], [0.8, 0.3, 0.5]]
    plain = kn.model.Results(table, names=["A", "B", "C"])
    turned = pd.DataFrame(table, index=list("ABC"), columns=list("ABC"))[list("CAB")]
    first = pl.DataFrame({"team": list("ABC"), "C": [0.2, 0.7, 0.5], "B": [0.9, 0.5, 0.3], "A": [0.5, 0.1, 0.8]})
    for frame in (turned, first):
        found = kn.model.Results(frame)
        assert found.names == ("A", "B", "C") and (found.signed == plain.signed).all()
    assert kn.model.Results(pd.DataFrame(table)).names is None
    with pytest.raises(kn.InputError, match="must name the same teams, each once; 'D' is not so"):
        kn.model.Results(turned.rename(columns={"A": "D"}))


def test_games_are_made_a_table_first():
    games = {"home": ["A", "B"], "away": ["B", "C"], "result": [1, 0]}
    for given in (kn.read_matches(games), pytest.importorskip("pandas").DataFrame(games)):
        with pytest.raises(kn.InputError, match=r"Results\.from_matches"):
            kn.model.Results(given)


def test_a_frame_that_is_no_league_is_named_in_one_line():
    system = kn.RatingSystem(T, gamma=0.05)
    frame = pytest.importorskip("pandas").DataFrame({"name": ["A", "B"], "rating": [1500, 1600]})
    for ask in (lambda: kn.farming(system, frame, "A"), lambda: kn.matchmaking(system, frame)):
        with pytest.raises(kn.InputError, match="strengths must be a league") as said:
            ask()
        assert "\n" not in str(said.value)


def test_what_ratings_cannot_show_is_said_with_its_numbers():
    """Seven teams, three of them in a cycle: all numbers of rows and sentences, computed from the table."""
    theta = np.array([0.3, -0.8, 1.4, 0.1, 2.2, -1.5, 0.9])
    points = (1 + T.b(theta[:, None] - theta)) / 2
    for winner, loser in ((0, 3), (3, 6), (6, 0)):
        points[winner, loser], points[loser, winner] = 0.9, 0.1
    names = list("abcdefg")
    found = kn.diagnose(T, kn.model.Results(points, names=names))
    signed = 2 * points - 1
    np.fill_diagonal(signed, 0.0)
    left = signed - T.b(found.rating[:, None] - found.rating)
    share = (left**2).sum() / (signed**2).sum()
    assert found.advice == (
        f"Ratings leave {100 * share:.2g} % of the squared results unexplained: one number per team cannot show it.",
        *found.advice[1:],
    )
    rows = dict(found.rows())
    order = np.argsort(-found.rating)
    assert rows["Where ratings end"].splitlines() == [
        *(f"{names[k]}: {found.rating[k]:+.3g}" for k in order[:5]), "and 2 more"
    ]  # fmt: skip
    i, j = np.unravel_index(np.argmax(left), left.shape)
    assert rows["What they cannot show"] == (
        f"{share:.2g} of the squared results; most: {names[i]} scores {left[i, j] / 2:+.2f} points per match more "
        f"against {names[j]}"
    )
    said = re.fullmatch(r"(\w) over (\w) over (\w) over \1: \+([\d.]+) points per match each", rows["Strongest cycle"])
    assert said is not None and set(said.groups()[:3]) == {"a", "d", "g"}
    ring = [left[names.index(one), names.index(two)] / 2 for one, two in (("a", "d"), ("d", "g"), ("g", "a"))]
    assert float(said[4]) == pytest.approx(np.mean(ring), abs=0.0051)
    width = found.highest - found.lowest
    most = int(np.argmax(width))
    assert rows["Who plays whom"] == (
        f"{names[most]} is rated {found.lowest[most]:+.3g} to {found.highest[most]:+.3g} by meeting one opponent"
    )
    assert rows["Luck"] == "the table is taken as exact; give games= to hear what luck does"
    assert repr(found) == f"ResultsDiagnosis: {' '.join(found.advice)}"
    assert str(found).splitlines()[-1].endswith(found.advice[-1]) and found.advice[0] in found._repr_html_()


def test_luck_is_said_in_percent_of_leagues():
    found = kn.diagnose(T, kn.model.Results(drawn(ROUND, 300, 2), games=300))
    assert found.by_luck < 1.5 / 400 and dict(found.rows())["Luck"] == "leaves as much in less than 1 % of leagues"
    assert found.advice[0].endswith(" Luck alone leaves as much in less than 1 % of leagues.")
    few = kn.diagnose(T, kn.model.Results(drawn(ROUND, 4, 1), games=4))
    assert dict(few.rows())["Luck"] == f"leaves as much in {100 * few.by_luck:.0f} % of leagues"
    assert f"{100 * few.by_luck:.0f} % leave as much unexplained after 24 games" in few.advice[0]
