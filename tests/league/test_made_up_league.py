"""What real leagues are asked, asked of one whose truth is known: it needs no data but its own seed.

Each test here has a twin on real matches, marked ``data``. Seeds are fixed; bounds lie several standard errors from the
values of that seed, and within what the truth allows: no forecast beats the chances that goals were drawn with.
"""

import copy
import math
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import league_files as files
import made_up_league as made
import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.forecasts.scores import log_loss


@cache
def league() -> tuple[kn.matches.Matches, np.ndarray]:
    """The matches, from files, and the true chances of each."""
    games = made.play()
    with TemporaryDirectory() as name:
        folder = Path(name)
        files.write_plain(games, folder / "matches.csv")
        files.write_lineups(games, folder / "lineups.csv")
        files.write_aliases(folder / "aliases.csv")
        matches = kn.read_matches(
            folder / "matches.csv", folder / "lineups.csv", aliases=folder / "aliases.csv", conditions=["surface"]
        )
    chances = {game.id: game.probabilities for game in games}
    return matches, np.array([chances[str(name)] for name in matches.match_id])


def halves() -> tuple[kn.matches.Matches, kn.matches.Matches, np.ndarray]:
    matches, chances = league()
    half = len(matches) // 2
    return matches[:half], matches[half:], chances[half:]


def loss(rater, later: kn.matches.Matches) -> float:
    return float(log_loss(rater.one_step_ahead(later).probabilities, later.result).mean())


def frequencies(earlier: kn.matches.Matches, later: kn.matches.Matches) -> float:
    """What a forecaster loses who knows only how often home sides win, draw and lose."""
    share = np.array([(earlier.result == value).mean() for value in (1.0, 0.5, 0.0)])
    return float(log_loss(np.tile(share, (len(later), 1)), later.result).mean())


def test_the_league_has_the_traits_it_is_made_for():
    matches, chances = league()
    assert len(matches) > 1300 and set(matches.teams) == set(made.SIDES)
    appearances = np.bincount(np.concatenate([matches.home, matches.away]))
    assert appearances.max() > 5 * appearances.min()
    assert 0.05 < matches.neutral.mean() < 0.15
    first, last = (np.mean(chances[part, 0] - chances[part, 2]) for part in (slice(0, 400), slice(-400, None)))
    assert first > last + 0.1, "home advantage fades"
    pools = matches.pools()
    assert set(pools.filter(pl.col("tie") == 0)["name"]) == set(made.ISLAND)


@pytest.mark.parametrize(
    "rater",
    [kn.TeamElo(), kn.Glicko(), kn.Glicko2(), kn.KalmanElo(), kn.KalmanElo(conditions=["surface"]), kn.PlayerElo()],
    ids=["TeamElo", "Glicko", "Glicko2", "KalmanElo", "KalmanElo, surfaces", "PlayerElo"],
)
def test_forecasts_lie_between_ignorance_and_the_truth(rater):
    earlier, later, chances = halves()
    truth = float(log_loss(chances, later.result).mean())
    ignorant = frequencies(earlier, later)
    told = loss(copy.deepcopy(rater).fit(earlier), later)
    assert truth < told < ignorant - 0.4 * (ignorant - truth)


def test_the_filter_knows_how_sure_it_is():
    """Four standard errors of a share of 80 % among 690 matches are .06, of a mean of squares .22."""
    earlier, later, _ = halves()
    surprises = kn.raters.surprises(kn.KalmanElo().fit(earlier), later)
    assert np.mean(np.abs(surprises) < 1.2816) == pytest.approx(0.8, abs=0.06)
    assert np.mean(surprises**2) == pytest.approx(1.0, abs=0.22)


def test_line_ups_help():
    earlier, later, _ = halves()
    told = {known: loss(kn.PlayerElo(known=known).fit(earlier), later) for known in ("minutes", "none")}
    assert told["minutes"] < told["none"] - 0.002


def test_a_backtest_ranks_as_the_losses_do():
    earlier, later, _ = halves()
    matches, _ = league()
    raters = [kn.TeamElo(), kn.KalmanElo()]
    test = kn.backtest(matches, raters, train_until=later.date[0])
    since = matches.since(str(later.date[0]))
    losses = dict(test.scores.select("rater", "log_loss").iter_rows())
    for name, rater in zip(("TeamElo", "KalmanElo"), raters):
        fitted = copy.deepcopy(rater).fit(matches.before(str(later.date[0])))
        assert losses[name] == pytest.approx(loss(fitted, since), abs=1e-9)
    assert (test.scores["log_loss"] < frequencies(earlier, later) - 0.02).all()


def test_those_who_left_and_those_apart_are_not_ranked_with_the_rest():
    matches, _ = league()
    for rater in (kn.TeamElo.classic(k=30), kn.Glicko(350.0, 35.0, 60.0, 0.7)):
        board = kn.leaderboard(rater.update(matches), matches)
        main = board.filter(pl.col("pool") == "main")
        assert not set(made.LEAVE) & set(board["name"])
        assert not set(made.ISLAND) & set(main["name"]) and set(made.ISLAND) <= set(board["name"])
        assert made.OLD_NAME not in board["name"]


def test_a_book_ends_where_one_reading_ends(tmp_path):
    matches, _ = league()
    book = kn.RatingBook(tmp_path / "book", kn.TeamElo.classic(k=30))
    third = len(matches) // 3
    for part in (matches[:third], matches[third : 2 * third], matches[third - 20 :]):
        book.add(part)
    whole = kn.TeamElo.classic(k=30).update(matches).ratings_.sort("name")
    kept = kn.RatingBook(tmp_path / "book").ratings_.sort("name")
    assert len(book) == len(matches)
    assert kept.select("name", "rating").equals(whole.select("name", "rating"))


@pytest.mark.usefixtures("few_replays")
def test_k_star_is_near_the_best_k():
    found = kn.audit(league()[0])
    best, measured = found.curve.best.k, found.measured
    lost = measured.at(best) - measured.log_loss.min()
    assert abs(math.log(best / measured.best)) <= math.log(1.5) or lost < 0.001
