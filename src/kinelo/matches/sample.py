"""A made-up league with line-ups, draws and home advantage, for examples and tests that need no data.

Every club has a squad; its strength in a match is the mean of the eleven it fields plus a home bonus, as in the paper's
line-up model, and goals are Poisson. Players drift from match to match, and some change clubs between seasons.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.model.validation import nonnegative, number, whole

TOWNS = (
    "Ashford", "Bramley", "Calder", "Dunmore", "Elswick", "Farrow", "Granton", "Hallam", "Ivybridge", "Jarrow", "Kelso",
    "Lynton", "Marlow", "Norwell", "Oakham", "Penrith", "Quarry", "Rothley", "Selby", "Thorne", "Upton", "Varley",
    "Wendover", "Yarm",
)  # fmt: skip
ELEVEN, BENCH, SQUAD = 11, 3, 22
LARGEST_EDGE = 5.0
"""Beyond it, scores are no longer those of a game."""

BASE_GOALS = 1.3
TURF_SPREAD = 0.4
POINTS_OF_RESULTS = np.array([0, 1, 3])
"""Points of a defeat, a draw and a win."""


@dataclass(frozen=True, repr=False)
class League:
    """A simulated league: the tables a user would have, and the truth behind them.

    Attributes
    ----------
    results
        match_id, date, home_team, away_team, home_score, away_score, and pitch where it was asked for.
    lineups
        match_id, side, player, starter, minutes.
    strengths
        The clubs' true mean strength at the end (log goal ratio against an average club).

    >>> league = sample_league(teams=4, seasons=1, seed=7)
    >>> league.results.columns[:4], league.strengths.height
    (['match_id', 'date', 'home_team', 'away_team'], 4)
    """

    results: pl.DataFrame
    lineups: pl.DataFrame
    strengths: pl.DataFrame

    def __repr__(self) -> str:
        return f"League: {self.results.height:,} matches of {self.results['home_team'].n_unique():,} clubs"


def sample_league(
    teams: int = 20,
    seasons: int = 3,
    *,
    seed: int = 1,
    home_advantage: float = 0.3,
    club_spread: float = 0.35,
    player_spread: float = 0.8,
    promoted: int = 0,
    turf: bool = False,
) -> League:
    """Play ``seasons`` of a double round robin.

    With ``promoted``, so many clubs with the fewest points leave after each season for new ones. With ``turf``, a fifth
    of the clubs play at home on turf, where every club is stronger or weaker by a draw of its own, and the results have
    a column ``pitch``.

    >>> league = sample_league(teams=4, seasons=1, seed=7)
    >>> league.results.height, league.lineups.height, sorted(league.results["home_team"].unique())
    (12, 336, ['Ashford', 'Bramley', 'Calder', 'Dunmore'])
    """
    teams, seasons = whole("teams", teams, 2), whole("seasons", seasons, 1)
    if not 2 <= teams <= 500 or not 1 <= seasons <= 100:
        raise InputError(f"A league has 2 to 500 teams and 1 to 100 seasons, not {teams} and {seasons}.")
    rng = np.random.default_rng(whole("seed", seed, 0))
    if whole("promoted", promoted, 0) >= teams:
        raise InputError(f"Of {teams} teams, at most {teams - 1} can be replaced after a season, not {promoted}.")
    if turf is not True and turf is not False:
        raise InputError(f"turf must be True or False, not {turf!r:.60}.")
    club_spread, player_spread = nonnegative("club_spread", club_spread), nonnegative("player_spread", player_spread)
    if max(club_spread, player_spread, abs(number("home_advantage", home_advantage))) > LARGEST_EDGE:
        raise InputError(f"home_advantage and the spreads of a league must be at most {LARGEST_EDGE:g} in size.")
    clubs, present = teams + promoted * (seasons - 1), list(range(teams))
    names = [_club_name(k) for k in range(clubs)]
    squads = np.arange(clubs * SQUAD).reshape(clubs, SQUAD)
    skill = rng.normal(0, club_spread, (clubs, 1)) + rng.normal(0, player_spread, (clubs, SQUAD))
    skill = skill.ravel()
    on_turf = rng.normal(0, TURF_SPREAD, clubs) if turf else np.zeros(clubs)
    results: list[tuple] = []
    lineups: list[tuple] = []
    for season in range(seasons):
        if season:
            _transfers(rng, squads)
        kickoff = date(2021 + season, 8, 7)
        points = np.zeros(clubs)
        for week, pairs in enumerate(_double_round_robin(teams)):
            skill += rng.normal(0, 0.03, skill.size)
            for home, away in ((present[one], present[other]) for one, other in pairs):
                pitch = "turf" if turf and home % 5 == 0 else "grass"
                match = f"S{season + 1}-{len(results) + 1:05d}"
                fielded = [_choose(rng, squads[side], skill) for side in (home, away)]
                edge = skill[fielded[0][0]].mean() - skill[fielded[1][0]].mean() + home_advantage
                edge += on_turf[home] - on_turf[away] if pitch == "turf" else 0.0
                goals = rng.poisson(BASE_GOALS * np.exp([edge / 2, -edge / 2]))
                points[[home, away]] += POINTS_OF_RESULTS[1 + np.sign(goals - goals[::-1])]
                day = kickoff + timedelta(weeks=week)
                row = (match, day, names[home], names[away], int(goals[0]), int(goals[1]))
                results.append((*row, pitch) if turf else row)
                for code, (eleven, bench) in zip("HA", fielded, strict=True):
                    lineups += _appearances(rng, match, code, eleven, bench)
        if promoted and season < seasons - 1:
            present = sorted(present, key=lambda club: -points[club])[: teams - promoted]
            present += range(teams + promoted * season, teams + promoted * (season + 1))
    columns = ["match_id", "date", "home_team", "away_team", "home_score", "away_score", *(["pitch"] if turf else [])]
    truth = skill[squads].mean(axis=1)
    return League(
        pl.DataFrame(results, schema=columns, orient="row"),
        pl.DataFrame(lineups, schema=["match_id", "side", "player", "starter", "minutes"], orient="row"),
        pl.DataFrame({"name": names, "strength": truth - truth.mean()}),
    )


def _club_name(k: int) -> str:
    again, place = divmod(k, len(TOWNS))
    return TOWNS[place] if again == 0 else f"{TOWNS[place]} {again + 1}"


def _double_round_robin(teams: int) -> list[list[tuple[int, int]]]:
    """Weeks of pairs by the circle method: everyone meets everyone at home and away."""
    ring = list(range(teams)) + ([-1] if teams % 2 else [])
    half = []
    for week in range(len(ring) - 1):
        pairs = [(ring[k], ring[-1 - k]) for k in range(len(ring) // 2)]
        turned = [(b, a) if (week + k) % 2 else (a, b) for k, (a, b) in enumerate(pairs)]
        half.append([(a, b) for a, b in turned if a >= 0 and b >= 0])
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return half + [[(b, a) for a, b in pairs] for pairs in half]


def _choose(rng: np.random.Generator, squad: np.ndarray, skill: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eleven and bench: the better a player, the likelier he starts (Gumbel noise on the skills)."""
    order = np.argsort(-(2 * skill[squad] + rng.gumbel(size=squad.size)))
    return squad[order[:ELEVEN]], squad[order[ELEVEN : ELEVEN + BENCH]]


def _appearances(rng: np.random.Generator, match: str, side: str, eleven: np.ndarray, bench: np.ndarray) -> list[tuple]:
    minutes = np.full(ELEVEN, 90)
    off = rng.choice(ELEVEN, BENCH, replace=False)
    minutes[off] = rng.integers(46, 90, BENCH)
    rows = [(match, side, f"P{player:04d}", 1, int(m)) for player, m in zip(eleven, minutes, strict=True)]
    late = zip(bench, off, strict=True)
    return rows + [(match, side, f"P{player:04d}", 0, int(90 - minutes[out])) for player, out in late]


def _transfers(rng: np.random.Generator, squads: np.ndarray) -> None:
    """A fifth of all players change clubs by a random exchange."""
    flat = squads.ravel()
    movers = rng.choice(flat.size, flat.size // 5, replace=False)
    flat[movers] = flat[rng.permutation(movers)]
