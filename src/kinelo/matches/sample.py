"""Made-up leagues and contests, for examples and tests that need no data.

A league has line-ups, draws and home advantage. Every club has a squad; its strength in a match is the mean of the
eleven it fields plus a home bonus, as in the paper's line-up model, and goals are Poisson. Players drift from match to
match, and some change clubs between seasons.

Contests have strengths that stand still or move, teams, cars, newcomers and fields of any size.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.model.validation import flag, nonnegative, number, whole

TOWNS = (
    "Ashford", "Bramley", "Calder", "Dunmore", "Elswick", "Farrow", "Granton", "Hallam", "Ivybridge", "Jarrow", "Kelso",
    "Lynton", "Marlow", "Norwell", "Oakham", "Penrith", "Quarry", "Rothley", "Selby", "Thorne", "Upton", "Varley",
    "Wendover", "Yarm",
)  # fmt: skip
ELEVEN, BENCH, SQUAD = 11, 3, 22
WEEKS = 52.0
MOST_CONTESTS, LARGEST_COUNT = 100_000, 1_000_000
"""Weekly contests within the calendar, and entrants, cars and their like, of leagues that are made up."""

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
    turf, home_advantage = flag("turf", turf), number("home_advantage", home_advantage)
    club_spread, player_spread = nonnegative("club_spread", club_spread), nonnegative("player_spread", player_spread)
    if max(club_spread, player_spread, abs(home_advantage)) > LARGEST_EDGE:
        raise InputError(f"home_advantage and the spreads of a league must be at most {LARGEST_EDGE:g} in size.")
    clubs, present = teams + promoted * (seasons - 1), list(range(teams))
    names = [f"{TOWNS[k % len(TOWNS)]} {k // len(TOWNS) + 1}".removesuffix(" 1") for k in range(clubs)]
    squads = np.arange(clubs * SQUAD).reshape(clubs, SQUAD)
    skill = rng.normal(0, club_spread, (clubs, 1)) + rng.normal(0, player_spread, (clubs, SQUAD))
    skill = skill.ravel()
    on_turf = rng.normal(0, TURF_SPREAD, clubs) if turf else np.zeros(clubs)
    results: list[tuple] = []
    lineups: list[tuple] = []
    for season in range(seasons):
        if season:  # a fifth of all players change clubs by a random exchange
            flat = squads.ravel()
            movers = rng.choice(flat.size, flat.size // 5, replace=False)
            flat[movers] = flat[rng.permutation(movers)]
        kickoff = date(2021 + season, 8, 7)
        points = np.zeros(clubs)
        for week, pairs in enumerate(_double_round_robin(teams)):
            skill += rng.normal(0, 0.03, skill.size)
            for home, away in ((present[one], present[other]) for one, other in pairs):
                pitch = "turf" if turf and home % 5 == 0 else "grass"
                match = f"S{season + 1}-{len(results) + 1:05d}"
                fielded = []
                for squad in (squads[home], squads[away]):
                    # Eleven and bench: the better a player, the likelier he starts (Gumbel noise on the skills).
                    order = np.argsort(-(2 * skill[squad] + rng.gumbel(size=squad.size)))
                    fielded.append((squad[order[:ELEVEN]], squad[order[ELEVEN : ELEVEN + BENCH]]))
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


def _appearances(rng: np.random.Generator, match: str, side: str, eleven: np.ndarray, bench: np.ndarray) -> list[tuple]:
    minutes = np.full(ELEVEN, 90)
    off = rng.choice(ELEVEN, BENCH, replace=False)
    minutes[off] = rng.integers(46, 90, BENCH)
    rows = [(match, side, f"P{player:04d}", 1, int(m)) for player, m in zip(eleven, minutes, strict=True)]
    late = zip(bench, off, strict=True)
    return rows + [(match, side, f"P{player:04d}", 0, int(90 - minutes[out])) for player, out in late]


def sample_contests(
    contests: int = 200,
    entrants: int = 40,
    size: int | tuple[int, int] = 10,
    *,
    walk: float = 0.0,
    cars: int = 0,
    team: int = 1,
    newcomers: float = 0.0,
    levels: int = 0,
    seed: int = 1,
) -> pl.DataFrame:
    """A long table of weekly contests between made-up entrants, as :func:`kinelo.read_contests` takes it.

    Strengths are normal with standard deviation 1, and each performance has noise of the same size.

    Parameters
    ----------
    contests, entrants
        How many contests, and how many entrants are around at a time.
    size
        Entrants of each contest, or the least and the most of them.
    walk
        Standard deviation by which a strength moves in a year.
    cars
        How many cars there are; each entrant then drives one, for a season of 20 contests.
    team
        Players of each entrant, drawn anew for every contest.
    newcomers
        Share of the entrants who are replaced in a year, by weaker ones.
    levels
        How many different places there are: all between them tie. 0 is no tie.
    seed
        Of the random numbers.

    >>> sample_contests(contests=2, entrants=5, size=3, seed=1).select("contest", "entrant", "place").rows()[:3]
    [(1, 'P4', 1), (1, 'P2', 2), (1, 'P0', 3)]
    """
    least, most = _checked(size, contests=contests, entrants=entrants, team=team, seed=seed, cars=cars, levels=levels)
    for label, value in (("walk", walk), ("newcomers", newcomers)):
        if nonnegative(label, value) > 1e6:
            raise InputError(f"{label} must be at most 1,000,000, not {value:g}.")
    if not 2 <= least <= most or most * team > entrants:
        raise InputError(f"size={size!r} with {team} players each needs from 2 to {entrants} of the entrants.")
    rng = np.random.default_rng(seed)
    strength, name = rng.normal(size=entrants), [f"P{k}" for k in range(entrants)]
    car_strength, seat = rng.normal(size=max(cars, 1)), np.zeros(entrants, int)
    rows: dict[str, list] = {"date": [], "contest": [], "entrant": []}
    rows |= {"car": []} if cars else {}
    rows |= {f"player_{j + 1}": [] for j in range(team)} if team > 1 else {}
    rows["place"] = []
    number = entrants
    for contest in range(contests):
        strength += walk / np.sqrt(WEEKS) * rng.normal(size=entrants)
        if cars and contest % 20 == 0:
            seat = rng.permutation(entrants) % cars
            car_strength = 0.7 * car_strength + np.sqrt(0.51) * rng.normal(size=cars)
        for k in np.flatnonzero(rng.random(entrants) < newcomers / WEEKS):
            name[k], strength[k], number = f"P{number}", strength.mean() - 0.5 + rng.normal(), number + 1
        k = int(rng.integers(least, most + 1))
        chosen = rng.permutation(entrants)[: k * team].reshape(k, team)
        shown = strength[chosen].mean(axis=1) * np.sqrt(team) + rng.normal(size=k)
        shown = shown + car_strength[seat[chosen[:, 0]]] if cars else shown
        order = np.argsort(-shown)
        level = np.arange(k) * min(levels or k, k) // k
        place = 1 + np.searchsorted(level, level)  # those of a level share the best of its places
        day = date(2020, 1, 6) + timedelta(weeks=contest)
        for a, where in zip(order, place.tolist()):
            members = [name[m] for m in chosen[a]]
            rows["date"].append(day)
            rows["contest"].append(contest + 1)
            rows["entrant"].append(members[0] if team == 1 else f"T{contest + 1}-{a + 1}")
            rows["place"].append(where)
            if cars:
                rows["car"].append(f"C{seat[chosen[a, 0]]}")
            for j in range(team if team > 1 else 0):
                rows[f"player_{j + 1}"].append(members[j])
    return pl.DataFrame(rows)


def _checked(size: object, **counts: object) -> tuple[int, int]:
    """Least and largest field, where all of these are whole numbers."""
    least, most = size if isinstance(size, tuple) and len(size) == 2 else (size, size)
    for label, value in (*counts.items(), ("size", least), ("size", most)):
        whole(label, value, 1 if label == "team" else 0)
        if value > (most_of := {"contests": MOST_CONTESTS, "seed": 2**31}.get(label, LARGEST_COUNT)):  # type: ignore[operator]
            raise InputError(f"{label} must be at most {most_of:,}, not {value:,}.")
    return least, most  # type: ignore[return-value]
